/* SPDX-License-Identifier: Apache-2.0
 *
 * barrier_all completes the puts, atomics and nonblocking operations of the default context at their targets; sync_all makes
 * plain stores visible, those through shmem_ptr and those to the own memory that others get.
 * Spec: OpenSHMEM 1.6 §9.10.1 shmem_barrier_all, §9.10.4 shmem_sync_all
 * ENV: POSTERN_CHAOS_DELAY=5us
 */
#include "../api.h"

enum { ROUNDS = 60, COUNT = 400 };

static long data[COUNT], mine[COUNT], stored[COUNT], sum;

int main(void)
{
    static long values[COUNT];
    shmem_init();
    int   me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n, before = (me + n - 1) % n;
    long *peer   = shmem_ptr(stored, next);
    bool  stores = shmem_ptr(stored, before) != NULL; /* I am its `next`, and it maps me as I map it */
    shmem_barrier_all();
    for (long round = 1; round <= ROUNDS; round++) {
        long fetched = -1;
        for (int i = 0; i < COUNT; i++) values[i] = round * 1000 + me * 10 + i;
        shmem_long_put_nbi(data, values, COUNT, next);
        shmem_long_atomic_add(&sum, 1, 0);
        shmem_long_atomic_fetch_nbi(&fetched, &mine[0], me);
        shmem_barrier_all();
        for (int i = 0; i < COUNT; i++) CHECK_EQUAL(data[i], round * 1000 + before * 10 + i);
        CHECK(fetched != -1);
        if (me == 0) CHECK_EQUAL(shmem_long_atomic_fetch(&sum, 0), round * n);

        for (int i = 0; i < COUNT; i++) mine[i] = round * 100 + me * 10 + i;
        for (int i = 0; i < COUNT && peer; i++) peer[i] = round * 200 + me * 10 + i;
        shmem_sync_all();
        long got[COUNT];
        shmem_long_get(got, mine, COUNT, next);
        for (int i = 0; i < COUNT; i++) CHECK_EQUAL(got[i], round * 100 + next * 10 + i);
        for (int i = 0; i < COUNT && stores; i++) CHECK_EQUAL(stored[i], round * 200 + before * 10 + i);
        shmem_sync_all();
    }
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
