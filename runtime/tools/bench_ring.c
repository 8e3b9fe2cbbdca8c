/* SPDX-License-Identifier: Apache-2.0
 *
 * Signals where all PEs take part: one word goes round all PEs, each putting it to the next as it has come. With more PEs than cores most PEs sleep,
 * and each hop must wake the next. By put_signal where the library has it (1.5), else by what a program writes instead.
 */
#include "runtime/tools/bench.h"

static long     token;
static uint64_t arrived;      /* the last round that has come; written by the PE before this */
static uint64_t round_number; /* all PEs count alike, over all samples                       */

static void pass_on(int next)
{
#if BENCH_API >= 105
    shmem_putmem_signal(&token, &token, sizeof token, &arrived, round_number, SHMEM_SIGNAL_SET, next);
#else
    shmem_putmem(&token, &token, sizeof token, next);
    shmem_fence();
    shmem_uint64_p(&arrived, round_number, next);
#endif
}

static void wait_for_round(void)
{
#if BENCH_API >= 105
    shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, round_number);
#else
    shmem_uint64_wait_until(&arrived, SHMEM_CMP_EQ, round_number);
#endif
}

static void our_ring(const struct bench_case *what, size_t times)
{
    int next = (bench.me + 1) % bench.npes;
    (void)what;
    for (size_t i = 0; i < times; i++) {
        round_number++;
        if (bench.me == 0) pass_on(next);
        wait_for_round();
        if (bench.me != 0) pass_on(next);
    }
}

void bench_run_ring(void)
{
    struct bench_case one = {.group    = BENCH_SIGNAL,
                             .name     = "put_signal round a ring, per hop",
                             .memory   = "static",
                             .bytes    = sizeof token,
                             .by       = BENCH_BY_EACH,
                             .calls    = bench.npes,
                             .ours     = our_ring,
                             .raw      = bench.npes == 2 ? bench_raw_ping_pong : NULL,
                             .raw_name = "two flags"};
    if (bench.npes > 1) bench_measure(&one);
}
