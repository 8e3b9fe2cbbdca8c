/* SPDX-License-Identifier: Apache-2.0
 *
 * Who am I: PE numbers and teams in a kernel, and the contexts of calls.  Spec: OpenSHMEM 1.6 §9.1, §9.4, §9.5.
 *
 * Teams and contexts are made and destroyed by the host; a kernel uses the handles.
 */
#ifndef SHMEMD_TEAMS_CUH
#define SHMEMD_TEAMS_CUH

#include "place.cuh"

/* The table's entry for a handle of a team that the program has made, or NULL.  The table is in host memory. */
SHMEMD_SLOW const struct shmemd_team *shmemd_team_search(const struct shmemd_state *self, uint64_t handle)
{
    uint32_t i, at;

    if (self->teams == NULL || handle == 0 || handle == SHMEMD_GONE) return NULL;
    for (i = 0, at = SHMEMD_HASH(handle); i < SHMEMD_TEAMS_TABLE; i++, at = (at + 1) % SHMEMD_TEAMS_TABLE) {
        uint64_t found = shmemd_load_acquire(&self->teams[at].handle, 8);

        if (found == handle) return &self->teams[at];
        if (found == 0) return NULL;
    }
    return NULL;
}

/* NULL for SHMEM_TEAM_INVALID, and for what is no team. */
SHMEMD_FN const struct shmemd_team *shmemd_team_find(shmem_team_t team)
{
    const struct shmemd_state *self = shmemd_self();

    if (team == SHMEM_TEAM_WORLD) return &self->world;
    if (team == SHMEM_TEAM_SHARED) return &self->shared;
    return shmemd_team_search(self, (uint64_t)(uintptr_t)team);
}

SHMEMD_FN int shmemd_team_world_pe(const struct shmemd_team *team, int pe)
{
    int place = team->start + pe * team->stride;

    return team->list != NULL ? team->list[place] : place;
}

SHMEMD_FN int shmemd_team_my_pe(shmem_team_t handle)
{
    const struct shmemd_team *team = shmemd_team_find(handle);

    return team != NULL ? team->me : -1;
}

SHMEMD_FN int shmemd_team_n_pes(shmem_team_t handle)
{
    const struct shmemd_team *team = shmemd_team_find(handle);

    return team != NULL ? team->n : -1;
}

/* The number of a world PE in team, or -1. */
SHMEMD_SLOW int shmemd_team_number(const struct shmemd_team *team, int world_pe)
{
    int i;

    for (i = 0; i < team->n; i++) {
        if (shmemd_team_world_pe(team, i) == world_pe) return i;
    }
    return -1;
}

SHMEMD_SLOW int shmemd_team_translate(shmem_team_t from_handle, int pe, shmem_team_t to_handle)
{
    const struct shmemd_team *from = shmemd_team_find(from_handle), *to = shmemd_team_find(to_handle);

    if (from == NULL || to == NULL || pe < 0 || pe >= from->n) return -1;
    return shmemd_team_number(to, shmemd_team_world_pe(from, pe));
}

SHMEMD_FN void *shmemd_ptr(const void *address, int pe)
{
    const struct shmemd_state *self = shmemd_self();
    uint64_t                   offset;
    int                        segment;

    if ((uint32_t)pe >= (uint32_t)self->npes) return NULL;
    segment = shmemd_segment_of(self, address, &offset);
    return segment < 0 ? NULL : shmemd_map(&self->segment[segment], offset, pe);
}

SHMEMD_SLOW void *shmemd_team_ptr(shmem_team_t handle, const void *address, int pe)
{
    const struct shmemd_team *team = shmemd_team_find(handle);

    if (team == NULL || pe < 0 || pe >= team->n) return NULL;
    return shmemd_ptr(address, shmemd_team_world_pe(team, pe));
}

/* clang-format off */
SHMEMD_BEGIN

SHMEMD_API int (shmem_my_pe)(void) SHMEMD_RETURN(shmemd_self()->my_pe, pshmem_my_pe())
SHMEMD_API int (shmem_n_pes)(void) SHMEMD_RETURN(shmemd_self()->npes, pshmem_n_pes())
SHMEMD_API int (shmem_team_my_pe)(shmem_team_t team) SHMEMD_RETURN(shmemd_team_my_pe(team), pshmem_team_my_pe(team))
SHMEMD_API int (shmem_team_n_pes)(shmem_team_t team) SHMEMD_RETURN(shmemd_team_n_pes(team), pshmem_team_n_pes(team))
SHMEMD_API int (shmem_team_translate_pe)(shmem_team_t src_team, int src_pe, shmem_team_t dest_team)
    SHMEMD_RETURN(shmemd_team_translate(src_team, src_pe, dest_team), pshmem_team_translate_pe(src_team, src_pe, dest_team))
SHMEMD_API void *(shmem_ptr)(const void *dest, int pe) SHMEMD_RETURN(shmemd_ptr(dest, pe), pshmem_ptr(dest, pe))
SHMEMD_API void *(shmem_team_ptr)(shmem_team_t team, const void *dest, int pe)
    SHMEMD_RETURN(shmemd_team_ptr(team, dest, pe), pshmem_team_ptr(team, dest, pe))

SHMEMD_END
/* clang-format on */

#endif
