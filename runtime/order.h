/* SPDX-License-Identifier: Apache-2.0
 *
 * Fence and quiet. Spec: OpenSHMEM 1.6 §9.12 Memory Ordering Routines.
 */
#ifndef SHMEMI_ORDER_RUNTIME_H
#define SHMEMI_ORDER_RUNTIME_H

#include "runtime/base/attr.h"

#include <stdatomic.h>

struct shmemi_ctx;

/*
 * Full fence. On x86 any locked instruction is one, and this changes nothing. It touches the word below the stack pointer, which the ABI leaves
 * to this function: the word at the pointer, which compilers take (or mfence), is in a function without a frame the return address that the
 * call has just stored, and a locked load of that waits for the store, a third of the whole (docs/decisions/0020-fences.md).
 */
SHMEMI_INLINE void shmemi_order_full_fence(void)
{
#if defined(__x86_64__) && !defined(__ILP32__)
    __asm__ __volatile__("lock orq $0, -8(%%rsp)" : : : "memory", "cc");
#else
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

void shmemi_order_fence(struct shmemi_ctx *ctx);
void shmemi_order_quiet(struct shmemi_ctx *ctx);

#endif
