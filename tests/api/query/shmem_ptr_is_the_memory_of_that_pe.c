/* SPDX-License-Identifier: Apache-2.0
 *
 * shmem_ptr gives an address for loads and stores, or NULL. Never NULL for the caller itself (SHMEM_TEAM_SHARED has at least it), nor
 * for any member of SHMEM_TEAM_SHARED.
 * Spec: OpenSHMEM 1.6 §9.1.9 shmem_ptr
 */
#include "../api.h"

static long words[64];

static void look(long *object, const char *what)
{
    int me = shmem_my_pe(), n = shmem_n_pes();
    for (int pe = 0; pe < n; pe++) object[pe] = 1000 * me + pe;
    shmem_barrier_all();
    CHECK(shmem_ptr(object, me) == object);
    for (int pe = 0; pe < n; pe++) {
        long *there  = shmem_ptr(object, pe);
        bool  shared = shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, SHMEM_TEAM_SHARED) >= 0;
        if (shared != (there != NULL)) CHECK(!"shmem_ptr and SHMEM_TEAM_SHARED disagree");
        if (!there) continue;
        CHECK_EQUAL(there[n - 1], 1000 * pe + n - 1);
        CHECK((char *)shmem_ptr((char *)object + 3, pe) == (char *)there + 3); /* interior pointers */
        CHECK(shmem_team_ptr(SHMEM_TEAM_WORLD, object, pe) == there);
    }
    shmem_barrier_all();
    for (int pe = 0; pe < n; pe++) {
        long *there = shmem_ptr(object, pe);
        if (there) there[me] = -(1000 * pe + me) - 1; /* each writes a word of its own */
    }
    shmem_barrier_all();
    for (int pe = 0; pe < n; pe++)
        if (shmem_ptr(object, pe) && !CHECK_EQUAL(object[pe], -(1000 * me + pe) - 1)) fprintf(stderr, "... %s\n", what);
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    long *block = shmem_calloc(64, sizeof *block);
    if (CHECK(block != NULL)) look(block, "heap");
    look(words, "static");

    /* SPEC: the result is a good local argument, as the source of a put */
    int   n = shmem_n_pes(), next = (shmem_my_pe() + 1) % n;
    long *mine = shmem_ptr(&words[1], shmem_my_pe());
    *mine      = 77 + shmem_my_pe();
    shmem_barrier_all();
    shmem_long_put(&words[2], mine, 1, next);
    shmem_barrier_all();
    CHECK_EQUAL(words[2], 77 + (shmem_my_pe() + n - 1) % n);
    shmem_finalize();
    return api_result();
}
