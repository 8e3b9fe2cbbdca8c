/* SPDX-License-Identifier: Apache-2.0
 *
 * Who has seen a signal, or a word that was put behind a fence, sees the data: a producer and a consumer block on each PE, in a ring, with all
 * ways to send, by threads, warps and blocks. The data are read by plain loads, so ThreadSanitizer sees any order that is missing.
 *
 * PES: 1 2 3
 * NODES: a,b
 * TSAN: yes
 */
#include "tests/device/device.h"

#ifdef __SANITIZE_THREAD__
enum { ROUNDS = 24 };
#else
enum { ROUNDS = 120 };
#endif
enum { WORDS = 50, THREADS = 40, WAYS = 6 };

struct mailbox {
    uint64_t      signal, acknowledged;
    unsigned long data[WORDS], source[WORDS];
};

/* Send `source` to the next PE, and say so by round. One of the ways, of which some are one thread's, and some a warp's or the block's. */
__device__ static void send(struct mailbox *box, uint64_t round, int next)
{
    const bool first = threadIdx.x == 0;
    switch (round % WAYS) {
    case 0:
        if (first) shmem_ulong_put_signal(box->data, box->source, WORDS, &box->signal, round, SHMEM_SIGNAL_SET, next);
        break;
    case 1:
        if (threadIdx.x < 32)
            shmemx_ulong_put_signal_warp(box->data, box->source, WORDS, &box->signal, round, SHMEM_SIGNAL_SET, next);
        break;
    case 2: shmemx_ulong_put_signal_nbi_block(box->data, box->source, WORDS, &box->signal, 1, SHMEM_SIGNAL_ADD, next); break;
    case 3:
        shmemx_ulong_put_nbi_block(box->data, box->source, WORDS, next);
        if (first) shmem_fence();
        if (first) shmem_uint64_p(&box->signal, round, next);
        break;
    case 4:
        if (first) shmem_ulong_put(box->data, box->source, WORDS, next);
        if (first) shmem_fence();
        if (first) shmem_signal_add(&box->signal, 1, next);
        break;
    default:
        for (unsigned i = threadIdx.x; i < WORDS; i += blockDim.x) shmem_ulong_p(box->data + i, box->source[i], next);
        shmem_quiet();
        __syncthreads();
        if (first) shmem_uint64_atomic_inc(&box->signal, next);
    }
}

__device__ static void produce(struct mailbox *box, int me, int next)
{
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        for (unsigned i = threadIdx.x; i < WORDS; i += blockDim.x) box->source[i] = round * 1000 + (unsigned)me * 100 + i;
        __syncthreads();
        send(box, round, next);
        if (threadIdx.x == 0) {
            shmem_quiet(); /* nonblocking forms: the source is free */
            shmem_signal_wait_until(&box->acknowledged, SHMEM_CMP_EQ, round);
        }
        __syncthreads();
    }
}

__device__ static void consume(struct mailbox *box, int before)
{
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        if (threadIdx.x == 0) shmem_signal_wait_until(&box->signal, SHMEM_CMP_EQ, round);
        __syncthreads();
        for (unsigned i = threadIdx.x; i < WORDS; i += blockDim.x) CHECK(box->data[i] == round * 1000 + (unsigned)before * 100 + i);
        __syncthreads();
        if (threadIdx.x == 0) {
            shmem_fence();
            shmem_signal_set(&box->acknowledged, round, before);
        }
    }
}

__global__ void ring(struct mailbox *box)
{
    const int me = shmem_my_pe(), n = shmem_n_pes();
    if (blockIdx.x == 0) produce(box, me, (me + 1) % n);
    else consume(box, (me + n - 1) % n);
}

static void test(struct device_pe *pe)
{
    struct mailbox *box = (struct mailbox *)device_allocate(pe, sizeof *box);
    DEVICE_RUN(pe, ring, 2, THREADS, box);
}
