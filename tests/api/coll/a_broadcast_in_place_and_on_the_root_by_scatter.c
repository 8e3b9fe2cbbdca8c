/* SPDX-License-Identifier: Apache-2.0
 *
 * The same as a_broadcast_in_place_and_on_the_root, with this algorithm for all sizes.
 *
 * PES: 2 3
 * ENV: POSTERN_CHAOS_DELAY=5us POSTERN_COLL_BROADCAST=scatter
 * Spec: OpenSHMEM 1.6 §9.10.7 shmem_broadcast
 */
#include "a_broadcast_in_place_and_on_the_root.c"
