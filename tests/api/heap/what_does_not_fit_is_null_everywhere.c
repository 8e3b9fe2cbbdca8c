/* SPDX-License-Identifier: Apache-2.0
 *
 * ENV: SHMEM_SYMMETRIC_SIZE=1M
 *
 * What does not fit is NULL, on all PEs, and the heap works on. Sizes near SIZE_MAX too, which a rounding up must not
 * turn into small ones. B12.
 * Spec: OpenSHMEM 1.6 §9.3 Memory Management Routines, §9.3.1 to §9.3.6, §C Undefined Behavior
 */
#include "../api.h"

int main(void)
{
    static const size_t sizes[] = {SIZE_MAX,         SIZE_MAX - 1,    SIZE_MAX - 7,    SIZE_MAX - 63,
                                   SIZE_MAX - 64,    SIZE_MAX - 4095, SIZE_MAX - 4096, SIZE_MAX / 2,
                                   SIZE_MAX / 2 + 1, (size_t)1 << 63, (size_t)1 << 46, (1 << 20) + 1};
    shmem_init();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        CHECK(shmem_malloc(sizes[i]) == NULL);
        CHECK(shmem_malloc_with_hints(sizes[i], SHMEM_MALLOC_SIGNAL_REMOTE) == NULL);
        CHECK(shmem_align(4096, sizes[i]) == NULL);
        CHECK(shmem_calloc(sizes[i], 1) == NULL);
        CHECK(shmem_calloc(1, sizes[i]) == NULL);
        CHECK(shmem_realloc(NULL, sizes[i]) == NULL);
        int  me = shmem_my_pe(), n = shmem_n_pes();
        int *small = shmem_malloc(sizeof *small);
        if (!CHECK(small != NULL)) break;
        shmem_int_p(small, me, (me + 1) % n);
        shmem_barrier_all();
        CHECK_EQUAL(*small, (me + n - 1) % n);
        shmem_free(small);
    }
    /* an alignment beyond the heap does not fit either */
    CHECK(shmem_align((size_t)1 << 62, 8) == NULL);
    shmem_finalize();
    return api_result();
}
