/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a filter refuses membarrier, writers fence instead; waits and wake-ups work as before, and the report says so.
 * PES: 1 2 4
 * ENV: POSTERN_REPORT=1
 * OUTPUT: membarrier +.*absent|absent.*membarrier|membarrier.*refused|membarrier.*not
 * Spec: none; the design's: writers fence where the system call is missing
 */
#include "refuse_membarrier.h"

int main(void)
{
    refuse_membarrier();
    shmem_init();
    ping_pong(200);
    shmem_finalize();
    return api_result();
}
