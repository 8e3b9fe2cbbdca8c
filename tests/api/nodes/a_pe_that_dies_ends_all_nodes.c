/* SPDX-License-Identifier: Apache-2.0
 *
 * A PE that is killed while operations are under way to it from near and far: the job ends, and the PE is named.
 * Spec: none; the standard leaves the death of a PE open
 * NODES: a,b a:2,b
 * PES: 3 5
 * STATUS: 137
 * OUTPUT: PE 1 .* was ended by signal 9
 */
#include "nodes.h"

#include <signal.h>

static long words[512], values[512];

int main(void)
{
    shmem_init();
    shmem_barrier_all();
    if (shmem_my_pe() == 1) raise(SIGKILL);
    for (;;) {
        shmem_long_put_nbi(words, values, 512, 1);
        shmem_long_atomic_inc(words, 1);
        shmem_quiet();
    }
}
