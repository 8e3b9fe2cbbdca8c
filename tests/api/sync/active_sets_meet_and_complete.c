/* SPDX-License-Identifier: Apache-2.0
 *
 * shmem_barrier and the function shmem_sync over active sets: nobody leaves before all PEs of the set have come, plain stores
 * are seen afterwards, and the barrier completes puts and atomics too. Sets of strides 1 and 2 from the first and from the
 * second PE; the two of stride 2 have no PE in common, and each goes at its own pace. One pSync serves a set again and again,
 * and holds SHMEM_SYNC_VALUE in the end.
 * Spec: OpenSHMEM 1.6 §9.10.2 shmem_barrier, §9.10.3 shmem_sync,
 * §F.2.14 Active-set-based library constants and collectives, §F.2.15 shmem_barrier
 * PES: 2 3 5
 * ENV: POSTERN_CHAOS_DELAY=5us
 */
#include "../api.h"

#include <sched.h>

enum { ROUNDS = 80, SETS = 4, COUNT = 300 };

static long psync[SETS][SHMEM_SYNC_SIZE], counts[SETS], data[SETS][COUNT], sum[SETS];

/* A set, and my number in it; -1: not in it. */
struct set {
    int id, start, log_stride, size, me;
};

static struct set set_of(int id, int start, int log_stride)
{
    int n = shmem_n_pes(), distance = shmem_my_pe() - start, stride = 1 << log_stride;
    return (struct set){
        .id         = id,
        .start      = start,
        .log_stride = log_stride,
        .size       = (n - start + stride - 1) / stride,
        .me         = distance >= 0 && distance % stride == 0 ? distance / stride : -1,
    };
}

static int world(const struct set *set, int pe)
{
    return set->start + (pe << set->log_stride);
}

static void barrier_round(const struct set *set, long round)
{
    static long source[COUNT];
    int         next = world(set, (set->me + 1) % set->size), before = (set->me + set->size - 1) % set->size;
    for (int i = 0; i < COUNT; i++) source[i] = round * 1000 + set->me + i;
    shmem_long_put_nbi(data[set->id], source, COUNT, next);
    shmem_long_atomic_inc(&sum[set->id], next);
    shmem_barrier(set->start, set->log_stride, set->size, psync[set->id]);
    CHECK_EQUAL(shmem_long_atomic_fetch(&sum[set->id], shmem_my_pe()), round);
    for (int i = 0; i < COUNT; i++)
        if (!CHECK_EQUAL(data[set->id][i], round * 1000 + before + i)) break;
}

static void sync_round(const struct set *set, long round)
{
    __atomic_store_n(&counts[set->id], round, __ATOMIC_RELAXED);
    (shmem_sync)(set->start, set->log_stride, set->size, psync[set->id]);
    for (int pe = 0; pe < set->size; pe++) {
        long seen = shmem_long_g(&counts[set->id], world(set, pe));
        CHECK(seen >= round && seen <= round + 1);
    }
}

static void rounds_of(const struct set *set)
{
    if (set->me < 0) return;
    for (long round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < (set->me * 3 + round) % 4 * 5; i++) sched_yield();
        barrier_round(set, round);
        sync_round(set, round);
    }
}

int main(void)
{
    shmem_init();
    for (int set = 0; set < SETS; set++)
        for (int i = 0; i < SHMEM_SYNC_SIZE; i++) psync[set][i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    const struct set sets[SETS] = {set_of(0, 0, 0), set_of(1, 0, 1), set_of(2, 1, 1), set_of(3, 1, 0)};
    rounds_of(&sets[0]);
    rounds_of(&sets[1 + shmem_my_pe() % 2]); /* both at once */
    rounds_of(&sets[3]);
    shmem_barrier_all();
    for (int set = 0; set < SETS; set++)
        for (int i = 0; i < SHMEM_SYNC_SIZE; i++) CHECK_EQUAL(psync[set][i], SHMEM_SYNC_VALUE);
    shmem_finalize();
    return api_result();
}
