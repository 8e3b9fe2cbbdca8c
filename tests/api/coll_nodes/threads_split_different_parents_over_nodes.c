/* SPDX-License-Identifier: Apache-2.0
 *
 * The same as threads_split_different_parents_at_once, where some PEs share a node.
 *
 * PES: 5
 * NODES: a:2,b
 * ENV: POSTERN_CHAOS_DELAY=2us
 * LINK: pthread
 * Spec: OpenSHMEM 1.6 §9.4.6 shmem_team_split_strided, §9.2 Thread Support
 */
#include "../team/threads_split_different_parents_at_once.c"
