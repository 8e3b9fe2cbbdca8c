/* SPDX-License-Identifier: Apache-2.0
 *
 * As alltoall, with elements that lie apart: two in memory between elements of the source, one between those of the destination.
 * What lies between is left alone.
 * Spec: OpenSHMEM 1.6 §9.10.6 shmem_alltoalls
 * Does what the specification's shmem_alltoalls_example does.
 * PES: 2 3
 */
#include "../../api/api.h"

enum { COUNT = 4, FROM = 3, TO = 2 };

int main(void)
{
    shmem_init();
    int      me = shmem_my_pe(), n = shmem_n_pes(), total = n * COUNT;
    int64_t *source = shmem_malloc((size_t)total * FROM * sizeof *source);
    int64_t *dest   = shmem_malloc((size_t)total * TO * sizeof *dest);
    if (source == NULL || dest == NULL) shmem_global_exit(1);
    for (int i = 0; i < total * FROM; i++) source[i] = i % FROM == 0 ? me * 100 + i / FROM : -1;
    for (int i = 0; i < total * TO; i++) dest[i] = -2;
    shmem_sync_all();
    CHECK_EQUAL(shmem_alltoalls(SHMEM_TEAM_WORLD, dest, source, TO, FROM, COUNT), 0);
    for (int i = 0; i < total * TO; i++) {
        int pe = i / TO / COUNT, element = i / TO % COUNT;
        CHECK_EQUAL(dest[i], i % TO == 0 ? pe * 100 + me * COUNT + element : -2);
    }
    shmem_free(dest);
    shmem_free(source);
    shmem_finalize();
    return api_result();
}
