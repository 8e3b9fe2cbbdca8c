/* SPDX-License-Identifier: Apache-2.0
 *
 * The library's shmem_ names give way to those of a program, one by one: this one takes two of them, one that returns a value and
 * one that does not. All others stay the library's, and pshmem_ names are always the library's.
 * Spec: OpenSHMEM 1.6 §10 OpenSHMEM Profiling Interface, §10.3.1 Multiple Counting, §9.7.1.7 shmem_atomic_fetch_add
 * Does what the specification's fragments pshmem_weak_symbol_1, pshmem_weak_symbol_2 and pshmem_no_weak_symbol are about.
 * PES: 2 3
 */
#include <pshmem.h>
#include "../../api/api.h"

static int  fetches, barriers;
static long sum;

long shmem_long_atomic_fetch_add(long *dest, long value, int pe)
{
    fetches++;
    return pshmem_long_atomic_fetch_add(dest, value, pe);
}

void shmem_barrier_all(void)
{
    barriers++;
    pshmem_barrier_all();
}

int main(void)
{
    shmem_init();
    int n = shmem_n_pes();
    CHECK_EQUAL(shmem_my_pe(), pshmem_my_pe());
    CHECK_EQUAL(n, pshmem_n_pes());
    CHECK(shmem_long_atomic_fetch_add(&sum, 5, 0) % 5 == 0);
    CHECK(shmem_atomic_fetch_add(&sum, 5, 0) % 5 == 0);
    CHECK(pshmem_long_atomic_fetch_add(&sum, 5, 0) % 5 == 0);
    shmem_long_atomic_add(&sum, 5, 0); /* its neighbour is not replaced */
    shmem_barrier_all();
    CHECK_EQUAL(shmem_g(&sum, 0), 20 * n);
    CHECK_EQUAL(fetches, 2);
    int inside = barriers;
    shmem_sync_all(); /* no call of the library's own comes through here: nothing counts twice */
    shmem_free(shmem_malloc(64));
    CHECK_EQUAL(barriers, inside);
    CHECK_EQUAL(barriers, 1);
    shmem_finalize();
    return api_result();
}
