/* SPDX-License-Identifier: Apache-2.0
 *
 * How a large put copies depends on POSTERN_COPY_STREAM, on its size, and on whether its place was put to lately. Sizes about each border, odd starts on
 * both sides, first to a place that is new and then at once to the same place: each byte arrives, and none beside. Each setting in a
 * job of its own, blocking and with a signal.
 * Spec: OpenSHMEM 1.6 §9.6.1.1 shmem_put, §9.8.3 shmem_put_signal
 * PES: 1 2 3
 * ENV: SHMEM_SYMMETRIC_SIZE=24M
 * NOSIMVERBS: how bytes are copied to a mapped place is no matter of a NIC, and 500 MB of small packets take long
 * NOVALGRIND: moves much
 */
#include "../api.h"

enum { LARGEST = (3 << 19) + 4096, GUARD_BYTES = 256, PLACES = 4, PLACE_BYTES = LARGEST + 8192, GUARD = 0xEE };

static const char *const settings[] = {NULL, "1", "300", "4K", "16K", "64K", "1536K"};
static const size_t      sizes[]    = {4095,          4096,          4097,    4096 + 63,     8191,    16383,         16384,
                                       16385,         16384 + 65,    32769,   100003,        3 << 18, (1 << 20) - 1, 1 << 20,
                                       (1 << 20) + 1, (3 << 19) - 1, 3 << 19, (3 << 19) + 1, LARGEST};

static uint64_t signal_word;

static unsigned char byte_of(size_t i, unsigned salt)
{
    return (unsigned char)(i * 7 + (i >> 8) * 3 + (i >> 16) * 11 + salt * 29 + 1);
}

/* The bytes, and a guard on each side; the bytes are guards again afterwards. */
static void check_and_clear(unsigned char *to, size_t size, size_t from, unsigned salt)
{
    size_t wrong = 0, where = 0;
    for (size_t i = 0; i < size + 2 * GUARD_BYTES; i++) {
        bool          inside = i >= GUARD_BYTES && i < GUARD_BYTES + size;
        unsigned char wanted = inside ? byte_of(from + i - GUARD_BYTES, salt) : GUARD;
        if (to[(ptrdiff_t)i - GUARD_BYTES] == wanted) continue;
        if (wrong++ == 0) where = i;
    }
    if (!CHECK_EQUAL(wrong, 0)) fprintf(stderr, "size %zu: the first is byte %td\n", size, (ptrdiff_t)where - GUARD_BYTES);
    memset(to - GUARD_BYTES, GUARD, size + 2 * GUARD_BYTES);
}

static void put(unsigned char *to, const unsigned char *source, size_t size, bool with_signal, uint64_t count, int pe)
{
    if (with_signal) {
        shmem_putmem_signal(to, source, size, &signal_word, count, SHMEM_SIGNAL_SET, pe);
    } else {
        shmem_putmem(to, source, size, pe);
        shmem_fence();
        shmem_uint64_p(&signal_word, count, pe);
    }
    shmem_signal_wait_until(&signal_word, SHMEM_CMP_GE, count);
}

static void one_job(void)
{
    shmem_init();
    int            me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    unsigned       from_pe = (unsigned)((me + n - 1) % n);
    uint64_t       count   = 0;
    unsigned char *places = shmem_malloc((size_t)PLACES * PLACE_BYTES), *source = malloc(LARGEST + 64);
    if (!CHECK(places && source)) shmem_global_exit(1);
    memset(places, GUARD, (size_t)PLACES * PLACE_BYTES);
    signal_word = 0;
    shmem_barrier_all();
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t         size = sizes[k], from = (k * 5 + 1) % 64;
        unsigned char *to = places + (k % PLACES) * PLACE_BYTES + 2 * GUARD_BYTES + (k * 13 + 1) % 64;
        for (unsigned again = 0; again < 4; again++) {
            for (size_t i = 0; i < size; i++) source[from + i] = byte_of(from + i, (unsigned)me + 5 * again);
            put(to, source + from, size, again % 2 == k % 2, ++count, next);
            check_and_clear(to, size, from, from_pe + 5 * again);
            shmem_barrier_all();
        }
    }
    free(source);
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
