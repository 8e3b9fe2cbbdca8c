/* SPDX-License-Identifier: Apache-2.0
 *
 * Open contexts disturb no heap call and no barrier, and shareable ones may be left open at the
 * end; finalize destroys them. B20. Several rounds, so that what was left would be met again.
 * Spec: OpenSHMEM 1.6 §9.1.4 shmem_finalize, §9.3 Memory Management Routines, §9.5.1 shmem_ctx_create
 */
#include "../api.h"

int main(void)
{
    for (int round = 0; round < 3; round++) {
        shmem_ctx_t shareable[3], of_thread;
        shmem_init();
        int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
        CHECK_EQUAL(shmem_ctx_create(0, &shareable[0]), 0);
        CHECK_EQUAL(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &shareable[1]), 0);
        CHECK_EQUAL(shmem_team_create_ctx(SHMEM_TEAM_SHARED, SHMEM_CTX_NOSTORE, &shareable[2]), 0);
        CHECK_EQUAL(shmem_ctx_create(SHMEM_CTX_PRIVATE, &of_thread), 0);
        for (int i = 0; i < 10; i++) {
            long *block = shmem_malloc(5000);
            if (!CHECK(block != NULL)) break;
            shmem_ctx_long_p(shareable[i % 2], block, 7 + me + i, next);
            shmem_ctx_quiet(shareable[i % 2]);
            shmem_barrier_all();
            CHECK_EQUAL(*block, 7 + (me + n - 1) % n + i);
            block = shmem_realloc(block, 50000);
            if (CHECK(block != NULL)) CHECK_EQUAL(*block, 7 + (me + n - 1) % n + i);
            shmem_free(block);
        }
        shmem_ctx_destroy(of_thread);
        shmem_finalize();
    }
    return api_result();
}
