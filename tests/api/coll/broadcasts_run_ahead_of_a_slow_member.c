/* SPDX-License-Identifier: Apache-2.0
 *
 * Many broadcasts in a row while one member is slow: a root need not wait for it, and may be several calls ahead, but never overwrites what the
 * slow member has not taken. More calls than there are boxes, in sizes of every kind, first from one root, then each time from another; between
 * them, at places that move, a synchronization or a collective in which all hear from all.
 *
 * PES: 2 3 5
 * ENV: POSTERN_CHAOS_DELAY=2us
 * Spec: OpenSHMEM 1.6 §9.10 Collective Routines, §9.10.7 shmem_broadcast
 */
#include "movers.h"

#include <time.h>

enum { CALLS = 30 };

static void be_slow(int call)
{
    struct timespec nap = {.tv_nsec = 300000};
    if (call % 7 == shmem_my_pe()) nanosleep(&nap, NULL);
}

static void run(struct movers *m, int root, size_t bytes, int between)
{
    int n = shmem_n_pes();
    for (int call = 0; call < CALLS; call++) {
        be_slow(call);
        move_broadcast(m, SHMEM_TEAM_WORLD, bytes, root >= 0 ? root : call * 3 % n);
        if (between == 0 || call % between != between - 1) continue;
        if (call % 3 == 0) shmem_team_sync(SHMEM_TEAM_WORLD);
        else if (call % 3 == 1) move_fcollect(m, SHMEM_TEAM_WORLD, 8);
        else move_collect(m, SHMEM_TEAM_WORLD, 50);
    }
}

int main(void)
{
    static const size_t sizes[]    = {8, 120, 700, 9000};
    static const int    betweens[] = {0, 5, 8};
    shmem_init();
    struct movers m = movers_create();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t j = 0; j < sizeof betweens / sizeof betweens[0]; j++) {
            run(&m, 0, sizes[i], betweens[j]);
            run(&m, -1, sizes[i], betweens[j]);
        }
    movers_destroy(&m);
    shmem_finalize();
    return api_result();
}
