# SPDX-License-Identifier: Apache-2.0
"""A tool that includes pshmem.h alone defines every shmem_ name itself, calls the twins, and links without a clash.

Also links the other way round: a program that takes the address of every function by both names.

Spec: OpenSHMEM 1.6 §10 OpenSHMEM Profiling Interface
"""

import re

import abi


def wrapper(row):
    """A definition of row's function that calls its twin."""
    inner = row.signature[row.signature.index("(") + 1 : -1]
    names = [] if inner == "void" else [re.search(r"(\w+)$", part.strip())[1] for part in inner.split(",") if part.strip() != "..."]
    result = "" if row.signature.startswith("void " + row.symbol) else "return "
    declaration = row.signature.replace(row.symbol + "(", f"({row.symbol})(", 1)
    return f"{declaration};\n{declaration} {{ {result}{row.twin}({', '.join(names)}); }}"


def main():
    args = abi.arguments()
    report = abi.Report()
    rows = abi.linkable(args, abi.table("function"))
    tool = "#include <pshmem.h>\n" + "\n".join(map(wrapper, rows)) + "\nint main(void) { return 0; }\n"
    user = ["#include <shmem.h>", "typedef void (*any)(void);", "any all[] = {"]
    user += [f"(any){prefix}{row.symbol}," for row in rows for prefix in ("", "p")]
    user = "\n".join([*user, "};", "int main(void) { return all[0] == 0; }", ""])
    for library in filter(None, (args.lib, args.static_lib)):
        for what, text in (("tool", tool), ("user", user)):
            status, said = abi.link_text(args, text, library)
            report.check(status == 0, f"the {what} with {library}:\n{abi.first_lines(said)}")
    print(f"each program has {len(rows)} functions")
    report.finish("programs")


main()
