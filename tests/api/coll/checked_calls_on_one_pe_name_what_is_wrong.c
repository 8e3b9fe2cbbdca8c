/* SPDX-License-Identifier: Apache-2.0
 *
 * What one PE can see by itself: no team, a destroyed one, no such root, strides below 1, addresses that are private or reach too far, arrays that
 * overlap, sizes that no address can count. Each ends a checked run with one message that names the call and the reason.
 *
 * PES: 0
 * ENV: POSTERN_CHECK=1 SHMEM_SYMMETRIC_SIZE=1M
 * Spec: OpenSHMEM 1.6 §9.10 Collective Routines, §C Undefined Behavior
 */
#include "../child.h"

static long  array[64], other[64], psync[SHMEM_COLLECT_SYNC_SIZE];
static char *block;

static void begin(void)
{
    shmem_init();
    block = shmem_malloc(1024);
    for (int i = 0; i < SHMEM_COLLECT_SYNC_SIZE; i++) psync[i] = SHMEM_SYNC_VALUE;
}
static void invalid_team(void)
{
    begin();
    shmem_long_broadcast(SHMEM_TEAM_INVALID, array, other, 1, 0);
}
static void destroyed_team(void)
{
    shmem_team_t team;
    begin();
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &team);
    shmem_team_destroy(team);
    shmem_long_fcollect(team, array, other, 1);
}
static void root_too_big(void)
{
    begin();
    shmem_long_broadcast(SHMEM_TEAM_WORLD, array, other, 1, 1);
}
static void root_negative(void)
{
    begin();
    shmem_broadcast64(array, other, 1, -1, 0, 0, 1, psync);
}
static void stride_zero(void)
{
    begin();
    shmem_long_alltoalls(SHMEM_TEAM_WORLD, array, other, 1, 0, 1);
}
static void stride_negative(void)
{
    begin();
    shmem_alltoalls32(array, other, -2, 1, 1, 0, 0, 1, psync);
}
static void private_dest(void)
{
    long mine[2] = {0};
    begin();
    shmem_long_alltoall(SHMEM_TEAM_WORLD, mine, other, 2);
}
static void private_source(void)
{
    long mine[2] = {0};
    begin();
    shmem_long_collect(SHMEM_TEAM_WORLD, array, mine, 2);
}
static void past_the_end(void)
{
    begin();
    shmem_broadcastmem(SHMEM_TEAM_WORLD, array, block, 8u << 20, 0);
}
static void overlap(void)
{
    begin();
    shmem_long_fcollect(SHMEM_TEAM_WORLD, array, array + 1, 2);
}
static void overlap_in_place(void)
{
    begin();
    shmem_long_broadcast(SHMEM_TEAM_WORLD, array, array + 1, 2, 0);
}
static void overlap_of_collect(void)
{
    begin();
    shmem_long_collect(SHMEM_TEAM_WORLD, array, array, 2);
}
static void too_many(void)
{
    begin();
    shmem_long_alltoall(SHMEM_TEAM_WORLD, array, other, SIZE_MAX / 4);
}
static void no_such_set(void)
{
    begin();
    shmem_fcollect64(array, other, 1, 0, 1, 2, psync);
}
static void psync_not_set(void)
{
    begin();
    psync[0] = 99;
    shmem_collect64(array, other, 1, 0, 0, 1, psync);
}

int main(void)
{
    static const struct {
        const char *name;
        void (*what)(void);
        const char *wanted[4];
    } cases[] = {
        {"no team", invalid_team, {"shmem_long_broadcast", "SHMEM_TEAM_INVALID"}},
        {"destroyed team", destroyed_team, {"shmem_long_fcollect", "no such team"}},
        {"root too big", root_too_big, {"shmem_long_broadcast", "PE_root is 1", "0 to 0"}},
        {"root negative", root_negative, {"shmem_broadcast64", "PE_root is -1"}},
        {"stride 0", stride_zero, {"shmem_long_alltoalls", "dst is 1 and sst is 0"}},
        {"stride negative", stride_negative, {"shmem_alltoalls32", "dst is -2"}},
        {"private dest", private_dest, {"shmem_long_alltoall", "is not symmetric"}},
        {"private source", private_source, {"shmem_long_collect", "is not symmetric"}},
        {"past the end", past_the_end, {"shmem_broadcastmem", "reach past the end"}},
        {"overlap", overlap, {"shmem_long_fcollect", "overlap"}},
        {"overlap in place", overlap_in_place, {"shmem_long_broadcast", "overlap", "only the same address"}},
        {"overlap of collect", overlap_of_collect, {"shmem_long_collect", "overlap"}},
        {"too many", too_many, {"shmem_long_alltoall", "more than an address can count"}},
        {"no such set", no_such_set, {"shmem_fcollect64", "no active set"}},
        {"psync not set", psync_not_set, {"shmem_collect64", "pSync"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) CHECK(child_refuses(cases[i].name, cases[i].what, cases[i].wanted));
    return api_result();
}
