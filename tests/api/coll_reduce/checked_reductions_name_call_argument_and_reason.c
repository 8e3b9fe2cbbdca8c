/* SPDX-License-Identifier: Apache-2.0
 *
 * What a reduction or scan cannot work on is, in checked mode, a message with the call, the argument and the reason: a
 * team that there is not, memory that is not symmetric, arrays that overlap in part, sizes that cannot be, and what an
 * active set lacks.
 * Spec: OpenSHMEM 1.6 §9.10 Collective Routines, §9.10.9 Reductions, §9.10.10 Scans, §C Undefined Behavior
 * PES: 0
 * ENV: POSTERN_CHECK=1 SHMEM_SYMMETRIC_SIZE=1M
 */
#include "../child.h"

enum { LARGE = 80000 };

static long large[LARGE], dest[32], source[32], work[32], psync[SHMEM_REDUCE_SYNC_SIZE];

static void begin(void)
{
    shmem_init();
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++) psync[i] = SHMEM_SYNC_VALUE;
}
static void no_team(void)
{
    begin();
    shmem_long_sum_reduce(SHMEM_TEAM_INVALID, dest, source, 1);
}
static void before_init(void)
{
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 1);
}
static void dest_on_stack(void)
{
    long local = 0;
    begin();
    shmem_long_max_reduce(SHMEM_TEAM_WORLD, &local, source, 1);
}
static void source_on_stack(void)
{
    long local = 0;
    begin();
    shmem_long_sum_inscan(SHMEM_TEAM_WORLD, dest, &local, 1);
}
static void source_is_null(void)
{
    begin();
    shmem_double_min_reduce(SHMEM_TEAM_WORLD, (double *)(void *)dest, NULL, 1);
}
static void past_the_end(void)
{
    begin();
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, shmem_malloc(64), source, 1 << 20);
}
static void overlap(void)
{
    begin();
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, dest + 1, 2);
}
static void overlap_of_scan(void)
{
    begin();
    shmem_long_sum_exscan(SHMEM_TEAM_WORLD, dest + 1, dest, 2);
}
static void too_many(void)
{
    begin();
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, SIZE_MAX / 4);
}
static void no_such_set(void)
{
    begin();
    shmem_long_sum_to_all(dest, source, 1, 0, 0, 2, work, psync);
}
static void psync_on_stack(void)
{
    long local[SHMEM_REDUCE_SYNC_SIZE] = {SHMEM_SYNC_VALUE};
    begin();
    shmem_long_sum_to_all(dest, source, 1, 0, 0, 1, work, local);
}
static void psync_not_set(void)
{
    begin();
    psync[3] = 77;
    shmem_long_sum_to_all(dest, source, 1, 0, 0, 1, work, psync);
}
static void pwrk_on_stack(void)
{
    long local[32] = {0};
    begin();
    shmem_long_sum_to_all(dest, source, 1, 0, 0, 1, local, psync);
}
static void pwrk_past_the_end(void)
{
    begin();
    char *block = shmem_malloc(900 << 10); /* pWrk needs half of the elements, and the heap has 1 MiB */
    shmem_long_sum_to_all(large, large, LARGE, 0, 0, 1, (long *)(void *)(block + (800 << 10)), psync);
}
static void nreduce_negative(void)
{
    begin();
    shmem_int_and_to_all((int *)(void *)dest, (int *)(void *)source, -3, 0, 0, 1, (int *)(void *)work, psync);
}

/* clang-format off */
static const struct {
    const char *name;
    void      (*what)(void);
    const char *wanted[4];
} cases[] = {
    {"no_team", no_team, {"shmem_long_sum_reduce", "SHMEM_TEAM_INVALID"}},
    {"before_init", before_init, {"shmem_long_sum_reduce", "shmem_init"}},
    {"dest_on_stack", dest_on_stack, {"shmem_long_max_reduce", "symmetric"}},
    {"source_on_stack", source_on_stack, {"shmem_long_sum_inscan", "symmetric"}},
    {"source_is_null", source_is_null, {"shmem_double_min_reduce", "symmetric"}},
    {"past_the_end", past_the_end, {"shmem_long_sum_reduce", "8388608"}},
    {"overlap", overlap, {"shmem_long_sum_reduce", "overlap", "only the same address"}},
    {"overlap_of_scan", overlap_of_scan, {"shmem_long_sum_exscan", "overlap"}},
    {"too_many", too_many, {"shmem_long_sum_reduce", "more than an address can count"}},
    {"no_such_set", no_such_set, {"shmem_long_sum_to_all", "no active set of 2 PEs"}},
    {"psync_on_stack", psync_on_stack, {"shmem_long_sum_to_all", "symmetric"}},
    {"psync_not_set", psync_not_set, {"shmem_long_sum_to_all", "pSync[3] is 77"}},
    {"pwrk_on_stack", pwrk_on_stack, {"shmem_long_sum_to_all", "symmetric"}},
    {"pwrk_past_the_end", pwrk_past_the_end, {"shmem_long_sum_to_all", "320008 bytes"}},
    {"nreduce_negative", nreduce_negative, {"shmem_int_and_to_all", "nreduce is -3"}},
};
/* clang-format on */

int main(void)
{
    bool right = true;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (!child_refuses(cases[i].name, cases[i].what, cases[i].wanted)) right = false;
    return right ? 0 : 1;
}
