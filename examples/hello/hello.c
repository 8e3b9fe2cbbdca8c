/* SPDX-License-Identifier: Apache-2.0
 *
 * Hello: start the library, find out who and how many we are, and let PE 0 speak for all.
 *
 * Every PE stores one number into PE 0's memory. PE 0 takes no part in that; it only has to know when all have done so, and
 * the barrier tells it.
 *
 *     oshrun -n 4 hello
 */
#include <shmem.h>
#include <stdio.h>

static long greeted; /* symmetric: static variables are the same on every PE, and reachable from all */

int main(void)
{
    shmem_init();
    int me  = shmem_my_pe();
    int pes = shmem_n_pes();

    printf("Hello from PE %d of %d\n", me, pes);
    fflush(stdout);
    shmem_long_atomic_inc(&greeted, 0); /* adds to PE 0's copy */
    shmem_barrier_all();                /* everything before it is done, on all PEs */

    int status = 0;
    if (me == 0) {
        printf("PE 0 was greeted by %ld of %d PEs\n", greeted, pes);
        status = greeted == pes ? 0 : 1;
    }
    shmem_finalize();
    return status;
}
