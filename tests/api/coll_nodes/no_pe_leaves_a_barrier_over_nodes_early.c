/* SPDX-License-Identifier: Apache-2.0
 *
 * The same as no_pe_leaves_a_barrier_before_all_have_come, where some PEs share a node.
 *
 * PES: 5 11
 * NODES: a:2,b
 * ENV: POSTERN_CHAOS_DELAY=5us
 * Spec: OpenSHMEM 1.6 §9.10.1 shmem_barrier_all, §9.10.4 shmem_sync_all
 */
#include "../sync/no_pe_leaves_a_barrier_before_all_have_come.c"
