/* SPDX-License-Identifier: Apache-2.0
 *
 * The same as rounded_results_are_the_same_bits_on_all_pes, where some PEs share a node: the order of joining is another one, and the same on all.
 *
 * PES: 5 8
 * NODES: a:2,b
 * ENV: POSTERN_CHAOS_DELAY=5us
 * LINK: m
 * Spec: OpenSHMEM 1.6 §9.10.9 Reductions (the standard leaves it open)
 */
#include "../coll_reduce/rounded_results_are_the_same_bits_on_all_pes.c"
