/* SPDX-License-Identifier: Apache-2.0
 *
 * A wait ends whoever wrote the word: p, put, the nonblocking and strided puts, atomics, signals, the payload of a put_signal, a
 * store through shmem_ptr. The writer pauses first, so that the
 * waiter sleeps; then again without a pause.
 * Spec: OpenSHMEM 1.6 §9.11 Point-To-Point Synchronization Routines; gap: flags written by p and put keep working
 * PES: 2 3 4
 */
#include "../api.h"

#include <time.h>

enum writer {
    BY_P,
    BY_PUT,
    BY_PUTMEM,
    BY_PUT_NBI,
    BY_IPUT,
    BY_IBPUT,
    BY_SET,
    BY_ADD,
    BY_INC,
    BY_SWAP,
    BY_CSWAP,
    BY_OR,
    BY_FETCH_NBI,
    BY_SIGNAL_SET,
    BY_SIGNAL_ADD,
    BY_PAYLOAD,
    BY_LONG_PUT,
    BY_STORE,
    WRITERS
};

static uint64_t flags[WRITERS][2], scratch_signal;
static uint64_t block[1000]; /* BY_LONG_PUT: the watched word is far inside */

static uint64_t *flag_of(int writer, int round)
{
    return writer == BY_LONG_PUT ? &block[500 + round] : &flags[writer][round];
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
}

static void store(uint64_t *flag, int pe)
{
    _Atomic uint64_t *mapped = shmem_ptr(flag, pe);
    if (mapped) atomic_store_explicit(mapped, 1, memory_order_release);
    else shmem_uint64_p(flag, 1, pe); /* not mapped here: nothing to store through */
}

static void write_flag(int writer, int round, int pe)
{
    static const uint64_t one = 1;
    static uint64_t       ones[1000], old;
    uint64_t             *flag = flag_of(writer, round);
    for (int i = 0; i < 1000; i++) ones[i] = i >= 500 && i <= 500 + round;
    switch (writer) {
    case BY_P: shmem_uint64_p(flag, 1, pe); break;
    case BY_PUT: shmem_uint64_put(flag, &one, 1, pe); break;
    case BY_PUTMEM: shmem_putmem(flag, &one, 8, pe); break;
    case BY_PUT_NBI: shmem_uint64_put_nbi(flag, &one, 1, pe); break;
    case BY_IPUT: shmem_uint64_iput(flag, &one, 1, 1, 1, pe); break;
    case BY_IBPUT: shmem_uint64_ibput(flag, &one, 1, 1, 1, 1, pe); break;
    case BY_SET: shmem_uint64_atomic_set(flag, 1, pe); break;
    case BY_ADD: shmem_uint64_atomic_add(flag, 1, pe); break;
    case BY_INC: shmem_uint64_atomic_inc(flag, pe); break;
    case BY_SWAP: (void)shmem_uint64_atomic_swap(flag, 1, pe); break;
    case BY_CSWAP: (void)shmem_uint64_atomic_compare_swap(flag, 0, 1, pe); break;
    case BY_OR: shmem_uint64_atomic_or(flag, 1, pe); break;
    case BY_FETCH_NBI: shmem_uint64_atomic_fetch_add_nbi(&old, flag, 1, pe); break;
    case BY_SIGNAL_SET: shmem_signal_set(flag, 1, pe); break;
    case BY_SIGNAL_ADD: shmem_signal_add(flag, 1, pe); break;
    case BY_PAYLOAD: shmem_uint64_put_signal(flag, &one, 1, &scratch_signal, 1, SHMEM_SIGNAL_SET, pe); break;
    case BY_LONG_PUT: shmem_uint64_put(block, ones, 1000, pe); break;
    default: store(flag, pe); break;
    }
    shmem_quiet();
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    shmem_barrier_all();
    for (int writer = 0; writer < WRITERS; writer++) {
        for (int round = 0; round < 2; round++) {
            if (me == 0) {
                if (round == 0) nap();
                write_flag(writer, round, next);
            } else {
                shmem_uint64_wait_until(flag_of(writer, round), SHMEM_CMP_EQ, 1);
                write_flag(writer, round, next);
            }
            if (me == 0) shmem_uint64_wait_until(flag_of(writer, round), SHMEM_CMP_NE, 0);
            shmem_barrier_all();
        }
    }
    shmem_finalize();
    return api_result();
}
