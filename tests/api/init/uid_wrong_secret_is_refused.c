/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 0
 *
 * Who knows address and port of a job but not its secret gets -EACCES and a message; the job waits on and starts when the right processes come. The
 * secret itself does not travel.
 * Spec: none; shmemx_init_attr is an extension
 */
#include "forge.h"

static int pe(int rank, int npes)
{
    shmemx_uniqueid_t id = own_id(rank);
    if (rank == 2) own_await(&own_page->step, 1);
    if (CHECK_EQUAL(own_init(rank, npes, &id, 0), 0)) {
        own_work(rank, npes);
        shmem_finalize();
    }
    return api_result();
}

static int stranger(int rank, int npes)
{
    shmemx_uniqueid_t id = own_id(rank);
    id.bytes[FORGE_SECRET + 3] ^= 1;
    forge_check(&id);
    CHECK_EQUAL(own_init(rank, npes, &id, 0), -EACCES);
    own_page->step = 1;
    return api_result();
}

int main(void)
{
    struct own job = own_begin(3, pe);
    own_add(&job, 2, 3, stranger);
    own_end(&job);
    for (int rank = 0; rank < 3; rank++) own_expect(&job, rank, 0, NULL);
    own_expect(&job, 3, 0, "does not know the secret");
    CHECK_EQUAL(own_count(job.pe[3].said, "postern: "), 1);
    return api_result();
}
