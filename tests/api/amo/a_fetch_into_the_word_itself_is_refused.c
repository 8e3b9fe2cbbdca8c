/* SPDX-License-Identifier: Apache-2.0
 *
 * Checked mode: a nonblocking fetch must go to memory of its own, and not to NULL; beside the word, or where the same pointer is another PE's word, it may.
 * Spec: OpenSHMEM 1.6 §3 Memory Model (arguments must not overlap), §E, §9.7.2.1 shmem_atomic_fetch_nbi, §9.7.2.5 shmem_atomic_fetch_add_nbi
 * PES: 0
 * ENV: POSTERN_CHECK=1 SHMEM_SYMMETRIC_SIZE=1M
 */
#include "../child.h"

static long words[4];

static void fetch(void)
{
    shmem_init();
    shmem_long_atomic_fetch_nbi(words, words, 0);
}
static void add(void)
{
    shmem_init();
    shmem_int_atomic_fetch_add_nbi((int *)(void *)words + 1, (int *)(void *)words + 1, 1, 0);
}
static void in_part(void)
{
    shmem_init();
    shmem_long_atomic_swap_nbi((long *)(void *)((char *)words + 4), words, 1, 0);
}
static void no_place(void)
{
    shmem_init();
    shmem_long_atomic_fetch_inc_nbi(NULL, words, 0);
}
static void beside(void)
{
    shmem_init();
    shmem_long_atomic_fetch_inc_nbi(words + 1, words, 0);
    shmem_long_atomic_fetch_add_nbi(words + 1, words + 2, 5, 0);
    shmem_quiet();
    CHECK(words[0] == 1 && words[2] == 5);
    shmem_finalize();
    exit(api_result() ? 2 : 0);
}

int main(void)
{
    static const char *const of_fetch[] = {"shmem_long_atomic_fetch_nbi: source and fetch overlap", "why:", NULL};
    static const char *const of_add[]   = {"shmem_int_atomic_fetch_add_nbi: dest and fetch overlap", "why:", NULL};
    static const char *const of_part[]  = {"shmem_long_atomic_swap_nbi: dest and fetch overlap", "why:", NULL};
    static const char *const of_null[]  = {"shmem_long_atomic_fetch_inc_nbi: fetch is NULL", "why:", NULL};
    CHECK(child_refuses("fetch", fetch, of_fetch));
    CHECK(child_refuses("add", add, of_add));
    CHECK(child_refuses("in part", in_part, of_part));
    CHECK(child_refuses("NULL", no_place, of_null));
    CHECK_EQUAL(child_run(beside).status, 0);
    return api_result();
}
