/* SPDX-License-Identifier: Apache-2.0
 *
 * The least that a SHMEM program can be, for bench.
 */
#include <shmem.h>

int main(void)
{
    shmem_init();
    shmem_finalize();
    return 0;
}
