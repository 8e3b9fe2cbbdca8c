/* SPDX-License-Identifier: Apache-2.0
 *
 * What a put over the network costs, for bench: PE 0 puts to the last PE.
 *
 * Prints a line for each: "polled_us X", a put of 8 bytes with a quiet while the target is in shmem_test again and again, as the target of the raw
 * program fabric_raw polls; "waiting_us X", the same while the target sleeps in a wait; "bandwidth_MBps X", of puts of 1 MiB, WINDOW before
 * each quiet. With ITS_WAITS_POLL, for a library whose waits poll and whose tests do not move messages on, the target is in waits.
 * Measured as fabric_raw does: means of batches, and of these the one that a tenth is quicker than.
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCHES = 25, ROUNDS = 100, BLOCK_BYTES = 1 << 20, WINDOW = 16 };

static long go_on; /* at the target */

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Microseconds for one of `rounds`, each `window` puts and a quiet. */
static double time_of_round(char *dest, const char *source, size_t bytes, int window, int rounds, int pe)
{
    double times[BATCHES];
    for (int batch = -1; batch < BATCHES; batch++) { /* the first warms up */
        double begin = now_us();
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < window; i++) shmem_putmem_nbi(dest, source, bytes, pe);
            shmem_quiet();
        }
        if (batch >= 0) times[batch] = (now_us() - begin) / rounds;
    }
    qsort(times, BATCHES, sizeof times[0], by_size);
    return times[BATCHES / 10];
}

static void poll_until(long value)
{
#ifdef ITS_WAITS_POLL
    shmem_long_wait_until(&go_on, SHMEM_CMP_EQ, value);
#else
    while (!shmem_long_test(&go_on, SHMEM_CMP_EQ, value)) continue;
#endif
}

int main(void)
{
    shmem_init();
    char *dest = shmem_malloc(BLOCK_BYTES), *source = shmem_malloc(BLOCK_BYTES);
    int   me = shmem_my_pe(), last = shmem_n_pes() - 1;
    shmem_barrier_all();
    if (me == last) {
        poll_until(1);
        shmem_long_wait_until(&go_on, SHMEM_CMP_EQ, 2);
        poll_until(3);
    } else if (me == 0) {
        printf("polled_us %.3f\n", time_of_round(dest, source, 8, 1, ROUNDS, last));
        shmem_long_atomic_set(&go_on, 1, last);
        shmem_quiet();
        printf("waiting_us %.3f\n", time_of_round(dest, source, 8, 1, ROUNDS, last));
        shmem_long_atomic_set(&go_on, 2, last);
        shmem_quiet();
        printf("bandwidth_MBps %.1f\n", (double)WINDOW * BLOCK_BYTES / time_of_round(dest, source, BLOCK_BYTES, WINDOW, 2, last));
        shmem_long_atomic_set(&go_on, 3, last);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
