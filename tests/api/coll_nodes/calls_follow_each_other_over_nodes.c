/* SPDX-License-Identifier: Apache-2.0
 *
 * The same as calls_follow_each_other_without_synchronization, where some PEs share a node.
 *
 * PES: 5 8
 * NODES: a,b,a
 * ENV: POSTERN_CHAOS_DELAY=5us
 * Spec: OpenSHMEM 1.6 §9.10.9 Reductions, §9.10.10 Scans
 */
#include "../coll_reduce/calls_follow_each_other_without_synchronization.c"
