/* SPDX-License-Identifier: Apache-2.0
 *
 * The same as any_team_reduces_among_its_members, where some PEs share a node.
 *
 * PES: 5 8
 * NODES: a:2,b
 * ENV: POSTERN_CHAOS_DELAY=5us
 * Spec: OpenSHMEM 1.6 §9.10.9 Reductions, §9.10.10 Scans
 */
#include "../coll_reduce/any_team_reduces_among_its_members.c"
