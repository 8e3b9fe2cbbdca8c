# SPDX-License-Identifier: Apache-2.0
"""The constants of the table exist, have the promised type, and stand where the standard wants them to.

Spec: OpenSHMEM 1.6 §6 Library Constants, §7 Library Handles, §F.2.8 _SHMEM_* Library Constants, §F.2.14 Active-set-based library constants
"""

import re

import abi

SAME = "same value as "


def lines_of(row, rows):
    """C11 checks of one constant."""
    name, meaning = row.symbol, row.signature
    if meaning.startswith(SAME):  # an older name: the checks of the newer one, and that they are equal
        newer = next(other for other in rows if other.symbol == meaning[len(SAME):])
        meaning = newer.signature
        same = f"__builtin_strcmp({name}, {newer.symbol}) == 0" if meaning == "string literal" else f"{name} == {newer.symbol}"
        return [f"_Static_assert({same}, \"\");", *form_of(name, meaning)]
    return form_of(name, meaning)


def form_of(name, meaning):
    """C11 checks that a constant has the form that the table promises."""
    if meaning.startswith(("handle of type", "value of type")):
        kind = meaning.split()[-1]
        return [f"static {kind} static_{name} = {name}; static _Thread_local {kind} thread_{name} = {name};",
                f"{kind} *use_{name}(int thread); {kind} *use_{name}(int thread) {{ return thread ? &thread_{name} : &static_{name}; }}",
                f"_Static_assert(_Generic({name}, {kind}: 1, default: 0), \"\");"]
    if meaning == "string literal":
        return [f"_Static_assert(sizeof({name} \"\") > 1 && sizeof({name}) <= SHMEM_MAX_NAME_LEN, \"\");"]
    kind = re.search(r"long", meaning) and "long" or "int"
    lines = [f"extern int array_{name}[({name}) + 1]; enum {{ enumerator_{name} = {name} }};",
             f"_Static_assert(_Generic({name}, {kind}: 1, default: 0), \"\");"]
    return lines + [f"#if {name} < 0\n#error\n#endif"]


EXTRA = """
_Static_assert(SHMEM_MAJOR_VERSION == 1 && SHMEM_MINOR_VERSION == 6, "");
_Static_assert(SHMEM_THREAD_SINGLE < SHMEM_THREAD_FUNNELED && SHMEM_THREAD_FUNNELED < SHMEM_THREAD_SERIALIZED &&
               SHMEM_THREAD_SERIALIZED < SHMEM_THREAD_MULTIPLE, "");
_Static_assert(SHMEM_SIGNAL_SET != SHMEM_SIGNAL_ADD, "");
_Static_assert((SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE) ==
               SHMEM_CTX_SERIALIZED + SHMEM_CTX_PRIVATE + SHMEM_CTX_NOSTORE, "");
_Static_assert((SHMEM_MALLOC_ATOMICS_REMOTE & SHMEM_MALLOC_SIGNAL_REMOTE) == 0, "");
shmem_team_config_t config = {.num_contexts = 1};
shmem_ctx_session_config_t session = {.total_ops = SIZE_MAX};
_Static_assert(SHMEM_SYNC_SIZE >= SHMEM_BARRIER_SYNC_SIZE && SHMEM_SYNC_SIZE >= SHMEM_BCAST_SYNC_SIZE &&
               SHMEM_SYNC_SIZE >= SHMEM_COLLECT_SYNC_SIZE && SHMEM_SYNC_SIZE >= SHMEM_REDUCE_SYNC_SIZE &&
               SHMEM_SYNC_SIZE >= SHMEM_ALLTOALL_SYNC_SIZE && SHMEM_SYNC_SIZE >= SHMEM_ALLTOALLS_SYNC_SIZE, "");
long psync[SHMEM_SYNC_SIZE] = {SHMEM_SYNC_VALUE};
#if SHMEM_MAJOR_VERSION < 1 || (SHMEM_MAJOR_VERSION == 1 && SHMEM_MINOR_VERSION < 6) || _SHMEM_MAJOR_VERSION != 1
#error
#endif
int compare(int cmp);
int compare(int cmp)
{
    switch (cmp) { /* six different values */
    case SHMEM_CMP_EQ: case SHMEM_CMP_NE: case SHMEM_CMP_GT: case SHMEM_CMP_GE: case SHMEM_CMP_LT: case SHMEM_CMP_LE: return 1;
    default: return 0;
    }
}
"""

CXX = """#include <shmem.h>
static shmem_team_t teams[] = {SHMEM_TEAM_INVALID, SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED};
static shmem_ctx_t contexts[] = {SHMEM_CTX_INVALID, SHMEM_CTX_DEFAULT};
static_assert(SHMEM_CMP_EQ != SHMEM_CMP_NE, "");
int use(); int use() { return teams[0] == teams[1] || contexts[0] == contexts[1]; }
"""


def main():
    args = abi.arguments()
    report = abi.Report()
    rows = abi.table("constant")
    text = "\n".join(["#include <shmem.h>"] + [line for row in rows for line in lines_of(row, rows)]) + EXTRA
    for compiler in abi.compilers("c"):
        status, said = abi.compile_text([compiler, "-std=c11", *abi.WARNINGS, "-I", args.include], text)
        report.check(status == 0, f"{compiler}:\n{abi.first_lines(said)}")
    for compiler in abi.compilers("c++"):
        status, said = abi.compile_text([compiler, "-std=c++11", *abi.WARNINGS, "-I", args.include], CXX)
        report.check(status == 0, f"{compiler}:\n{abi.first_lines(said)}")
    if args.version:
        major, minor = args.version.split(".")[:2]
        text = (f'#include <shmemx.h>\n'
                f'_Static_assert(SHMEMX_MAJOR_VERSION == {major} && SHMEMX_MINOR_VERSION == {minor}, "");\n'
                f'_Static_assert(__builtin_strcmp(SHMEM_VENDOR_STRING, "Postern {args.version}") == 0, "");\n')
        status, said = abi.compile_text([abi.compilers("c")[0], "-std=c11", "-I", args.include], text)
        report.check(status == 0, f"the version in the headers is not the project's:\n{abi.first_lines(said)}")
    print(f"each C compilation checks {len(rows)} constants")
    report.finish("compilations")


main()
