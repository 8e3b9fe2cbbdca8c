/* SPDX-License-Identifier: Apache-2.0
 *
 * Posted operations. A context's lock is held for one slot call at a time, never while waiting, so that a blocked thread does not
 * stop the one that would release it.
 * Spec: OpenSHMEM 1.6 §4.1 Progress of OpenSHMEM Operations.  Tests: every test of tests/api over the chaos transport.
 */
#include "runtime/post.h"

#include "runtime/gpu/gpu.h"
#include "runtime/progress.h"
#include "runtime/service.h"
#include "runtime/wait.h"

#include <errno.h>
#include <string.h>

enum slot { SLOT_PUT, SLOT_GET, SLOT_AMO, SLOT_PUT_SIGNAL };

static void lock_ctx(struct shmemi_ctx *ctx)
{
    if (ctx->locked) shmemi_latch_take(&ctx->lock);
}

static void unlock_ctx(struct shmemi_ctx *ctx)
{
    if (ctx->locked) shmemi_latch_give(&ctx->lock);
}

static int call_slot(struct shmemt_ctx *tctx, enum slot slot, int pe, const struct shmemt_xfer *xfer, const struct shmemt_amo *amo)
{
    const struct shmemt_ops *ops = tctx->tp->ops;
    switch (slot) {
    case SLOT_PUT: return ops->put(tctx, pe, xfer);
    case SLOT_GET: return ops->get(tctx, pe, xfer);
    case SLOT_AMO: return ops->amo(tctx, pe, amo);
    default: return ops->put_signal(tctx, pe, xfer, amo);
    }
}

static SHMEMI_COLD void refused(const struct shmemt_ctx *tctx, int pe, int err)
{
    const char *name = tctx->tp->ops->name;
    if (err == -EHOSTDOWN) shmemi_service_lost(pe, err, "");
    if (err == -ENOMEM)
        shmemi_service_fatal("posted operation",
                             "transport %s could not register the program's memory for PE %d: %s" WHY
                             "large memory outside of the symmetric heap is registered for each operation, and the limit on locked "
                             "memory or the device leaves no room" FIX
                             "take it from shmem_malloc, or raise the limit: sudo prlimit --memlock=unlimited --pid $$",
                             name, pe, strerror(-err));
    if (err == -EFAULT)
        shmemi_service_fatal("posted operation",
                             "transport %s cannot use the program's memory for PE %d: %s" WHY
                             "the local side is not mapped in full, or it is the dest of a get and read-only" FIX
                             "look at the address and the size of the call",
                             name, pe, strerror(-err));
    shmemi_service_fatal("posted operation",
                         "transport %s cannot reach PE %d: %s" WHY "the peer or the way to it is lost" FIX
                         "look at the messages of that PE",
                         name, pe, strerror(-err));
}

struct submission {
    struct shmemi_ctx        *ctx;
    struct shmemt_ctx        *tctx;
    enum slot                 slot;
    int                       pe;
    const struct shmemt_xfer *xfer;
    const struct shmemt_amo  *amo;
    int                       err; /* -EAGAIN: not accepted so far */
};

/* One try. Once it has been accepted it is not tried again, however often a wait asks. */
static bool settled(void *argument)
{
    struct submission *submission = argument;
    if (submission->err != -EAGAIN) return true;
    lock_ctx(submission->ctx);
    submission->err = call_slot(submission->tctx, submission->slot, submission->pe, submission->xfer, submission->amo);
    if (submission->err == -EAGAIN) shmemi_progress_call(submission->tctx);
    unlock_ctx(submission->ctx);
    if (submission->err != -EAGAIN) return true;
    atomic_fetch_add_explicit(&shmemi_state.counters.retries, 1, memory_order_relaxed);
    return false;
}

/* Hand one operation to the transport; 0 once it is accepted, -ENOSYS where the transport lacks an optional slot. */
static int submit(struct shmemi_ctx *ctx, const struct shmemi_place *place, enum slot slot, const struct shmemt_xfer *xfer,
                  const struct shmemt_amo *amo)
{
    struct submission submission = {
        .ctx  = ctx,
        .tctx = ctx->posted[place->transport],
        .slot = slot,
        .pe   = place->pe,
        .xfer = xfer,
        .amo  = amo,
        .err  = -EAGAIN,
    };
    if (SHMEMI_UNLIKELY(!settled(&submission))) {
        const struct shmemi_wait description = {.call = "posted operation (for room in the transport's queue)", .pe = place->pe};
        shmemi_wait_for(&description, settled, &submission);
    }
    if (submission.err == -ENOSYS) return submission.err;
    if (submission.err) refused(submission.tctx, place->pe, submission.err);
    atomic_fetch_add_explicit(&shmemi_state.counters.posted_ops, 1, memory_order_relaxed);
    return 0;
}

