/* SPDX-License-Identifier: Apache-2.0
 *
 * The same without membarrier: then every writer fences before it looks whether the other sleeps.
 * PES: 2
 * ENV: POSTERN_SPIN=0us POSTERN_MEMBARRIER=0
 * NOCHAOS: posted routes sleep in short steps and need no wake-up
 */
#include "sleep.c"
