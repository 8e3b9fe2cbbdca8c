/* SPDX-License-Identifier: Apache-2.0
 *
 * Ping-pong: two PEs send a message to and fro with put-with-signal, for sizes from 8 bytes to 2 MiB.
 *
 * Shows shmem_putmem_signal: data and signal are one call, and who sees the signal sees the data. The receiver checks the
 * message, so a signal that overtakes its data is noticed. PEs come in pairs, i with i + n/2; with one PE it sends to itself.
 *
 *     oshrun -n 2 ping_pong
 */
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    BYTES_MIN   = 8,
    BYTES_MAX   = 2 << 20,
    WARM_UPS    = 20,
    LARGE       = 16 << 10, /* from this size on, fewer turns */
    TURNS_SMALL = 2000,
    TURNS_LARGE = 100,
};

static uint8_t  inbox[BYTES_MAX]; /* symmetric, as all static variables */
static uint64_t arrived;          /* the signal: turns so far           */
static uint8_t  outbox[BYTES_MAX];

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static void send(uint64_t turn, size_t bytes, int peer)
{
    outbox[0]         = (uint8_t)turn; /* the ends of the message show whether all of it is new */
    outbox[bytes - 1] = (uint8_t)turn;
    shmem_putmem_signal(inbox, outbox, bytes, &arrived, turn, SHMEM_SIGNAL_SET, peer);
}

/* 1 if the message is not the one that the signal belongs to. */
static int receive(uint64_t turn, size_t bytes)
{
    shmem_signal_wait_until(&arrived, SHMEM_CMP_GE, turn);
    return inbox[0] != (uint8_t)turn || inbox[bytes - 1] != (uint8_t)turn;
}

int main(void)
{
    shmem_init();
    int      me    = shmem_my_pe();
    int      pes   = shmem_n_pes();
    int      half  = pes / 2;
    int      first = me < half || pes == 1; /* sends first */
    int      peer  = pes == 1 ? 0 : me < half ? me + half : me - half;
    int      plays = me < 2 * half || pes == 1; /* with an odd number of PEs, the last one has no partner */
    int      wrong = 0;
    uint64_t turn  = 0;

    if (me == 0) {
        printf("bytes\tone way, us\tGB/s\n");
    }
    for (size_t bytes = BYTES_MIN; bytes <= BYTES_MAX; bytes *= 4) {
        int    turns = bytes < LARGE ? TURNS_SMALL : TURNS_LARGE;
        double start = 0;
        shmem_barrier_all();
        for (int i = -WARM_UPS; plays && i < turns; i++) {
            if (i == 0) {
                start = now_us();
            }
            turn++;
            if (first) {
                send(turn, bytes, peer);
            }
            wrong += receive(turn, bytes);
            if (!first) {
                send(turn, bytes, peer);
            }
        }
        if (me == 0) {
            double one_way_us = (now_us() - start) / turns / (pes == 1 ? 1 : 2);
            printf("%zu\t%.2f\t%.2f\n", bytes, one_way_us, (double)bytes / one_way_us * 1e-3);
        }
    }
    if (wrong > 0) {
        fprintf(stderr, "ping_pong: PE %d saw %d signals before their data\n", me, wrong);
    }
    shmem_finalize();
    return wrong > 0;
}
