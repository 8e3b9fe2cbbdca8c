/* SPDX-License-Identifier: Apache-2.0
 *
 * PE 0 misses its input file and ends the job for all; the others are waiting for what it would have read. The job's status is the
 * one that was given.
 * Spec: OpenSHMEM 1.6 §9.1.6 shmem_global_exit
 * Does what the specification's shmem_global_exit_example does.
 * STATUS: 5
 * NOOUTPUT: still here
 * PES: 2 3
 */
#include "../../api/api.h"

static long input;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) {
        FILE *file = fopen("/no/such/input.file", "r");
        if (file == NULL) shmem_global_exit(5);
        fclose(file);
    }
    shmem_wait_until(&input, SHMEM_CMP_NE, 0);
    printf("still here\n");
    shmem_finalize();
    return 0;
}
