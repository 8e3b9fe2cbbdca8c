/* SPDX-License-Identifier: Apache-2.0
 *
 * Checked mode: the signal word may touch the payload on either side, lie in another segment, or be where the source is on the sender, as that is another
 * PE's memory.
 * Spec: OpenSHMEM 1.6 §9.8.3 shmem_put_signal
 * PES: 1 2 3
 * ENV: POSTERN_CHECK=1
 */
#include "../api.h"

static uint64_t words[12], source[8], word;

int main(void)
{
    shmem_init();
    int       me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    uint64_t *heap = shmem_calloc(8, sizeof *heap);
    for (uint64_t i = 0; i < 8; i++) source[i] = i + 1;
    shmem_barrier_all();
    shmem_uint64_put_signal(words + 1, source, 8, words, 1, SHMEM_SIGNAL_ADD, next);
    shmem_uint64_put_signal(words + 1, source, 8, words + 9, 1, SHMEM_SIGNAL_ADD, next);
    shmem_uint64_put_signal(heap, source, 8, &word, 1, SHMEM_SIGNAL_ADD, next);
    shmem_signal_wait_until(words, SHMEM_CMP_EQ, 1);
    shmem_signal_wait_until(words + 9, SHMEM_CMP_EQ, 1);
    shmem_signal_wait_until(&word, SHMEM_CMP_EQ, 1);
    for (uint64_t i = 0; i < 8; i++) CHECK(words[1 + i] == i + 1 && heap[i] == i + 1);
    shmem_barrier_all();
    if (n > 1) {
        if (me == 0) shmem_uint64_put_signal(words, source, 4, &source[3], 77, SHMEM_SIGNAL_SET, 1); /* in the source of PE 1 */
        if (me == 1) CHECK_EQUAL(shmem_signal_wait_until(&source[3], SHMEM_CMP_EQ, 77), 77);
    }
    shmem_putmem_signal(&word, &word, 0, &word, 5, SHMEM_SIGNAL_SET, me); /* no payload, no overlap */
    CHECK_EQUAL(shmem_signal_wait_until(&word, SHMEM_CMP_EQ, 5), 5);
    shmem_finalize();
    return api_result();
}
