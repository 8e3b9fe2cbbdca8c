/* SPDX-License-Identifier: Apache-2.0
 *
 * Collectives that move data, in kernels: broadcast, collect, fcollect, alltoall, alltoalls.  Spec: OpenSHMEM 1.6 §9.10.5 to §9.10.8.
 *
 * One thread, one warp or one block of each member makes the call (shmem_, shmemx_..._warp, shmemx_..._block), and all members in the
 * same form or not: what they do to each other is the same.  Each member stores its blocks straight into the others' dest; then all
 * complete what they have sent, and meet.  dest must be ready on all members before any of them calls, as on the host.
 */
#ifndef SHMEMD_COLL_CUH
#define SHMEMD_COLL_CUH

#include "sync.cuh"

/* The end of a data mover: all blocks have arrived everywhere. */
SHMEMD_FN int shmemd_coll_finish(struct shmemd_group group, const struct shmemd_team *team, const char *call)
{
    return shmemd_meeting(group, team, 1, call);
}

/* The member that comes i places after me: so not all begin with the same one. */
SHMEMD_FN int shmemd_coll_member(const struct shmemd_team *team, int i)
{
    return (team->me + i) % team->n;
}

/* Store the same bytes at dest of all members. */
SHMEMD_SLOW void shmemd_put_all(struct shmemd_group group, const struct shmemd_team *team, void *dest, const void *source,
                                size_t bytes, const char *call)
{
    int i;

    for (i = 0; i < team->n; i++) {
        shmemd_put_world(group, dest, source, bytes, shmemd_team_world_pe(team, shmemd_coll_member(team, i)), 0, SHMEMD_NBI, call);
    }
}

SHMEMD_SLOW int shmemd_broadcast(struct shmemd_group group, shmem_team_t handle, void *dest, const void *source, size_t bytes,
                                 int root, const char *call)
{
    const struct shmemd_team *team = shmemd_team_that_meets(handle, call);

    if (root < 0 || root >= team->n) shmemd_refuse(call, SHMEMD_REPORT_PE, root, NULL, (uint64_t)(int64_t)root);
    shmemd_group_sync(group);
    if (team->me == root) shmemd_put_all(group, team, dest, source, bytes, call);
    return shmemd_coll_finish(group, team, call);
}

SHMEMD_SLOW int shmemd_fcollect(struct shmemd_group group, shmem_team_t handle, void *dest, const void *source, size_t bytes,
                                const char *call)
{
    const struct shmemd_team *team = shmemd_team_that_meets(handle, call);

    shmemd_group_sync(group);
    shmemd_put_all(group, team, (char *)dest + (size_t)team->me * bytes, source, bytes, call);
    return shmemd_coll_finish(group, team, call);
}

/*
 * Bytes of all members before me.  In round r each gives the sum of the 2^r members up to itself to the one 2^r after it.  One
 * thread; the meeting at the end of each collective keeps the next one's numbers out of these words until all have read them.
 */
SHMEMD_SLOW uint64_t shmemd_collect_before(const struct shmemd_team *team, uint64_t mine, const char *call)
{
    struct shmemd_sync_area *area;
    uint64_t                 sum = mine, collect;
    int                      round, distance;

    if (team->n <= 1) return 0;
    area    = shmemd_sync_area_of(team);
    collect = shmemd_load_relaxed(&area->collects, 8) + 1;
    shmemd_store_relaxed(&area->collects, collect, 8);
    for (round = 0, distance = 1; distance < team->n; round++, distance *= 2) {
        uint64_t *elements = &area->prefix[round].elements, *number = &area->prefix[round].collect;

        if (team->me + distance < team->n) {
            shmemd_put_signal(shmemd_group_thread(), SHMEM_CTX_DEFAULT, elements, &sum, sizeof sum,
                              shmemd_update(number, collect, SHMEM_SIGNAL_SET), shmemd_team_world_pe(team, team->me + distance),
                              SHMEMD_BLOCKING, call);
        }
        if (team->me - distance >= 0) {
            shmemd_wait_until(number, SHMEM_CMP_EQ, collect, SHMEMD_KIND_OF(uint64_t), call);
            sum += shmemd_load_relaxed(elements, 8);
        }
    }
    return sum - mine;
}

