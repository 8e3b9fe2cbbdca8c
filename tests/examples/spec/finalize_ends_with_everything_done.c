/* SPDX-License-Identifier: Apache-2.0
 *
 * A PE reads a word of another and all finalize. The word's owner may have come to finalize long before: its memory stays until all
 * are there. Before it, every PE leaves a mark at PE 0 that nothing completes but the end of an inner init and finalize.
 * Spec: OpenSHMEM 1.6 §9.1.4 shmem_finalize, §9.6.1.6 shmem_g
 * Does what the specification's shmem_finalize_example does.
 * PES: 2 3
 */
#include "../../api/api.h"

static long birthday = 0, marks[8];

int main(void)
{
    shmem_init();
    shmem_init(); /* a library that the program uses may do so too */
    int  me = shmem_my_pe(), n = shmem_n_pes();
    long mark = me + 70;
    birthday  = 19700101 + me;
    shmem_put_nbi(&marks[me], &mark, 1, 0);
    shmem_finalize(); /* not the last one: a barrier that completes */
    if (me == 0) {
        for (int pe = 0; pe < n; pe++) CHECK_EQUAL(marks[pe], pe + 70);
        CHECK_EQUAL(shmem_g(&birthday, n - 1), 19700101 + n - 1);
    }
    shmem_finalize();
    return api_result();
}
