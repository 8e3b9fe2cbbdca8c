/* SPDX-License-Identifier: Apache-2.0
 *
 * The report says how many nodes the job has, how many of its PEs are on PE 0's, and by which transport each of the others is reached.
 * Spec: none; the standard knows no report
 * ENV: POSTERN_REPORT=1
 * NODES: a:2,b
 * PES: 3
 * OUTPUT: job +chosen +3 PEs on 2 nodes, 2 of them on this one
 * OUTPUT: routes +chosen +from PE 0: 2 PEs mapped by shm, 1 PE posted to over (chaos|libfabric|ibverbs)
 * OUTPUT: transport shm +present
 * OUTPUT: transport (chaos|libfabric|ibverbs) +present
 */
#include "nodes.h"

int main(void)
{
    shmem_init();
    shmem_finalize();
    return api_result();
}
