/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 1 2 3
 *
 * start_pes and shmem_init mix: each takes one reference, exit drops that of start_pes. So the library works after the shmem_finalize that
 * belongs to shmem_init. Spec: OpenSHMEM 1.6 §9.1.13 start_pes, §F.2.2, §9.1.4 shmem_finalize.
 */
#include "../api.h"

#include <unistd.h>

static long word;

static void after_the_end(void)
{
    int initialized = -1;
    shmem_query_initialized(&initialized);
    CHECK_EQUAL(initialized, 0);
    if (api_result() != 0) _exit(1);
}

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
    atexit(after_the_end);
    shmem_init();
    api_pe();
    start_pes(0);
    shmem_init();
    pass_round(10);
    shmem_finalize();
    pass_round(20);
    shmem_finalize();
    pass_round(30);
    start_pes(0);
    return 0;
}
