/* SPDX-License-Identifier: Apache-2.0
 *
 * The same as active_sets_move_data_and_restore_psync, with broadcasts by pull and alltoall by push for all sizes.
 *
 * PES: 2 5
 * ENV: POSTERN_CHAOS_DELAY=5us POSTERN_COLL_BROADCAST=pull POSTERN_COLL_ALLTOALL=push
 * Spec: OpenSHMEM 1.6 §9.10.5 shmem_alltoall, §9.10.7 shmem_broadcast
 */
#include "active_sets_move_data_and_restore_psync.c"
