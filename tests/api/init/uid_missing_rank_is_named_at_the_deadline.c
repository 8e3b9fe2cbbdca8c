/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 0
 *
 * When some ranks do not come, rank 0 gets -ETIMEDOUT after timeout_s and says which ranks are missing. So does another one that has come, though it
 * would wait for ever; where the machine was so slow that it has not come in time, it is told that the job is over. Nothing ends the
 * processes.
 * Spec: none; shmemx_init_attr is an extension
 */
#include "own.h"

static int pe(int rank, int npes)
{
    shmemx_uniqueid_t id  = own_id(rank);
    int               err = own_init(rank, npes, &id, rank == 0 ? 0.3 : -1);
    if (rank == 0) CHECK_EQUAL(err, -ETIMEDOUT);
    else CHECK(err == -ETIMEDOUT || err == -ECONNREFUSED);
    return api_result() ? 1 : err == -ETIMEDOUT ? 10 : 11;
}

int main(void)
{
    struct own job = {.npes = 0};
    own_prepare(2);
    own_add(&job, 0, 4, pe);
    own_add(&job, 1, 4, pe);
    own_end(&job);
    own_expect(&job, 0, 10, "2 and 3 not arrived within 0.3 s");
    if (job.pe[1].status == 11) own_expect(&job, 1, 11, "postern: PE 1: ");
    else own_expect(&job, 1, 10, "PEs 2 and 3 not arrived within 0.3 s");
    for (int rank = 0; rank < 2; rank++) CHECK_EQUAL(own_count(job.pe[rank].said, "postern: "), 1);
    return api_result();
}