SHMEMD_SLOW int shmemd_collect(struct shmemd_group group, shmem_team_t handle, void *dest, const void *source, size_t bytes,
                               const char *call)
{
    const struct shmemd_team *team = shmemd_team_that_meets(handle, call);
    uint64_t                  before;

    shmemd_group_sync(group);
    /* All threads need it, so the first one leaves it where all can read it: in this PE's own sync area. */
    if (group.rank == 0) {
        before = shmemd_collect_before(team, bytes, call);
        if (team->n > 1) shmemd_store_relaxed(&shmemd_sync_area_of(team)->before, before, 8);
    }
    shmemd_group_sync(group);
    before = team->n > 1 ? shmemd_load_relaxed(&shmemd_sync_area_of(team)->before, 8) : 0;
    shmemd_put_all(group, team, (char *)dest + before, source, bytes, call);
    return shmemd_coll_finish(group, team, call);
}

SHMEMD_SLOW int shmemd_alltoall(struct shmemd_group group, shmem_team_t handle, void *dest, const void *source, size_t bytes,
                                const char *call)
{
    const struct shmemd_team *team = shmemd_team_that_meets(handle, call);
    int                       i;

    shmemd_group_sync(group);
    for (i = 0; i < team->n; i++) {
        int member = shmemd_coll_member(team, i);

        shmemd_put_world(group, (char *)dest + (size_t)team->me * bytes, (const char *)source + (size_t)member * bytes, bytes,
                         shmemd_team_world_pe(team, member), 0, SHMEMD_NBI, call);
    }
    return shmemd_coll_finish(group, team, call);
}

/* s is the call's: its dest and source are the beginnings of the arrays. */
SHMEMD_SLOW int shmemd_alltoalls(struct shmemd_group group, shmem_team_t handle, struct shmemd_strided s, const char *call)
{
    const struct shmemd_team *team = shmemd_team_that_meets(handle, call);
    int                       i;

    shmemd_group_sync(group);
    for (i = 0; i < team->n; i++) {
        int                   member = shmemd_coll_member(team, i);
        struct shmemd_strided block  = s;

        block.dest   = (char *)s.dest + (ptrdiff_t)team->me * (ptrdiff_t)s.nelems * s.dst * (ptrdiff_t)s.bytes;
        block.source = (const char *)s.source + (ptrdiff_t)member * (ptrdiff_t)s.nelems * s.sst * (ptrdiff_t)s.bytes;
        shmemd_iput(group, SHMEM_CTX_DEFAULT, block, shmemd_team_world_pe(team, member), call);
    }
    return shmemd_coll_finish(group, team, call);
}

/* clang-format off */

