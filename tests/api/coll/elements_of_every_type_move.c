/* SPDX-License-Identifier: Apache-2.0
 *
 * Each of the five collectives in each of the 24 types: as many bytes move as the type has, and the profiling name does the same.
 *
 * PES: 1 2 3
 * ENV: POSTERN_CHAOS_DELAY=5us
 * Spec: OpenSHMEM 1.6 §9.10.5 shmem_alltoall, §9.10.6 shmem_alltoalls, §9.10.7 shmem_broadcast, §9.10.8 shmem_collect, shmem_fcollect
 */
#include "../api.h"

#include <pshmem.h>

enum { PES_MAX = 16, COUNT = 3, ROOM = PES_MAX * COUNT * 2 + 2 };

/* Static objects, one for each call, so that all may follow each other. */
/* clang-format off */
#define TYPES(X)                                                            \
    X(float, float) X(double, double) X(longdouble, long double)            \
    X(char, char) X(schar, signed char) X(uchar, unsigned char)             \
    X(short, short) X(ushort, unsigned short) X(int, int)                   \
    X(uint, unsigned int) X(long, long) X(ulong, unsigned long)             \
    X(longlong, long long) X(ulonglong, unsigned long long)                 \
    X(int8, int8_t) X(int16, int16_t) X(int32, int32_t) X(int64, int64_t)   \
    X(uint8, uint8_t) X(uint16, uint16_t) X(uint32, uint32_t)               \
    X(uint64, uint64_t) X(size, size_t) X(ptrdiff, ptrdiff_t)
/* clang-format on */

#define VALUE(T, from, to, i) ((T)((from)*20 + (to)*5 + (i) + 1))

#define DEFINE_TEST(NAME, T)                                                                                                      \
    static void test_##NAME(int me, int n)                                                                                        \
    {                                                                                                                             \
        static T source[ROOM], broadcast[2][ROOM], fcollect[2][ROOM], collect[2][ROOM], alltoall[2][ROOM], alltoalls[2][ROOM];    \
        int      root = n - 1;                                                                                                    \
        for (int twin = 0; twin < 2; twin++) {                                                                                    \
            for (int i = 0; i < COUNT; i++) source[i] = VALUE(T, me, 0, i);                                                       \
            CHECK_EQUAL((twin ? pshmem_##NAME##_broadcast : shmem_##NAME##_broadcast)(SHMEM_TEAM_WORLD, broadcast[twin], source,  \
                                                                                      COUNT, root),                               \
                        0);                                                                                                       \
            CHECK_EQUAL(                                                                                                          \
                (twin ? pshmem_##NAME##_fcollect : shmem_##NAME##_fcollect)(SHMEM_TEAM_WORLD, fcollect[twin], source, COUNT), 0); \
            CHECK_EQUAL((twin ? pshmem_##NAME##_collect : shmem_##NAME##_collect)(SHMEM_TEAM_WORLD, collect[twin], source,        \
                                                                                  me == 0 ? 2 : COUNT),                           \
                        0);                                                                                                       \
            for (int k = 0; k < n; k++)                                                                                           \
                for (int i = 0; i < COUNT; i++) source[k * COUNT + i] = VALUE(T, me, k, i);                                       \
            CHECK_EQUAL(                                                                                                          \
                (twin ? pshmem_##NAME##_alltoall : shmem_##NAME##_alltoall)(SHMEM_TEAM_WORLD, alltoall[twin], source, COUNT), 0); \
            CHECK_EQUAL((twin ? pshmem_##NAME##_alltoalls : shmem_##NAME##_alltoalls)(SHMEM_TEAM_WORLD, alltoalls[twin], source,  \
                                                                                      2, 1, COUNT),                               \
                        0);                                                                                                       \
            for (int i = 0; i < COUNT; i++) CHECK(broadcast[twin][i] == VALUE(T, root, 0, i));                                    \
            CHECK(broadcast[twin][COUNT] == 0);                                                                                   \
            for (int k = 0; k < n; k++)                                                                                           \
                for (int i = 0; i < COUNT; i++) {                                                                                 \
                    CHECK(fcollect[twin][k * COUNT + i] == VALUE(T, k, 0, i));                                                    \
                    if (k > 0 || i < 2) CHECK(collect[twin][k * COUNT + i - (k > 0)] == VALUE(T, k, 0, i));                       \
                    CHECK(alltoall[twin][k * COUNT + i] == VALUE(T, k, me, i));                                                   \
                    CHECK(alltoalls[twin][(k * COUNT + i) * 2] == VALUE(T, k, me, i));                                            \
                    CHECK(alltoalls[twin][(k * COUNT + i) * 2 + 1] == 0);                                                         \
                }                                                                                                                 \
            CHECK(fcollect[twin][n * COUNT] == 0 && collect[twin][n * COUNT - 1] == 0 && alltoall[twin][n * COUNT] == 0);         \
        }                                                                                                                         \
    }
/* clang-format off */
TYPES(DEFINE_TEST)
/* clang-format on */

/* The generic names find the same functions. */
static void test_generics(int me, int n)
{
    static short source[ROOM], dest[5][ROOM];
    for (int i = 0; i < ROOM; i++) source[i] = (short)(me + i);
    CHECK_EQUAL(shmem_broadcast(SHMEM_TEAM_WORLD, dest[0], source, 2, 0), 0);
    CHECK_EQUAL(shmem_fcollect(SHMEM_TEAM_WORLD, dest[1], source, 2), 0);
    CHECK_EQUAL(shmem_collect(SHMEM_TEAM_WORLD, dest[2], source, 2), 0);
    CHECK_EQUAL(shmem_alltoall(SHMEM_TEAM_WORLD, dest[3], source, 1), 0);
    CHECK_EQUAL(shmem_alltoalls(SHMEM_TEAM_WORLD, dest[4], source, 2, 2, 1), 0);
    CHECK_EQUAL(dest[0][1], 1);
    for (int k = 0; k < n; k++) {
        CHECK_EQUAL(dest[1][2 * k + 1], k + 1);
        CHECK_EQUAL(dest[2][2 * k + 1], k + 1);
        CHECK_EQUAL(dest[3][k], k + me);
        CHECK_EQUAL(dest[4][2 * k], k + 2 * me);
    }
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    if (!CHECK(n <= PES_MAX)) shmem_global_exit(1);
#define CALL_TEST(NAME, T) test_##NAME(me, n);
    TYPES(CALL_TEST)
    test_generics(me, n);
    shmem_finalize();
    return api_result();
}
