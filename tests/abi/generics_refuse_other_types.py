# SPDX-License-Identifier: Apache-2.0
"""A generic call with a type it does not know does not compile, and the message has a name that says why.

Spec: OpenSHMEM 1.6 §5 Language Bindings and Conformance
"""

import re

import abi

# gcc and clang on a call of a function without parameters.  The name alone also stands where they quote a macro.
SAYS = "error: too many arguments to function ['‘]%s['’]|note: '%s' declared here"
CALLS = {
    "shmem_put(&record, &record, 1, 0)": "not_an_rma_type",
    "shmem_put(nothing, nothing, 1, 0)": "not_an_rma_type",
    "shmem_put(context, &record, &record, 1, 0)": "not_an_rma_type",
    "shmem_get_nbi(&pointer, &pointer, 1, 0)": "not_an_rma_type",
    "shmem_p(&truth, 1, 0)": "not_an_rma_type",
    "shmem_put_signal(&record, &record, 1, &word, 1, SHMEM_SIGNAL_SET, 0)": "not_an_rma_type",
    "shmem_atomic_add(&number, 1, 0)": "not_an_amo_type",
    "shmem_atomic_compare_swap(context, &number, 1, 2, 0)": "not_an_amo_type",
    "shmem_atomic_inc(&letter, 0)": "not_an_amo_type",
    "shmem_atomic_fetch(&letter, 0)": "not_an_ext_amo_type",
    "shmem_atomic_fetch_xor(&number, 1, 0)": "not_a_bitwise_type",
    "shmem_wait_until(&number, SHMEM_CMP_EQ, 1)": "not_a_wait_type",
    "shmem_test_any(&letter, 1, NULL, SHMEM_CMP_EQ, 1)": "not_a_wait_type",
    "shmem_wait_until_all(&small, 1, NULL, SHMEM_CMP_EQ, 1)": "not_a_wait_type",  # short: for wait_until and test alone
    "shmem_broadcast(team, &record, &record, 1, 0)": "not_an_rma_type",
    "shmem_alltoall(team, nothing, nothing, 1)": "not_an_rma_type",
    "shmem_collect(team, &complex, &complex, 1)": "not_an_rma_type",
    "shmem_and_reduce(team, &number, &number, 1)": "not_a_reduce_bit_type",
    "shmem_xor_reduce(team, &letter, &letter, 1)": "not_a_reduce_bit_type",
    "shmem_max_reduce(team, &complex, &complex, 1)": "not_a_reduce_type",
    "shmem_min_reduce(team, &truth, &truth, 1)": "not_a_reduce_type",
    "shmem_sum_reduce(team, &record, &record, 1)": "not_a_sum_type",
    "shmem_sum_exscan(team, &pointer, &pointer, 1)": "not_a_sum_type",
    "shmem_add(&number, 1, 0)": "not_an_old_amo_type",
    "shmem_finc(&small, 0)": "not_an_old_amo_type",
    "shmem_fetch(&word, 0)": "not_an_old_amo_type",
}
# Refused in other words: the message must have these.
OTHERS = {
    "shmem_sync()": "",
    "shmem_sync(1)": "too few arguments",  # neither a team nor an active set
    "shmem_sync(team, 1, 1, NULL)": "too many arguments",
    "shmem_sum_reduce(good, good, 1)": "too few arguments",  # no team
    "shmem_add(context, good, 1, 0)": "",  # the old names have no form with a context
}

HEAD = """#include <shmem.h>
struct { int x; } record;
void *nothing; int *pointer; _Bool truth; float number; char letter; uint64_t word; short small; double _Complex complex;
shmem_ctx_t context = SHMEM_CTX_DEFAULT; shmem_team_t team = SHMEM_TEAM_WORLD;
long good[1];
void use(void);
void use(void) { (void)nothing; (void)pointer; shmem_put(context, good, good, 1, 0); shmem_sync(team);
    shmem_sync(0, 0, 1, good); shmem_sum_reduce(team, &complex, &complex, 1);
    shmem_or_reduce(team, &word, &word, 1); shmem_swap(&number, 1, 0); %s; }
"""


def main():
    args = abi.arguments()
    report = abi.Report()
    for compiler in abi.compilers("c"):
        command = [compiler, "-std=c11", "-w", "-I", args.include]
        status, said = abi.compile_text(command, HEAD % "(void)0")
        report.check(status == 0, f"{compiler}, the good call alone:\n{abi.first_lines(said)}")
        for call, name in CALLS.items():
            status, said = abi.compile_text(command, HEAD % call)
            report.check(status != 0, f"{compiler} takes {call}")
            report.check(re.search(SAYS.replace("%s", "shmemi_error_" + name), said), f"{compiler} on {call}:\n{abi.first_lines(said)}")
        for call, words in OTHERS.items():
            status, said = abi.compile_text(command, HEAD % call)
            report.check(status != 0 and words in said, f"{compiler} on {call}:\n{abi.first_lines(said)}")
    report.finish("checks")


main()
