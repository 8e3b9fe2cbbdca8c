/* SPDX-License-Identifier: Apache-2.0
 *
 * The same as a_dest_may_be_overwritten_on_return, with the algorithms that pass on what has come.
 *
 * PES: 2 3 5
 * ENV: POSTERN_CHAOS_DELAY=200us POSTERN_COLL_BROADCAST=scatter POSTERN_COLL_COLLECT=doubling
 * Spec: OpenSHMEM 1.6 §9.10.7 shmem_broadcast, §9.10.8 shmem_fcollect
 */
#include "a_dest_may_be_overwritten_on_return.c"
