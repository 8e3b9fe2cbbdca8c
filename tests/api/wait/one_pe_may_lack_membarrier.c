/* SPDX-License-Identifier: Apache-2.0
 *
 * Where only one PE is refused membarrier, all agree on writers that fence, or the one would never be ordered.
 * PES: 2 3 4
 * Spec: none; the design's: all PEs agree on whether writers fence
 */
#include "refuse_membarrier.h"

int main(void)
{
    if (api_pe() == 1) refuse_membarrier();
    shmem_init();
    ping_pong(200);
    shmem_finalize();
    return api_result();
}
