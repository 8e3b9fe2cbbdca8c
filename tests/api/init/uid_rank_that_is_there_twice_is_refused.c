/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 0
 *
 * A second process of a rank gets -EEXIST, one that believes in another size of the job -EINVAL, each with a message. The job starts without them, when
 * the last rank comes.
 * Spec: none; shmemx_init_attr is an extension
 */
#include "own.h"

static int pe(int rank, int npes)
{
    shmemx_uniqueid_t id = own_id(rank);
    if (rank == 2) own_await(&own_page->step, 2);
    if (CHECK_EQUAL(own_init(rank, npes, &id, 0), 0)) {
        own_work(rank, npes);
        shmem_finalize();
    }
    return api_result();
}

/* One of two, whichever is second. */
static int twice(int rank, int npes)
{
    shmemx_uniqueid_t id  = own_id(rank);
    int               err = own_init(rank, npes, &id, 0);
    if (err == 0) {
        own_work(rank, npes);
        shmem_finalize();
        return api_result();
    }
    own_page->step++;
    return err == -EEXIST && api_result() == 0 ? 17 : 1;
}

static int other_size(int rank, int npes)
{
    shmemx_uniqueid_t id = own_id(rank);
    CHECK_EQUAL(own_init(rank, npes + 1, &id, 0), -EINVAL);
    own_page->step++;
    return api_result();
}

int main(void)
{
    struct own job = {.npes = 0};
    own_prepare(3);
    own_add(&job, 0, 3, pe);
    own_add(&job, 2, 3, pe);
    own_add(&job, 1, 3, other_size);
    own_add(&job, 1, 3, twice);
    own_add(&job, 1, 3, twice);
    own_end(&job);
    own_expect(&job, 0, 0, NULL);
    own_expect(&job, 1, 0, NULL);
    own_expect(&job, 2, 0, "rank 0 has started it for 3 PEs");
    int second = job.pe[3].status == 17 ? 3 : 4;
    own_expect(&job, second, 17, "another process has joined it as rank 1");
    own_expect(&job, 7 - second, 0, NULL);
    return api_result();
}
