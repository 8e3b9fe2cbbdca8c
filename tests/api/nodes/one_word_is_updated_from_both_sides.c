/* SPDX-License-Identifier: Apache-2.0
 *
 * One word has one agent: near PEs change it by instructions of their CPU, far ones by messages, and its owner does both at once. No update is
 * lost, and no number is handed out twice. For words of 8 and 4 bytes, for bits, for compare-and-swap, and for a signal word.
 * Spec: OpenSHMEM 1.6 §9.7 Atomic Memory Operations, §9.8.1 Atomicity Guarantees for Signaling Operations, §3.2 Atomicity Guarantees
 * NODES: a,b a:2,b
 * PES: 2 3 8
 */
#include "nodes.h"

enum { UPDATES = 120 };

static uint64_t sum, tickets, bits, swapped, signal;
static uint32_t sum4;
static char     seen[NODES_PES_MAX * UPDATES], byte;

/* Add 1 by compare-and-swap. */
static void add_by_swaps(int home)
{
    uint64_t is = shmem_uint64_atomic_fetch(&swapped, home), was;
    while ((was = shmem_uint64_atomic_compare_swap(&swapped, is, is + 1, home)) != is) is = was;
}

static void update(int home, int i)
{
    int me = shmem_my_pe();
    shmem_uint64_atomic_add(&sum, (uint64_t)(i + 1), home);
    shmem_uint32_atomic_inc(&sum4, home);
    uint64_t ticket = shmem_uint64_atomic_fetch_inc(&tickets, home);
    if (CHECK(ticket < (uint64_t)(shmem_n_pes() * UPDATES))) shmem_char_p(&seen[ticket], (char)(me + 1), home);
    if (i % 4 == 0) shmem_uint64_atomic_xor(&bits, UINT64_C(1) << me, home);
    if (i % 8 == 0) add_by_swaps(home);
    if (i % 2) shmem_char_put_signal(&byte, &byte, 0, &signal, 2, SHMEM_SIGNAL_ADD, home);
    else shmem_uint64_atomic_add(&signal, 1, home); /* signal operations and atomics exclude each other too */
}

static void look(void)
{
    uint64_t n = (uint64_t)shmem_n_pes();
    CHECK_EQUAL(sum, n * UPDATES * (UPDATES + 1) / 2);
    CHECK_EQUAL(sum4, n * UPDATES);
    CHECK_EQUAL(tickets, n * UPDATES);
    CHECK_EQUAL(bits, 0); /* an even number of times each */
    CHECK_EQUAL(swapped, n * (UPDATES / 8));
    CHECK_EQUAL(signal, n * (UPDATES / 2) * 3);
    for (uint64_t i = 0; i < n * UPDATES; i++)
        if (!CHECK(seen[i] != 0)) break;
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    for (int home = 0; home < n; home += n - 1) { /* the first, and the last */
        shmem_barrier_all();
        for (int i = 0; i < UPDATES; i++) update(home, i);
        if (me == home) /* the owner waits for the last update, whoever's it is */
            shmem_uint64_wait_until(&signal, SHMEM_CMP_EQ, (uint64_t)(n * (UPDATES / 2) * 3));
        shmem_barrier_all();
        if (me == home) look();
    }
    shmem_finalize();
    return api_result();
}
