/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 0
 *
 * Connections that send garbage, that stop in the middle of a message, that say nothing at all, and more of them than the job has places: the job
 * starts, works and ends as if they were not there.
 * Spec: none; shmemx_init_attr is an extension
 */
#include "forge.h"

enum { SILENT = 150 };

static void disturb(const shmemx_uniqueid_t *id)
{
    char garbage[4096];
    memset(garbage, 'x', sizeof garbage);
    for (int i = 0; i < SILENT; i++) forge_connect(id); /* open until this process ends */
    for (int i = 0; i < 8; i++) {
        int fd = forge_connect(id);
        (void)!send(fd, garbage, i < 4 ? sizeof garbage : (size_t)i, MSG_NOSIGNAL); /* refused, or left waiting */
        if (i % 2) close(fd);
    }
    int fd = forge_connect(id); /* the first words are right */
    (void)!send(fd, "PSTNUID1", 8, MSG_NOSIGNAL);
    fd = forge_connect(id);
    memcpy(garbage, "PSTNUID1", 8);
    (void)!send(fd, garbage, sizeof garbage, MSG_NOSIGNAL);
}

/* One before the PEs come, one among them; they keep their connections to the end. */
static int stranger(int rank, int npes)
{
    (void)npes;
    shmemx_uniqueid_t id = own_id(1);
    if (rank == 1) own_await(&own_page->step, 2);
    disturb(&id);
    own_page->step += 1;
    own_await(&own_page->step, 4);
    return 0;
}

static int pe(int rank, int npes)
{
    shmemx_uniqueid_t id = own_id(rank);
    own_await(&own_page->step, 1);
    if (rank == 0) own_page->step = 2;
    if (rank == 2) own_await(&own_page->step, 3);
    if (CHECK_EQUAL(own_init(rank, npes, &id, 0), 0)) {
        own_work(rank, npes);
        shmem_finalize();
    }
    own_page->step = 4;
    return api_result();
}

int main(void)
{
    struct own job = own_begin(3, pe);
    own_add(&job, 0, 3, stranger);
    own_add(&job, 1, 3, stranger);
    own_end(&job);
    for (int i = 0; i < 5; i++) own_expect(&job, i, 0, NULL);
    return api_result();
}
