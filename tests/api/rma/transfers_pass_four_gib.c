/* SPDX-License-Identifier: Apache-2.0
 *
 * Puts and gets of more than 2 and 4 GiB: lengths and offsets of 64 bits all the way. Skipped where the machine lacks the memory.
 * Spec: OpenSHMEM 1.6 §9.6.1.1 shmem_put, §9.6.1.5 shmem_get
 * PES: 2
 * ENV: SHMEM_SYMMETRIC_SIZE=5G POSTERN_OVERCOMMIT=1
 * LABELS: slow
 * TIMEOUT: 400
 * NOCHAOS: 4 GiB in pieces of a posted transport take minutes
 */
#include "../api.h"

#include <unistd.h>

/* The last byte of each transfer. */
static const size_t lasts[] = {((size_t)2 << 30) - 1, ((size_t)2 << 30) + 4099, ((size_t)4 << 30) + 4099};

/* Marks in every MiB and at both ends; the memory between is whatever it was. */
static unsigned char mark(int round, size_t at)
{
    return (unsigned char)(round * 50 + (int)((at >> 20) % 199) + 1);
}

int main(void)
{
    long long available = (long long)sysconf(_SC_AVPHYS_PAGES) * sysconf(_SC_PAGESIZE);
    if (available < (long long)15 << 30) api_skip("needs 15 GiB of free memory");
    shmem_init();
    int            me    = shmem_my_pe();
    size_t         bytes = lasts[2] + 64;
    unsigned char *room  = shmem_malloc(bytes);
    /* Through a volatile: gcc 12 takes offsets over 4 GiB into a block that it knows for negative ones. */
    unsigned char *volatile made = malloc(bytes);
    unsigned char *private       = made;
    if (!room || !private) {
        printf("skipped: no %zu bytes\n", bytes);
        shmem_finalize();
        return API_SKIPPED;
    }
    for (int round = 0; round < 3; round++) {
        size_t last = lasts[round], size = last + 1;
        for (size_t at = 0; at < size; at += 1 << 20) private[at] = mark(round, at);
        private[last]                                             = 255;
        room[size]                                                = 17;
        shmem_barrier_all();
        if (me == 0) {
            shmem_putmem(room, private, size, 1);
            shmem_quiet();
            for (size_t at = 0; at < size; at += 1 << 20) private[at] = 0;
            private[last]                                             = 0;
            shmem_getmem(private, room, size, 1);
            for (size_t at = 0; at < size; at += 1 << 20) CHECK_EQUAL(private[at], at == last ? 255 : mark(round, at));
            CHECK_EQUAL(private[last], 255);
        }
        shmem_barrier_all();
        if (me == 1) {
            for (size_t at = 0; at < size; at += 1 << 20) CHECK_EQUAL(room[at], at == last ? 255 : mark(round, at));
            CHECK_EQUAL(room[last], 255);
            CHECK_EQUAL(room[size], 17);
        }
        shmem_barrier_all();
    }
    free(private);
    shmem_finalize();
    return api_result();
}
