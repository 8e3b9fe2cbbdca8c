/* SPDX-License-Identifier: Apache-2.0
 *
 * The same as active_sets_move_data_and_restore_psync, where some PEs of a set share a node.
 *
 * PES: 8
 * NODES: a:2,b a,b,a
 * ENV: POSTERN_CHAOS_DELAY=5us
 * Spec: OpenSHMEM 1.6 §9.10 Collective Routines
 */
#include "../coll/active_sets_move_data_and_restore_psync.c"
