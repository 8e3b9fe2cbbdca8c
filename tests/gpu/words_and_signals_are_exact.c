/* SPDX-License-Identifier: Apache-2.0
 *
 * Atomics on words of a GPU heap lose no update whoever makes them, give the old value, and are as wide as they say; put_signal's data is there
 * when its signal is, with data and signal in host and GPU memory in every mix; waits and tests look at words of the GPU.
 * PES: 1 2 3
 * ENV: POSTERN_CUDA_HEAP=4M
 * VARIANTS: staged chaos rdma bounced
 */
#include "gpu.h"

enum { ADDS = 40, ROUNDS = 6, BYTES = 3000, SETS = 5 };

static int me, n;

static void *gpu_block(size_t bytes)
{
    void *memory = shmem_malloc_with_hints(bytes, SHMEMX_MEM_CUDA);
    CHECK(memory != NULL);
    gpu_clear(memory, bytes);
    shmem_barrier_all();
    return memory;
}

static void sums(void)
{
    uint64_t *words = gpu_block(4 * sizeof *words);
    int      *half  = (int *)(void *)&words[2];
    long      before, all = 0;
    for (int i = 0; i < ADDS; i++) {
        shmem_uint64_atomic_add(&words[0], (uint64_t)me + 1, i % n);
        before = (long)shmem_uint64_atomic_fetch_inc(&words[1], 0);
        CHECK(before >= 0 && before < (long)ADDS * n);
        shmem_int_atomic_add(half, 3, 0);
    }
    shmem_barrier_all();
    for (int pe = 0; pe < n; pe++) all += (long)shmem_uint64_atomic_fetch(&words[0], pe);
    CHECK_EQUAL(all, (long)ADDS * n * (n + 1) / 2);
    CHECK_EQUAL(shmem_uint64_g(&words[1], 0), (long)ADDS * n);
    CHECK_EQUAL(shmem_int_g(half, 0), 3 * ADDS * n);
    CHECK_EQUAL(shmem_int_g(half + 1, 0), 0); /* the other half of its 8 bytes */
    shmem_barrier_all();
    shmem_free(words);
}

/* Each on a word of its own at the next PE, with the old value to the host and to GPU memory. */
static void each_operation(void)
{
    uint64_t *word = gpu_block(2 * sizeof *word), seen = 1;
    int       to = (me + 1) % n;
    CHECK_EQUAL(shmem_uint64_atomic_swap(word, 0xf0f0, to), 0);
    CHECK_EQUAL(shmem_uint64_atomic_compare_swap(word, 1, 2, to), 0xf0f0);
    CHECK_EQUAL(shmem_uint64_atomic_compare_swap(word, 0xf0f0, 0xff, to), 0xf0f0);
    CHECK_EQUAL(shmem_uint64_atomic_fetch_and(word, 0x3f, to), 0xff);
    CHECK_EQUAL(shmem_uint64_atomic_fetch_or(word, 0x100, to), 0x3f);
    CHECK_EQUAL(shmem_uint64_atomic_fetch_xor(word, 0x101, to), 0x13f);
    shmem_uint64_atomic_set(word, 5, to);
    shmem_uint64_atomic_fetch_add_nbi(&seen, word, 7, to);
    shmem_quiet();
    CHECK_EQUAL(seen, 5);
    shmem_uint64_atomic_fetch_nbi(&word[1], word, to);
    shmem_quiet();
    CHECK_EQUAL(shmem_uint64_g(&word[1], me), 12);
    shmem_barrier_all();
    shmem_free(word);
}

static void signals(int data_hint, int signal_hint)
{
    unsigned char *data   = shmem_malloc_with_hints(BYTES, data_hint);
    unsigned char *source = shmem_malloc_with_hints(BYTES, SHMEMX_MEM_CUDA);
    uint64_t      *signal = shmem_malloc_with_hints(2 * sizeof *signal, signal_hint);
    int            to = (me + 1) % n, from = (me + n - 1) % n;
    gpu_clear(signal, 2 * sizeof *signal);
    shmem_barrier_all();
    for (unsigned round = 1; round <= ROUNDS; round++) {
        bool add = round % 2;
        gpu_fill(source, BYTES, me, round);
        if (round % 3 == 0)
            shmem_putmem_signal_nbi(data, source, BYTES, signal, add ? 1 : round, add ? SHMEM_SIGNAL_ADD : SHMEM_SIGNAL_SET, to);
        else shmem_putmem_signal(data, source, BYTES, signal, add ? 1 : round, add ? SHMEM_SIGNAL_ADD : SHMEM_SIGNAL_SET, to);
        CHECK_EQUAL(shmem_signal_wait_until(signal, SHMEM_CMP_GE, round), round);
        CHECK(gpu_wrong(data, BYTES, from, round, 0) == 0);
        CHECK_EQUAL(shmem_signal_fetch(signal), round);
        shmem_barrier_all();
    }
    shmem_free(signal);
    shmem_free(source);
    shmem_free(data);
}

static void waits(void)
{
    long  *words = gpu_block((SETS + 2) * sizeof *words);
    int    to = (me + 1) % n, status[SETS] = {0, 1, 0, 0, 0};
    size_t found[SETS];
    CHECK(!shmem_long_test(&words[0], SHMEM_CMP_EQ, 9));
    CHECK(shmem_long_test_any(words, SETS, status, SHMEM_CMP_EQ, 9) == SIZE_MAX);
    shmem_barrier_all();
    shmem_long_p(&words[3], 9, to);
    CHECK(shmem_long_wait_until_any(words, SETS, status, SHMEM_CMP_EQ, 9) == 3);
    CHECK(shmem_long_test_some(words, SETS, found, status, SHMEM_CMP_EQ, 9) == 1 && found[0] == 3);
    shmem_barrier_all();
    for (int i = 0; i < SETS; i++) shmem_long_atomic_set(&words[i], 10 + i, to);
    shmem_long_wait_until_all(words, SETS, NULL, SHMEM_CMP_GE, 10);
    shmem_long_wait_until(&words[4], SHMEM_CMP_NE, 9);
    CHECK(shmem_long_test_all(words, SETS, NULL, SHMEM_CMP_GE, 10));
    CHECK_EQUAL(shmem_long_g(&words[2], me), 12);
    shmem_barrier_all();
    shmem_free(words);
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    n  = shmem_n_pes();
    sums();
    each_operation();
    for (int mix = 0; mix < 4; mix++)
        signals(mix & 1 ? SHMEMX_MEM_CUDA : SHMEMX_MEM_HOST, mix & 2 ? SHMEMX_MEM_CUDA : SHMEMX_MEM_HOST);
    waits();
    shmem_finalize();
    return api_result();
}
