# SPDX-License-Identifier: Apache-2.0
"""The pages that the build made have nothing that mandoc calls an error or warns of; no markdown is left in them; and every alias leads to a page."""

import glob
import os
import re
import subprocess

import man


def main():
    args = man.arguments()
    report = man.Report()
    root = os.path.join(args.build, "man")
    files = sorted(glob.glob(os.path.join(root, "man*", "*")))
    real = []
    for path in files:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        alias = re.fullmatch(r"\.so (man\d/[\w+-]+\.\d)\n", text)
        if alias:
            target = os.path.join(root, alias[1])
            report.check(os.path.exists(target), f"{path}: {alias[1]} does not exist")
            continue
        real.append(path)
        words = re.sub(r"^\.EX$.*?^\.EE$|^[.'][^\n]*$", "", text, flags=re.DOTALL | re.MULTILINE)
        words = re.sub(r"\\fB.*?\\fR", "word", words, flags=re.DOTALL)
        # A star between blanks is a product.
        left = re.search(r"^.*(\*[^ \n]|[^ \n]\*|`|<!--|\|---|^#+ |^: ).*$", words, re.MULTILINE)
        report.check(not left, f"{path}: markdown is left: {left[0] if left else ''}")
    mandoc = man.program("mandoc")
    done = subprocess.run([mandoc, "-T", "lint", "-W", "warning", *real], capture_output=True, text=True, check=False)
    complaints = done.stdout.splitlines() + done.stderr.splitlines()
    report.check(done.returncode == 0 or complaints, f"mandoc ends with {done.returncode}")
    for line in complaints:
        report.check(False, line)
    report.checked += len(real)
    print(f"{len(real)} pages, {len(files) - len(real)} aliases")
    report.finish("facts")


main()
