/* SPDX-License-Identifier: Apache-2.0
 *
 * What shmem_ptr returns for another PE is a local address: loads and stores take it, a call takes it as the local side, and
 * shmem_addr_accessible says 0, since it is no symmetric address. The one for the caller is the object itself.
 * Spec: OpenSHMEM 1.6 §3.1 Pointers to Symmetric Objects, §9.1.8 shmem_addr_accessible, §9.1.9 shmem_ptr
 * PES: 1 2 3
 */
#include "../api.h"

static long word, copy;

int main(void)
{
    shmem_init();
    int   me = shmem_my_pe(), n = shmem_n_pes();
    long *heap = shmem_malloc(2 * sizeof *heap);
    word       = 100 + me;
    heap[1]    = 200 + me;
    shmem_barrier_all();
    for (int pe = 0; pe < n; pe++) {
        long *there = shmem_ptr(&word, pe), *heap_there = shmem_ptr(&heap[1], pe);
        if (pe == me) CHECK(there == &word && heap_there == &heap[1]);
        if (pe == me || !there || !heap_there) continue; /* a transport that maps nothing */
        CHECK_EQUAL(*there, 100 + pe);
        CHECK_EQUAL(*heap_there, 200 + pe);
        for (int to = 0; to < n; to++) CHECK(!shmem_addr_accessible(there, to) && !shmem_addr_accessible(heap_there, to));
    }
    shmem_barrier_all();
    int   next  = (me + 1) % n;
    long *there = shmem_ptr(&heap[1], next);
    if (next != me && there) {
        shmem_long_put(&copy, there, 1, me); /* as the source of a put */
        shmem_quiet();
        CHECK_EQUAL(copy, 200 + next);
        shmem_long_get(there, &word, 1, me); /* as the destination of a get: it stores into that PE's memory */
        CHECK_EQUAL(*there, 100 + me);
        *there = 300 + me;
    }
    shmem_barrier_all();
    int before = (me + n - 1) % n;
    if (before != me && shmem_ptr(heap, before)) CHECK_EQUAL(heap[1], 300 + before); /* it maps me as I map it */
    shmem_barrier_all();
    shmem_free(heap);
    shmem_finalize();
    return api_result();
}
