/* SPDX-License-Identifier: Apache-2.0
 *
 * Sizes on both sides of each border at which a copy changes its way: words, lines, pages, and the size from which copies go
 * past the cache, which is set low here. To a start in the middle of a line, since such copies treat head and tail apart.
 * Spec: OpenSHMEM 1.6 §9.6.1.1 shmem_put, §9.6.1.5 shmem_get
 * ENV: POSTERN_COPY_STREAM=8K
 */
#include "../ring.h"

enum { ROOM = 160 << 10, GUARD = 0xEE };

static const size_t sizes[] = {1,    2,    3,    7,    8,    9,    15,    16,    17,    31,    32,    33,    63,    64,     65,
                               40,   48,   56,   72,   80,   88,   96,    100,   112,   120,   125,   17,    23,    47,     79,
                               127,  128,  129,  255,  256,  257,  1023,  1024,  1025,  4095,  4096,  4097,  8127,  8128,   8191,
                               8192, 8193, 8255, 8256, 8257, 9000, 12288, 16383, 16384, 16385, 65535, 65536, 65537, 100001, 131073};

static unsigned char byte_of(int pe, size_t i)
{
    return (unsigned char)(i * 7 + (i >> 8) * 3 + (size_t)pe * 29 + 1);
}

static void check_room(const unsigned char *room, size_t at, size_t size, int sender, size_t from)
{
    for (size_t i = 0; i < ROOM; i++) {
        unsigned char wanted = i < at || i >= at + size ? GUARD : byte_of(sender, from + i - at);
        if (room[i] == wanted) continue;
        fprintf(stderr, "size %zu to offset %zu: byte %zu is wrong\n", size, at, i);
        CHECK_EQUAL(room[i], wanted);
        return;
    }
}

int main(void)
{
    shmem_init();
    int            me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n, before = (me + n - 1) % n;
    unsigned char *room = shmem_malloc(ROOM), *source = shmem_malloc(ROOM), *got = malloc(ROOM);
    if (!CHECK(room && source && got)) shmem_global_exit(1);
    for (size_t i = 0; i < ROOM; i++) source[i] = byte_of(me, i);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t size = sizes[k], at = 64 + (k * 13) % 70, from = (k * 5) % 66;
        memset(room, GUARD, ROOM);
        memset(got, GUARD, ROOM);
        shmem_barrier_all();
        if (k % 2) shmem_putmem(room + at, source + from, size, next);
        else shmem_putmem_nbi(room + at, source + from, size, next);
        shmem_barrier_all();
        check_room(room, at, size, before, from);
        if (k % 2) shmem_getmem_nbi(got + at, source + from, size, next);
        else shmem_getmem(got + at, source + from, size, next);
        shmem_quiet();
        check_room(got, at, size, next, from);
        shmem_barrier_all();
    }
    free(got);
    shmem_finalize();
    return api_result();
}
