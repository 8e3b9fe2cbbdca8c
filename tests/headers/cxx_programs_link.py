# SPDX-License-Identifier: Apache-2.0
"""A C++ program that uses every function by both names compiles in each C++ standard and links with the library.

All names have C linkage, by each compiler.  The complex functions are not there: C++ has no _Complex.

Spec: OpenSHMEM 1.6 §5 Language Bindings and Conformance
"""

import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "abi"))
import abi


def program(rows):
    """A program that takes the address of each function by both names."""
    lines = ["#include <complex>", "#include <shmem.h>", "typedef void (*any)();", "any all[] = {"]
    lines += [f"reinterpret_cast<any>({prefix}{row.symbol})," for row in rows for prefix in ("", "p")]
    return "\n".join([*lines, "};", "int main() { return all[0] == nullptr || std::norm(std::complex<double>(1)) < 1; }", ""])


def needed(nm, path):
    """The names that an object file leaves to the linker."""
    text = subprocess.run([nm, "-u", path], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in text.splitlines() if line.strip()}


def main():
    args = abi.arguments()
    report = abi.Report()
    table = abi.table("function")
    rows = [row for row in table if row.cxx]
    hidden = [row for row in table if not row.cxx]
    names = {name for row in rows for name in (row.symbol, row.twin)}
    own = "clang++" if "clang" in os.path.basename(args.cc) else "g++"
    libraries = [] if "-linux-" in os.path.basename(args.cc) else list(filter(None, (args.lib, args.static_lib)))
    if not libraries:
        print("not linked: no library, or one for another machine")
    linkable = abi.linkable(args, rows) if libraries else []
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "output")
        for compiler in abi.compilers("c++"):
            for standard in abi.CXX_STANDARDS:
                command = [compiler, f"-std={standard}", *abi.WARNINGS, "-I", args.include]
                status, said = abi.compile_text([*command, "-c"], program(rows), output)
                report.check(status == 0, f"{compiler} -std={standard}:\n{abi.first_lines(said)}")
                missing = names - needed(args.nm, output) if status == 0 else set()
                report.check(not missing, f"{compiler} -std={standard}: no C linkage: {sorted(missing)[:10]}")
            if compiler == own:  # in one standard: the names are the same in all
                for library in libraries:
                    command = [compiler, "-std=c++17", *args.flags.split(), "-I", args.include]
                    status, said = abi.compile_text(command, program(linkable), output, [library, "-pthread", "-ldl"])
                    report.check(status == 0, f"{compiler} with {library}:\n{abi.first_lines(said)}")
            all_errors = "-ferror-limit=0" if "clang" in compiler else "-fmax-errors=0"
            said = abi.compile_text([compiler, "-std=c++17", all_errors, "-I", args.include], program(hidden))[1]
            for row in hidden:
                for name in (row.symbol, row.twin):
                    report.check(re.search(rf"error: .*['‘]{name}['’]", said), f"{compiler} knows {name}")
    print(f"each program has {len(rows)} functions, the linked ones {len(linkable)}; {len(hidden)} are hidden")
    report.finish("checks")


main()
