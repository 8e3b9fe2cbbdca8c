/* SPDX-License-Identifier: Apache-2.0
 *
 * A PE of a job without a launcher, for cases_own.py: own_exchange RANK NPES work|wait [ID]. Rank 0 makes the unique id and says it; the others are
 * given it.
 *
 *   work   a put around the ring, a sum, the end
 *   wait   says that it is ready; then all are in a barrier that the last PE does not come to
 */
#include "../api/api.h"

#include <shmemx.h>
#include <unistd.h>

static long from_left, sum;

int main(int argc, char **argv)
{
    char               text[SHMEMX_UNIQUEID_TEXT_BYTES];
    shmemx_uniqueid_t  id;
    shmemx_init_attr_t attr = SHMEMX_INIT_ATTR_INITIALIZER;
    if (argc < 4) return 2;
    int rank = atoi(argv[1]), npes = atoi(argv[2]);
    api_known_pe = rank;
    if (rank == 0) {
        if (shmemx_get_uniqueid(&id) != 0 || shmemx_uniqueid_to_text(&id, text, sizeof text) != 0) return 3;
        printf("id %s\n", text);
        fflush(stdout);
    } else if (argc < 5 || shmemx_uniqueid_from_text(argv[4], &id) != 0) {
        return 3;
    }
    attr.rank     = rank;
    attr.npes     = npes;
    attr.uniqueid = &id;
    if (shmemx_init_attr(&attr) != 0) return 4;
    shmem_long_p(&from_left, rank + 1, (rank + 1) % npes);
    shmem_barrier_all();
    CHECK_EQUAL(from_left, (rank + npes - 1) % npes + 1);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &from_left, 1);
    CHECK_EQUAL(sum, (long)npes * (npes + 1) / 2);
    if (strcmp(argv[3], "wait") == 0) {
        printf("ready\n");
        fflush(stdout);
        while (rank == npes - 1) usleep(1000);
        shmem_barrier_all();
    }
    shmem_finalize();
    printf("has finished\n");
    return api_result();
}
