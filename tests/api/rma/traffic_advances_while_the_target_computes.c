/* SPDX-License-Identifier: Apache-2.0
 *
 * The last PE computes and calls nothing; each other one puts, gets, updates and signals it, and completes all of that before it
 * lets it go on. A library that serves requests only inside of calls would wait here for ever.
 * Spec: OpenSHMEM 1.6 §4.1 Progress of OpenSHMEM Operations
 * Spec: OpenSHMEM 1.6 §D.1.6 Communication Progress
 * PES: 2 3
 * TIMEOUT: 60
 */
#include "../api.h"

enum { ROUNDS = 20, COUNT = 500 };

static long        table[8][COUNT], counter, ended;
static uint64_t    signals;
static atomic_long steps;

/* Plain work on memory that nobody writes to, and a look at a word that ends it. */
static void compute(long enders)
{
    volatile long *end = &ended;
    while (*end != enders) atomic_fetch_add_explicit(&steps, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
}

static void talk_to(int busy, int me)
{
    static long source[COUNT];
    long        back[COUNT];
    for (long round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < COUNT; i++) source[i] = round * 1000 + me * 100 + i;
        shmem_long_put_nbi(table[me], source, COUNT, busy);
        shmem_quiet();
        memset(back, 0, sizeof back);
        shmem_long_get(back, table[me], COUNT, busy);
        if (!CHECK(memcmp(back, source, sizeof back) == 0)) break;
        CHECK(shmem_long_atomic_fetch_inc(&counter, busy) >= round - 1);
        shmem_long_put_signal(table[me], source, COUNT, &signals, 1, SHMEM_SIGNAL_ADD, busy);
        shmem_quiet();
    }
    shmem_long_atomic_inc(&ended, busy);
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), busy = shmem_n_pes() - 1;
    shmem_barrier_all();
    if (me == busy) compute(busy);
    else talk_to(busy, me);
    shmem_barrier_all();
    if (me == busy) {
        CHECK_EQUAL(counter, busy * ROUNDS);
        CHECK_EQUAL(signals, busy * ROUNDS);
    }
    shmem_finalize();
    return api_result();
}