/* ---- waiting for the local side ---- */

struct local_wait {
    struct shmemi_ctx *ctx;
    struct shmemt_ctx *tctx;
    _Atomic uint32_t   done;
    uint32_t           wanted;
};

static bool local_side_done(void *argument)
{
    struct local_wait *wait = argument;
    /* Acquire: what the transport wrote for us is there; pairs with its release increment. */
    if (atomic_load_explicit(&wait->done, memory_order_acquire) == wait->wanted) return true;
    lock_ctx(wait->ctx);
    shmemi_progress_call(wait->tctx);
    unlock_ctx(wait->ctx);
    return atomic_load_explicit(&wait->done, memory_order_acquire) == wait->wanted;
}

static void wait_local(struct local_wait *wait, const char *what, int pe)
{
    const struct shmemi_wait description = {.call = what, .pe = pe};
    if (wait->wanted) shmemi_wait_for(&description, local_side_done, wait);
}

static struct local_wait local_wait_for(struct shmemi_ctx *ctx, const struct shmemi_place *place)
{
    return (struct local_wait){.ctx = ctx, .tctx = ctx->posted[place->transport]};
}

static const struct shmemt_traits *traits_of(const struct shmemi_place *place)
{
    return &shmemi_state.transports[place->transport]->traits;
}

/* Of local memory: a transport is handed other memory of a GPU only by way of the host (runtime/gpu/op.c). */
static enum shmemt_memory memory_of(const void *local)
{
    return shmemi_gpu_is_heap(local) ? SHMEMT_MEMORY_CUDA : SHMEMT_MEMORY_HOST;
}

/* ---- contiguous ---- */

static void post_contiguous(struct shmemi_ctx *ctx, const struct shmemi_place *place, enum slot slot, char *local, size_t bytes,
                            unsigned flags, _Atomic uint32_t *done, uint32_t *posted_out)
{
    size_t piece_max = traits_of(place)->bytes_max;
    for (size_t at = 0; at < bytes;) {
        size_t                   piece = bytes - at < piece_max ? bytes - at : piece_max;
        const struct shmemt_xfer xfer  = {
             .segment       = place->segment,
             .flags         = flags,
             .local_memory  = memory_of(local),
             .local         = local + at,
             .remote_offset = place->offset + at,
             .bytes         = piece,
             .blocks        = 1,
             .done          = done,
        };
        submit(ctx, place, slot, &xfer, NULL);
        ++*posted_out;
        at += piece;
    }
}

static bool fits_copy(const struct shmemi_place *place, const void *source, size_t bytes)
{
    return memory_of(source) == SHMEMT_MEMORY_HOST && bytes <= traits_of(place)->copy_bytes_max &&
           bytes <= traits_of(place)->bytes_max;
}

/* Transports read through the same field that gets write through, so the const of a put's source ends here. */
static char *writable(const void *source)
{
    return (char *)(uintptr_t)source;
}

/* The transport checks the range, and answers with an error where the careful way has a message. */
bool shmemi_post_put_small(shmem_ctx_t handle, const void *dest, const void *source, size_t bytes, int pe)
{
    const struct shmemi_state *state = &shmemi_state;
    if (bytes - 1 >= state->post_small_bytes || (unsigned)pe >= (unsigned)state->npes) return false; /* 0 bytes wrap around */
    const struct shmemi_peer *peer    = &state->peers[pe];
    int                       segment = SHMEMT_SEGMENT_HEAP;
    uintptr_t                 offset  = (uintptr_t)dest - state->all_heap_base;
    if (peer->mapped != SHMEMI_NOT_MAPPED) return false;
    if (SHMEMI_UNLIKELY(offset >= state->all_heap_bytes)) {
        segment = SHMEMT_SEGMENT_DATA;
        offset  = (uintptr_t)dest - state->own_data_base;
        if (offset >= state->own_data_bytes || !peer->same_data) return false;
    }
    struct shmemi_ctx       *ctx  = handle == SHMEM_CTX_DEFAULT ? &shmemi_state.ctx_default : handle;
    struct shmemt_ctx       *tctx = ctx->posted[peer->posted];
    const struct shmemt_xfer xfer = {.segment       = segment,
                                     .flags         = SHMEMT_XFER_COPY,
                                     .local         = writable(source),
                                     .remote_offset = offset,
                                     .bytes         = bytes,
                                     .blocks        = 1};
    lock_ctx(ctx);
    int err = tctx->tp->ops->put(tctx, pe, &xfer);
    unlock_ctx(ctx);
    if (SHMEMI_UNLIKELY(err)) return false;
    atomic_fetch_add_explicit(&shmemi_state.counters.posted_ops, 1, memory_order_relaxed);
    return true;
}

