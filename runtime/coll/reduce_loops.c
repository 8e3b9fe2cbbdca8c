/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops of the reductions, with the instructions that every machine has. CMakeLists.txt asks for -O3 in these files,
 * since gcc 12 does not turn such loops into vector code at -O2, and for no contraction of a product and a sum to one
 * rounding: vector code and what is left over behind it must round alike, or members whose arrays lie differently would
 * come to different bits.
 * Spec: OpenSHMEM 1.6 §9.10.9.  Tests: tests/api/coll_reduce/.
 */
#include "runtime/coll/reduce.h"

#define LOOPS_TABLE shmemi_reduce_loops_ops
#define LOOPS_TARGET
#include "runtime/coll/reduce_set.h"
