/* SPDX-License-Identifier: Apache-2.0
 *
 * A blocking put, iput, ibput, p, put_signal or atomic has taken its source when it returns: the caller writes over it at once,
 * and what it was arrives. A get has its data, and a fetching atomic its value, when it returns.
 * Spec: OpenSHMEM 1.6 §9.6 Remote Memory Access Routines, §9.6.1.1 to §9.6.1.8, §9.8.3 shmem_put_signal
 * Spec: OpenSHMEM 1.6 §9.12 Memory Ordering Routines
 * PES: 2 3
 * ENV: POSTERN_CHAOS_DELAY=20us
 */
#include "../api.h"

enum { ROUNDS = 30, COUNT = 900 };

static long     by_put[COUNT], by_iput[COUNT], by_ibput[COUNT], by_signal[COUNT], by_p, sum;
static uint64_t signal_word;

static void fill(long *words, long first)
{
    for (int i = 0; i < COUNT; i++) words[i] = first + i;
}

static void spoil(long *words)
{
    memset(words, 0xFF, COUNT * sizeof *words);
}

static void send(long *source, long round, int next)
{
    fill(source, round * 10000);
    shmem_long_put(by_put, source, COUNT, next);
    spoil(source);
    fill(source, round * 20000);
    shmem_long_iput(by_iput, source, 1, 1, COUNT, next);
    spoil(source);
    fill(source, round * 30000);
    shmem_long_ibput(by_ibput, source, 10, 10, 10, COUNT / 10, next);
    spoil(source);
    fill(source, round * 40000);
    shmem_long_put_signal(by_signal, source, COUNT, &signal_word, 1, SHMEM_SIGNAL_ADD, next);
    spoil(source);
    long value = round;
    shmem_long_p(&by_p, value, next);
    shmem_long_atomic_add(&sum, value, next);
    value = -1;
    (void)value;
}

static void look(long round, int next)
{
    long back[COUNT];
    CHECK_EQUAL(shmem_long_g(&by_p, next), round);
    CHECK_EQUAL(shmem_long_atomic_fetch(&sum, next), round * (round + 1) / 2);
    spoil(back);
    shmem_long_get(back, by_put, COUNT, next);
    for (int i = 0; i < COUNT; i++) CHECK_EQUAL(back[i], round * 10000 + i);
    spoil(back);
    shmem_long_iget(back, by_iput, 1, 1, COUNT, next);
    for (int i = 0; i < COUNT; i++) CHECK_EQUAL(back[i], round * 20000 + i);
    spoil(back);
    shmem_long_ibget(back, by_ibput, 10, 10, 10, COUNT / 10, next);
    for (int i = 0; i < COUNT; i++) CHECK_EQUAL(back[i], round * 30000 + i);
}

int main(void)
{
    long source[COUNT];
    shmem_init();
    int next = (shmem_my_pe() + 1) % shmem_n_pes();
    for (long round = 1; round <= ROUNDS; round++) {
        send(source, round, next);
        shmem_signal_wait_until(&signal_word, SHMEM_CMP_GE, (uint64_t)round);
        for (int i = 0; i < COUNT; i++) CHECK_EQUAL(by_signal[i], round * 40000 + i);
        shmem_quiet();
        look(round, next);
        shmem_barrier_all();
    }
    shmem_finalize();
    return api_result();
}
