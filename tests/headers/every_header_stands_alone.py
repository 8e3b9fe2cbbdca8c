# SPDX-License-Identifier: Apache-2.0
"""Each public header compiles with nothing before it, in every C and C++ standard that we promise.

Spec: OpenSHMEM 1.6 §5 Language Bindings and Conformance, §10 OpenSHMEM Profiling Interface, §F.2.1 Header Directory: mpp
"""

import glob
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "abi"))
import abi

MORE = ["-Wundef", "-Wshadow", "-Wredundant-decls"]


def main():
    args = abi.arguments()
    report = abi.Report()
    found = glob.glob(os.path.join(args.include, "**", "*.h"), recursive=True)
    headers = sorted(os.path.relpath(path, args.include) for path in found)
    for name in ("shmem.h", "shmemx.h", "pshmem.h", "mpp/shmem.h", "mpp/shmemx.h", "mpp/pshmem.h"):
        report.check(name in headers, f"{name} does not exist")
    for header in headers:
        # A reference keeps the text from being empty; twice, because guards must hold.
        text = f"#include <{header}>\n#include <{header}>\nextern int unused;\n"
        for language, standards in (("c", abi.C_STANDARDS), ("c++", abi.CXX_STANDARDS)):
            for compiler in abi.compilers(language):
                for standard in standards:
                    command = [compiler, f"-std={standard}", *abi.WARNINGS, *MORE, "-I", args.include]
                    status, said = abi.compile_text(command, text)
                    report.check(status == 0, f"{header} with {compiler} -std={standard}:\n{abi.first_lines(said)}")
    print(f"{len(headers)} headers")
    report.finish("checks")


main()
