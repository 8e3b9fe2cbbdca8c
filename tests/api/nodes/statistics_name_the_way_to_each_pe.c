/* SPDX-License-Identifier: Apache-2.0
 *
 * POSTERN_STATS=1 counts what was done for each PE and says by which transport: a near one by shm, a far one by another.
 * Spec: none; the standard knows no statistics
 * ENV: POSTERN_STATS=1
 * NODES: a:2,b
 * PES: 3
 * OUTPUT: PE 0: to PE 1 over shm: put 2 calls, 80 bytes
 * OUTPUT: PE 0: to PE 2 over (chaos|libfabric|ibverbs): put 2 calls, 80 bytes
 */
#include "nodes.h"

static long words[5];

int main(void)
{
    shmem_init();
    static const long values[5] = {1, 2, 3, 4, 5};
    for (int pe = 0; pe < shmem_n_pes(); pe++) {
        shmem_long_put(words, values, 5, pe);
        shmem_long_put_nbi(words, values, 5, pe);
    }
    shmem_finalize();
    return api_result();
}
