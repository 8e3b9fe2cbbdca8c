/* SPDX-License-Identifier: Apache-2.0
 *
 * The same as blocks_of_any_size_arrive_at_all, where some members share a node: those of a node in a row, and apart.
 * node's members apart.
 *
 * PES: 5
 * NODES: a:2,b a,b,a
 * ENV: POSTERN_CHAOS_DELAY=5us
 * Spec: OpenSHMEM 1.6 §9.10.5 shmem_alltoall, §9.10.6 shmem_alltoalls, §9.10.7 shmem_broadcast, §9.10.8 shmem_collect, shmem_fcollect
 */
#include "../coll/blocks_of_any_size_arrive_at_all.c"
