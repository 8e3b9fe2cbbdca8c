/* SPDX-License-Identifier: Apache-2.0
 *
 * Two threads of each PE run collectives at once, each on a team of its own, in step with nobody but their partners: the second
 * thread of the last PE comes to its team only when the others' first threads have told it to, from between their own
 * collectives.
 * Spec: OpenSHMEM 1.6 §9.2 Thread Support, §9.4 Team Management Routines, §9.10.3 shmem_team_sync
 * PES: 2 3
 * LINK: pthread
 * TIMEOUT: 60
 */
#include "../api.h"

#include <pthread.h>

enum { ROUNDS = 60 };

static shmem_team_t teams[2];
static long         counts[2][8], told;

static void rounds_on(int which)
{
    int me = shmem_my_pe(), n = shmem_n_pes(), last = n - 1;
    for (long round = 1; round <= ROUNDS; round++) {
        if (which == 1 && me == last) shmem_long_wait_until(&told, SHMEM_CMP_GE, round * (n - 1));
        shmem_long_p(&counts[which][me], round, (me + 1) % n);
        shmem_quiet();
        CHECK_EQUAL(shmem_team_sync(teams[which]), 0);
        CHECK_EQUAL(shmem_long_atomic_fetch(&counts[which][(me + n - 1) % n], me), round);
        CHECK_EQUAL(shmem_team_sync(teams[which]), 0);
        if (which == 0 && me != last) shmem_long_atomic_inc(&told, last);
    }
}

static void *second(void *unused)
{
    rounds_on(1);
    return unused;
}

int main(void)
{
    int       provided;
    pthread_t thread;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    int n = shmem_n_pes();
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &teams[0]), 0);
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n, NULL, 0, &teams[1]), 0);
    if (pthread_create(&thread, NULL, second, NULL) != 0) abort();
    rounds_on(0);
    pthread_join(thread, NULL);
    shmem_team_destroy(teams[0]);
    shmem_team_destroy(teams[1]);
    shmem_finalize();
    return api_result();
}
