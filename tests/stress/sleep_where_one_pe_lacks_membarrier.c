/* SPDX-License-Identifier: Apache-2.0
 *
 * The same where a filter refuses membarrier to the sleepers only: all PEs must agree on writers that fence.
 * PES: 2
 * ENV: POSTERN_SPIN=0us
 * NOCHAOS: posted routes sleep in short steps and need no wake-up
 */
#include "../api/wait/refuse_membarrier.h"

#define SLEEP_PREPARE()                         \
    do {                                        \
        if (api_pe() == 1) refuse_membarrier(); \
    } while (0)

#include "sleep.c"
