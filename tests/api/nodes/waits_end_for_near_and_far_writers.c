/* SPDX-License-Identifier: Apache-2.0
 *
 * A PE that sleeps is woken, or wakes by itself, whoever writes its word, near or far, and however: put, atomic, signal; in each of
 * the waits and tests.
 * Spec: OpenSHMEM 1.6 §9.11 Point-To-Point Synchronization Routines
 * ENV: POSTERN_SPIN=0us
 * NODES: a,b a:2,b
 * PES: 2 3 8
 */
#include "nodes.h"

enum { KINDS = 5 };

static long words[NODES_PES_MAX]; /* [pe]: written by it */

static void write_by(long kind, long value, int to)
{
    static uint64_t unused;
    long           *word = &words[shmem_my_pe()];
    switch (kind) {
    case 0: shmem_long_p(word, value, to); break;
    case 1:
        shmem_long_put_nbi(word, &value, 1, to);
        shmem_quiet();
        break;
    case 2: shmem_long_atomic_set(word, value, to); break;
    case 3: shmem_long_atomic_add(word, 1, to); break;
    default: shmem_putmem_signal(&unused, &unused, 0, (uint64_t *)word, (uint64_t)value, SHMEM_SIGNAL_SET, to); break;
    }
}

static void await(long kind, long value, int from, int n)
{
    long  *word = &words[from];
    size_t indices[NODES_PES_MAX];
    int    others[NODES_PES_MAX];
    for (int pe = 0; pe < n; pe++) others[pe] = pe != from;
    switch (kind) {
    case 0: shmem_long_wait_until(word, SHMEM_CMP_EQ, value); break;
    case 1: CHECK_EQUAL(shmem_long_wait_until_any(words, (size_t)n, others, SHMEM_CMP_EQ, value), from); break;
    case 2: CHECK_EQUAL(shmem_long_wait_until_some(words, (size_t)n, indices, others, SHMEM_CMP_EQ, value), 1); break;
    case 3:
        while (!shmem_long_test(word, SHMEM_CMP_EQ, value)) continue;
        break;
    default: shmem_signal_wait_until((uint64_t *)word, SHMEM_CMP_EQ, (uint64_t)value); break;
    }
}

/* A word goes to and fro between two PEs, so one of them always waits. */
static void play(int partner, bool first, int n)
{
    for (long i = 0; i < KINDS * KINDS; i++) {
        if (!first) await(i / KINDS, i + 1, partner, n);
        write_by(i % KINDS, i + 1, partner);
        if (first) await(i / KINDS, i + 1, partner, n);
    }
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    for (int distance = 1; distance < n; distance++) { /* PE i with PE i + distance, where both exist and nobody else has them */
        int group = me / distance, partner = group % 2 ? me - distance : me + distance;
        words[me] = 0;
        for (int pe = 0; pe < n; pe++) words[pe] = 0;
        shmem_barrier_all();
        if (partner < n) play(partner, group % 2 == 0, n);
        shmem_barrier_all();
    }
    shmem_finalize();
    return api_result();
}
