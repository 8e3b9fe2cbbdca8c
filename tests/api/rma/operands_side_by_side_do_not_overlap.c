/* SPDX-License-Identifier: Apache-2.0
 *
 * Checked mode accepts what only looks like an overlap: neighbours without a byte between them, the same pointer on another PE, another PE's memory
 * through shmem_ptr, even and odd elements of one array, and bytes that are moved onto themselves.
 * Spec: OpenSHMEM 1.6 §3 Memory Model (arguments must not overlap), §9.6.1.1 shmem_put, §9.6.1.3 shmem_iput, §9.6.1.4 shmem_ibput, §9.6.1.5 shmem_get
 * PES: 1 2 3
 * ENV: POSTERN_CHECK=1
 */
#include "../api.h"

enum { COUNT = 48 };

static long array[COUNT], ring[COUNT], through[COUNT];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n, before = (me + n - 1) % n;
    for (int i = 0; i < COUNT; i++) array[i] = i;

    /* Within the own memory. */
    shmem_long_put(array + 4, array, 4, me);
    shmem_quiet();
    shmem_long_get(array + 8, array + 4, 4, me);
    shmem_long_iput(array + 17, array + 16, 2, 2, 8, me); /* odd elements from even ones */
    shmem_long_iget(array + 33, array + 32, 3, 3, 4, me);
    shmem_long_ibput(array + 14, array + 12, 16, 16, 2, 2, me); /* two words each, side by side */
    shmem_long_put_nbi(array + 47, array + 46, 1, me);
    shmem_long_put(array, array, 4, me);
    shmem_long_ibget(array, array, 5, 5, 2, 3, me);
    shmem_long_iput(array, array, 1, 1, 0, me);
    shmem_quiet();
    for (int i = 0; i < 12; i++) CHECK_EQUAL(array[i], i % 4);
    for (int i = 16; i < 28; i += 2) CHECK_EQUAL(array[i + 1], i);
    for (int i = 32; i < 44; i += 3) CHECK_EQUAL(array[i + 1], i);
    CHECK(array[14] == 12 && array[15] == 13 && array[47] == 46);

    /* The same pointer, but another PE's memory. */
    for (int i = 0; i < COUNT; i++) ring[i] = i < COUNT / 2 ? me : -1;
    shmem_barrier_all();
    if (n > 1) {
        shmem_long_get(array, ring, COUNT / 2, next);
        CHECK_EQUAL(array[5], next);
        if (me == 0) shmem_long_put(ring, ring, COUNT / 2, next);
        if (me == 0) shmem_long_iget(through, through, 1, 2, 4, next);
    }
    shmem_barrier_all();
    CHECK_EQUAL(ring[3], n > 1 && me == 1 ? 0 : me);

    /* Another PE's memory as the source of a put to oneself. */
    long *theirs = shmem_ptr(ring, before);
    if (theirs && n > 1) {
        shmem_long_put(ring + COUNT / 2, theirs, COUNT / 2, me);
        shmem_quiet();
        CHECK_EQUAL(ring[COUNT / 2 + 3], before == 1 ? 0 : before);
    }
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
