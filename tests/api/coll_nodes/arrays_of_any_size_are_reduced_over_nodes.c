/* SPDX-License-Identifier: Apache-2.0
 *
 * The same as arrays_of_any_size_and_place, where some PEs share a node.
 *
 * PES: 8
 * NODES: a:2,b a,b,a
 * ENV: POSTERN_CHAOS_DELAY=5us
 * Spec: OpenSHMEM 1.6 §9.10.9 Reductions, §9.10.10 Scans
 */
#include "../coll_reduce/arrays_of_any_size_and_place.c"
