# SPDX-License-Identifier: Apache-2.0
"""shmem.h adds what the standard names, and private names with one prefix; pshmem.h the twins; only shmemx.h adds extensions.

SPEC §5: shmem.h holds only what the standard defines, and constants, types and macros with one implementation prefix.
"""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "abi"))
import abi

BASE = "#include <stddef.h>\n#include <stdint.h>\n"
PRIVATE = re.compile(r"(SHMEMI|shmemi)_\w+$")


def preprocess(compiler, standard, include, text, *flags):
    """The preprocessor's output for a text."""
    command = [compiler, f"-std={standard}", "-E", *flags, "-I", include, "-x", "c", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def macros(compiler, standard, include, text):
    """The names of all macros after a text."""
    return set(re.findall(r"^#define (\w+)", preprocess(compiler, standard, include, text, "-dM"), re.M))


def declared(compiler, standard, include, header):
    """The names that a header adds at file scope: functions and types."""
    text = preprocess(compiler, standard, include, BASE + "int boundary;\n" + f"#include <{header}>\n", "-P")
    text = re.sub(r"#pragma[^\n]*|\s+", " ", text.split("int boundary;")[1])
    text = re.sub(r"\{[^}]*\}", "", text)
    names = set()
    for statement in filter(None, map(str.strip, text.split(";"))):
        match = re.search(r"\(?(\w+)\)?\s*\([^()]*\)$", statement) or re.search(r"(\w+)$", statement)
        names.add(match[1])
    return names


def main():
    args = abi.arguments()
    report = abi.Report()
    functions = abi.table("function")
    types = {row.symbol for row in abi.table("type")}
    constants = {row.symbol for row in abi.table("constant")}
    generics = {row.symbol for row in abi.table("generic")}
    names = {row.symbol for row in functions}
    twins = {row.twin for row in functions}
    extensions = {prefix + name for name in abi.EXTENSIONS for prefix in ("", "p")}
    for compiler in abi.compilers("c"):
        for standard in abi.C_STANDARDS:
            before = macros(compiler, standard, args.include, BASE)
            for header, right_macros, right_names in (
                ("shmem.h", constants | (generics if standard != "c99" else set()), names | twins | types),
                ("pshmem.h", constants, twins | types),
                ("shmemx.h", constants | (generics if standard != "c99" else set()) | set(abi.EXTENSION_CONSTANTS),
                 names | twins | types | extensions | set(abi.EXTENSION_TYPES)),
            ):
                where = f"{header} with {compiler} -std={standard}"
                added = {name for name in macros(compiler, standard, args.include, BASE + f"#include <{header}>\n") - before
                         if not PRIVATE.match(name)}
                report.check(added == right_macros, f"{where}, macros: {sorted(added ^ right_macros)[:20]}")
                there = {name for name in declared(compiler, standard, args.include, header) if not PRIVATE.match(name)}
                report.check(there == right_names, f"{where}, names: {sorted(there ^ right_names)[:20]}")
    report.finish("comparisons")


main()
