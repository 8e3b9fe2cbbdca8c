/* SPDX-License-Identifier: Apache-2.0
 *
 * Teams: ordered sets of PEs, numbered from 0.  SHMEM_TEAM_WORLD and SHMEM_TEAM_SHARED exist from init to the
 * last finalize; others are made by splitting a team.  A handle is a value of this PE.
 * Spec: OpenSHMEM 1.6 §9.4.
 */
#ifndef SHMEMI_TEAMS_H
#define SHMEMI_TEAMS_H

#include "constants.h"
#include "types.h"

/* clang-format off */

/* The argument lists that are longer than a line. */
#define SHMEMI_SPLIT_STRIDED_ARGS                                                                     \
    shmem_team_t parent_team, int start, int stride, int size, const shmem_team_config_t *config,     \
    long config_mask, shmem_team_t *new_team
#define SHMEMI_SPLIT_2D_ARGS                                                                          \
    shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config, long xaxis_mask,   \
    shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config, long yaxis_mask,               \
    shmem_team_t *yaxis_team

/* clang-format on */

SHMEMI_BEGIN

/* The number of this PE in team, and the team's size; -1 for SHMEM_TEAM_INVALID.  Spec: §9.4.1, §9.4.2. */
SHMEMI_DECLARE(int, shmem_team_my_pe, (shmem_team_t team))
SHMEMI_DECLARE(int, shmem_team_n_pes, (shmem_team_t team))

/*
 * Write the fields of team's configuration that config_mask (SHMEM_TEAM_NUM_CONTEXTS) selects.
 * config may be NULL where the mask is 0.  Returns 0, or nonzero for a bad team.  Spec: §9.4.4.
 */
SHMEMI_DECLARE(int, shmem_team_get_config, (shmem_team_t team, long config_mask, shmem_team_config_t *config))

/*
 * The number in dest_team of the PE that has number src_pe in src_team; -1 where it is in only
 * one of them, or a handle is SHMEM_TEAM_INVALID.  Spec: §9.4.5.
 */
SHMEMI_DECLARE(int, shmem_team_translate_pe, (shmem_team_t src_team, int src_pe, shmem_team_t dest_team))

/*
 * Make a team of the size PEs start, start + stride, ... of parent_team, in this order.  Collective over
 * parent_team; old and new team may be used at once.
 *
 * stride       negative counts down, 0 only with size 1; no wrap-around
 * config       read only where config_mask (SHMEM_TEAM_NUM_CONTEXTS) selects a field; may be NULL where the mask is 0
 * new_team     the new team, owned by its members; SHMEM_TEAM_INVALID on PEs outside it, and on failure
 *
 * Returns 0, also on PEs outside the new team; nonzero on all PEs of parent_team where the team could not be made.
 * For parent_team SHMEM_TEAM_INVALID returns nonzero at once.  Spec: §9.4.6.
 */
SHMEMI_DECLARE(int, shmem_team_split_strided, (SHMEMI_SPLIT_STRIDED_ARGS))

/*
 * Lay the PEs of parent_team out in rows of xrange and make a team of each row and of each column.  Number pe is at
 * column pe mod xrange of row pe / xrange; the last row may be short.  xrange is at least 1; more than there are PEs
 * gives one row.  Collective over parent_team.
 *
 * xaxis_*   the caller's row: configuration (as above) and the new team, in which its number is the column
 * yaxis_*   the caller's column, in which its number is the row
 *
 * Returns 0; nonzero on all PEs, and both teams SHMEM_TEAM_INVALID on all, where any team could not be made.
 * Spec: §9.4.7.
 */
SHMEMI_DECLARE(int, shmem_team_split_2d, (SHMEMI_SPLIT_2D_ARGS))

/*
 * Release team and the shareable contexts on it; those with SHMEM_CTX_PRIVATE must be gone.  Collective over team.
 * SHMEM_TEAM_INVALID does nothing; the predefined teams must not be destroyed.  Spec: §9.4.8.
 */
SHMEMI_DECLARE(void, shmem_team_destroy, (shmem_team_t team))

SHMEMI_END

#endif
