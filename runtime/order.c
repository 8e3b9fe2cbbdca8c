/* SPDX-License-Identifier: Apache-2.0
 *
 * Fence and quiet.
 *
 * On mapped routes an operation is a CPU store. Fence owes store-store order: a release fence (nothing on x86). Quiet owes more: after
 * it, a load of this PE must not see a world in which its earlier stores have not happened yet (A puts and reads B while B
 * puts and reads A: one of them must see the other's), so it is a full fence. Non-temporal stores are followed by their
 * own fence where they are made (rma.c).
 * Spec: OpenSHMEM 1.6 §9.12 Memory Ordering Routines.  Tests: tests/api/order/.
 */
#include "runtime/order.h"

#include "runtime/device.h"
#include "runtime/gpu/gpu.h"
#include "runtime/post.h"
#include "runtime/route.h"
#include "runtime/team.h"

#include <shmem.h>

/*
 * Where the network device executes atomics, a near PE is reached two ways: its words over the device, the rest by stores. No fence of a
 * transport orders an atomic that is under way before a store that follows, so it must be done.
 */
static SHMEMI_COLD void complete_near(struct shmemi_ctx *ctx)
{
    for (int i = 0; i < shmemi_state.node.count; i++) shmemi_post_quiet(ctx, shmemi_state.node.pes[i]);
}

/* All operations of this job are loads and stores of this CPU: then each of the two is its fence, and nothing else. */
SHMEMI_INLINE bool only_stores(void)
{
    return SHMEMI_LIKELY(!(shmemi_state.posted | shmemi_state.gpu | shmemi_state.device));
}

static SHMEMI_COLD void fence_careful(struct shmemi_ctx *ctx)
{
    if (shmemi_state.device) shmemi_device_quiet();
    atomic_thread_fence(memory_order_release);
    if (shmemi_state.gpu) shmemi_gpu_complete();
    if (!shmemi_state.posted) return;
    if (shmemi_state.job.agent == SHMEMT_AGENT_NIC) complete_near(ctx);
    shmemi_post_fence(ctx);
}

/* What a kernel has asked for is this PE's operation too, and may still lie in the ring when the kernel has ended. */
static SHMEMI_COLD void quiet_careful(struct shmemi_ctx *ctx)
{
    if (shmemi_state.device) shmemi_device_quiet();
    if (shmemi_state.gpu) shmemi_gpu_complete();
    if (shmemi_state.posted) shmemi_post_quiet(ctx, SHMEMT_ALL_PES);
    shmemi_order_full_fence();
}

/* Both end in the careful call, so that the plain path saves no register: a full fence waits for each store before it. */
SHMEMI_INLINE void fence(struct shmemi_ctx *ctx)
{
    if (!only_stores()) {
        fence_careful(ctx);
        return;
    }
    atomic_thread_fence(memory_order_release);
}

SHMEMI_INLINE void quiet(struct shmemi_ctx *ctx)
{
    if (!only_stores()) {
        quiet_careful(ctx);
        return;
    }
    shmemi_order_full_fence();
}

void shmemi_order_fence(struct shmemi_ctx *ctx)
{
    fence(ctx);
}

void shmemi_order_quiet(struct shmemi_ctx *ctx)
{
    quiet(ctx);
}

static void quiet_listed(struct shmemi_ctx *ctx, const char *call, const int *target_pes, size_t npes)
{
    if (SHMEMI_UNLIKELY(shmemi_state.device)) shmemi_device_quiet();
    if (SHMEMI_UNLIKELY(shmemi_state.gpu)) shmemi_gpu_complete();
    for (size_t i = 0; (shmemi_state.posted || shmemi_state.check) && i < npes; i++) {
        int pe = target_pes[i];
        if (pe < 0 || pe >= ctx->team->size) {
            struct shmemi_place unused; /* the careful path has the message */
            shmemi_route_find(ctx, call, shmemi_state.ctrl, 1, pe, &unused);
        }
        if (shmemi_state.posted) shmemi_post_quiet(ctx, shmemi_team_world_pe(ctx->team, pe));
    }
    if (npes > 0) shmemi_order_full_fence();
}

void pshmem_fence(void)
{
    fence(&shmemi_state.ctx_default);
}
SHMEMI_EXPORT(shmem_fence)

void pshmem_ctx_fence(shmem_ctx_t ctx)
{
    if (ctx != SHMEM_CTX_INVALID) fence(shmemi_route_ctx(ctx, "shmem_ctx_fence"));
}
SHMEMI_EXPORT(shmem_ctx_fence)

void pshmem_quiet(void)
{
    quiet(&shmemi_state.ctx_default);
}
SHMEMI_EXPORT(shmem_quiet)

void pshmem_ctx_quiet(shmem_ctx_t ctx)
{
    if (ctx != SHMEM_CTX_INVALID) quiet(shmemi_route_ctx(ctx, "shmem_ctx_quiet"));
}
SHMEMI_EXPORT(shmem_ctx_quiet)

void pshmem_pe_quiet(const int *target_pes, size_t npes)
{
    quiet_listed(&shmemi_state.ctx_default, "shmem_pe_quiet", target_pes, npes);
}
SHMEMI_EXPORT(shmem_pe_quiet)

void pshmem_ctx_pe_quiet(shmem_ctx_t ctx, const int *target_pes, size_t npes)
{
    if (ctx != SHMEM_CTX_INVALID) quiet_listed(shmemi_route_ctx(ctx, "shmem_ctx_pe_quiet"), "shmem_ctx_pe_quiet", target_pes, npes);
}
SHMEMI_EXPORT(shmem_ctx_pe_quiet)
