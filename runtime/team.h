/* SPDX-License-Identifier: Apache-2.0
 *
 * Teams: arithmetic on sets of PEs, and the slots in which their members meet. Spec: OpenSHMEM 1.6 §9.4.
 */
#ifndef SHMEMI_TEAM_H
#define SHMEMI_TEAM_H

#include "runtime/state.h"

/* Size and number of the slots, which decide the size of the control segment. Called by init before the first exchange. */
void shmemi_team_plan_slots(void);

/* The predefined teams, from the node's layout. Called by init. 0 or a negative errno, logged. */
int shmemi_team_init(void);

/* Drop all teams: the last finalize. Safe at any stage of start-up. */
void shmemi_team_finish_all(void);

/* The team behind a handle, or NULL for SHMEM_TEAM_INVALID. */
struct shmemi_team *shmemi_team_of(shmem_team_t handle);
shmem_team_t        shmemi_team_handle(const struct shmemi_team *team);

/* Is this a team that exists? For checked mode: walks the list. */
bool shmemi_team_is_alive(const struct shmemi_team *team);

/*
 * The set of a call with PE_start, logPE_stride and PE_size, which meets in the caller's psync. False where this PE is not in it: the call has
 * nothing to do (in checked mode the job ends). Ends the job with a message where there is no such set.
 */
bool shmemi_team_active_set(const char *call, int start, int log_stride, int size, long *psync, struct shmemi_team *set_out);

static inline int shmemi_team_world_pe(const struct shmemi_team *team, int pe)
{
    int place = team->start + pe * team->stride;
    return team->list ? team->list[place] : place;
}

/* Number of a world PE in the team, or -1. */
int shmemi_team_find(const struct shmemi_team *team, int world_pe);

#endif
