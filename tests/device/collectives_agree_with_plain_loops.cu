/* SPDX-License-Identifier: Apache-2.0
 *
 * Collectives of kernels, called by a thread, a warp and a block of each member: for every type, and for teams, roots and sizes by chance,
 * each element is what a plain loop over the members gives. The seed is DEVICE_SEED.
 *
 * PES: 1 2 3
 * NODES: a,b a:2,b
 * TSAN: yes
 */
#include "tests/device/device.h"

enum { ELEMENTS_MAX = 200, PES_MAX = 8, PART = PES_MAX * 2 * ELEMENTS_MAX };
enum { SOURCE, BROADCAST, FCOLLECT, COLLECT, ALLTOALL, ALLTOALLS, REDUCE, PARTS = REDUCE + 9 };

/* What a launch does: the calls of a team by one of three kinds of groups. */
struct job {
    shmem_team_t team;
    int          nelems, root, form, salt;
};

/* 1, 2 or 3: products stay small. */
template <class T> __device__ T value(int pe, int i, int salt)
{
    return (T)((pe * 5 + i * 3 + salt) % 3 + 1);
}

template <class T> __device__ T *part(T *area, int number)
{
    return area + number * PART;
}

/* The threads of the block look at the elements in turn. EXPECTED is of element i. */
#define LOOK(NUMBER, COUNT, EXPECTED)                                   \
    __syncthreads();                                                    \
    for (int i = (int)threadIdx.x; i < (COUNT); i += (int)blockDim.x) { \
        CHECK_AND(part(area, NUMBER)[i] == (EXPECTED), name);           \
    }

