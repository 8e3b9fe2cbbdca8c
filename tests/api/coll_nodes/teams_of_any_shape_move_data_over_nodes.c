/* SPDX-License-Identifier: Apache-2.0
 *
 * The same as teams_of_any_shape_move_data, where some members share a node: teams within a node, with one member on each, and others.
 *
 * PES: 5 8
 * NODES: a,b,a
 * ENV: POSTERN_CHAOS_DELAY=5us
 * Spec: OpenSHMEM 1.6 §9.10 Collective Routines, §9.4.6 shmem_team_split_strided, §9.4.7 shmem_team_split_2d
 */
#include "../coll/teams_of_any_shape_move_data.c"
