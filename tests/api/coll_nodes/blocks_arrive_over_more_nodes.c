/* SPDX-License-Identifier: Apache-2.0
 *
 * The same as blocks_arrive_over_nodes, with more PEs: as many on each node, uneven, and more nodes.
 * node's members apart.
 *
 * PES: 8
 * NODES: a:2,b:2 a:3,b,c:2 b:5,a:3
 * ENV: POSTERN_CHAOS_DELAY=5us
 * Spec: OpenSHMEM 1.6 §9.10.5 shmem_alltoall, §9.10.6 shmem_alltoalls, §9.10.7 shmem_broadcast, §9.10.8 shmem_collect, shmem_fcollect
 */
#include "../coll/blocks_of_any_size_arrive_at_all.c"
