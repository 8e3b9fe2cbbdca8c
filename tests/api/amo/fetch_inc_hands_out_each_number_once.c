/* SPDX-License-Identifier: Apache-2.0
 *
 * A ticket counter: all PEs draw at once, blocking and nonblocking, and every number is drawn by exactly one.
 * Spec: OpenSHMEM 1.6 §3.2 Atomicity Guarantees, §9.7.1.5 shmem_atomic_fetch_inc, §9.7.2.4 shmem_atomic_fetch_inc_nbi
 */
#include "../api.h"

enum { DRAWS = 300 };

static long counter;

int main(void)
{
    shmem_init();
    int   me = shmem_my_pe(), n = shmem_n_pes();
    int  *owners = shmem_calloc((size_t)(2 * DRAWS * n), sizeof *owners);
    long *later  = malloc(DRAWS * sizeof *later);
    if (!CHECK(owners && later)) shmem_global_exit(1);
    shmem_barrier_all();
    for (int i = 0; i < DRAWS; i++) {
        long ticket = shmem_long_atomic_fetch_inc(&counter, 0);
        if (CHECK(ticket >= 0 && ticket < 2L * DRAWS * n)) shmem_int_atomic_inc(&owners[ticket], 0);
        shmem_long_atomic_fetch_inc_nbi(&later[i], &counter, 0);
    }
    shmem_quiet();
    for (int i = 0; i < DRAWS; i++)
        if (CHECK(later[i] >= 0 && later[i] < 2L * DRAWS * n)) shmem_int_atomic_inc(&owners[later[i]], 0);
    shmem_barrier_all();
    if (me == 0) {
        CHECK_EQUAL(counter, 2L * DRAWS * n);
        for (int i = 0; i < 2 * DRAWS * n; i++) CHECK_EQUAL(owners[i], 1);
    }
    shmem_barrier_all();
    free(later);
    shmem_finalize();
    return api_result();
}
