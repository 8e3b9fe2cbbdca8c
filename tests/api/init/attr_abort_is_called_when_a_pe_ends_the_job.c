/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 0
 *
 * shmem_global_exit of a job with an allgather function calls the program's abort function, with the status and no reason, and then ends
 * the PE with that status; the function here ends the other one. Without such a function the PE says that it cannot tell the others.
 * Spec: OpenSHMEM 1.6 §9.1.6 shmem_global_exit
 */
#include "own.h"

static bool has_abort;

static void end_all(void *user, int status, const char *reason)
{
    CHECK(user != NULL);
    CHECK(reason == NULL);
    own_page->step = status;
}

static int pe(int rank, int npes)
{
    int                place[2] = {rank, npes};
    shmemx_init_attr_t attr     = SHMEMX_INIT_ATTR_INITIALIZER;
    attr.rank                   = rank;
    attr.npes                   = npes;
    attr.allgather              = own_allgather;
    attr.abort                  = has_abort ? end_all : NULL;
    attr.user                   = place;
    CHECK_EQUAL(shmemx_init_attr(&attr), 0);
    shmem_barrier_all();
    if (rank == 1) shmem_global_exit(api_failures ? 1 : 7);
    own_await(&own_page->step, 1);
    _exit(own_page->step);
}

int main(void)
{
    has_abort      = true;
    struct own job = own_begin(2, pe);
    own_end(&job);
    own_expect(&job, 0, 7, NULL);
    own_expect(&job, 1, 7, NULL);

    has_abort = false;
    job       = own_begin(2, pe);
    int how;
    waitpid(job.pe[1].pid, &how, 0);
    CHECK(WIFEXITED(how) && WEXITSTATUS(how) == 7);
    own_page->step = 9;
    own_end(&job);
    own_expect(&job, 0, 9, NULL);
    CHECK(strstr(job.pe[1].said, "cannot tell the others") != NULL);
    return api_result();
}
