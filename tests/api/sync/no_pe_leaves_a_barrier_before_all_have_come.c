/* SPDX-License-Identifier: Apache-2.0
 *
 * A thousand barriers back to back, barrier_all and sync_all in turn: each PE counts itself in before it enters, and whoever
 * leaves reads the counts of all others, by plain loads of words that were stored through shmem_ptr where there is one.
 * Spec: OpenSHMEM 1.6 §9.10.1 shmem_barrier_all, §9.10.4 shmem_sync_all; pitfall: a fast PE may already be in the next one
 * ENV: POSTERN_CHAOS_DELAY=2us
 */
#include "../api.h"

enum { PES_MAX = 64 };

/* counts[pe] at every PE: written by that PE only. Before barrier k it writes k. */
static long counts[PES_MAX];

int main(void)
{
    shmem_init();
    int   me = shmem_my_pe(), n = shmem_n_pes(), rounds = 1000;
    long *mapped[PES_MAX];
    bool  all_mapped = true;
    if (!CHECK(n <= PES_MAX)) shmem_global_exit(1);
    for (int pe = 0; pe < n; pe++) {
        mapped[pe] = shmem_ptr(counts, pe);
        all_mapped = all_mapped && mapped[pe];
    }
    if (!all_mapped) rounds = 300;
    shmem_barrier_all();
    for (long round = 1; round <= rounds; round++) {
        for (int pe = 0; pe < n; pe++) {
            if (all_mapped) *(volatile long *)&mapped[pe][me] = round; /* a plain store */
            else shmem_long_p(&counts[me], round, pe);
        }
        if (round % 2 || !all_mapped) shmem_barrier_all();
        else shmem_sync_all();
        for (int pe = 0; pe < n; pe++) {
            long seen = *(volatile long *)&counts[pe];
            CHECK(seen == round || seen == round + 1); /* a fast PE has begun the next round */
        }
    }
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
