# SPDX-License-Identifier: Apache-2.0
"""What the ABI and header tests share: the table of names, the compilers, and how a test ends.

names.tsv is a table of facts about OpenSHMEM 1.6: one row for each function, generic, constant and type.  The column
"when" says "now" for what this version of the library has, and "next" for what it does not have yet; rows of the second
kind are counted and printed, never failed.  To take a family in, change its rows to "now".
"""

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
C_STANDARDS = ["c99", "c11", "c17"]
CXX_STANDARDS = ["c++11", "c++17", "c++20"]

# The extensions: what shmemx.h declares and the library exports besides the standard's names, with its twin each.
EXTENSIONS = ["shmemx_collective_launch", "shmemx_counter", "shmemx_device_register", "shmemx_device_unregister",
              "shmemx_get_uniqueid", "shmemx_info", "shmemx_init_attr", "shmemx_module_init", "shmemx_peer_counter",
              "shmemx_uniqueid_from_text", "shmemx_uniqueid_to_text"]


def on_stream():
    """The extensions of shmem/on_stream.h, by its tables."""
    bits = [prefix + size for size in ("8", "16", "32", "64") for prefix in ("int", "uint")]
    integers = "char schar short int long longlong uchar ushort uint ulong ulonglong size ptrdiff".split() + bits
    rma = integers + ["float", "double", "longdouble"]
    bitwise = [name for name in rma if name in bits or (name.startswith("u") and name not in bits) or name == "size"]
    moves = [word + end for word in ("put", "get") for end in ("", "_nbi")] + ["put_signal", "put_signal_nbi"]
    names = [f"{name}_{move}" for name in rma for move in moves + ["p", "broadcast", "fcollect", "alltoall", "max_reduce", "min_reduce", "sum_reduce", "prod_reduce"]]
    names += [f"{name}_{op}_reduce" for name in bitwise for op in ("and", "or", "xor")]
    names += [move[:3] + size + move[3:] for move in moves for size in ("8", "16", "32", "64", "128", "mem")]
    names += ["signal_op", "signal_wait_until", "quiet", "barrier_all", "sync_all", "barrier", "team_sync", "broadcastmem", "fcollectmem", "alltoallmem"]
    return [f"shmemx_{name}_on_stream" for name in names]


EXTENSIONS += on_stream()
EXTENSION_TYPES = ["shmemx_dim3_t", "shmemx_init_attr_t", "shmemx_uniqueid_t"]
EXTENSION_CONSTANTS = ["SHMEMX_INFO_JSON", "SHMEMX_INFO_TEXT", "SHMEMX_INFO_TEXT_ALL", "SHMEMX_INIT_ATTR_INITIALIZER",
                       "SHMEMX_MAJOR_VERSION", "SHMEMX_MEM_CUDA", "SHMEMX_MEM_HOST", "SHMEMX_MINOR_VERSION", "SHMEMX_UNIQUEID_BYTES", "SHMEMX_UNIQUEID_TEXT_BYTES"]


class Row:
    """One row of names.tsv."""

    def __init__(self, fields):
        self.symbol, self.kind, self.section, self.since, self.deprecated, self.when, self.twin, self.signature = fields
        self.now = self.when == "now"
        self.cxx = "_Complex" not in self.signature  # C++ has no _Complex, so these functions are hidden from it


def table(kind=None, now_only=True):
    """The rows of names.tsv, of one kind if asked; now_only leaves out what the library does not have yet."""
    with open(os.path.join(HERE, "names.tsv"), encoding="utf-8") as file:
        rows = [Row(fields) for fields in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)][1:]
    return [row for row in rows if (kind is None or row.kind == kind) and (row.now or not now_only)]


def exported(args):
    """{name: letter of nm} of what libpostern.so defines."""
    text = subprocess.run([args.nm, "-D", "--defined-only", args.lib], capture_output=True, text=True, check=True).stdout
    names = {}
    for line in text.splitlines():
        letter, name = line.split()[-2:]
        if letter != "A":  # the names of versions
            names[name.split("@")[0]] = letter
    return names


def linkable(args, rows):
    """The rows whose function the library has.  One that it lacks is the matter of library_exports_exactly_the_table
    alone, which names it; the tests that link would only say so again, and nothing else."""
    names = exported(args)
    found = [row for row in rows if row.symbol in names and row.twin in names]
    if len(found) < len(rows):
        print(f"not linked: {len(rows) - len(found)} functions that the library lacks")
    return found


def arguments():
    """The command line that tests/abi/CMakeLists.txt passes to every test."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--include", default=os.path.join(ROOT, "include"), help="folder of shmem.h")
    parser.add_argument("--cc", default="cc", help="the compiler that built the library")
    parser.add_argument("--flags", default="", help="flags to link with the library, such as -fsanitize=address")
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--version", help="version of the project")
    parser.add_argument("--lib", help="libpostern.so")
    parser.add_argument("--static-lib", help="libpostern.a")
    return parser.parse_args()


def compilers(language):
    """The C or C++ compilers of this machine among gcc and clang; ends the test where there is none."""
    names = {"c": ["gcc", "clang"], "c++": ["g++", "clang++"]}[language]
    found = [name for name in names if shutil.which(name)]
    for name in names:
        if name not in found:
            print(f"not checked with {name}: it is not installed")
    if not found:
        print("skipped: no compiler")
        sys.exit(77)
    return found


def suffix(compiler):
    """The source suffix for a compiler: its name says the language."""
    return ".cc" if "++" in compiler else ".c"


def compile_text(command, text, output=None, after=()):
    """Compile a source text.  Returns (exit status, what the compiler said).  Without output: check only."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "generated" + suffix(command[0]))
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        tail = ["-o", output] if output else ["-fsyntax-only"]
        done = subprocess.run([*command, source, *after, *tail], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


def link_text(args, text, library, standard="c11"):
    """Compile a source text and link it with a library of ours.  Returns (exit status, messages)."""
    with tempfile.TemporaryDirectory() as folder:
        command = [args.cc, f"-std={standard}", *WARNINGS, *args.flags.split(), "-I", args.include]
        return compile_text(command, text, os.path.join(folder, "program"), [library, "-pthread", "-ldl", "-lm"])


class Report:
    """Collects what is wrong; finish() prints it and gives the exit status."""

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
        missing = [row for row in table(now_only=False) if not row.now]
        print(f"{self.checked} {what}, {self.wrong} wrong; {len(missing)} rows of the table are not due yet")
        if not self.checked:
            print("wrong: nothing was checked")
        sys.exit(1 if self.wrong or not self.checked else 0)


def first_lines(text, count=12):
    """The first lines of a compiler's complaint."""
    return "\n".join(text.splitlines()[:count])


def pointer(row, prefix, variable):
    """A definition of a pointer to row's function, with exactly the signature of the table."""
    name = prefix + row.symbol
    signature = re.sub(rf"\b{re.escape(row.symbol)}\(", f"(*const {variable})(", row.signature, count=1)
    return f"{signature} = &{name};"
