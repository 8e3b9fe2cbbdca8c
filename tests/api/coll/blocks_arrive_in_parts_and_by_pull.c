/* SPDX-License-Identifier: Apache-2.0
 *
 * The same as blocks_of_any_size_arrive_at_all, with these algorithms for all sizes.
 *
 * PES: 2 3 5
 * ENV: POSTERN_CHAOS_DELAY=5us POSTERN_COLL_BROADCAST=scatter POSTERN_COLL_ALLTOALL=pull
 * Spec: OpenSHMEM 1.6 §9.10.5 shmem_alltoall, §9.10.7 shmem_broadcast
 */
#include "blocks_of_any_size_arrive_at_all.c"
