/* SPDX-License-Identifier: Apache-2.0
 *
 * Two threads of each PE reduce at the same time, each on its own team, one of which numbers the PEs in reverse: neither
 * waits for the other, and none of their numbers mix.
 * Spec: OpenSHMEM 1.6 §9.2 Thread Support, §9.10.9 Reductions, §9.10.10 Scans
 * PES: 2 3 4
 * LINK: pthread
 */
#include "ways.h"

#include <pthread.h>

enum { ROUNDS = 40, ELEMS_MAX = 2500 };

static const size_t sizes[] = {1, 15, 16, 300, ELEMS_MAX};

static shmem_team_t teams[2];
static long         source[2][ELEMS_MAX], dest[2][ROUNDS][ELEMS_MAX];

static long value(int which, int world_pe, int round, size_t i)
{
    return (long)(ways_bits((uint64_t)(which + 2 * world_pe + 64 * round), i) >> 8);
}

static void rounds_on(int which)
{
    shmem_team_t team = teams[which];
    int          me = shmem_team_my_pe(team), members = shmem_team_n_pes(team);
    for (int round = 0; round < ROUNDS; round++) {
        size_t n    = sizes[(round + which) % (int)(sizeof sizes / sizeof sizes[0])];
        bool   scan = round % 3 == 1;
        long  *into = dest[which][round];
        for (size_t i = 0; i < n; i++) source[which][i] = value(which, shmem_my_pe(), round, i);
        if (scan) CHECK_EQUAL(shmem_long_sum_inscan(team, into, source[which], n), 0);
        else CHECK_EQUAL(shmem_long_sum_reduce(team, into, source[which], n), 0);
        for (size_t i = 0; i < n; i++) {
            long wanted = 0;
            for (int member = 0; member < (scan ? me + 1 : members); member++)
                wanted += value(which, shmem_team_translate_pe(team, member, SHMEM_TEAM_WORLD), round, i);
            if (!CHECK_EQUAL(into[i], wanted)) break;
        }
    }
}

static void *second(void *unused)
{
    rounds_on(1);
    return unused;
}

static void try_all(void)
{
    pthread_t thread;
    int       n = shmem_n_pes();
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &teams[0]), 0);
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n, NULL, 0, &teams[1]), 0);
    if (pthread_create(&thread, NULL, second, NULL) != 0) abort();
    rounds_on(0);
    pthread_join(thread, NULL);
    shmem_team_destroy(teams[0]);
    shmem_team_destroy(teams[1]);
}

int main(void)
{
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        int provided;
        if (ways_repeat(&ways[i])) continue;
        setenv("POSTERN_COLL_REDUCE", ways[i].reduce, 1);
        setenv("POSTERN_COLL_SYNC", ways[i].sync, 1);
        shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
        CHECK_EQUAL(provided, SHMEM_THREAD_MULTIPLE);
        try_all();
        shmem_finalize();
    }
    return api_result();
}
