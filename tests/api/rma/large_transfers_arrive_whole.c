/* SPDX-License-Identifier: Apache-2.0
 *
 * 64 MiB in one put and one get, past the size from which copies bypass the cache, and past a transport's largest piece.
 * Spec: OpenSHMEM 1.6 §9.6.1.1 shmem_put, §9.6.1.5 shmem_get
 * PES: 1 2 3
 * ENV: SHMEM_SYMMETRIC_SIZE=160M POSTERN_CHAOS_DELAY=1us
 * NOVALGRIND: half a minute of copying shows nothing that smaller copies do not
 */
#include "../api.h"

enum { WORDS = (64 << 20) / 8 };

static uint64_t word_of(int pe, size_t i)
{
    return ((uint64_t)pe << 56) ^ (i * UINT64_C(0x9E3779B97F4A7C15));
}

static void check(const uint64_t *words, int pe, const char *what)
{
    for (size_t i = 0; i < WORDS; i++) {
        if (words[i] == word_of(pe, i)) continue;
        fprintf(stderr, "%s: word %zu of %d is wrong\n", what, i, WORDS);
        CHECK(!"all words are there");
        return;
    }
}

int main(void)
{
    shmem_init();
    int       me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n, before = (me + n - 1) % n;
    uint64_t *to = shmem_malloc((size_t)WORDS * 8), *from = shmem_malloc((size_t)WORDS * 8);
    if (!CHECK(to && from)) shmem_global_exit(1);
    for (size_t i = 0; i < WORDS; i++) from[i] = word_of(me, i);
    shmem_barrier_all();
    shmem_uint64_put(to, from, WORDS, next);
    shmem_barrier_all();
    check(to, before, "put");
    memset(to, 0, (size_t)WORDS * 8);
    shmem_uint64_get_nbi(to, from, WORDS, next);
    shmem_quiet();
    check(to, next, "get");
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
