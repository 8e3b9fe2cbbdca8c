/* SPDX-License-Identifier: Apache-2.0
 *
 * How a large get copies depends on POSTERN_COPY_STREAM and on its size: in one piece, in blocks from the last to the first, past the cache. Sizes about each
 * border, odd starts on both sides: each byte arrives, and none beside. Each setting in a job of its own.
 * Spec: OpenSHMEM 1.6 §9.6.1.5 shmem_get
 * PES: 1 2 3
 * ENV: SHMEM_SYMMETRIC_SIZE=24M
 * NOSIMVERBS: how bytes are copied from a mapped place is no matter of a NIC
 * NOVALGRIND: moves much
 */
#include "../api.h"

enum { LARGEST = (3 << 19) + 4096, GUARD_BYTES = 256, ROOM = LARGEST + 64, GUARD = 0xEE };

static const char *const settings[] = {NULL, "4K", "1536K"};
static const size_t      sizes[]    = {4095,    4096,          4097,    16384 + 65,    (1 << 20) - 1,
                                       1 << 20, (1 << 20) + 1, 3 << 19, (3 << 19) + 1, LARGEST};

static unsigned char byte_of(int pe, size_t i)
{
    return (unsigned char)(i * 7 + (i >> 8) * 3 + (i >> 15) * 11 + (size_t)pe * 29 + 1);
}

static void check(const unsigned char *got, size_t size, size_t from, int pe)
{
    size_t wrong = 0;
    for (size_t i = 0; i < size + 2 * GUARD_BYTES; i++) {
        bool inside = i >= GUARD_BYTES && i < GUARD_BYTES + size;
        wrong += got[i] != (inside ? byte_of(pe, from + i - GUARD_BYTES) : GUARD);
    }
    if (!CHECK_EQUAL(wrong, 0)) fprintf(stderr, "size %zu: %zu bytes are wrong\n", size, wrong);
}

static void one_job(void)
{
    shmem_init();
    int            n = shmem_n_pes(), next = (shmem_my_pe() + 1) % n;
    unsigned char *source = shmem_malloc(ROOM), *room = malloc(ROOM + 2 * GUARD_BYTES);
    if (!CHECK(source && room)) shmem_global_exit(1);
    for (size_t i = 0; i < ROOM; i++) source[i] = byte_of(shmem_my_pe(), i);
    shmem_barrier_all();
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t         from = (k * 5 + 1) % 64;
        unsigned char *got  = room + (k * 13 + 3) % 64;
        memset(room, GUARD, ROOM + 2 * GUARD_BYTES);
        shmem_getmem(got + GUARD_BYTES, source + from, sizes[k], next);
        check(got, sizes[k], from, next);
    }
    shmem_barrier_all();
    free(room);
    shmem_finalize();
}

int main(void)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (settings[i]) setenv("POSTERN_COPY_STREAM", settings[i], 1);
        else unsetenv("POSTERN_COPY_STREAM");
        one_job();
    }
    return api_result();
}
