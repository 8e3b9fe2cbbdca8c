/* SPDX-License-Identifier: Apache-2.0
 *
 * PEs that queue one after the other get the lock in that order. PE 0 holds it; each PE starts to wait once the one before has
 * had time to enter the queue, and writes down its turn when it has the lock.
 * Spec: OpenSHMEM 1.6 §9.13.1 shmem_set_lock
 * PES: 3 4 8
 */
#include "../api.h"

#include <time.h>

enum { ROUNDS = 3 };

static long lock, go, turn;

static void nap_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    shmem_barrier_all();
    for (int round = 0; round < ROUNDS; round++) {
        /* The order of this round: me's place among the waiters. */
        int place = (me - 1 + round) % (n - 1);
        if (me == 0) {
            shmem_set_lock(&lock);
            for (int i = 0; i < n - 1; i++) {
                int pe = 1 + (i + (n - 1) * ROUNDS - round) % (n - 1);
                shmem_long_atomic_set(&go, round + 1, pe);
                nap_ms(20); /* a loaded machine may need longer, see below */
            }
            nap_ms(20);
            shmem_clear_lock(&lock);
        } else {
            shmem_long_wait_until(&go, SHMEM_CMP_EQ, round + 1);
            shmem_set_lock(&lock);
            long mine = shmem_long_g(&turn, 0);
            shmem_long_p(&turn, mine + 1, 0);
            shmem_quiet();
            /* The order of arrival can only be arranged by time, so one swap is forgiven, a lock without order is not. */
            long off = mine % (n - 1) - place;
            CHECK(off >= -1 && off <= 1);
            shmem_clear_lock(&lock);
        }
        shmem_barrier_all();
    }
    if (me == 0) CHECK_EQUAL(turn, (long)ROUNDS * (n - 1));
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
