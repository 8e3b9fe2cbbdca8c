/* SPDX-License-Identifier: Apache-2.0
 *
 * Large private buffers are put from and read into, unmapped, and mapped again at the same addresses, over and over. A library that keeps them
 * registered with a network device would move the bytes of pages that the program no longer has, and report success.
 * Also pages that are given back inside a mapping that stays, as allocators do, and a source that cannot be written.
 * Spec: OpenSHMEM 1.6 §9.6 Remote Memory Access Routines
 * PES: 2
 */
#include "../api.h"

#include <sys/mman.h>

enum { ROUNDS = 4, BUFFERS = 3, BYTES = 128 * 1024, STEP = 509 };

static const char constant[20000] = "a source in read-only memory, too large to be copied";

static char value_of(int round, int buffer)
{
    return (char)(1 + round * BUFFERS + buffer);
}

static char *map(void *at)
{
    char *memory = mmap(at, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
    if (!CHECK(memory != MAP_FAILED)) shmem_global_exit(1);
    return memory;
}

static bool holds(const char *memory, char value)
{
    for (int i = 0; i < BYTES; i += STEP)
        if (memory[i] != value) return false;
    return memory[BYTES - 1] == value;
}

/* The same addresses, other pages. */
static void renew(char *memory, int round)
{
    if (round % 2 == 0) {
        munmap(memory, BYTES);
        map(memory);
    } else {
        madvise(memory, BYTES, MADV_DONTNEED);
    }
}

static void put_round(char *heap, char *const *sources, int round, int peer)
{
    for (int i = 0; i < BUFFERS; i++) {
        memset(sources[i], value_of(round, i), BYTES);
        shmem_putmem_nbi(heap + i * BYTES, sources[i], BYTES, peer);
        shmem_putmem_nbi(heap + i * BYTES, sources[i], BYTES / 2, peer); /* once more, while the first is under way */
    }
    shmem_quiet();
    shmem_barrier_all();
    for (int i = 0; i < BUFFERS; i++) {
        CHECK(holds(heap + i * BYTES, value_of(round, i)));
        renew(sources[i], round);
    }
}

static void get_round(const char *heap, char *target, int round, int peer)
{
    memset(target, 0, BYTES); /* the pages are there before the bytes come */
    shmem_getmem(target, heap + round % BUFFERS * BYTES, BYTES, peer);
    CHECK(holds(target, value_of(round, round % BUFFERS)));
    renew(target, round);
}

int main(void)
{
    shmem_init();
    int   peer = 1 - shmem_my_pe();
    char *heap = shmem_malloc((size_t)BUFFERS * BYTES), *sources[BUFFERS], *target = map(NULL);
    if (!CHECK(heap)) shmem_global_exit(1);
    for (int i = 0; i < BUFFERS; i++) sources[i] = map(NULL);
    for (int round = 0; round < ROUNDS; round++) {
        put_round(heap, sources, round, peer);
        get_round(heap, target, round, peer);
        shmem_barrier_all(); /* before the next puts */
    }
    shmem_putmem(heap, constant, sizeof constant, peer);
    shmem_quiet();
    shmem_barrier_all();
    CHECK(memcmp(heap, constant, sizeof constant) == 0);
    shmem_barrier_all();
    shmem_free(heap);
    shmem_finalize();
    return api_result();
}
