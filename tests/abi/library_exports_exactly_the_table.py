# SPDX-License-Identifier: Apache-2.0
"""Each function of the table and each extension is there twice: weak by its own name, strong with p in front.  Nothing else is exported.

Spec: OpenSHMEM 1.6 §5 Language Bindings and Conformance, §9.7 Atomic Memory Operations, §9.10.9 SHMEM_REDUCTIONS, §10 Profiling Interface, §10.3.3 C11 Type-Generic Interfaces
"""

import re

import abi

TOOLS = re.compile(r"(__asan_|__odr_asan|__tsan_|__gcov_|__llvm_|__start_|__stop_|_init$|_fini$|_edata$|_end$|__bss_start$)")


def main():
    args = abi.arguments()
    names = abi.exported(args)
    report = abi.Report()
    allowed = set()
    for row in abi.table("function", now_only=False):
        allowed |= {row.symbol, row.twin}
        if row.now or row.symbol in names or row.twin in names:
            report.check(names.get(row.symbol) == "W", f"{row.symbol} ({row.section}) is {names.get(row.symbol, 'absent')}, not weak")
            report.check(names.get(row.twin) == "T", f"{row.twin} ({row.section}) is {names.get(row.twin, 'absent')}, not strong")
    for name in abi.EXTENSIONS:
        allowed |= {name, "p" + name}
        report.check(names.get(name) == "W", f"{name} is {names.get(name, 'absent')}, not weak")
        report.check(names.get("p" + name) == "T", f"p{name} is {names.get('p' + name, 'absent')}, not strong")
    for name in sorted(names):
        report.check(name in allowed or TOOLS.match(name), f"{name} is exported and not in the table")
    report.finish("names")


main()
