# SPDX-License-Identifier: Apache-2.0
"""The headers declare each function of the table with the table's signature, under both names, in C and in C++.

Spec: OpenSHMEM 1.6 §5 Language Bindings and Conformance, §9.11.5 to §9.11.7, §9.11.12 to §9.11.14
"""

import abi


def main():
    args = abi.arguments()
    report = abi.Report()
    table = abi.table("function")
    for header, prefixes in (("shmem.h", ("", "p")), ("pshmem.h", ("p",))):
        for language, standards in (("c", abi.C_STANDARDS), ("c++", abi.CXX_STANDARDS)):
            rows = [row for row in table if row.cxx or language == "c"]
            lines = [f"#include <{header}>"]
            for prefix in prefixes:
                lines += [f"extern {abi.pointer(row, prefix, 'pointer_' + prefix + row.symbol).split(' = ')[0]};" for row in rows]
                lines += [abi.pointer(row, prefix, f"pointer_{prefix}{row.symbol}") for row in rows]
            text = "\n".join(lines) + "\n"
            for compiler in abi.compilers(language):
                for standard in standards:
                    command = [compiler, f"-std={standard}", *abi.WARNINGS, "-I", args.include]
                    status, said = abi.compile_text(command, text)
                    report.check(status == 0, f"{header} with {compiler} -std={standard}:\n{abi.first_lines(said)}")
    print(f"each compilation checks {len(table)} functions, in C++ without {sum(not row.cxx for row in table)} complex ones")
    report.finish("compilations")


main()
