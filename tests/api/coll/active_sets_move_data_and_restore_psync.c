/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls over active sets: sets of every stride that fits, from every first PE; the sets of one stride that have no PE in common, at the same
 * time. Afterwards pSync holds SHMEM_SYNC_VALUE on all PEs again.
 *
 * PES: 1 2 3 5 8 13
 * ENV: POSTERN_CHAOS_DELAY=5us
 * Spec: OpenSHMEM 1.6 §9.10.5 shmem_alltoall, §9.10.6 shmem_alltoalls, §9.10.7 shmem_broadcast, §9.10.8 shmem_collect, shmem_fcollect,
 * §F.2.14 Active-set-based library constants and collectives
 */
#include "../api.h"

enum { PES_MAX = 16, COUNT_MAX = 300, ROOM = PES_MAX * (COUNT_MAX + PES_MAX) * 2 };
enum { BROADCAST, FCOLLECT, COLLECT, ALLTOALL, ALLTOALLS, CALLS };

static int32_t source32[ROOM], dest32[CALLS][ROOM];
static int64_t source64[ROOM], dest64[CALLS][ROOM];

/* Two of each, in turn: one may be in use while the next call begins. */
static long psync[2 * CALLS][SHMEM_COLLECT_SYNC_SIZE];

struct set {
    int start, log_stride, size, me; /* me: index in the set */
};

static long value(const struct set *set, int from, int to, size_t i)
{
    return (set->start + (from << set->log_stride)) * 100000L + to * 1000 + (long)i;
}

/* Members give another number each, the second nothing. */
static size_t share(size_t count, int member)
{
    return member == 1 ? 0 : count + (size_t)member;
}

/* One of the two widths; the code is the same. */
#define DEFINE_RUN(BITS)                                                                                                    \
    static void run##BITS(const struct set *set, size_t count, int root)                                                    \
    {                                                                                                                       \
        int n = set->size, me = set->me, start = set->start, stride = set->log_stride;                                      \
        for (size_t i = 0; i < COUNT_MAX + PES_MAX; i++) source##BITS[i] = (int##BITS##_t)value(set, me, 0, i);             \
        shmem_broadcast##BITS(dest##BITS[BROADCAST], source##BITS, count, root, start, stride, n, psync[0]);                \
        shmem_fcollect##BITS(dest##BITS[FCOLLECT], source##BITS, count, start, stride, n, psync[1]);                        \
        shmem_collect##BITS(dest##BITS[COLLECT], source##BITS, share(count, me), start, stride, n, psync[2]);               \
        for (int k = 0; k < n; k++)                                                                                         \
            for (size_t i = 0; i < count; i++) source##BITS[(size_t)k * count + i] = (int##BITS##_t)value(set, me, k, i);   \
        shmem_alltoall##BITS(dest##BITS[ALLTOALL], source##BITS, count, start, stride, n, psync[3]);                        \
        shmem_alltoalls##BITS(dest##BITS[ALLTOALLS], source##BITS, 2, 1, count, start, stride, n, psync[4]);                \
        size_t at = 0;                                                                                                      \
        for (size_t i = 0; i < count; i++) CHECK_EQUAL(dest##BITS[BROADCAST][i], me == root ? -1 : value(set, root, 0, i)); \
        for (int k = 0; k < n; k++) {                                                                                       \
            for (size_t i = 0; i < share(count, k); i++) CHECK_EQUAL(dest##BITS[COLLECT][at++], value(set, k, 0, i));       \
            for (size_t i = 0; i < count; i++) {                                                                            \
                size_t place = (size_t)k * count + i;                                                                       \
                CHECK_EQUAL(dest##BITS[FCOLLECT][place], value(set, k, 0, i));                                              \
                CHECK_EQUAL(dest##BITS[ALLTOALL][place], value(set, k, me, i));                                             \
                CHECK_EQUAL(dest##BITS[ALLTOALLS][2 * place], value(set, k, me, i));                                        \
                CHECK_EQUAL(dest##BITS[ALLTOALLS][2 * place + 1], -1);                                                      \
            }                                                                                                               \
        }                                                                                                                   \
        CHECK_EQUAL(dest##BITS[COLLECT][at], -1);                                                                           \
    }
/* clang-format off */
DEFINE_RUN(32)
DEFINE_RUN(64)
/* clang-format on */

static void clear(void)
{
    shmem_barrier_all();
    for (int i = 0; i < 2 * CALLS; i++)
        for (int j = 0; j < SHMEM_COLLECT_SYNC_SIZE; j++) CHECK_EQUAL(psync[i][j], SHMEM_SYNC_VALUE);
    memset(dest32, 0xFF, sizeof dest32);
    memset(dest64, 0xFF, sizeof dest64);
    shmem_barrier_all();
}

/* All sets with this stride and this number of residues left out: disjoint sets at the same time. */
static void run_sets(int log_stride, int first, size_t count)
{
    int n = shmem_n_pes(), me = shmem_my_pe(), stride = 1 << log_stride;
    clear();
    if (me < first) return;
    struct set set = {.log_stride = log_stride, .start = first + (me - first) % stride};
    set.size       = (n - 1 - set.start) / stride + 1;
    set.me         = (me - set.start) / stride;
    if (count % 2) run32(&set, count, set.size / 2);
    else run64(&set, count, set.size - 1);
}

int main(void)
{
    static const size_t counts[] = {1, 2, 15, 16, COUNT_MAX, COUNT_MAX - 1};
    shmem_init();
    int n = shmem_n_pes();
    for (int i = 0; i < 2 * CALLS; i++)
        for (int j = 0; j < SHMEM_COLLECT_SYNC_SIZE; j++) psync[i][j] = SHMEM_SYNC_VALUE;
    for (int log_stride = 0; log_stride <= 2; log_stride++)
        for (int first = 0; first < n && first <= 2; first++)
            for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) run_sets(log_stride, first, counts[i]);
    clear();
    shmem_finalize();
    return api_result();
}
