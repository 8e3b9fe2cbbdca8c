/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads make teams at the same time where there are fewer places than they want. Each split returns, with the same answer on all members: a
 * team, or none. Nobody tries for ever, and nobody waits for another thread.
 *
 * PES: 2 3
 * ENV: POSTERN_TEAMS=8 POSTERN_LOG=error POSTERN_CHAOS_DELAY=2us
 * LINK: pthread
 * Spec: OpenSHMEM 1.6 §9.4.6 shmem_team_split_strided, §9.2 Thread Support
 */
#include "../api.h"

#include <pthread.h>

/* World, shared and three parents leave three places, for three threads that want two each. */
enum { THREADS = 3, TURNS = 40 };

static shmem_team_t parents[THREADS];
static long         answer[THREADS][2], all[THREADS][2];
static int          made[THREADS];

static void agree(int which, const int *results)
{
    for (int i = 0; i < 2; i++) answer[which][i] = results[i] == 0;
    CHECK_EQUAL(shmem_long_sum_reduce(parents[which], all[which], answer[which], 2), 0);
    for (int i = 0; i < 2; i++) CHECK_EQUAL(all[which][i], answer[which][i] * shmem_team_n_pes(parents[which]));
}

static void *compete(void *argument)
{
    int which = *(int *)argument, n = shmem_team_n_pes(parents[which]);
    for (int turn = 0; turn < TURNS; turn++) {
        shmem_team_t teams[2];
        int          results[2];
        for (int i = 0; i < 2; i++) {
            results[i] = shmem_team_split_strided(parents[which], 0, 1, n, NULL, 0, &teams[i]);
            CHECK_EQUAL(results[i] == 0, teams[i] != SHMEM_TEAM_INVALID);
        }
        agree(which, results);
        for (int i = 0; i < 2; i++) {
            if (teams[i] == SHMEM_TEAM_INVALID) continue;
            made[which]++;
            CHECK_EQUAL(shmem_team_sync(teams[i]), 0);
            shmem_team_destroy(teams[i]);
        }
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
        CHECK_EQUAL(pthread_create(&threads[i], NULL, compete, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    CHECK(made[0] + made[1] + made[2] > 0);
    for (int i = 0; i < THREADS; i++) shmem_team_destroy(parents[i]);
    shmem_finalize();
    return api_result();
}
