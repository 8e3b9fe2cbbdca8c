/* SPDX-License-Identifier: Apache-2.0
 *
 * A wait that passes POSTERN_WAIT_TIMEOUT ends the job and says what it waits for, also where that is a PE of another node that does not come.
 * Spec: none; the standard sets no limit
 * ENV: POSTERN_WAIT_TIMEOUT=500ms
 * NODES: a,b
 * PES: 2
 * STATUS: 1
 * OUTPUT: PE 0: waits in shmem_barrier_all, depends on PE 1
 * OUTPUT: PE 0: shmem_barrier_all: waited longer than POSTERN_WAIT_TIMEOUT .0.500 s
 */
#include "nodes.h"

#include <unistd.h>

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) shmem_barrier_all();
    for (;;) pause(); /* until the job ends */
}
