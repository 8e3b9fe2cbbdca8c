/* SPDX-License-Identifier: Apache-2.0
 *
 * OUTPUT: shmem_align: alignment 24
 *
 * The alignment is a power of two and a multiple of sizeof(void *), else undefined. Here: NULL on all PEs and a message where it is no power of
 * two, and the heap works on; 1, 2 and 4 count as 8.
 * Spec: OpenSHMEM 1.6 §9.3.4 shmem_align
 */
#include "../api.h"

int main(void)
{
    static const size_t bad[] = {0, 3, 7, 12, 24, 100, 4097, SIZE_MAX, SIZE_MAX - 7};
    shmem_init();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int me = shmem_my_pe(), n = shmem_n_pes();
        CHECK(shmem_align(bad[i], 64) == NULL);
        int *block = shmem_align(8, sizeof *block);
        if (!CHECK(block != NULL)) break;
        shmem_int_p(block, me, (me + 1) % n);
        shmem_barrier_all();
        CHECK_EQUAL(*block, (me + n - 1) % n);
        shmem_free(block);
    }
    for (size_t alignment = 1; alignment < sizeof(void *); alignment *= 2) {
        void *block = shmem_align(alignment, 64);
        CHECK(block != NULL && (uintptr_t)block % sizeof(void *) == 0);
        shmem_free(block);
    }
    shmem_finalize();
    return api_result();
}
