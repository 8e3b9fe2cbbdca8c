/* SPDX-License-Identifier: Apache-2.0
 *
 * Making and dropping contexts. On mapped routes a context is a few words; where PEs are reached by a transport, it owns one context
 * of each such transport, so that its order and completion are its own.
 *
 * Threads: the list has a lock, which is never held while something is waited for. Who completes a context of the list outside of that lock
 * pins it, and a thread that destroys it waits for that; or takes it out of the list first. Opening and closing on a transport is control plane, one
 * thread at a time, under a lock of its own.
 * Spec: OpenSHMEM 1.6 §9.5 Communication Management Routines.  Tests: tests/api/ctx/.
 */
#include "runtime/ctx.h"

#include "runtime/base/log.h"
#include "runtime/coll/coll.h"
#include "runtime/device.h"
#include "runtime/order.h"
#include "runtime/route.h"
#include "runtime/service.h"
#include "runtime/team.h"

#include <errno.h>
#include <shmem.h>
#include <stdlib.h>
#include <string.h>

enum { ALL_OPTIONS = SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE };

static pthread_mutex_t          list_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t           unpinned  = PTHREAD_COND_INITIALIZER;
static const struct shmemi_ctx *pinned; /* shmemi_ctx_quiet_all() is at this one */

static pthread_mutex_t control_lock = PTHREAD_MUTEX_INITIALIZER; /* ctx_open and ctx_close of the transports */

static unsigned transport_options(long options)
{
    return (options & SHMEM_CTX_SERIALIZED ? SHMEMT_CTX_SERIALIZED : 0u) | (options & SHMEM_CTX_PRIVATE ? SHMEMT_CTX_PRIVATE : 0u) |
           (options & SHMEM_CTX_NOSTORE ? SHMEMT_CTX_NOSTORE : 0u);
}

static void close_posted(struct shmemi_ctx *ctx)
{
    pthread_mutex_lock(&control_lock);
    for (size_t i = 0; i < SHMEMI_TRANSPORTS_MAX; i++) {
        if (ctx->posted[i]) ctx->posted[i]->tp->ops->ctx_close(ctx->posted[i]);
        ctx->posted[i] = NULL;
    }
    pthread_mutex_unlock(&control_lock);
}

static bool transport_posts(size_t index)
{
    for (int pe = 0; pe < shmemi_state.npes; pe++)
        if (shmemi_state_posts(pe, (int)index)) return true;
    return false;
}

static int open_posted(struct shmemi_ctx *ctx)
{
    if (!shmemi_state.posted) return 0;
    for (size_t i = 0; i < shmemi_state.transport_count; i++) {
        struct shmemt *tp = shmemi_state.transports[i];
        if (!transport_posts(i)) continue;
        pthread_mutex_lock(&control_lock);
        int err = tp->ops->ctx_open(tp, transport_options(ctx->options), &ctx->posted[i]);
        pthread_mutex_unlock(&control_lock);
        if (!err) continue;
        ctx->posted[i] = NULL;
        close_posted(ctx);
        return err;
    }
    return 0;
}

/* Where there is device code, its proxy thread waits too, and a wait moves the default context on. */
static int init_ctx(struct shmemi_ctx *ctx, const struct shmemi_team *team, long options)
{
    bool one_thread = (options & (SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED)) != 0;
    *ctx            = (struct shmemi_ctx){
                   .team              = team,
                   .world             = team == &shmemi_state.world,
                   .options           = options,
                   .owner             = pthread_self(),
                   .locked            = !one_thread && (shmemi_state.thread_level == SHMEM_THREAD_MULTIPLE || shmemi_state.device),
                   .session_total_ops = SIZE_MAX,
    };
    return open_posted(ctx);
}

int shmemi_ctx_init_default(void)
{
    int err = init_ctx(&shmemi_state.ctx_default, &shmemi_state.world, 0);
    if (err)
        shmemi_error("could not open the default context: %s" WHY "the transport refused it" FIX
                     "look at the report (POSTERN_REPORT=1)",
                     strerror(-err));
    return err;
}

static void link_ctx(struct shmemi_ctx *ctx)
{
    pthread_mutex_lock(&list_lock);
    ctx->next = shmemi_state.ctx_list;
    if (ctx->next) ctx->next->prev = ctx;
    shmemi_state.ctx_list = ctx;
    pthread_mutex_unlock(&list_lock);
}

/* With the list locked. Returns once nobody else works on ctx; nobody new can find it then. */
static void unlink_locked(struct shmemi_ctx *ctx)
{
    while (pinned == ctx) pthread_cond_wait(&unpinned, &list_lock);
    if (ctx->next) ctx->next->prev = ctx->prev;
    if (ctx->prev) ctx->prev->next = ctx->next;
    else shmemi_state.ctx_list = ctx->next;
}

static void unlink_ctx(struct shmemi_ctx *ctx)
{
    pthread_mutex_lock(&list_lock);
    unlink_locked(ctx);
    pthread_mutex_unlock(&list_lock);
}

