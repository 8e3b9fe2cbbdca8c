/* SPDX-License-Identifier: Apache-2.0
 *
 * Fence and quiet. Spec: OpenSHMEM 1.6 §9.12 Memory Ordering Routines.
 */
#ifndef SHMEMI_ORDER_RUNTIME_H
#define SHMEMI_ORDER_RUNTIME_H

#include "runtime/state.h"

void shmemi_order_fence(struct shmemi_ctx *ctx);
void shmemi_order_quiet(struct shmemi_ctx *ctx);

#endif
