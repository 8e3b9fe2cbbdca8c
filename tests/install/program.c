/* SPDX-License-Identifier: Apache-2.0
 *
 * What a user writes first: each PE puts into a static variable of its right neighbour.
 */
#include <shmem.h>
#include <stdio.h>

static long from_left = -1;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    shmem_long_p(&from_left, 100 + me, (me + 1) % n);
    shmem_barrier_all();
    int right = from_left == 100 + (me + n - 1) % n;
    printf("PE %d of %d: %s\n", me, n, right ? "right" : "wrong");
    fflush(stdout);
    shmem_finalize();
    return right ? 0 : 1;
}
