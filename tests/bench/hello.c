/* SPDX-License-Identifier: Apache-2.0
 *
 * The shortest program: what start-up and the end cost with us.
 */
#include <shmem.h>

int main(void)
{
    shmem_init();
    shmem_finalize();
    return 0;
}
