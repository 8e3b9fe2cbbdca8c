/* SPDX-License-Identifier: Apache-2.0
 *
 * Sessions: what a program says about the operations that it is going to make on a context.
 *
 * They are hints and change no result, order or completion. An operation is handed to its transport at once and traffic goes on while the
 * program computes, so with a session too there is nothing that stop would have to push out. What was said is kept in the context, where whoever
 * makes a choice for it may look, and is shown by SHMEM_DEBUG. Unchecked, a hint that makes no sense is passed over.
 * Spec: OpenSHMEM 1.6 §9.9.  Tests: tests/api/session/.
 */
#include "runtime/base/log.h"
#include "runtime/ctx.h"
#include "runtime/route.h"
#include "runtime/service.h"

#include <shmem.h>
#include <stdio.h>

enum { ALL_OPTIONS = SHMEM_CTX_SESSION_BATCH, ALL_FIELDS = SHMEM_CTX_SESSION_TOTAL_OPS };

/* The context behind a handle that is not SHMEM_CTX_INVALID. */
static struct shmemi_ctx *context(const char *call, shmem_ctx_t handle)
{
    if (SHMEMI_UNLIKELY(!shmemi_state_running())) shmemi_service_outside(call);
    struct shmemi_ctx *ctx = shmemi_route_ctx(handle, call);
    if (SHMEMI_UNLIKELY(shmemi_state.check)) shmemi_ctx_check_thread(ctx, call);
    return ctx;
}

/* Checked mode. */
static SHMEMI_COLD void check_arguments(const char *call, long options, const shmem_ctx_session_config_t *config, long config_mask)
{
    if (options & ~(long)ALL_OPTIONS)
        shmemi_service_fatal(call, "options 0x%lx" WHY "the only option is SHMEM_CTX_SESSION_BATCH (0x%lx)" FIX "pass it, or 0",
                             (unsigned long)options, (unsigned long)SHMEM_CTX_SESSION_BATCH);
    if (config_mask & ~(long)ALL_FIELDS)
        shmemi_service_fatal(call,
                             "config_mask 0x%lx" WHY "the only field is SHMEM_CTX_SESSION_TOTAL_OPS (0x%lx)" FIX "pass it, or 0",
                             (unsigned long)config_mask, (unsigned long)SHMEM_CTX_SESSION_TOTAL_OPS);
    if (config_mask && !config)
        shmemi_service_fatal(call,
                             "config is NULL" WHY "config_mask 0x%lx selects a field of it" FIX "pass a config, or a mask of 0",
                             (unsigned long)config_mask);
}

/* Not under the context's lock: the reader of standard error may be slow. */
static void describe(const char *what, shmem_ctx_t handle, long options, size_t total_ops)
{
    char total[32] = "not said";
    if (total_ops != SIZE_MAX) snprintf(total, sizeof total, "%zu", total_ops);
    shmemi_debug("session on context %p %s: %s, total_ops %s", (void *)handle, what,
                 options & SHMEM_CTX_SESSION_BATCH ? "batch" : "no option", total);
}

void pshmem_ctx_session_start(SHMEMI_SESSION_START_ARGS)
{
    const char call[] = "shmem_ctx_session_start";
    if (ctx == SHMEM_CTX_INVALID) return;
    struct shmemi_ctx *kept = context(call, ctx);
    if (SHMEMI_UNLIKELY(shmemi_state.check)) check_arguments(call, options, config, config_mask);

    shmemi_latch_take(&kept->lock); /* several threads may start sessions on a context that they share */
    kept->session = true;
    kept->session_options |= options & ALL_OPTIONS;
    if (config && (config_mask & SHMEM_CTX_SESSION_TOTAL_OPS)) kept->session_total_ops = config->total_ops;
    long   now_options   = kept->session_options;
    size_t now_total_ops = kept->session_total_ops;
    shmemi_latch_give(&kept->lock);
    describe("begins or goes on", ctx, now_options, now_total_ops);
}
SHMEMI_EXPORT(shmem_ctx_session_start)

void pshmem_ctx_session_stop(shmem_ctx_t ctx)
{
    if (ctx == SHMEM_CTX_INVALID) return;
    struct shmemi_ctx *kept = context("shmem_ctx_session_stop", ctx);
    shmemi_latch_take(&kept->lock);
    bool   began            = kept->session;
    long   old_options      = kept->session_options;
    size_t old_total_ops    = kept->session_total_ops;
    kept->session           = false;
    kept->session_options   = 0;
    kept->session_total_ops = SIZE_MAX;
    shmemi_latch_give(&kept->lock);
    if (began) describe("ends", ctx, old_options, old_total_ops);
}
SHMEMI_EXPORT(shmem_ctx_session_stop)
