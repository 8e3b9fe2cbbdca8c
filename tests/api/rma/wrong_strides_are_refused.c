/* SPDX-License-Identifier: Apache-2.0
 *
 * A negative stride ends the job with a message that names the call and the stride, instead of writing before the array.
 * Spec: OpenSHMEM 1.6 §9.6.1.3 shmem_iput
 * PES: 1 2
 * STATUS: 1
 * OUTPUT: shmem_int_iput: stride -2
 * OUTPUT: fix: look at the stride
 */
#include "../api.h"

int main(void)
{
    static int words[16];
    int        values[4] = {1, 2, 3, 4};
    shmem_init();
    shmem_int_iput(words + 8, values, -2, 1, 4, 0);
    shmem_finalize();
    return 0;
}
