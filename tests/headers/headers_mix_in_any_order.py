# SPDX-License-Identifier: Apache-2.0
"""Our headers work in any order, and before and after standard headers that define tempting macros."""

import itertools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "abi"))
import abi

OURS = ["shmem.h", "pshmem.h", "shmem/signal.h"]
# complex.h defines I, iso646.h and/or/xor, stdnoreturn.h noreturn, signal.h and threads.h are names of ours too.
STANDARD_C = ["complex.h", "iso646.h", "stdnoreturn.h", "stdatomic.h", "signal.h", "threads.h", "tgmath.h", "stdbool.h"]
STANDARD_CXX = ["complex", "ciso646", "atomic", "csignal", "thread", "complex.h"]

USE_C = """
long cell[1];
double _Complex z[1];
void use(void);
void use(void)
{
#if __STDC_VERSION__ >= 201112L
    uint64_t word[1] = {0};
    shmem_put(cell, cell, 1, 0);
    shmem_atomic_and(SHMEM_CTX_DEFAULT, word, 1, 0);
    shmem_signal_add(word, 1, 0);
    shmem_and_reduce(SHMEM_TEAM_WORLD, word, word, 1);
    shmem_sum_inscan(SHMEM_TEAM_WORLD, z, z, 1);
    shmem_wait_until(cell, SHMEM_CMP_EQ, 0);
    shmem_sync(SHMEM_TEAM_WORLD);
    shmem_swap(cell, 1, 0);
#endif
    shmem_sync(0, 0, 1, cell);
    shmem_complexd_sum_reduce(SHMEM_TEAM_WORLD, z, z, 1);
    pshmem_long_put(cell, cell, 1, 0);
    shmem_long_p(cell, pshmem_long_g(cell, 0), 0);
    if (cell[0])
        shmem_global_exit(1);
}
"""
USE_CXX = """
long cell[1];
void use();
void use()
{
    pshmem_long_put(cell, cell, 1, 0);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, cell, cell, 1);
    shmem_wait_until(cell, SHMEM_CMP_EQ, 0);
    shmem_sync(0, 0, 1, cell);
    shmem_long_p(cell, pshmem_long_g(cell, 0), 0);
    if (cell[0])
        shmem_global_exit(1);
}
"""
# The last path of this function returns nothing: fine only if global_exit is known not to return.
NORETURN = "#include <shmem.h>\nint use(void);\nint use(void) { shmem_global_exit(1); }\n"


def main():
    args = abi.arguments()
    report = abi.Report()

    def compiles(compiler, standard, text, what):
        command = [compiler, f"-std={standard}", *abi.WARNINGS, "-Wno-cpp", "-I", args.include]
        status, said = abi.compile_text(command, text)
        report.check(status == 0, f"{what} with {compiler} -std={standard}:\n{abi.first_lines(said)}")

    for language, standards, others, use in (("c", ["c99", "c11"], STANDARD_C, USE_C), ("c++", ["c++11", "c++17"], STANDARD_CXX, USE_CXX)):
        for compiler, standard in itertools.product(abi.compilers(language), standards):
            orders = [list(order) for order in itertools.permutations(OURS)]
            for header in others:
                if standard == "c99" and header in ("stdnoreturn.h", "stdatomic.h", "threads.h"):
                    continue
                orders += [[header, "shmem.h", "pshmem.h"], ["pshmem.h", "shmem.h", header]]
            for order in orders:
                compiles(compiler, standard, "".join(f"#include <{name}>\n" for name in order) + use, " ".join(order))
            compiles(compiler, standard, NORETURN, "noreturn")
    report.finish("compilations")


main()
