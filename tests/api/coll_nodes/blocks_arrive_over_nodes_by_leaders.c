/* SPDX-License-Identifier: Apache-2.0
 *
 * The same as blocks_arrive_over_nodes, with blocks of any size by the leaders, and broadcasts that are read from the head of a node.
 *
 * PES: 8
 * NODES: a:2,b
 * ENV: POSTERN_CHAOS_DELAY=5us POSTERN_COLL_HIERARCHY=1 POSTERN_COLL_COLLECT=doubling POSTERN_COLL_BROADCAST=pull
 * Spec: OpenSHMEM 1.6 §9.10.5 shmem_alltoall, §9.10.6 shmem_alltoalls, §9.10.7 shmem_broadcast, §9.10.8 shmem_collect, shmem_fcollect
 */
#include "../coll/blocks_of_any_size_arrive_at_all.c"
