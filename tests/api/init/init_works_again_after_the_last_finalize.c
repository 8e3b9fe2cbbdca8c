/* SPDX-License-Identifier: Apache-2.0
 *
 * ENV: SHMEM_SYMMETRIC_SIZE=2M
 *
 * A fresh init after the last finalize joins the same job again, with an empty heap. 1.5 libraries abort here.
 * Spec: OpenSHMEM 1.6 §9.1.1 shmem_init, §9.1.4 shmem_finalize
 */
#include "../api.h"

enum { ROUNDS = 8 };
static long word;

int main(void)
{
    int me = 0, n = 0;
    for (long round = 0; round < ROUNDS; round++) {
        shmem_init();
        if (round > 0) {
            CHECK_EQUAL(shmem_my_pe(), me);
            CHECK_EQUAL(shmem_n_pes(), n);
        }
        me = shmem_my_pe();
        n  = shmem_n_pes();

        /* Not freed: the next round must have the room again. 1000 KiB of a heap of 2 MiB. */
        long *block = shmem_malloc(1000 << 10);
        if (CHECK(block != NULL)) {
            shmem_long_p(block, 10 * round + me, (me + 1) % n);
            shmem_long_p(&word, 20 * round + me, (me + 1) % n);
            shmem_barrier_all();
            CHECK_EQUAL(*block, 10 * round + (me + n - 1) % n);
            CHECK_EQUAL(word, 20 * round + (me + n - 1) % n);
        }
        shmem_finalize();
    }
    return api_result();
}