void shmemi_post_put(struct shmemi_ctx *ctx, const struct shmemi_place *to, const void *source, size_t bytes,
                     enum shmemi_post_wait wait)
{
    struct local_wait local  = local_wait_for(ctx, to);
    uint32_t          posted = 0;
    if (wait == SHMEMI_POST_NBI) {
        post_contiguous(ctx, to, SLOT_PUT, writable(source), bytes, 0, NULL, &posted);
    } else if (fits_copy(to, source, bytes)) {
        post_contiguous(ctx, to, SLOT_PUT, writable(source), bytes, SHMEMT_XFER_COPY, NULL, &posted);
    } else {
        post_contiguous(ctx, to, SLOT_PUT, writable(source), bytes, 0, &local.done, &local.wanted);
        wait_local(&local, "put (until its source may be reused)", to->pe);
    }
}

void shmemi_post_get(struct shmemi_ctx *ctx, const struct shmemi_place *from, void *dest, size_t bytes, enum shmemi_post_wait wait)
{
    struct local_wait local  = local_wait_for(ctx, from);
    uint32_t          posted = 0;
    if (wait == SHMEMI_POST_NBI) {
        post_contiguous(ctx, from, SLOT_GET, dest, bytes, 0, NULL, &posted);
    } else {
        post_contiguous(ctx, from, SLOT_GET, dest, bytes, 0, &local.done, &local.wanted);
        wait_local(&local, "get", from->pe);
    }
}

/* ---- strided ---- */

static void post_strided(struct shmemi_ctx *ctx, const struct shmemi_place *place, enum slot slot, char *local, size_t blocks,
                         size_t bytes, ptrdiff_t local_stride, ptrdiff_t remote_stride)
{
    struct local_wait wait       = local_wait_for(ctx, place);
    size_t            blocks_max = traits_of(place)->pieces_max;
    size_t            blocks_fit = traits_of(place)->bytes_max / bytes;
    if (blocks_fit < blocks_max) blocks_max = blocks_fit;

    for (size_t at = 0; at < blocks;) {
        struct shmemi_place here  = *place;
        char               *start = local + (ptrdiff_t)at * local_stride;
        here.offset += (uint64_t)((ptrdiff_t)at * remote_stride);
        size_t count = blocks - at < blocks_max ? blocks - at : blocks_max;
        if (count <= 1) {
            post_contiguous(ctx, &here, slot, start, bytes, 0, &wait.done, &wait.wanted);
            at++;
            continue;
        }
        const struct shmemt_xfer xfer = {
            .segment       = here.segment,
            .local_memory  = memory_of(start),
            .local         = start,
            .remote_offset = here.offset,
            .bytes         = bytes,
            .blocks        = count,
            .local_stride  = local_stride,
            .remote_stride = remote_stride,
            .done          = &wait.done,
        };
        submit(ctx, &here, slot, &xfer, NULL);
        wait.wanted++;
        at += count;
    }
    wait_local(&wait, slot == SLOT_PUT ? "strided put (until its source may be reused)" : "strided get", place->pe);
}

void shmemi_post_put_strided(struct shmemi_ctx *ctx, const struct shmemi_place *to, const void *source, size_t blocks, size_t bytes,
                             ptrdiff_t local_stride, ptrdiff_t remote_stride)
{
    post_strided(ctx, to, SLOT_PUT, writable(source), blocks, bytes, local_stride, remote_stride);
}

void shmemi_post_get_strided(struct shmemi_ctx *ctx, const struct shmemi_place *from, void *dest, size_t blocks, size_t bytes,
                             ptrdiff_t local_stride, ptrdiff_t remote_stride)
{
    post_strided(ctx, from, SLOT_GET, dest, blocks, bytes, local_stride, remote_stride);
}

/* ---- atomics and signals ---- */

void shmemi_post_amo(struct shmemi_ctx *ctx, const struct shmemi_place *at, const struct shmemt_amo *amo,
                     enum shmemi_post_wait wait)
{
    struct local_wait local = local_wait_for(ctx, at);
    struct shmemt_amo full  = *amo;
    full.segment            = at->segment;
    full.remote_offset      = at->offset;
    bool waits              = amo->fetch && wait == SHMEMI_POST_LOCAL;
    full.done               = waits ? &local.done : &ctx->ignored;
    submit(ctx, at, SLOT_AMO, NULL, &full);
    if (!waits) return;
    local.wanted = 1;
    wait_local(&local, "fetching atomic", at->pe);
}

