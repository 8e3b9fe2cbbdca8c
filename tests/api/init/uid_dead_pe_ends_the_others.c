/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 0
 *
 * A PE is killed while the others wait in a barrier or compute: each of them ends with status 1 and says which PE is gone. Rank 0, which
 * serves the job, is no exception. A child that the dead PE had forked, and that lives on, hides nothing.
 * Spec: none; shmemx_init_attr is an extension
 */
#include "own.h"

static int victim;

static int pe(int rank, int npes)
{
    shmemx_uniqueid_t id = own_id(rank);
    CHECK_EQUAL(own_init(rank, npes, &id, 0), 0);
    shmem_barrier_all();
    if (rank == victim) {
        if (fork() == 0) { /* until the others have ended, or the guard does */
            alarm(OWN_GUARD_S);
            close(STDERR_FILENO);
            own_await(&own_page->step, 2);
            _exit(0);
        }
        own_page->step = 1;
        pause();
    }
    if (rank == npes - 1)
        for (;;) usleep(1000);
    shmem_barrier_all();
    return 3;
}

static void kill_one(int who)
{
    char text[32];
    victim         = who;
    struct own job = own_begin(4, pe);
    own_await(&own_page->step, 1);
    kill(job.pe[who].pid, SIGKILL);
    own_end(&job);
    own_page->step = 2;
    snprintf(text, sizeof text, "PE %d is gone", who);
    for (int rank = 0; rank < 4; rank++) {
        if (rank == who) CHECK_EQUAL(job.pe[rank].status, 128 + SIGKILL);
        else own_expect(&job, rank, 1, text);
        CHECK_EQUAL(own_count(job.pe[rank].said, "is gone"), rank != who);
    }
}

int main(void)
{
    alarm(OWN_GUARD_S);
    kill_one(0);
    kill_one(1);
    kill_one(2);
    return api_result();
}
