/* SPDX-License-Identifier: Apache-2.0
 *
 * Completions, order and sleep.
 *
 * Order (ordered providers: FI_ORDER_SAS, SAW, WAW). To one peer, messages come after messages and writes before them, and writes after
 * writes. What is left is a write after a message: it may land before the target's CPU has come to the message. So a fence only notes the number of the
 * last message, and a later write waits until that is acknowledged. Without these orders, and where the device is the agent, fence
 * waits for everything. FI_FENCE is not used: few providers have it, and some accept the flag and ignore it.
 *
 * Completion. quiet waits for the context's operations with the provider and for its messages to be acknowledged. A write that ended when its
 * source had been read is covered by any later message of the context; where there is none, quiet sends one (FLUSH). Other writes
 * end with FI_DELIVERY_COMPLETE.
 *
 * Visible. Messages are applied with CPU stores that release. RMA data is written by the provider, by recv() inside progress() (a system call
 * writes as a store of this thread does) or by a device (whose provider orders before it reports). What follows it (a message, a write's
 * signal) is applied later by a thread that has the lock, so the data happens before it, and its release hands both on to who waits.
 */
#include "transports/libfabric/fabric.h"
#include "transports/mapped.h"

#include <time.h>

enum { BATCH = 32, ROUNDS_MAX = 4, TEXT_BYTES = 160 };

void shmemt_libfabric_progress_linger(const struct fabric *fabric)
{
    enum { LINGER_NS = 200000 };
    if (fabric->choice.forced & FORCE_LAZY) nanosleep(&(struct timespec){.tv_nsec = LINGER_NS}, NULL);
}

/* ---- completions ---- */

static void retire(struct fabric *fabric, struct op *op, bool good)
{
    if (good && op->kind == OP_READ && op->bounce && op->ctx) memcpy(op->local, op->bounce->data, op->bytes);
    if (good && op->kind == OP_ATOMIC && op->local && op->ctx) {
        uint32_t half;
        memcpy(&half, &op->result, sizeof half); /* the device wrote 4 bytes at the front */
        if (op->bytes == 8) memcpy(op->local, &op->result, 8);
        else memcpy(op->local, &half, 4);
    }
    if (op->ctx) {
        op->ctx->ops--;
        op->ctx->peers[op->pe].ops--;
    }
    shmemt_libfabric_operation_end(fabric, op->done, op->group);
    shmemt_libfabric_endpoint_free_op(fabric, op);
}

static void idle_receive(struct fabric *fabric, struct op *op)
{
    op->next              = (struct op *)fabric->idle_receives;
    fabric->idle_receives = (struct buffer *)op;
}

static void handle(struct fabric *fabric, const struct fi_cq_data_entry *entry)
{
    struct op *op = entry->op_context; /* its context is its first member */
    if (entry->flags & FI_REMOTE_CQ_DATA) {
        shmemt_libfabric_message_apply_signal(fabric, entry->data);
        if (op && op->kind == OP_RECEIVE) idle_receive(fabric, op); /* FI_RX_CQ_DATA: it cost a receive */
        return;
    }
    if (!op) return;
    switch (op->kind) {
    case OP_RECEIVE:
        shmemt_libfabric_message_serve(fabric, ((struct buffer *)op)->data, entry->len);
        idle_receive(fabric, op);
        break;
    case OP_SEND: shmemt_libfabric_endpoint_free_send(fabric, (struct buffer *)op); break;
    case OP_WRITE:
    case OP_READ:
    case OP_ATOMIC: retire(fabric, op, true); break;
    default: break; /* of nothing that is known here */
    }
}

static const char *op_name(const struct op *op)
{
    switch (op->kind) {
    case OP_SEND: return "message";
    case OP_WRITE: return "write";
    case OP_READ: return "read";
    case OP_ATOMIC: return "atomic";
    default: return "operation";
    }
}

static void handle_error(struct fabric *fabric)
{
    struct fi_cq_err_entry entry = {0};
    char                   text[TEXT_BYTES];
    if (fi_cq_readerr(fabric->cq, &entry, 0) <= 0) return;
    struct op *op = entry.op_context;
    if (!op) return; /* belongs to no peer that could be told: the next operation there says the same */
    if (op->kind == OP_RECEIVE) {
        idle_receive(fabric, op);
        return;
    }
    if (op->pe >= 0 && !fabric->peers[op->pe].lost) {
        const char *more = fi_cq_strerror(fabric->cq, entry.prov_errno, entry.err_data, text, sizeof text);
        shmemt_libfabric_failure_note(fabric, op->pe, -entry.err, "%s of %zu bytes: %s (%s: %s)", op_name(op), op->bytes,
                                      fabric->library->strerror(entry.err), fabric->info->fabric_attr->prov_name,
                                      more ? more : "?");
    }
    if (op->kind == OP_SEND) {
        shmemt_libfabric_endpoint_free_send(fabric, (struct buffer *)op);
        return;
    }
    /* Until the runtime knows of the failure, nothing that failed counts as done: failure_tell() ends it. */
    if (op->ctx && op->pe >= 0 && fabric->peers[op->pe].failing) {
        op->kind = OP_FAILED;
        return;
    }
    retire(fabric, op, false);
}

