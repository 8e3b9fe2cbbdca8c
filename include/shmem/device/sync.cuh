/* SPDX-License-Identifier: Apache-2.0
 *
 * Meetings of a team in kernels: sync and barrier.  Spec: OpenSHMEM 1.6 §9.10.1 to §9.10.4.
 *
 * A team meets in its sync area, which lies at the same place on all its members.  In round r each tells the member 2^r after it, and
 * waits for the one 2^r before it; after log2(n) rounds each has heard of all.  What is told is the number of the meeting, which only
 * grows, so nothing is reset, and a fast member may be one meeting ahead. So what it tells of two meetings may be on its way at once, and a
 * network may turn them round: even and odd meetings have words of their own. Before it tells of a third, all have come to the second, and
 * have heard of the first.
 *
 * Meetings of kernels and of the host know nothing of each other: all members meet in kernels, or all on the host.
 */
#ifndef SHMEMD_SYNC_CUH
#define SHMEMD_SYNC_CUH

#include "signal.cuh"

enum { SHMEMD_SYNC_ROUNDS = 24 };

/* A team's sync area. Zero when the team is made. */
struct shmemd_sync_area {
    uint64_t meetings; /* that this PE has been in; its own */
    uint64_t collects; /* likewise: collectives that used `prefix` */
    uint64_t before;   /* likewise: from one thread of a collect to the others of its group */
    char     unused[40];
    struct {
        uint64_t meeting[2]; /* told by the member 2^r before: even ones, and odd ones */
        char     unused[48];
    } arrived[SHMEMD_SYNC_ROUNDS];
    struct {
        uint64_t collect, elements; /* from the member 2^r before */
    } prefix[SHMEMD_SYNC_ROUNDS];
};

SHMEMD_SAME(sync_area, sizeof(struct shmemd_sync_area) <= SHMEMD_SYNC_BYTES);

/* The team behind a handle; ends the kernel where there is none, or where it has no place to meet. */
SHMEMD_SLOW const struct shmemd_team *shmemd_team_that_meets(shmem_team_t handle, const char *call)
{
    const struct shmemd_state *self = shmemd_self();
    const struct shmemd_team  *team = shmemd_team_find(handle);

    if (self->version == 0) shmemd_refuse("shmem_init has not been called", SHMEMD_REPORT_ARGUMENT, -1, NULL, 0);
    if (team == NULL || (team->n > 1 && (team->slot < 0 || self->sync == NULL))) {
        shmemd_refuse(call, SHMEMD_REPORT_TEAM, -1, (const void *)handle, 0);
    }
    return team;
}

SHMEMD_FN struct shmemd_sync_area *shmemd_sync_area_of(const struct shmemd_team *team)
{
    return (struct shmemd_sync_area *)(void *)(shmemd_self()->sync + (size_t)team->slot * SHMEMD_SYNC_BYTES);
}

/*
 * One thread meets for this PE.  What it did before, and what it learned of by a barrier of its block, is visible to all who
 * come out of the meeting: each round releases, and acquires.
 */
SHMEMD_SLOW void shmemd_meet(const struct shmemd_team *team, const char *call)
{
    struct shmemd_sync_area *area;
    uint64_t                 meeting, *word;
    int                      round, distance;

    if (team->n <= 1) return;
    area    = shmemd_sync_area_of(team);
    meeting = shmemd_load_relaxed(&area->meetings, 8) + 1;
    shmemd_store_relaxed(&area->meetings, meeting, 8);
    for (round = 0, distance = 1; distance < team->n; round++, distance *= 2) {
        int to = shmemd_team_world_pe(team, (team->me + distance) % team->n);

        word = &area->arrived[round].meeting[meeting % 2];
        shmemd_signal_world(shmemd_update(word, meeting, SHMEM_SIGNAL_SET), to, 0, 1, call);
        shmemd_wait_until(word, SHMEM_CMP_GE, meeting, SHMEMD_KIND_OF(uint64_t), call);
    }
}

/* All threads of the group on all members have come here.  quiet: what they have sent is complete. */
SHMEMD_SLOW int shmemd_meeting(struct shmemd_group group, const struct shmemd_team *team, int quiet, const char *call)
{
    shmemd_group_sync(group);
    if (group.rank == 0) {
        if (quiet) shmemd_quiet(SHMEM_CTX_DEFAULT, call);
        shmemd_meet(team, call);
    }
    shmemd_group_sync(group);
    return 0;
}

SHMEMD_FN int shmemd_team_meeting(struct shmemd_group group, shmem_team_t team, int quiet, const char *call)
{
    return shmemd_meeting(group, shmemd_team_that_meets(team, call), quiet, call);
}

/* clang-format off */

#define SHMEMD_SYNC_GROUP(GROUP)                                                                                       \
    SHMEMD_GROUP void shmemx_barrier_all_##GROUP(void)                                                                 \
    {                                                                                                                  \
        shmemd_team_meeting(shmemd_group_##GROUP(), SHMEM_TEAM_WORLD, 1, "shmemx_barrier_all_" #GROUP);                \
    }                                                                                                                  \
    SHMEMD_GROUP void shmemx_sync_all_##GROUP(void)                                                                    \
    {                                                                                                                  \
        shmemd_team_meeting(shmemd_group_##GROUP(), SHMEM_TEAM_WORLD, 0, "shmemx_sync_all_" #GROUP);                   \
    }                                                                                                                  \
    SHMEMD_GROUP int shmemx_team_sync_##GROUP(shmem_team_t team)                                                       \
    {                                                                                                                  \
        return shmemd_team_meeting(shmemd_group_##GROUP(), team, 0, "shmemx_team_sync_" #GROUP);                       \
    }

SHMEMD_BEGIN

SHMEMD_API void (shmem_barrier_all)(void)
    SHMEMD_DO(shmemd_team_meeting(shmemd_group_thread(), SHMEM_TEAM_WORLD, 1, "shmem_barrier_all"), pshmem_barrier_all())
SHMEMD_API void (shmem_sync_all)(void)
    SHMEMD_DO(shmemd_team_meeting(shmemd_group_thread(), SHMEM_TEAM_WORLD, 0, "shmem_sync_all"), pshmem_sync_all())
SHMEMD_API int (shmem_team_sync)(shmem_team_t team)
    SHMEMD_RETURN(shmemd_team_meeting(shmemd_group_thread(), team, 0, "shmem_team_sync"), pshmem_team_sync(team))
SHMEMD_SYNC_GROUP(warp)
SHMEMD_SYNC_GROUP(block)

SHMEMD_END

#undef SHMEMD_SYNC_GROUP
/* clang-format on */

#endif
