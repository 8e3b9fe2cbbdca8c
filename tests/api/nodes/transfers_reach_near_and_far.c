/* SPDX-License-Identifier: Apache-2.0
 *
 * Every PE puts to and gets from every PE, near ones and far ones in turn, by each kind of call: each byte arrives, and none beside it changes.
 * Sizes are those where a posted route changes its way: words, what is copied, what is cut into pieces.
 * Spec: OpenSHMEM 1.6 §9.6 Remote Memory Access Routines
 * NODES: a,b a:2,b
 * PES: 2 3 8
 */
#include "nodes.h"

enum { KINDS = 7, ROOM = 12000, FRESH = 0x5A };

static const size_t  sizes[] = {1, 2, 8, 63, 65, 4096, 4099, 9000};
static unsigned char source[ROOM], there[ROOM], got[ROOM];

static unsigned char byte_of(int pe, size_t kind, size_t i)
{
    return (unsigned char)(pe * 37 + (int)kind * 11 + (int)(i * 7) + (int)(i >> 6));
}

/* The bytes at i * step of memory are those of pe; all others up to `used` are FRESH. */
static bool holds(const unsigned char *memory, int pe, size_t kind, size_t bytes, size_t step)
{
    for (size_t i = 0; i < bytes * step + 16; i++) {
        unsigned char wanted = i % step == 0 && i / step < bytes ? byte_of(pe, kind, i / step) : FRESH;
        if (!CHECK_EQUAL(memory[i], wanted)) {
            fprintf(stderr, "... kind %zu, %zu bytes, byte %zu\n", kind, bytes, i);
            return false;
        }
    }
    return true;
}

/* Put `bytes` bytes of the source to PE `to`; how far apart they lie there. */
static size_t put_by(size_t kind, unsigned char *dest, size_t bytes, int to)
{
    switch (kind) {
    case 0: shmem_putmem(dest, source, bytes, to); return 1;
    case 1: shmem_putmem_nbi(dest, source, bytes, to); return 1;
    case 2: shmem_uchar_put(dest, source, bytes, to); return 1;
    case 3:
        for (size_t i = 0; i < bytes; i++) shmem_uchar_p(&dest[i], source[i], to);
        return 1;
    case 4: shmem_iput8(dest, source, 2, 1, bytes < 100 ? bytes : 100, to); return 2;
    case 5: shmem_ibput8(dest, source, 1, 1, 1, bytes < 100 ? bytes : 100, to); return 1;
    default: shmem_put8(dest, source, bytes, to); return 1;
    }
}

static void get_by(size_t kind, const unsigned char *from, size_t bytes, size_t step, int pe)
{
    memset(got, FRESH, sizeof got);
    switch (kind) {
    case 0: shmem_getmem(got, from, bytes * step, pe); break;
    case 1:
        shmem_getmem_nbi(got, from, bytes * step, pe);
        shmem_quiet();
        break;
    case 2: shmem_uchar_get(got, from, bytes * step, pe); break;
    case 3:
        for (size_t i = 0; i < bytes; i++) got[i] = shmem_uchar_g(&from[i], pe);
        break;
    case 4: shmem_iget8(got, from, (ptrdiff_t)step, (ptrdiff_t)step, bytes, pe); break;
    case 5: shmem_ibget8(got, from, 1, 1, 1, bytes, pe); break;
    default: shmem_get8(got, from, bytes * step, pe); break;
    }
}

/* Everyone to its `distance`th neighbour. */
static void exchange(unsigned char *dest, int distance, size_t kind, size_t bytes)
{
    int me = shmem_my_pe(), n = shmem_n_pes(), to = (me + distance) % n, from = (me + n - distance) % n;
    if (kind == 3 && bytes > 100) bytes = 100; /* a call a byte */
    if ((kind == 4 || kind == 5) && bytes > 100) bytes = 100;
    memset(dest, FRESH, ROOM);
    for (size_t i = 0; i < bytes; i++) source[i] = byte_of(me, kind, i);
    shmem_barrier_all();
    size_t step = put_by(kind, dest, bytes, to);
    shmem_barrier_all();
    holds(dest, from, kind, bytes, step);
    get_by(kind, dest, bytes, step, to);
    holds(got, me, kind, bytes, step); /* what this PE has put there */
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    unsigned char *block = shmem_malloc(ROOM);
    if (!CHECK(block != NULL)) shmem_global_exit(1);
    for (int distance = 0; distance < shmem_n_pes(); distance++) {
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            size_t kind = (s + (size_t)distance) % KINDS;
            exchange(s % 2 ? block : there, distance, kind, sizes[s]);
            exchange(s % 2 ? there : block, distance, (kind + 3) % KINDS, sizes[s]);
        }
    }
    shmem_finalize();
    return api_result();
}
