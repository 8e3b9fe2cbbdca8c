/* SPDX-License-Identifier: Apache-2.0
 *
 * fence and quiet in kernels.  Spec: OpenSHMEM 1.6 §9.12.
 *
 * Both speak for the calling thread, and for what it has learned of by a barrier of its block: after __syncthreads one thread's fence orders
 * what all threads of the block have stored before.  What went through the ring is ordered and completed for all threads of the PE.
 */
#ifndef SHMEMD_ORDER_CUH
#define SHMEMD_ORDER_CUH

#include "ctx.cuh"

SHMEMD_SLOW void shmemd_post_order(int op, int ctx, const char *call)
{
    struct shmemd_place      nowhere = {NULL, shmemd_self()->my_pe, 0, 0};
    struct shmemd_descriptor d       = shmemd_describe(op, ctx, &nowhere, 0);

    shmemd_post(&d, call);
}

SHMEMD_FN void shmemd_quiet(shmem_ctx_t ctx, const char *call)
{
    int ring_ctx = 0;

    if (ctx == SHMEM_CTX_INVALID) return;
    (void)shmemd_ctx_pe(ctx, 0, &ring_ctx, call);
    /* Stores first: a PE that sees what the ring does for us next must see them. */
    shmemd_fence_full();
    if (shmemd_self()->flags & SHMEMD_FLAG_RING) {
        shmemd_post_order(SHMEMD_OP_QUIET | SHMEMD_OP_REPLY, ring_ctx, call);
    }
}

SHMEMD_FN void shmemd_fence(shmem_ctx_t ctx, const char *call)
{
    int ring_ctx = 0;

    if (ctx == SHMEM_CTX_INVALID) return;
    (void)shmemd_ctx_pe(ctx, 0, &ring_ctx, call);
    shmemd_fence_sys();
    if (shmemd_self()->flags & SHMEMD_FLAG_RING) {
        /* Where a PE is reached both ways, later stores must not overtake what the ring still holds. */
        int mixed = (shmemd_self()->flags & SHMEMD_FLAG_MIXED) != 0;

        shmemd_post_order(mixed ? (int)SHMEMD_OP_QUIET | SHMEMD_OP_REPLY : (int)SHMEMD_OP_FENCE, ring_ctx, call);
    }
}

/* All PEs are as quick as some: the ring answers for all of a context at once. */
SHMEMD_FN void shmemd_pe_quiet(shmem_ctx_t ctx, size_t npes, const char *call)
{
    if (npes > 0) shmemd_quiet(ctx, call);
}

/* clang-format off */
SHMEMD_BEGIN

SHMEMD_API void (shmem_fence)(void) SHMEMD_DO(shmemd_fence(SHMEM_CTX_DEFAULT, "shmem_fence"), pshmem_fence())
SHMEMD_API void (shmem_ctx_fence)(shmem_ctx_t ctx) SHMEMD_DO(shmemd_fence(ctx, "shmem_ctx_fence"), pshmem_ctx_fence(ctx))
SHMEMD_API void (shmem_quiet)(void) SHMEMD_DO(shmemd_quiet(SHMEM_CTX_DEFAULT, "shmem_quiet"), pshmem_quiet())
SHMEMD_API void (shmem_ctx_quiet)(shmem_ctx_t ctx) SHMEMD_DO(shmemd_quiet(ctx, "shmem_ctx_quiet"), pshmem_ctx_quiet(ctx))
SHMEMD_API void (shmem_pe_quiet)(const int *target_pes, size_t npes)
    SHMEMD_DO((void)target_pes; shmemd_pe_quiet(SHMEM_CTX_DEFAULT, npes, "shmem_pe_quiet"), pshmem_pe_quiet(target_pes, npes))
SHMEMD_API void (shmem_ctx_pe_quiet)(shmem_ctx_t ctx, const int *target_pes, size_t npes)
    SHMEMD_DO((void)target_pes; shmemd_pe_quiet(ctx, npes, "shmem_ctx_pe_quiet"), pshmem_ctx_pe_quiet(ctx, target_pes, npes))

SHMEMD_END
/* clang-format on */

#endif
