/* SPDX-License-Identifier: Apache-2.0
 *
 * Hundreds of reductions, scans and other collectives in a row, with nothing between them but PEs that dawdle now and
 * then. Each call has a dest of its own; source is one, and is overwritten as soon as a call has returned. After that,
 * calls that all have the same dest: the last counts.
 * Spec: OpenSHMEM 1.6 §9.10 Collective Routines, §9.10.9 Reductions, §9.10.10 Scans
 * PES: 2 3 4 8 11
 */
#include "ways.h"

enum { CALLS = 120, ELEMS_MAX = 3000 };

static int  me, npes;
static long source[ELEMS_MAX], sent[CALLS];

static long value(int pe, int call, size_t i)
{
    return (long)(ways_bits((uint64_t)pe * 1000 + (uint64_t)call, i) >> 8);
}

static void dawdle(int call)
{
    static volatile unsigned work;
    if (ways_bits((uint64_t)me, (uint64_t)call) % 5) return;
    for (unsigned i = 0; i < 3000; i++) work = work + i;
}

static size_t size_of(int call)
{
    static const size_t sizes[] = {1, 15, 16, 0, 2, 300, 8, 1, ELEMS_MAX, 3};
    return sizes[ways_bits(77, (uint64_t)call) % (sizeof sizes / sizeof sizes[0])];
}

/* One call of the list, the same on all PEs. end: the PE before which all PEs' values are in the result. */
static void one_call(int call, long *dest, size_t n, int *end_out)
{
    *end_out = npes;
    switch (ways_bits(5, (uint64_t)call) % 6) {
    case 0: CHECK_EQUAL(shmem_long_sum_inscan(SHMEM_TEAM_WORLD, dest, source, n), 0), *end_out = me + 1; break;
    case 1: CHECK_EQUAL(shmem_long_sum_exscan(SHMEM_TEAM_WORLD, dest, source, n), 0), *end_out = me; break;
    default:
        if (call % 4 == 0) shmem_team_sync(SHMEM_TEAM_WORLD); /* other collectives count by themselves */
        if (call % 3 == 0) CHECK_EQUAL(shmem_long_broadcast(SHMEM_TEAM_WORLD, &sent[call], source, n > 0, call % npes), 0);
        if (call % 3 == 0 && n > 0) CHECK_EQUAL(sent[call], value(call % npes, call, 0));
        CHECK_EQUAL(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, n), 0);
        break;
    }
}

static void check(int call, const long *dest, size_t n, int end)
{
    for (size_t i = 0; i < n; i++) {
        long wanted = 0;
        for (int pe = 0; pe < end; pe++) wanted += value(pe, call, i);
        if (!CHECK_EQUAL(dest[i], wanted)) {
            fprintf(stderr, "PE %d: call %d, element %zu of %zu\n", me, call, i, n);
            return;
        }
    }
}

static void each_with_its_own_dest(long *dests)
{
    int   end[CALLS];
    long *dest = dests;
    for (int call = 0; call < CALLS; call++) {
        size_t n = size_of(call);
        for (size_t i = 0; i < n; i++) source[i] = value(me, call, i);
        dawdle(call);
        one_call(call, dest, n, &end[call]);
        if (call % 2) check(call, dest, n, end[call]); /* at once */
        dest += n;
    }
    dest = dests;
    for (int call = 0; call < CALLS; call++) { /* and they are still there */
        check(call, dest, size_of(call), end[call]);
        dest += size_of(call);
    }
}

static void all_with_one_dest(long *dest)
{
    static const size_t sizes[] = {1, 15, 200, ELEMS_MAX};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        for (int call = 0; call < 20; call++) {
            for (size_t i = 0; i < sizes[k]; i++) source[i] = value(me, call, i);
            dawdle(call);
            CHECK_EQUAL(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, sizes[k]), 0);
        }
        check(19, dest, sizes[k], npes);
        shmem_sync_all();
    }
}

static void try_all(void)
{
    me           = shmem_my_pe();
    npes         = shmem_n_pes();
    size_t total = 0;
    for (int call = 0; call < CALLS; call++) total += size_of(call);
    long *dests = shmem_malloc(total * sizeof *dests);
    each_with_its_own_dest(dests);
    shmem_sync_all();
    all_with_one_dest(dests);
    shmem_free(dests);
}

int main(void)
{
    ways_each(try_all);
    return api_result();
}
