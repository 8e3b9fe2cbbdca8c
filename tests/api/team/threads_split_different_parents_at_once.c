/* SPDX-License-Identifier: Apache-2.0
 *
 * Several threads of each PE make and destroy teams at the same time, each from a parent of its own: they compete for the same places, and all get
 * one, the same on all PEs.
 *
 * PES: 1 2 3
 * ENV: POSTERN_CHAOS_DELAY=2us
 * LINK: pthread
 * Spec: OpenSHMEM 1.6 §9.4.6 shmem_team_split_strided, §9.2 Thread Support
 */
#include "../api.h"

#include <pthread.h>

enum { THREADS = 3, TEAMS = 60, PES_MAX = 16 };

static shmem_team_t parents[THREADS];
static long         source[THREADS], dest[THREADS][TEAMS][PES_MAX];

static void *split(void *argument)
{
    int which = *(int *)argument, n = shmem_team_n_pes(parents[which]), me = shmem_team_my_pe(parents[which]);
    for (int i = 0; i < TEAMS; i++) {
        shmem_team_t team;
        if (!CHECK_EQUAL(shmem_team_split_strided(parents[which], n - 1, -1, n, NULL, 0, &team), 0)) break;
        source[which] = me * 100 + i;
        CHECK_EQUAL(shmem_long_fcollect(team, dest[which][i], &source[which], 1), 0);
        for (int k = 0; k < n; k++) CHECK_EQUAL(dest[which][i][k], (n - 1 - k) * 100 + i);
        shmem_team_destroy(team);
    }
    return NULL;
}

int main(void)
{
    int       level, numbers[THREADS];
    pthread_t threads[THREADS];
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
    CHECK_EQUAL(level, SHMEM_THREAD_MULTIPLE);
    int n = shmem_n_pes();
    for (int i = 0; i < THREADS; i++) CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &parents[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        CHECK_EQUAL(pthread_create(&threads[i], NULL, split, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) shmem_team_destroy(parents[i]);
    shmem_finalize();
    return api_result();
}
