/* SPDX-License-Identifier: Apache-2.0
 *
 * A wait past POSTERN_WAIT_TIMEOUT says call, address as segment and offset, value wanted and seen, and ends the job.
 * PES: 1 2
 * ENV: POSTERN_WAIT_TIMEOUT=500ms
 * STATUS: 1
 * OUTPUT: PE 0: waits in shmem_long_wait_until for static.0x.* == 42, sees -7, for 0
 * OUTPUT: PE 0: shmem_long_wait_until: waited longer than POSTERN_WAIT_TIMEOUT .0.500 s
 * OUTPUT: fix: look for the PE that should have done it
 * Spec: none; the design's: waits have a bound that the user can set
 */
#include "../api.h"

#include <unistd.h>

static long word = -7;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) shmem_long_wait_until(&word, SHMEM_CMP_EQ, 42);
    for (;;) pause(); /* not in a wait of its own, whose limit might come first; PE 0 ends the job */
    return 0;
}
