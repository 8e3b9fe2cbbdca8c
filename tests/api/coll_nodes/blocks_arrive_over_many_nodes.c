/* SPDX-License-Identifier: Apache-2.0
 *
 * The same as blocks_arrive_over_nodes, with more nodes than there are boxes for: trees and rounds between them.
 *
 * PES: 11
 * NODES: a,b,c,d,e,f,g,h,i,a
 * ENV: POSTERN_CHAOS_DELAY=2us POSTERN_COLL_HIERARCHY=1
 * Spec: OpenSHMEM 1.6 §9.10.5 shmem_alltoall, §9.10.6 shmem_alltoalls, §9.10.7 shmem_broadcast, §9.10.8 shmem_collect, shmem_fcollect
 */
#include "../coll/blocks_of_any_size_arrive_at_all.c"
