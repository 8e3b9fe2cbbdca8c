/* SPDX-License-Identifier: Apache-2.0
 *
 * Every PE puts to and gets from every PE, near and far, in checked mode: the careful path finds nothing to complain of.
 * Spec: OpenSHMEM 1.6 §9.6 Remote Memory Access Routines
 * ENV: POSTERN_CHECK=1
 * NODES: a,b
 * PES: 3
 */
#include "transfers_reach_near_and_far.c"