bool shmemi_ctx_is_alive(const struct shmemi_ctx *ctx)
{
    pthread_mutex_lock(&list_lock);
    const struct shmemi_ctx *found = shmemi_state.ctx_list;
    while (found && found != ctx) found = found->next;
    pthread_mutex_unlock(&list_lock);
    return found || ctx == &shmemi_state.ctx_default;
}

static void destroy_ctx(struct shmemi_ctx *ctx)
{
    close_posted(ctx);
    free(ctx);
}

void shmemi_ctx_quiet_all(void)
{
    pthread_mutex_lock(&list_lock);
    for (struct shmemi_ctx *ctx = shmemi_state.ctx_list; ctx; ctx = ctx->next) {
        pinned = ctx; /* so it is still in the list when we come back, and its successor is right */
        pthread_mutex_unlock(&list_lock);
        shmemi_order_quiet(ctx);
        pthread_mutex_lock(&list_lock);
        pinned = NULL;
        pthread_cond_broadcast(&unpinned);
    }
    pthread_mutex_unlock(&list_lock);
    shmemi_order_quiet(&shmemi_state.ctx_default);
}

void shmemi_ctx_finish_all(void)
{
    while (shmemi_state.ctx_list) {
        struct shmemi_ctx *ctx = shmemi_state.ctx_list;
        unlink_ctx(ctx);
        destroy_ctx(ctx);
    }
    close_posted(&shmemi_state.ctx_default);
}

/* Take one context of a team out of the list, or NULL: there is none left. */
static struct shmemi_ctx *take_of_team(const struct shmemi_team *team)
{
    pthread_mutex_lock(&list_lock);
    struct shmemi_ctx *ctx = shmemi_state.ctx_list;
    while (ctx && ctx->team != team) ctx = ctx->next;
    if (ctx) unlink_locked(ctx);
    pthread_mutex_unlock(&list_lock);
    return ctx;
}

void shmemi_ctx_destroy_of_team(const struct shmemi_team *team)
{
    struct shmemi_ctx *ctx;
    while ((ctx = take_of_team(team)) != NULL) {
        shmemi_order_quiet(ctx);
        shmemi_device_ctx_gone(ctx);
        destroy_ctx(ctx);
    }
}

static SHMEMI_COLD void unknown_options(const char *call, long options)
{
    shmemi_service_fatal(call,
                         "options 0x%lx" WHY
                         "options are SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE and SHMEM_CTX_NOSTORE, joined by |, or 0" FIX
                         "pass only these",
                         (unsigned long)options);
}

static int create_ctx(const char *call, shmem_team_t team, long options, shmem_ctx_t *ctx)
{
    *ctx = SHMEM_CTX_INVALID;
    if (team == SHMEM_TEAM_INVALID || !shmemi_state_running()) return EINVAL;
    if (SHMEMI_UNLIKELY(shmemi_state.check && (options & ~(long)ALL_OPTIONS))) unknown_options(call, options);
    const struct shmemi_team *members = shmemi_coll_team(call, team);
    struct shmemi_ctx        *made    = malloc(sizeof *made);
    if (!made) return ENOMEM;
    int err = init_ctx(made, members, options);
    if (err) {
        free(made);
        return -err;
    }
    link_ctx(made);
    shmemi_device_ctx_made(made);
    *ctx = made;
    return 0;
}

int pshmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t *ctx)
{
    return create_ctx("shmem_team_create_ctx", team, options, ctx);
}
SHMEMI_EXPORT(shmem_team_create_ctx)

int pshmem_ctx_create(long options, shmem_ctx_t *ctx)
{
    return create_ctx("shmem_ctx_create", SHMEM_TEAM_WORLD, options, ctx);
}
SHMEMI_EXPORT(shmem_ctx_create)

void shmemi_ctx_check_thread(const struct shmemi_ctx *ctx, const char *call)
{
    if (!(ctx->options & SHMEM_CTX_PRIVATE) || pthread_equal(ctx->owner, pthread_self())) return;
    shmemi_service_fatal(call, "the context is private to another thread" WHY "it was made with SHMEM_CTX_PRIVATE" FIX
                               "use it in the thread that made it, or make it without that option");
}

void pshmem_ctx_destroy(shmem_ctx_t handle)
{
    const char call[] = "shmem_ctx_destroy";
    if (handle == SHMEM_CTX_INVALID || handle == SHMEM_CTX_DEFAULT) return;
    if (SHMEMI_UNLIKELY(!shmemi_state_running())) shmemi_service_outside(call);
    struct shmemi_ctx *ctx = shmemi_route_ctx(handle, call);
    if (SHMEMI_UNLIKELY(shmemi_state.check)) shmemi_ctx_check_thread(ctx, call);
    shmemi_order_quiet(ctx); /* SPEC §9.5.3: it performs a quiet first */
    shmemi_device_ctx_gone(ctx);
    unlink_ctx(ctx);
    destroy_ctx(ctx);
}
SHMEMI_EXPORT(shmem_ctx_destroy)

int pshmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team)
{
    if (ctx == SHMEM_CTX_INVALID) {
        *team = SHMEM_TEAM_INVALID;
        return -1;
    }
    *team = shmemi_team_handle(shmemi_route_ctx(ctx, "shmem_ctx_get_team")->team);
    return 0;
}
SHMEMI_EXPORT(shmem_ctx_get_team)