/* One call, by those who make it. */
#define CALL(NAME, OP, ...)                                                                      \
    if (job.form == 0 && threadIdx.x == 0) CHECK(shmem_##NAME##_##OP(__VA_ARGS__) == 0);         \
    if (job.form == 1 && threadIdx.x < 32) CHECK(shmemx_##NAME##_##OP##_warp(__VA_ARGS__) == 0); \
    if (job.form == 2) CHECK(shmemx_##NAME##_##OP##_block(__VA_ARGS__) == 0);

/* All members and all threads are here: what a launch begins and ends with, by turns in all forms. */
__device__ static void meet(struct job job)
{
    if (job.form == 0 && threadIdx.x == 0) CHECK(shmem_team_sync(job.team) == 0);
    if (job.form == 1 && threadIdx.x < 32) CHECK(shmemx_team_sync_warp(job.team) == 0);
    if (job.form == 2) CHECK(shmemx_team_sync_block(job.team) == 0);
    __syncthreads();
}

/* What a reduction of elements i gives; scan: over members before `me`, and me itself where it is inclusive. */
template <class T, class Join> __device__ T reduced(int members, int i, int salt, T start, Join join)
{
    T result = start;
    for (int pe = 0; pe < members; pe++) result = join(result, value<T>(pe, i, salt));
    return result;
}
#define REDUCED(MEMBERS, START, EXPRESSION) reduced<T>(MEMBERS, i, job.salt, (T)(START), [](T a, T b) { return (T)(EXPRESSION); })

#define MOVE_KERNEL(NAME, TYPE, UNUSED)                                                                               \
    __global__ void move_##NAME(struct job job, TYPE *area, const char *name)                                         \
    {                                                                                                                 \
        typedef TYPE T;                                                                                               \
        const int    me = shmem_team_my_pe(job.team), n = shmem_team_n_pes(job.team), count = job.nelems;             \
        const int    mine = count + me, salt = job.salt;                                                              \
        for (int i = (int)threadIdx.x; i < PART; i += (int)blockDim.x) part(area, SOURCE)[i] = value<T>(me, i, salt); \
        meet(job);                                                                                                    \
        CALL(NAME, broadcast, job.team, part(area, BROADCAST), part(area, SOURCE), (size_t)count, job.root)           \
        CALL(NAME, fcollect, job.team, part(area, FCOLLECT), part(area, SOURCE), (size_t)count)                       \
        CALL(NAME, collect, job.team, part(area, COLLECT), part(area, SOURCE), (size_t)mine)                          \
        CALL(NAME, alltoall, job.team, part(area, ALLTOALL), part(area, SOURCE), (size_t)count)                       \
        CALL(NAME, alltoalls, job.team, part(area, ALLTOALLS), part(area, SOURCE), 2, 1, (size_t)count)               \
        LOOK(BROADCAST, count, value<T>(job.root, i, salt))                                                           \
        LOOK(FCOLLECT, n *count, value<T>(i / count, i % count, salt))                                                \
        for (int pe = 0, at = 0; pe < n; at += count + pe++) {                                                        \
            for (int i = (int)threadIdx.x; i < count + pe; i += (int)blockDim.x) {                                    \
                CHECK_AND(part(area, COLLECT)[at + i] == value<T>(pe, i, salt), name);                                \
            }                                                                                                         \
        }                                                                                                             \
        LOOK(ALLTOALL, n *count, value<T>(i / count, me * count + i % count, salt))                                   \
        for (int i = (int)threadIdx.x; i < n * count; i += (int)blockDim.x) {                                         \
            CHECK_AND(part(area, ALLTOALLS)[2 * i] == value<T>(i / count, me * count + i % count, salt), name);       \
            CHECK_AND(part(area, ALLTOALLS)[2 * i + 1] == (T)0, name);                                                \
        }                                                                                                             \
        CALL(NAME, max_reduce, job.team, part(area, REDUCE), part(area, SOURCE), (size_t)count)                       \
        CALL(NAME, min_reduce, job.team, part(area, REDUCE + 1), part(area, SOURCE), (size_t)count)                   \
        CALL(NAME, sum_reduce, job.team, part(area, REDUCE + 2), part(area, SOURCE), (size_t)count)                   \
        CALL(NAME, prod_reduce, job.team, part(area, REDUCE + 3), part(area, SOURCE), (size_t)count)                  \
        CALL(NAME, sum_inscan, job.team, part(area, REDUCE + 4), part(area, SOURCE), (size_t)count)                   \
        CALL(NAME, sum_exscan, job.team, part(area, REDUCE + 5), part(area, SOURCE), (size_t)count)                   \
        LOOK(REDUCE, count, REDUCED(n, 0, a > b ? a : b))                                                             \
        LOOK(REDUCE + 1, count, REDUCED(n, 9, a < b ? a : b))                                                         \
        LOOK(REDUCE + 2, count, REDUCED(n, 0, a + b))                                                                 \
        LOOK(REDUCE + 3, count, REDUCED(n, 1, a * b))                                                                 \
        LOOK(REDUCE + 4, count, REDUCED(me + 1, 0, a + b))                                                            \
        LOOK(REDUCE + 5, count, REDUCED(me, 0, a + b))                                                                \
        meet(job);                                                                                                    \
    }

/* After MOVE_KERNEL of its type, which has filled the source. */
#define BITS_KERNEL(NAME, TYPE, UNUSED)                                                                                   \
    __global__ void bits_##NAME(struct job job, TYPE *area, const char *name)                                             \
    {                                                                                                                     \
        typedef TYPE T;                                                                                                   \
        const int    n = shmem_team_n_pes(job.team), count = job.nelems;                                                  \
        const int    me = shmem_team_my_pe(job.team);                                                                     \
        for (int i = (int)threadIdx.x; i < PART; i += (int)blockDim.x) part(area, SOURCE)[i] = value<T>(me, i, job.salt); \
        meet(job);                                                                                                        \
        CALL(NAME, and_reduce, job.team, part(area, REDUCE + 6), part(area, SOURCE), (size_t)count)                       \
        CALL(NAME, or_reduce, job.team, part(area, REDUCE + 7), part(area, SOURCE), (size_t)count)                        \
        CALL(NAME, xor_reduce, job.team, part(area, REDUCE + 8), part(area, SOURCE), (size_t)count)                       \
        LOOK(REDUCE + 6, count, REDUCED(n, 0xff, a & b))                                                                  \
        LOOK(REDUCE + 7, count, REDUCED(n, 0, a | b))                                                                     \
        LOOK(REDUCE + 8, count, REDUCED(n, 0, a ^ b))                                                                     \
        meet(job);                                                                                                        \
    }

/* Barriers of the world: what each PE has put before is there behind. */
__global__ void barriers(long *words, int form)
{
    const int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes(), before = (me + shmem_n_pes() - 1) % shmem_n_pes();
    for (long round = 1; round <= 10; round++) {
        if (threadIdx.x == 0) shmem_long_p(words, round * 100 + me, next);
        if (form == 0 && threadIdx.x == 0) shmem_barrier_all();
        if (form == 1 && threadIdx.x < 32) shmemx_barrier_all_warp();
        if (form == 2) shmemx_barrier_all_block();
        __syncthreads();
        CHECK(words[0] == round * 100 + before);
        __syncthreads();
        if (form == 0 && threadIdx.x == 0) shmem_sync_all();
        if (form == 1 && threadIdx.x < 32) shmemx_sync_all_warp();
        if (form == 2) shmemx_sync_all_block();
    }
}

/* ThreadSanitizer is slow, and the types differ by name only. */
#ifdef __SANITIZE_THREAD__
#define MOVE_TYPES(X) X(short, short, 0) X(long, long, 0)
#define BITS_TYPES(X) X(uint, unsigned int, 0)
enum { ROUNDS = 6, THREADS = 34 };
#else
#define MOVE_TYPES(X) SHMEMI_RMA_DEVICE_TYPES(X, 0)
#define BITS_TYPES(X) SHMEMI_REDUCE_BIT_TYPES(X, 0)
enum { ROUNDS = 15, THREADS = 48 };
#endif

/* clang-format off */
MOVE_TYPES(MOVE_KERNEL)
BITS_TYPES(BITS_KERNEL)
/* clang-format on */

static int random_below(unsigned long &random_state, int limit)
{
    random_state = random_state * 6364136223846793005ul + 1442695040888963407ul;
    return (int)((random_state >> 33) % (unsigned long)limit);
}

static void clear(void *area)
{
    cudaMemset(area, 0, sizeof(long) * PART * PARTS);
}

#define RUN_MOVE(NAME, T, UNUSED)                                    \
    job.nelems = 1 + (job.salt * 7) % 19, job.form = job.salt++ % 3; \
    job.root = job.salt % pe->n;                                     \
    clear(area);                                                     \
    device_meet(pe);                                                 \
    DEVICE_RUN(pe, move_##NAME, 1, THREADS, job, (T *)area, #NAME);
#define RUN_BITS(NAME, T, UNUSED) \
    job.form = job.salt++ % 3;    \
    DEVICE_RUN(pe, bits_##NAME, 1, THREADS, job, (T *)area, #NAME);

/* Teams of the job: the world, the node, and every second PE. A PE that is in none of the last has none. */
static void make_teams(shmem_team_t *teams, int n)
{
    teams[0] = teams[1] = teams[2] = SHMEM_TEAM_WORLD;
#ifndef DEVICE_IN_PROCESS
    teams[1] = SHMEM_TEAM_SHARED;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, n > 1 ? 2 : 1, (n + 1) / 2, NULL, 0, &teams[2]);
#else
    (void)n;
#endif
}

static void test(struct device_pe *pe)
{
    const char  *seed = getenv("DEVICE_SEED");
    void        *area = device_allocate(pe, sizeof(long) * PART * PARTS), *words = device_allocate(pe, 64);
    struct job   job = {SHMEM_TEAM_WORLD, 0, 0, 0, 0};
    shmem_team_t teams[3];
    make_teams(teams, pe->n);
    for (int form = 0; form < 3; form++) DEVICE_RUN(pe, barriers, 1, THREADS, (long *)words, form);
    MOVE_TYPES(RUN_MOVE)
    BITS_TYPES(RUN_BITS)
    unsigned long chance = seed ? strtoul(seed, NULL, 10) : 1;
    for (int round = 0; round < ROUNDS; round++) {
        job      = {teams[random_below(chance, 3)], 1 + random_below(chance, ELEMENTS_MAX - PES_MAX), 0, random_below(chance, 3),
                    random_below(chance, 100)};
        job.root = random_below(chance, pe->n);
        clear(area);
        device_meet(pe);
        bool in = job.team != SHMEM_TEAM_INVALID;
        if (in && job.team != SHMEM_TEAM_WORLD) job.root %= shmem_team_n_pes(job.team);
        if (in) DEVICE_RUN(pe, move_long, 1, THREADS, job, (long *)area, "by chance");
        else device_meet(pe);
    }
}
