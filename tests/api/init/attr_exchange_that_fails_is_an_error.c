/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 0
 *
 * An allgather function that returns an error, that puts parts at wrong places, that knows two processes of one rank, or processes that disagree on the
 * size of the job: shmemx_init_attr says so and returns a status.
 * Spec: none; shmemx_init_attr is an extension
 */
#include "own.h"

/* What goes wrong in this job. */
enum { RETURNS, REVERSES, TWICE, SIZES };
static int mistake;

static int wrong_allgather(void *user, const void *mine, size_t bytes, void *all)
{
    int *place = user;
    if (mistake == RETURNS) return 42;
    int err = own_allgather(user, mine, bytes, all);
    if (mistake != REVERSES || err) return err;
    for (int i = 0; i < place[1]; i++) memcpy((char *)all + (size_t)i * bytes, own_page->part[place[1] - 1 - i], bytes);
    return 0;
}

static int pe(int rank, int npes)
{
    static const int   wanted[] = {-EIO, -EPROTO, -EPROTO, -EPROTO};
    int                place[2] = {rank, npes};
    shmemx_init_attr_t attr     = SHMEMX_INIT_ATTR_INITIALIZER;
    attr.rank                   = mistake == TWICE ? 0 : rank;
    attr.npes                   = mistake == SIZES && rank == 1 ? 3 : npes;
    attr.allgather              = wrong_allgather;
    attr.user                   = place;
    if (mistake == SIZES) place[1] = npes;
    CHECK_EQUAL(shmemx_init_attr(&attr), wanted[mistake]);
    return api_result();
}

static void job_with(int what, const char *said)
{
    mistake        = what;
    struct own job = own_begin(2, pe);
    own_end(&job);
    for (int rank = 0; rank < 2; rank++) {
        own_expect(&job, rank, 0, said);
        CHECK_EQUAL(own_count(job.pe[rank].said, "postern: "), 1);
    }
}

int main(void)
{
    job_with(RETURNS, "returned 42");
    job_with(REVERSES, "does not hold what this PE gave");
    job_with(TWICE, "allgather");
    job_with(SIZES, "do not agree on the job");
    return api_result();
}
