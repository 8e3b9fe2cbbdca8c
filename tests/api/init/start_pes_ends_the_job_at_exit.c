/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 1 2 3
 *
 * A program of start_pes ends without a call: exit finalizes, and that is collective. A PE that ends early still gets what another sends later.
 * Handlers that were registered after start_pes still have the library, earlier ones see its end. Repeats and the argument
 * do nothing. Spec: OpenSHMEM 1.6 §9.1.13 start_pes, §F.2.2, §F.2.3.
 */
#include "../api.h"

#include <unistd.h>

static long word, barriers;

static void after_the_end(void)
{
    int initialized = -1;
    shmem_query_initialized(&initialized);
    CHECK_EQUAL(initialized, 0);
    CHECK_EQUAL(barriers, 1);
    CHECK_EQUAL(word, 42);
    if (api_result() != 0) _exit(1);
}

static void before_the_end(void)
{
    shmem_barrier_all();
    barriers++;
}

int main(void)
{
    atexit(after_the_end);
    start_pes(17);
    CHECK_EQUAL(_my_pe(), shmem_my_pe());
    CHECK_EQUAL(_num_pes(), shmem_n_pes());
    CHECK_EQUAL(p_my_pe(), shmem_my_pe());
    CHECK_EQUAL(p_num_pes(), shmem_n_pes());
    api_pe();
    start_pes(0);
    atexit(before_the_end);
    shmem_barrier_all();
    if (_my_pe() == _num_pes() - 1) {
        if (_num_pes() > 1) usleep(100000); /* the others are in exit by now, mostly */
        for (int pe = 0; pe < _num_pes(); pe++) shmem_long_p(&word, 42, pe);
    }
    return 0;
}
