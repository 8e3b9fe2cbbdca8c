/* SPDX-License-Identifier: Apache-2.0
 *
 * Many rounds from every PE to the next at once, from 1 byte to 1 MiB: who has seen a signal by any of the ways to see it
 * finds the whole payload of that call. Payload on the heap, signals static: they may lie in different segments.
 * Spec: OpenSHMEM 1.6 §9.8 Signaling Operations, §9.8.3 shmem_put_signal, §9.8.4 shmem_put_signal_nbi
 * ENV: POSTERN_COPY_STREAM=64K POSTERN_CHAOS_DELAY=2us SHMEM_SYMMETRIC_SIZE=64M
 * NOVALGRIND: a minute of copying
 */
#include "../api.h"

enum { PES_MAX = 16, BYTES_MAX = 1 << 20, SLOT_BYTES = BYTES_MAX + 64 };

static const struct {
    size_t bytes;
    int    rounds;
} plan[] = {{1, 40},    {7, 40},    {8, 40},    {17, 40},   {64, 40},    {100, 40},
            {1000, 20}, {4096, 20}, {5000, 20}, {65536, 8}, {100001, 6}, {BYTES_MAX, 2}};

static uint64_t arrived[PES_MAX], taken;

static unsigned char byte_of(int sender, uint64_t round, size_t i)
{
    return (unsigned char)((size_t)sender * 37 + round * 11 + i * 3 + (i >> 8));
}

static void check_slot(const unsigned char *slot, int sender, uint64_t round, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (slot[i] == byte_of(sender, round, i)) continue;
        fprintf(stderr, "PE %d: round %d of %d: byte %zu of %zu is old\n", shmem_my_pe(), (int)round, sender, i, bytes);
        CHECK(!"the payload is there");
        return;
    }
}

/* The four ways to see it. */
static void await(uint64_t *word, uint64_t round)
{
    switch (round % 4) {
    case 0: CHECK_EQUAL(shmem_signal_wait_until(word, SHMEM_CMP_GE, round), round); break;
    case 1: shmem_uint64_wait_until(word, SHMEM_CMP_EQ, round); break;
    case 2:
        while (!shmem_uint64_test(word, SHMEM_CMP_EQ, round)) continue;
        break;
    default:
        while (shmem_signal_fetch(word) != round) continue;
        break;
    }
}

int main(void)
{
    shmem_init();
    int            me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n, before = (me + n - 1) % n;
    unsigned char *slot = shmem_malloc(SLOT_BYTES), *source = malloc(SLOT_BYTES);
    if (!CHECK(slot && source)) shmem_global_exit(1);
    uint64_t round = 0, credits = 0;
    shmem_barrier_all();
    for (size_t k = 0; k < sizeof plan / sizeof *plan; k++) {
        for (int r = 0; r < plan[k].rounds; r++) {
            round++;
            size_t at = round % 9, bytes = plan[k].bytes;
            for (size_t i = 0; i < bytes; i++) source[i] = byte_of(me, round, i);
            /* SET and ADD in turn: both leave the round's number. */
            int      op    = round % 3 ? SHMEM_SIGNAL_SET : SHMEM_SIGNAL_ADD;
            uint64_t value = round % 3 ? round : 1;
            if (round % 2) shmem_putmem_signal(slot + at, source, bytes, &arrived[me % PES_MAX], value, op, next);
            else shmem_putmem_signal_nbi(slot + at, source, bytes, &arrived[me % PES_MAX], value, op, next);
            await(&arrived[before % PES_MAX], round);
            check_slot(slot + at, before, round, bytes);
            /* The slot may be written again: tell its writer. And our source may be reused. */
            shmem_signal_add(&taken, 1, before);
            credits++;
            shmem_signal_wait_until(&taken, SHMEM_CMP_GE, credits);
            shmem_quiet();
        }
    }
    shmem_barrier_all();
    free(source);
    shmem_finalize();
    return api_result();
}