/* Part of the payload that goes ahead of the last piece: ordered before it by a fence. */
static size_t post_leading_pieces(struct shmemi_ctx *ctx, const struct shmemi_place *to, char *source, size_t bytes, bool nbi,
                                  struct local_wait *local)
{
    size_t piece_max = traits_of(to)->bytes_max;
    if (bytes <= piece_max) return 0;
    size_t   leading = (bytes - 1) / piece_max * piece_max;
    uint32_t posted  = 0;
    post_contiguous(ctx, to, SLOT_PUT, source, leading, 0, nbi ? NULL : &local->done, nbi ? &posted : &local->wanted);
    shmemi_post_fence(ctx);
    return leading;
}

void shmemi_post_put_signal(struct shmemi_ctx *ctx, const struct shmemi_place *to, const void *source, size_t bytes,
                            const struct shmemi_place *signal, uint64_t value, enum shmemt_amo_op op, enum shmemi_post_wait wait)
{
    struct local_wait       local  = local_wait_for(ctx, signal);
    const struct shmemt_amo update = {
        .segment       = signal->segment,
        .remote_offset = signal->offset,
        .op            = op,
        .bytes         = 8,
        .value         = value,
        .done          = &ctx->ignored,
    };
    bool nbi = wait == SHMEMI_POST_NBI;
    if (bytes == 0) {
        submit(ctx, signal, SLOT_AMO, NULL, &update);
        return;
    }
    size_t leading = post_leading_pieces(ctx, to, writable(source), bytes, nbi, &local);
    size_t last    = bytes - leading;
    bool   copied  = !nbi && fits_copy(to, source, last);
    bool   counted = !nbi && !copied;

    const struct shmemt_xfer xfer = {
        .segment       = to->segment,
        .flags         = copied ? SHMEMT_XFER_COPY : 0,
        .local_memory  = memory_of(source),
        .local         = writable(source) + leading,
        .remote_offset = to->offset + leading,
        .bytes         = last,
        .blocks        = 1,
        .done          = counted ? &local.done : NULL,
    };
    if (counted) local.wanted++;
    if (submit(ctx, signal, SLOT_PUT_SIGNAL, &xfer, &update) == -ENOSYS) {
        submit(ctx, to, SLOT_PUT, &xfer, NULL);
        shmemi_post_fence(ctx);
        submit(ctx, signal, SLOT_AMO, NULL, &update);
    }
    wait_local(&local, "put_signal (until its source may be reused)", to->pe);
}

/* ---- order ---- */

struct order_wait {
    struct shmemi_ctx *ctx;
    int                pe;
    bool               complete; /* quiet, else fence */
};

static bool order_done(void *argument)
{
    struct order_wait *wait = argument;
    bool               done = true;
    for (size_t i = 0; i < shmemi_state.transport_count; i++) {
        struct shmemt_ctx *tctx = wait->ctx->posted[i];
        if (!tctx) continue;
        lock_ctx(wait->ctx);
        int err = wait->complete ? tctx->tp->ops->quiet(tctx, wait->pe) : tctx->tp->ops->fence(tctx, wait->pe);
        if (err == -EAGAIN) shmemi_progress_call(tctx);
        unlock_ctx(wait->ctx);
        if (err == -EAGAIN) done = false;
        else if (err) refused(tctx, wait->pe, err);
    }
    return done;
}

void shmemi_post_fence(struct shmemi_ctx *ctx)
{
    struct order_wait        wait        = {.ctx = ctx, .pe = SHMEMT_ALL_PES, .complete = false};
    const struct shmemi_wait description = {.call = "fence", .pe = -1};
    shmemi_wait_for(&description, order_done, &wait);
}

void shmemi_post_quiet(struct shmemi_ctx *ctx, int world_pe)
{
    struct order_wait        wait        = {.ctx = ctx, .pe = world_pe, .complete = true};
    const struct shmemi_wait description = {.call = "quiet", .pe = world_pe};
    shmemi_wait_for(&description, order_done, &wait);
}

void shmemi_post_progress(void)
{
    struct shmemi_ctx *ctx = &shmemi_state.ctx_default;
    if (ctx->locked && !shmemi_latch_try(&ctx->lock)) return;
    for (size_t i = 0; i < shmemi_state.transport_count; i++) {
        struct shmemt_ctx *tctx = ctx->posted[i];
        if (tctx) shmemi_progress_call(tctx);
    }
    unlock_ctx(ctx);
}