int shmemt_libfabric_progress_locked(struct fabric *fabric)
{
    struct fi_cq_data_entry entries[BATCH];
    int                     handled = 0;
    shmemt_libfabric_progress_linger(fabric);
    for (int round = 0; round < ROUNDS_MAX; round++) {
        ssize_t count = fi_cq_read(fabric->cq, entries, BATCH);
        if (count == -FI_EAVAIL) {
            handle_error(fabric);
            handled++;
            continue;
        }
        if (count <= 0) break;
        for (ssize_t i = 0; i < count; i++) handle(fabric, &entries[i]);
        handled += (int)count;
        if (count < BATCH) break;
    }
    if (fabric->idle_receives) shmemt_libfabric_endpoint_post_receives(fabric);
    if (fabric->debtors) shmemt_libfabric_message_answer(fabric);
    for (struct fabric_ctx *ctx = fabric->contexts; ctx && fabric->pending > 0; ctx = ctx->next)
        if (ctx->pending.active && shmemt_libfabric_operation_advance(ctx)) handled++;
    shmemt_libfabric_failure_look(fabric);
    return handled;
}

int shmemt_libfabric_progress_ctx(struct shmemt_ctx *base)
{
    struct fabric *fabric = ctx_of(base)->fabric;
    /* Who has the lock moves everything on, or has just handed over an operation. */
    if (pthread_mutex_trylock(&fabric->lock) != 0) return 0;
    int  handled     = shmemt_libfabric_progress_locked(fabric) + fabric->serviced;
    bool failures    = fabric->failures;
    fabric->serviced = false;
    pthread_mutex_unlock(&fabric->lock);
    if (failures) {
        int err = shmemt_libfabric_failure_tell(fabric);
        if (err) return err;
    }
    return handled;
}

/* ---- order and completion ---- */

static bool all_done(const struct fabric_ctx *ctx, int pe)
{
    if (pe == SHMEMT_ALL_PES) return ctx->ops == 0 && ctx->messages == 0 && ctx->unflushed == 0;
    return ctx->peers[pe].ops == 0 && ctx->peers[pe].messages == 0 && !ctx->peers[pe].unflushed;
}

static void flush(struct fabric_ctx *ctx, int pe)
{
    if (ctx->peers[pe].unflushed && !ctx->fabric->peers[pe].failing) shmemt_libfabric_message_flush(ctx, pe);
}

int shmemt_libfabric_progress_quiet(struct shmemt_ctx *base, int pe)
{
    struct fabric_ctx *ctx    = ctx_of(base);
    struct fabric     *fabric = ctx->fabric;
    int                err    = 0;
    if (pe != SHMEMT_ALL_PES && (pe < 0 || pe >= fabric->job->npes)) return -EINVAL;
    pthread_mutex_lock(&fabric->lock);
    if (pe != SHMEMT_ALL_PES && fabric->peers[pe].lost) err = -EHOSTDOWN;
    else if (!shmemt_libfabric_operation_advance(ctx)) err = -EAGAIN;
    else if (ctx->unflushed > 0) {
        if (pe != SHMEMT_ALL_PES) flush(ctx, pe);
        for (int i = 0; pe == SHMEMT_ALL_PES && i < fabric->job->npes; i++) flush(ctx, i);
    }
    if (!err && !all_done(ctx, pe)) err = -EAGAIN;
    pthread_mutex_unlock(&fabric->lock);
    /* seq_cst: what is done is visible before anything that the caller reads or tells others afterwards. */
    if (!err) atomic_thread_fence(memory_order_seq_cst);
    return err;
}

static void note_fence(struct fabric_ctx *ctx, int pe)
{
    if (ctx->peers[pe].messages == 0) return;
    ctx->peers[pe].fenced       = true;
    ctx->peers[pe].fence_number = ctx->fabric->peers[pe].next;
}

int shmemt_libfabric_progress_fence(struct shmemt_ctx *base, int pe)
{
    struct fabric_ctx *ctx    = ctx_of(base);
    struct fabric     *fabric = ctx->fabric;
    int                err    = 0;
    if (pe != SHMEMT_ALL_PES && (pe < 0 || pe >= fabric->job->npes)) return -EINVAL;
    pthread_mutex_lock(&fabric->lock);
    if (!shmemt_libfabric_operation_advance(ctx)) err = -EAGAIN;
    else if (!fabric->choice.ordered || fabric->nic) err = all_done(ctx, pe) ? 0 : -EAGAIN;
    else if (pe != SHMEMT_ALL_PES) note_fence(ctx, pe);
    else if (ctx->messages > 0)
        for (int i = 0; i < fabric->job->npes; i++) note_fence(ctx, i);
    pthread_mutex_unlock(&fabric->lock);
    atomic_thread_fence(memory_order_release); /* this CPU's stores to its own memory; pairs with the waiter's acquire */
    return err;
}

/* ---- sleep ---- */

/* Is there something that no descriptor will announce? */
static bool restless(const struct fabric *fabric)
{
    return fabric->debtors || fabric->idle_receives || fabric->failures || fabric->pending > 0;
}

int shmemt_libfabric_progress_arm(struct shmemt_ctx *base)
{
    enum { TRIES = 4 };
    struct fabric *fabric = ctx_of(base)->fabric;
    struct fid    *fids[] = {&fabric->cq->fid};
    int            fd     = -1;
    if (fabric->wait_fd < 0) return -1;
    pthread_mutex_lock(&fabric->lock);
    /* The provider may hold what it has received already; then no descriptor speaks of it, and fi_trywait says so. */
    for (int i = 0; i < TRIES && fd < 0; i++) {
        if (shmemt_libfabric_progress_locked(fabric) > 0) fabric->serviced = true;
        if (restless(fabric)) break;
        if (fi_trywait(fabric->fid, fids, 1) == FI_SUCCESS) fd = fabric->wait_fd;
    }
    pthread_mutex_unlock(&fabric->lock);
    return fd < 0 ? -EAGAIN : fd;
}
