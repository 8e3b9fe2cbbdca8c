/* SPDX-License-Identifier: Apache-2.0
 *
 * What ib_write_lat and ib_write_bw of perftest measure, by puts, for bench: write_speed latency ROUNDS | bandwidth ROUNDS.
 *
 *   latency    8 bytes go to and fro between two PEs, each of which looks at its word until it changes; half of each round trip is a sample.
 *              Prints "smallest_us X" and "typical_us X", their t_min and t_typical: the smallest and the median
 *   bandwidth  puts of 64 KiB to PE 1, with one quiet at the end, as many under way as the library takes. Prints "MiBps X"
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK_BYTES = 64 << 10, WARM_UPS = 20 };

static long word; /* symmetric */

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void send(long value)
{
    shmem_putmem(&word, &value, sizeof value, !shmem_my_pe());
}

static void receive(long value)
{
    while (!shmem_long_test(&word, SHMEM_CMP_EQ, value)) continue;
}

/* One look at the clock for a round trip, by PE 0 alone: as much as perftest does, where each side takes the time once. */
static void time_round_trips(double *samples_us, long rounds)
{
    double before = now_us();
    for (long i = 1 - WARM_UPS; i <= rounds; i++) {
        if (shmem_my_pe() == 0) {
            send(i + WARM_UPS);
            receive(i + WARM_UPS);
            double now = now_us();
            if (i > 0) samples_us[i - 1] = (now - before) / 2;
            before = now;
        } else {
            receive(i + WARM_UPS);
            send(i + WARM_UPS);
        }
    }
}

static void latency(long rounds)
{
    double *samples_us = malloc((size_t)rounds * sizeof *samples_us);
    if (!samples_us) abort();
    time_round_trips(samples_us, rounds);
    qsort(samples_us, (size_t)rounds, sizeof *samples_us, by_size);
    if (shmem_my_pe() == 0) printf("smallest_us %.2f\ntypical_us %.2f\n", samples_us[0], samples_us[rounds / 2]);
    free(samples_us);
}

static void bandwidth(long rounds)
{
    char  *dest = shmem_malloc(BLOCK_BYTES), *source = shmem_malloc(BLOCK_BYTES);
    double begin = 0;
    for (long i = -WARM_UPS; shmem_my_pe() == 0 && i < rounds; i++) {
        if (i == 0) {
            shmem_quiet();
            begin = now_us();
        }
        shmem_putmem_nbi(dest, source, BLOCK_BYTES, 1);
    }
    shmem_quiet();
    if (shmem_my_pe() == 0) printf("MiBps %.2f\n", (double)rounds * BLOCK_BYTES / 1.048576 / (now_us() - begin));
    shmem_barrier_all(); /* PE 1 sleeps there, as their server does */
}

int main(int count, char **args)
{
    long rounds = count == 3 ? atol(args[2]) : 0;
    if (rounds <= 0) return 2;
    shmem_init();
    if (shmem_n_pes() != 2) shmem_global_exit(2);
    shmem_barrier_all();
    if (strcmp(args[1], "latency") == 0) latency(rounds);
    else bandwidth(rounds);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
