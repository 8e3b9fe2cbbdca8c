/* SPDX-License-Identifier: Apache-2.0
 *
 * malloc, calloc, align and hints end with a barrier; free and realloc begin with one. Each acts as shmem_barrier_all, so
 * a put made before it is there after it, though the PE that puts comes late.
 * Spec: OpenSHMEM 1.6 §9.3 Memory Management Routines, §9.3.1 to §9.3.6
 */
#include "../api.h"

#include <unistd.h>

static long flag;

int main(void)
{
    shmem_init();
    long  round = 0;
    char *a, *b, *c, *d;
#define STEP(CALL)                                                                     \
    do {                                                                               \
        round++;                                                                       \
        if (shmem_my_pe() == 0) usleep(10000);                                         \
        if (shmem_my_pe() == 0)                                                        \
            for (int pe = 0; pe < shmem_n_pes(); pe++) shmem_long_p(&flag, round, pe); \
        CALL;                                                                          \
        CHECK_EQUAL(flag, round);                                                      \
        shmem_sync_all(); /* before the next round's put */                            \
    } while (0)
    STEP(a = shmem_malloc(100));
    STEP(b = shmem_calloc(10, 10));
    STEP(c = shmem_align(128, 100));
    STEP(d = shmem_malloc_with_hints(100, 0));
    STEP(a = shmem_realloc(a, 50000));
    STEP(a = shmem_realloc(a, 10));
    STEP(shmem_free(b));
    STEP(shmem_free(c));
    STEP(b = shmem_realloc(NULL, 100));
    STEP(b = shmem_realloc(b, 0));
    STEP(CHECK(shmem_malloc((size_t)1 << 50) == NULL)); /* GAP: a failing one too */
    STEP(shmem_free(d));
    STEP(shmem_free(a));
#undef STEP
    shmem_finalize();
    return api_result();
}
