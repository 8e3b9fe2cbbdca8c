/* SPDX-License-Identifier: Apache-2.0
 *
 * PE 0 fills an array of its neighbour through a pointer, by plain stores; where memory cannot be reached so, shmem_ptr is NULL and
 * a put does it.
 * Spec: OpenSHMEM 1.6 §9.1.9 shmem_ptr
 * Does what the specification's shmem_ptr_example does.
 * PES: 2 3
 */
#include "../../api/api.h"

static int squares[6];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    CHECK(shmem_ptr(squares, me) == squares);
    if (me == 0) {
        int *there = shmem_ptr(squares, 1);
        for (int i = 0; i < 6; i++) {
            if (there != NULL) there[i] = i * i;
            else shmem_p(&squares[i], i * i, 1);
        }
    }
    shmem_barrier_all();
    for (int i = 0; i < 6; i++) CHECK_EQUAL(squares[i], me == 1 ? i * i : 0);
    shmem_finalize();
    return api_result();
}
