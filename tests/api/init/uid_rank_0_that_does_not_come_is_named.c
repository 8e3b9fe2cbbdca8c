/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 0
 *
 * Rank 0 has made the id and does not call shmemx_init_attr: the others get -ETIMEDOUT and say that PE 0 has not answered. When its process is
 * gone, they are told at once that it cannot be reached.
 * Spec: none; shmemx_init_attr is an extension
 */
#include "own.h"

static int pe(int rank, int npes)
{
    shmemx_uniqueid_t id = own_id(rank);
    if (rank == 0) {
        own_await(&own_page->step, npes - 1);
        return 0; /* and the socket closes */
    }
    CHECK_EQUAL(own_init(rank, npes, &id, 0.2), -ETIMEDOUT);
    own_page->step++;
    return api_result();
}

static int late(int rank, int npes)
{
    return own_init(rank, npes, &own_page->id, -1) == -ECONNREFUSED ? 0 : 1;
}

int main(void)
{
    struct own job = own_begin(3, pe);
    own_end(&job);
    own_expect(&job, 0, 0, NULL);
    own_expect(&job, 1, 0, "PE 0 has not answered within 0.2 s");
    own_expect(&job, 2, 0, "PE 0 has not answered within 0.2 s");

    struct own more = {.npes = 0};
    own_add(&more, 1, 3, late);
    own_end(&more);
    own_expect(&more, 0, 0, "could not reach rank 0");
    return api_result();
}
