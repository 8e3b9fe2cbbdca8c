/* SPDX-License-Identifier: Apache-2.0
 *
 * Each shmem_init after the first is counted, and the library works until the last matching finalize.
 * Spec: OpenSHMEM 1.6 §9.1.1 shmem_init, §9.1.4 shmem_finalize
 */
#include "../api.h"

static long word = -1;

static void pass_round(long value)
{
    int me = shmem_my_pe(), n = shmem_n_pes();
    shmem_long_p(&word, value + me, (me + 1) % n);
    shmem_barrier_all();
    CHECK_EQUAL(word, value + (me + n - 1) % n);
    shmem_barrier_all();
}

int main(void)
{
    int initialized = 0, provided = -1;
    shmem_init();
    long *block = shmem_malloc(sizeof *block);
    CHECK(block != NULL);
    shmem_init();
    CHECK_EQUAL(shmem_init_thread(SHMEM_THREAD_SINGLE, &provided), 0);
    CHECK(provided >= SHMEM_THREAD_SINGLE);

    for (int left = 3; left > 0; left--) {
        shmem_query_initialized(&initialized);
        CHECK(initialized != 0);
        pass_round(100 * left);
        if (block) { /* a finalize that is not the last one frees nothing */
            shmem_long_p(block, left, shmem_my_pe());
            shmem_quiet();
            CHECK_EQUAL(shmem_long_g(block, shmem_my_pe()), left);
        }
        shmem_finalize();
    }
    shmem_query_initialized(&initialized);
    CHECK_EQUAL(initialized, 0);
    return api_result();
}
