/* SPDX-License-Identifier: Apache-2.0
 *
 * Every kind of call works toward the calling PE, also where dest and source are the same memory.
 * Spec: OpenSHMEM 1.6 §4 Execution Model, §9.6 Remote Memory Access Routines
 */
#include "../api.h"

int main(void)
{
    static long words[4];
    shmem_init();
    int   me = shmem_my_pe();
    long *a = shmem_malloc(64 * sizeof *a), *b = shmem_malloc(64 * sizeof *b), got[64] = {0};
    if (!CHECK(a && b)) shmem_global_exit(1);
    for (int i = 0; i < 64; i++) a[i] = me * 1000 + i;
    memset(b, 0, 64 * sizeof *b);

    shmem_long_put(b, a, 64, me);
    shmem_quiet();
    CHECK(memcmp(a, b, 64 * sizeof *a) == 0);
    shmem_long_get(got, a, 64, me);
    CHECK(memcmp(a, got, 64 * sizeof *a) == 0);

    shmem_long_put(a, a, 64, me); /* the same place */
    shmem_long_get(a, a, 64, me);
    shmem_long_iput(a, a, 1, 1, 64, me);
    shmem_quiet();
    for (int i = 0; i < 64; i++) CHECK_EQUAL(a[i], me * 1000 + i);

    shmem_long_p(words, 7, me);
    shmem_quiet();
    CHECK_EQUAL(words[0], 7);
    CHECK_EQUAL(shmem_long_g(words, me), 7);
    shmem_long_iput(words, a, 2, 3, 2, me);
    shmem_quiet();
    CHECK_EQUAL(words[2], me * 1000 + 3);
    shmem_long_put_nbi(words + 1, a, 1, me);
    shmem_quiet();
    CHECK_EQUAL(words[1], me * 1000);
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
