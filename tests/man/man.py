# SPDX-License-Identifier: Apache-2.0
"""What the tests of the manual pages share: where things are, the pages, and how a test ends."""

import argparse
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "docs", "man"), os.path.join(ROOT, "tests", "abi")]

import abi  # noqa: E402  pylint: disable=wrong-import-position
import pages  # noqa: E402  pylint: disable=wrong-import-position


def arguments():
    """The command line that tests/man/CMakeLists.txt passes to every test."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", default=pages.HERE, help="folder of the pages")
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"), help="build folder, with man/ and bin/")
    parser.add_argument("--cc", default="cc", help="the compiler that built the library")
    return parser.parse_args()


def read(args):
    """The pages of the folder; a page without the form ends the test."""
    try:
        return pages.read_pages(args.source)
    except pages.PageError as error:
        print(f"wrong: {error}")
        sys.exit(1)


def program(name):
    """A program of this machine; without it the test is skipped."""
    path = shutil.which(name)
    if not path:
        print(f"skipped: {name} is not installed")
        sys.exit(77)
    return path


class Report:
    """Collects what is wrong; finish() prints it and ends the program."""

    def __init__(self):
        self.wrong = 0
        self.checked = 0

    def check(self, good, text):
        """Count one check; print text where it failed."""
        self.checked += 1
        if not good:
            self.wrong += 1
            if self.wrong <= 40:
                print("wrong: " + text)

    def finish(self, what):
        """Print the totals and end the program."""
        print(f"{self.checked} {what} checked, {self.wrong} wrong")
        if not self.checked:
            print("wrong: nothing was checked")
        sys.exit(1 if self.wrong or not self.checked else 0)


def names_of_the_standard(kind):
    """The rows of tests/abi/names.tsv of one kind."""
    return abi.table(kind, now_only=False)
