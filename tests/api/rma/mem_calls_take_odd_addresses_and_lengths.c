/* SPDX-License-Identifier: Apache-2.0
 *
 * putmem and getmem have no alignment: every offset of both sides within a word, every small length, and the bytes around stay.
 * Spec: OpenSHMEM 1.6 §3.1 Pointers to Symmetric Objects, §9.6.1.1 shmem_put, §9.6.1.5 shmem_get; pitfall: putmem has no alignment
 */
#include "../ring.h"

enum { OFFSETS = 9, LENGTHS = 36, SLOT = 64, GUARD = 0xEE };

static struct ring ring;

static unsigned char byte_of(int pe, size_t i)
{
    return (unsigned char)(pe * 17 + (int)i * 5 + 1);
}

static bool right(const unsigned char *slot, int sender, size_t to, size_t from, size_t length)
{
    for (size_t i = 0; i < SLOT; i++) {
        unsigned char wanted = i < to || i >= to + length ? GUARD : byte_of(sender, from + i - to);
        if (slot[i] != wanted) return CHECK_EQUAL(slot[i], wanted);
    }
    return true;
}

int main(void)
{
    shmem_init();
    ring = ring_open();
    static unsigned char source[SLOT], got[SLOT];
    unsigned char(*slots)[SLOT] = shmem_malloc((size_t)OFFSETS * LENGTHS * SLOT);
    if (!CHECK(slots != NULL)) shmem_global_exit(1);
    for (size_t i = 0; i < SLOT; i++) source[i] = byte_of(ring.me, i);
    for (size_t to = 0; to < OFFSETS; to++) {
        memset(slots, GUARD, (size_t)OFFSETS * LENGTHS * SLOT);
        shmem_barrier_all();
        for (size_t from = 0; from < OFFSETS; from++)
            for (size_t length = 0; length < LENGTHS; length++)
                shmem_putmem(slots[from * LENGTHS + length] + to, source + from, length, ring.next);
        shmem_barrier_all();
        for (size_t from = 0; from < OFFSETS; from++)
            for (size_t length = 0; length < LENGTHS; length++)
                right(slots[from * LENGTHS + length], ring.before, to, from, length);
        for (size_t length = 0; length < LENGTHS; length++) {
            memset(got, GUARD, SLOT);
            shmem_getmem(got + to, source + length % OFFSETS, length, ring.next);
            right(got, ring.next, to, length % OFFSETS, length);
        }
    }
    shmem_barrier_all();
    ring_close(&ring);
    shmem_finalize();
    return api_result();
}
