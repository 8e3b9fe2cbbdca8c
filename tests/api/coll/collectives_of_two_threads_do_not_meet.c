/* SPDX-License-Identifier: Apache-2.0
 *
 * Two threads of each PE make collective calls at the same time, each on a team of its own, and each sees only its own data. One team is the
 * world, the other has the same members in reverse.
 *
 * PES: 1 2 3
 * ENV: POSTERN_CHAOS_DELAY=5us
 * LINK: pthread
 * Spec: OpenSHMEM 1.6 §9.10 Collective Routines, §9.2 Thread Support
 */
#include "movers.h"

#include <pthread.h>

enum { TURNS = 15 };

static struct movers movers[2];
static shmem_team_t  teams[2];

static void *run(void *argument)
{
    int which = *(int *)argument;
    for (int i = 0; i < TURNS; i++) {
        move_all(&movers[which], teams[which], (size_t)(i * 61 % 700 + which));
        shmem_team_sync(teams[which]);
    }
    return NULL;
}

int main(void)
{
    int       level, numbers[2] = {0, 1};
    pthread_t threads[2];
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
    CHECK_EQUAL(level, SHMEM_THREAD_MULTIPLE);
    int n    = shmem_n_pes();
    teams[0] = SHMEM_TEAM_WORLD;
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n, NULL, 0, &teams[1]), 0);
    for (int i = 0; i < 2; i++) movers[i] = movers_create();
    for (int i = 0; i < 2; i++) CHECK_EQUAL(pthread_create(&threads[i], NULL, run, &numbers[i]), 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    CHECK(movers[0].calls == movers[1].calls && movers[0].calls == TURNS * 7);
    shmem_team_destroy(teams[1]);
    shmem_finalize();
    return api_result();
}
