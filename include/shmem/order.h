/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory ordering.  Calls without a context act on SHMEM_CTX_DEFAULT; none acts on another context
 * than its own, and SHMEM_CTX_INVALID does nothing.  Plain CPU stores to symmetric memory count
 * too, except on contexts with SHMEM_CTX_NOSTORE.
 * Spec: OpenSHMEM 1.6 §9.12.
 */
#ifndef SHMEMI_ORDER_H
#define SHMEMI_ORDER_H

#include "constants.h"
#include "types.h"

SHMEMI_BEGIN

/*
 * Puts, atomics and signals before the fence are delivered to a PE before those after it to the
 * same PE.  Completes nothing, and does not order nonblocking gets.  Spec: §9.12.1.
 */
SHMEMI_DECLARE(void, shmem_fence, (void))
SHMEMI_DECLARE(void, shmem_ctx_fence, (shmem_ctx_t ctx))

/*
 * All operations are complete and visible to all PEs on return, and their local buffers are free.
 * Spec: §9.12.2.
 */
SHMEMI_DECLARE(void, shmem_quiet, (void))
SHMEMI_DECLARE(void, shmem_ctx_quiet, (shmem_ctx_t ctx))

/*
 * The same for operations to the npes PEs in target_pes, numbers in the team of the context.
 * npes 0 does nothing.  Spec: §9.12.3.
 */
SHMEMI_DECLARE(void, shmem_pe_quiet, (const int *target_pes, size_t npes))
SHMEMI_DECLARE(void, shmem_ctx_pe_quiet, (shmem_ctx_t ctx, const int *target_pes, size_t npes))

SHMEMI_END

#endif
