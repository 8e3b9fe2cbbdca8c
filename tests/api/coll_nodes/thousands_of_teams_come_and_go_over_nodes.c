/* SPDX-License-Identifier: Apache-2.0
 *
 * The same as thousands_come_and_go_without_growth, where a team also knows which of its members share a node.
 *
 * PES: 4
 * NODES: a:2,b
 * Spec: OpenSHMEM 1.6 §9.4 Team Management Routines, §9.4.6 shmem_team_split_strided, §9.4.8 shmem_team_destroy
 */
#include "../team/thousands_come_and_go_without_growth.c"
