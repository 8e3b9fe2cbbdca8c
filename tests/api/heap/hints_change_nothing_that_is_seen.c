/* SPDX-License-Identifier: Apache-2.0
 *
 * Hints 0 is malloc; hints may be ignored, so any combination gives a block that works, also after realloc.
 * Spec: OpenSHMEM 1.6 §9.3.5 shmem_malloc_with_hints
 */
#include "../api.h"

int main(void)
{
    static const long hints[] = {0, SHMEM_MALLOC_ATOMICS_REMOTE, SHMEM_MALLOC_SIGNAL_REMOTE,
                                 SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE};
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    for (int i = 0; i < 4; i++) {
        uint64_t *words = shmem_malloc_with_hints(4 * sizeof *words, hints[i]);
        if (!CHECK(words != NULL)) break;
        CHECK_EQUAL((uintptr_t)words % sizeof *words, 0);
        memset(words, 0, 4 * sizeof *words);
        shmem_barrier_all();
        shmem_uint64_atomic_add(&words[1], 3, (me + 1) % n);
        shmem_putmem_signal(&words[2], &(uint64_t){9}, sizeof *words, &words[3], 1, SHMEM_SIGNAL_SET, (me + 1) % n);
        shmem_signal_wait_until(&words[3], SHMEM_CMP_EQ, 1);
        CHECK_EQUAL(words[2], 9);
        shmem_barrier_all();
        words = shmem_realloc(words, 9000);
        CHECK_EQUAL(words[1], 3);
        shmem_free(words);
    }
    shmem_finalize();
    return api_result();
}
