/* SPDX-License-Identifier: Apache-2.0
 *
 * The older reductions: sets that begin anywhere, with strides 1 and 2, two disjoint ones at the same time; pSync holds
 * what it held before, in static memory and on the heap; two pSyncs in turn without a synchronization.
 * Spec: OpenSHMEM 1.6 §9.10.9 Reductions, §F.2.14 Active-set-based library constants and collectives
 * PES: 1 2 3 4 5 8
 */
#include "ways.h"

enum { ELEMS_MAX = 600, ROUNDS = 24 };

static const int sizes[] = {1, 15, 16, ELEMS_MAX};

static long static_psync[2][SHMEM_REDUCE_SYNC_SIZE];
static long source[ELEMS_MAX], work[ELEMS_MAX + SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static int  me, npes;

static long value(int pe, int round, int i)
{
    return (long)(ways_bits((uint64_t)(pe + 100 * round), (uint64_t)i) >> 4);
}

static void fill_psync(long *psync)
{
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++) psync[i] = SHMEM_SYNC_VALUE;
}

static void check_psync(const long *psync)
{
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
        if (!CHECK_EQUAL(psync[i], SHMEM_SYNC_VALUE)) return;
}

/* Members make calls in a row, each with a dest of its own, the pSyncs in turn. */
static void use(int start, int log_stride, int size, long *psync[2], long *dests)
{
    int stride = 1 << log_stride;
    if (size < 1 || me < start || (me - start) % stride || (me - start) / stride >= size) return;
    for (int round = 0; round < ROUNDS; round++) {
        int   n        = sizes[round % (int)(sizeof sizes / sizeof sizes[0])];
        long *dest     = dests + (ptrdiff_t)round * ELEMS_MAX;
        bool  in_place = round % 5 == 4, maximum = round % 3 == 2;
        long *from = in_place ? dest : source;
        for (int i = 0; i < n; i++) from[i] = value(me, round, i);
        if (maximum) shmem_long_max_to_all(dest, from, n, start, log_stride, size, work, psync[round % 2]);
        else shmem_long_sum_to_all(dest, from, n, start, log_stride, size, work, psync[round % 2]);
        check_psync(psync[round % 2]);
        for (int i = 0; i < n; i++) {
            long wanted = value(start, round, i);
            for (int k = 1; k < size; k++) {
                long next = value(start + k * stride, round, i);
                wanted    = !maximum ? wanted + next : next > wanted ? next : wanted;
            }
            if (!CHECK_EQUAL(dest[i], wanted)) {
                fprintf(stderr, "PE %d: set %d %d %d, round %d, element %d\n", me, start, log_stride, size, round, i);
                return;
            }
        }
    }
}

static void try_all(void)
{
    me                 = shmem_my_pe();
    npes               = shmem_n_pes();
    long *dests        = shmem_malloc(ROUNDS * ELEMS_MAX * sizeof *dests);
    long *heap_psync   = shmem_malloc(2 * SHMEM_REDUCE_SYNC_SIZE * sizeof *heap_psync);
    long *on_heap[2]   = {heap_psync, heap_psync + SHMEM_REDUCE_SYNC_SIZE};
    long *in_static[2] = {static_psync[0], static_psync[1]};
    for (int i = 0; i < 2; i++) fill_psync(on_heap[i]), fill_psync(in_static[i]);
    shmem_barrier_all();

    use(0, 0, npes, in_static, dests);
    shmem_barrier_all();
    use(1, 0, npes - 1, on_heap, dests);
    shmem_barrier_all();
    use(0, 1, (npes + 1) / 2, on_heap, dests); /* these two are disjoint, and run at the same time */
    use(1, 1, npes / 2, in_static, dests);
    shmem_barrier_all();
    use(0, 0, npes / 2, in_static, dests);
    use(npes / 2, 0, npes - npes / 2, on_heap, dests);
    shmem_barrier_all();
    for (int i = 0; i < 2; i++) check_psync(on_heap[i]), check_psync(in_static[i]);
    shmem_free(heap_psync);
    shmem_free(dests);
}

int main(void)
{
    ways_each(try_all);
    return api_result();
}