/* MOVE has the bytes of one contribution; BROADCAST a root as well; ALLTOALLS strides. */
#define SHMEMD_MOVE(NAME, T, OP)                                                                                       \
    SHMEMD_MOVE_NAMES(shmem_##NAME##_##OP, shmemx_##NAME##_##OP, T, sizeof(T), OP)
#define SHMEMD_MOVE_NAMES(FUNCTION, GROUP_FUNCTION, T, BYTES, OP)                                                      \
    SHMEMD_API int (FUNCTION)(SHMEMI_TEAM_MOVE_ARGS(T))                                                                \
    SHMEMD_RETURN(shmemd_##OP(shmemd_group_thread(), team, dest, source, nelems * BYTES, #FUNCTION),                   \
                  p##FUNCTION(team, dest, source, nelems))                                                             \
    SHMEMD_MOVE_GROUP(GROUP_FUNCTION, T, BYTES, OP, warp)                                                              \
    SHMEMD_MOVE_GROUP(GROUP_FUNCTION, T, BYTES, OP, block)
#define SHMEMD_MOVE_GROUP(FUNCTION, T, BYTES, OP, GROUP)                                                               \
    SHMEMD_GROUP int FUNCTION##_##GROUP(SHMEMI_TEAM_MOVE_ARGS(T))                                                      \
    {                                                                                                                  \
        return shmemd_##OP(shmemd_group_##GROUP(), team, dest, source, nelems * BYTES, #FUNCTION "_" #GROUP);          \
    }
#define SHMEMD_BROADCAST(NAME, T, OP)                                                                                  \
    SHMEMD_BROADCAST_NAMES(shmem_##NAME##_broadcast, shmemx_##NAME##_broadcast, T, sizeof(T))
#define SHMEMD_BROADCAST_NAMES(FUNCTION, GROUP_FUNCTION, T, BYTES)                                                     \
    SHMEMD_API int (FUNCTION)(SHMEMI_TEAM_BROADCAST_ARGS(T))                                                           \
    SHMEMD_RETURN(shmemd_broadcast(shmemd_group_thread(), team, dest, source, nelems * BYTES, PE_root, #FUNCTION),     \
                  p##FUNCTION(team, dest, source, nelems, PE_root))                                                    \
    SHMEMD_BROADCAST_GROUP(GROUP_FUNCTION, T, BYTES, warp)                                                             \
    SHMEMD_BROADCAST_GROUP(GROUP_FUNCTION, T, BYTES, block)
#define SHMEMD_BROADCAST_GROUP(FUNCTION, T, BYTES, GROUP)                                                              \
    SHMEMD_GROUP int FUNCTION##_##GROUP(SHMEMI_TEAM_BROADCAST_ARGS(T))                                                 \
    {                                                                                                                  \
        return shmemd_broadcast(shmemd_group_##GROUP(), team, dest, source, nelems * BYTES, PE_root,                   \
                                #FUNCTION "_" #GROUP);                                                                 \
    }
#define SHMEMD_ALLTOALLS(NAME, T, OP)                                                                                  \
    SHMEMD_ALLTOALLS_NAMES(shmem_##NAME##_alltoalls, shmemx_##NAME##_alltoalls, T, sizeof(T))
#define SHMEMD_ALLTOALLS_NAMES(FUNCTION, GROUP_FUNCTION, T, BYTES)                                                     \
    SHMEMD_API int (FUNCTION)(SHMEMI_TEAM_ALLTOALLS_ARGS(T))                                                           \
    SHMEMD_RETURN(shmemd_alltoalls(shmemd_group_thread(), team,                                                        \
                                   shmemd_strides(dest, source, dst, sst, nelems, BYTES), #FUNCTION),                  \
                  p##FUNCTION(team, dest, source, dst, sst, nelems))                                                   \
    SHMEMD_ALLTOALLS_GROUP(GROUP_FUNCTION, T, BYTES, warp)                                                             \
    SHMEMD_ALLTOALLS_GROUP(GROUP_FUNCTION, T, BYTES, block)
#define SHMEMD_ALLTOALLS_GROUP(FUNCTION, T, BYTES, GROUP)                                                              \
    SHMEMD_GROUP int FUNCTION##_##GROUP(SHMEMI_TEAM_ALLTOALLS_ARGS(T))                                                 \
    {                                                                                                                  \
        return shmemd_alltoalls(shmemd_group_##GROUP(), team, shmemd_strides(dest, source, dst, sst, nelems, BYTES),   \
                                #FUNCTION "_" #GROUP);                                                                 \
    }

SHMEMD_BEGIN

SHMEMI_RMA_DEVICE_TYPES(SHMEMD_MOVE, alltoall)
SHMEMI_RMA_DEVICE_TYPES(SHMEMD_MOVE, fcollect)
SHMEMI_RMA_DEVICE_TYPES(SHMEMD_MOVE, collect)
SHMEMI_RMA_DEVICE_TYPES(SHMEMD_BROADCAST, broadcast)
SHMEMI_RMA_DEVICE_TYPES(SHMEMD_ALLTOALLS, alltoalls)
SHMEMD_MOVE_NAMES(shmem_alltoallmem, shmemx_alltoallmem, void, 1, alltoall)
SHMEMD_MOVE_NAMES(shmem_fcollectmem, shmemx_fcollectmem, void, 1, fcollect)
SHMEMD_MOVE_NAMES(shmem_collectmem, shmemx_collectmem, void, 1, collect)
SHMEMD_BROADCAST_NAMES(shmem_broadcastmem, shmemx_broadcastmem, void, 1)
SHMEMD_ALLTOALLS_NAMES(shmem_alltoallsmem, shmemx_alltoallsmem, void, 1)

SHMEMD_END

#undef SHMEMD_MOVE
#undef SHMEMD_MOVE_NAMES
#undef SHMEMD_MOVE_GROUP
#undef SHMEMD_BROADCAST
#undef SHMEMD_BROADCAST_NAMES
#undef SHMEMD_BROADCAST_GROUP
#undef SHMEMD_ALLTOALLS
#undef SHMEMD_ALLTOALLS_NAMES
#undef SHMEMD_ALLTOALLS_GROUP
/* clang-format on */

#endif
