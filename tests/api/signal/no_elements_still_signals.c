/* SPDX-License-Identifier: Apache-2.0
 *
 * A put_signal of no elements sends the signal all the same, with NULL pointers too.
 * Spec: OpenSHMEM 1.6 §9.8.3 shmem_put_signal; gap: nelems is 0
 */
#include "../ring.h"

int main(void)
{
    static uint64_t word;
    static long     data[2] = {7, 8};
    shmem_init();
    struct ring ring = ring_open();
    shmem_barrier_all();
    shmem_long_put_signal(NULL, NULL, 0, &word, 1, SHMEM_SIGNAL_ADD, ring.next);
    shmem_long_put_signal_nbi(NULL, NULL, 0, &word, 1, SHMEM_SIGNAL_ADD, ring.next);
    shmem_putmem_signal(data, NULL, 0, &word, 1, SHMEM_SIGNAL_ADD, ring.next);
    shmem_put128_signal_nbi(data, data, 0, &word, 1, SHMEM_SIGNAL_ADD, ring.next);
    shmem_ctx_int_put_signal(ring.ctx, NULL, NULL, 0, &word, 1, SHMEM_SIGNAL_ADD, ring.ctx_next);
    shmem_ctx_putmem_signal_nbi(ring.ctx, NULL, NULL, 0, &word, 1, SHMEM_SIGNAL_ADD, ring.ctx_next);
    CHECK_EQUAL(shmem_signal_wait_until(&word, SHMEM_CMP_EQ, 6), 6);
    ring_complete(&ring);
    CHECK(data[0] == 7 && data[1] == 8);
    ring_close(&ring);
    shmem_finalize();
    return api_result();
}
