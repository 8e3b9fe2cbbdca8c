/* SPDX-License-Identifier: Apache-2.0
 *
 * A nonblocking put and a signal to a far PE arrive while the PE that has sent them makes no call of the library any more, although the transport
 * moves only inside calls: a thread of the library makes them.
 * Spec: OpenSHMEM 1.6 §4.1 Progress of OpenSHMEM Operations
 * ENV: POSTERN_CHAOS_LAZY=1
 * NODES: a,b a:2,b
 * PES: 2 3
 */
#include "nodes.h"

#include <time.h>

enum { COUNT = 3000, GUARD_S = 20 };

static long     data[COUNT];
static uint64_t sent, answer;

/* Look at the own memory by loads alone. */
static bool answered(void)
{
    const struct timespec millisecond = {.tv_nsec = 1000000};
    for (int i = 0; i < GUARD_S * 1000; i++) {
        if (__atomic_load_n(&answer, __ATOMIC_ACQUIRE) != 0) return true;
        nanosleep(&millisecond, NULL);
    }
    return false;
}

int main(void)
{
    shmem_init();
    int         me = shmem_my_pe(), last = shmem_n_pes() - 1;
    static long values[COUNT];
    for (long i = 0; i < COUNT; i++) values[i] = i + 1;
    shmem_barrier_all();
    if (me == 0) {
        shmem_long_put_signal_nbi(data, values, COUNT, &sent, 1, SHMEM_SIGNAL_ADD, last);
        if (!CHECK(answered())) shmem_global_exit(1);
    } else if (me == last) {
        shmem_signal_wait_until(&sent, SHMEM_CMP_EQ, 1);
        for (long i = 0; i < COUNT; i++)
            if (!CHECK_EQUAL(data[i], i + 1)) break;
        shmem_uint64_atomic_set(&answer, 1, 0);
        shmem_quiet();
    }
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
