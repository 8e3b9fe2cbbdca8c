/* SPDX-License-Identifier: Apache-2.0
 *
 * The endpoint, its peers, and the contexts that share it.
 *
 * Nothing is connected here: a provider that connects does so at the first operation, and one address per PE is all that is exchanged. What
 * is posted are receives; what the data plane needs is allocated (its numbers are bounded by constants in fabric.h), except a peer's
 * window, which comes with the first message.
 */
#include "transports/libfabric/fabric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_STRIDE = (sizeof(struct buffer) + MESSAGE_BYTES + 63) / 64 * 64 };

/* ---- operations and buffers: lists of free ones ---- */

struct op *shmemt_libfabric_endpoint_take_op(struct fabric *fabric, enum op_kind kind, int pe)
{
    struct op *op = fabric->free_ops;
    if (!op) return NULL;
    fabric->free_ops = op->next;
    op->kind         = kind;
    op->pe           = pe;
    op->ctx          = NULL;
    op->group        = NULL;
    op->done         = NULL;
    op->mr           = NULL;
    op->bounce       = NULL;
    op->local        = NULL;
    op->left         = 0;
    return op;
}

void shmemt_libfabric_endpoint_free_op(struct fabric *fabric, struct op *op)
{
    if (op->mr) fi_close(&op->mr->fid);
    if (op->bounce) shmemt_libfabric_endpoint_free_send(fabric, op->bounce);
    op->kind         = OP_FREE;
    op->next         = fabric->free_ops;
    fabric->free_ops = op;
}

struct buffer *shmemt_libfabric_endpoint_take_send(struct fabric *fabric)
{
    struct buffer *buffer = fabric->free_sends;
    if (!buffer) return NULL;
    fabric->free_sends = (struct buffer *)buffer->op.next;
    buffer->op.kind    = OP_SEND;
    return buffer;
}

void shmemt_libfabric_endpoint_free_send(struct fabric *fabric, struct buffer *buffer)
{
    buffer->op.kind    = OP_FREE;
    buffer->op.next    = (struct op *)fabric->free_sends;
    fabric->free_sends = buffer;
}

/* Those that could not be posted stay idle until the next call. */
void shmemt_libfabric_endpoint_post_receives(struct fabric *fabric)
{
    while (fabric->idle_receives) {
        struct buffer *buffer = fabric->idle_receives;
        void          *desc   = fabric->receives_mr ? fi_mr_desc(fabric->receives_mr) : NULL;
        if (fi_recv(fabric->ep, buffer->data, MESSAGE_BYTES, desc, FI_ADDR_UNSPEC, &buffer->op.context)) return;
        fabric->idle_receives = (struct buffer *)buffer->op.next;
    }
}

static struct buffer *allocate_buffers(size_t count, enum op_kind kind)
{
    char *memory = aligned_alloc(64, count * BUFFER_STRIDE);
    for (size_t i = 0; memory && i < count; i++) {
        struct buffer *buffer = (struct buffer *)(void *)(memory + i * BUFFER_STRIDE);
        buffer->op            = (struct op){.kind = kind, .pe = -1};
        buffer->op.next       = i + 1 < count ? (struct op *)(void *)(memory + (i + 1) * BUFFER_STRIDE) : NULL;
    }
    return (struct buffer *)(void *)memory;
}

static int allocate(struct fabric *fabric)
{
    size_t npes      = (size_t)fabric->job->npes;
    fabric->peers    = calloc(npes, sizeof *fabric->peers);
    fabric->ops      = calloc(OPS, sizeof *fabric->ops);
    fabric->sends    = allocate_buffers(SENDS, OP_FREE);
    fabric->receives = allocate_buffers(RECEIVES, OP_RECEIVE);
    if (!fabric->peers || !fabric->ops || !fabric->sends || !fabric->receives) return -ENOMEM;
    for (size_t i = OPS; i-- > 0;) {
        fabric->ops[i].next = fabric->free_ops;
        fabric->free_ops    = &fabric->ops[i];
    }
    fabric->free_sends    = fabric->sends;
    fabric->idle_receives = fabric->receives;
    fabric->debtors_end   = &fabric->debtors;
    return 0;
}

static void free_memory(struct fabric *fabric)
{
    for (int i = 0; fabric->peers && i < fabric->job->npes; i++) {
        free(fabric->peers[i].traffic);
        free(fabric->peers[i].trouble);
    }
    for (int i = 0; i < SHMEMT_SEGMENTS_MAX; i++) free(fabric->remotes[i]);
    free(fabric->peers);
    free(fabric->ops);
    free(fabric->sends);
    free(fabric->receives);
}

/* ---- open ---- */

static int open_cq(struct fabric *fabric)
{
    const char       *progress = getenv("POSTERN_PROGRESS");
    bool              nobody = progress && strcmp(progress, "0") == 0; /* sleeps on it: then the provider polls in a cheaper way */
    struct fi_cq_attr attr   = {.size = 2 * (OPS + SENDS + RECEIVES), .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD};
    fabric->wait_fd          = -1;
    if (nobody) attr.wait_obj = FI_WAIT_NONE;
    int err = fi_cq_open(fabric->domain, &attr, &fabric->cq, NULL);
    if (nobody) return err;
    if (!err && fi_control(&fabric->cq->fid, FI_GETWAIT, &fabric->wait_fd) != 0) fabric->wait_fd = -1;
    if (!err) return 0;
    attr.wait_obj = FI_WAIT_NONE; /* no descriptor: the runtime sleeps in steps */
    return fi_cq_open(fabric->domain, &attr, &fabric->cq, NULL);
}

static int open_endpoint(struct fabric *fabric)
{
    struct fi_av_attr av  = {.type  = fabric->info->domain_attr->av_type == FI_AV_MAP ? FI_AV_MAP : FI_AV_TABLE,
                             .count = (size_t)fabric->job->npes};
    int               err = fabric->library->fabric(fabric->info->fabric_attr, &fabric->fid, NULL);
    if (!err) err = fi_domain(fabric->fid, fabric->info, &fabric->domain, NULL);
    if (!err) err = fi_av_open(fabric->domain, &av, &fabric->av, NULL);
    if (!err) err = open_cq(fabric);
    if (!err) err = fi_endpoint(fabric->domain, fabric->info, &fabric->ep, NULL);
    if (!err) err = fi_ep_bind(fabric->ep, &fabric->av->fid, 0);
    if (!err) err = fi_ep_bind(fabric->ep, &fabric->cq->fid, FI_TRANSMIT | FI_RECV);
    if (!err) err = fi_enable(fabric->ep);
    return err;
}

static int register_buffers(struct fabric *fabric)
{
    if (!(fabric->mr_mode & FI_MR_LOCAL)) return 0;
    uint64_t key = SHMEMT_SEGMENTS_MAX + 1; /* those of the regions are smaller */
    int      err = shmemt_libfabric_memory_register(fabric, fabric->sends, SENDS * (size_t)BUFFER_STRIDE, SHMEMT_MEMORY_HOST, 0,
                                                    FI_SEND | FI_READ | FI_WRITE, key, &fabric->sends_mr);
    if (!err)
        err = shmemt_libfabric_memory_register(fabric, fabric->receives, RECEIVES * (size_t)BUFFER_STRIDE, SHMEMT_MEMORY_HOST, 0,
                                               FI_RECV, key + 1, &fabric->receives_mr);
    if (!err && fabric->nic)
        err = shmemt_libfabric_memory_register(fabric, fabric->ops, OPS * sizeof *fabric->ops, SHMEMT_MEMORY_HOST, 0,
                                               FI_READ | FI_WRITE, key + 2, &fabric->ops_mr);
    return err;
}

static unsigned mr_modes(const struct choice *choice)
{
    unsigned mode = (unsigned)choice->info->domain_attr->mr_mode;
    if (mode == FI_MR_BASIC) mode = FI_MR_VIRT_ADDR | FI_MR_PROV_KEY | FI_MR_ALLOCATED;
    if (choice->forced & FORCE_LOCAL) mode |= FI_MR_LOCAL;
    if (choice->forced & FORCE_ENDPOINT) mode |= FI_MR_ENDPOINT;
    if (choice->forced & FORCE_ALLOCATED) mode |= FI_MR_ALLOCATED;
    return mode;
}

static void close_ids(struct fabric *fabric)
{
    struct fid *const ids[] = {
        fabric->ep ? &fabric->ep->fid : NULL,
        fabric->sends_mr ? &fabric->sends_mr->fid : NULL,
        fabric->receives_mr ? &fabric->receives_mr->fid : NULL,
        fabric->ops_mr ? &fabric->ops_mr->fid : NULL,
        fabric->cq ? &fabric->cq->fid : NULL,
        fabric->av ? &fabric->av->fid : NULL,
        fabric->domain ? &fabric->domain->fid : NULL,
        fabric->fid ? &fabric->fid->fid : NULL,
    };
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        if (ids[i]) fi_close(ids[i]);
}

static void destroy(struct fabric *fabric)
{
    close_ids(fabric);
    if (fabric->info) fabric->library->freeinfo(fabric->info);
    free_memory(fabric);
    pthread_mutex_destroy(&fabric->lock);
    free(fabric);
}

extern const struct shmemt_ops shmemt_libfabric_ops;

static int probe(const struct shmemt_job *job, struct shmemt_traits *traits_out)
{
    struct choice choice;
    int           err = shmemt_libfabric_provider_choose(job, &choice);
    *traits_out       = (struct shmemt_traits){0};
    snprintf(traits_out->detail, sizeof traits_out->detail, "%s", choice.detail);
    if (err) return err;
    shmemt_libfabric_provider_traits(job, &choice, traits_out);
    choice.library->freeinfo(choice.info);
    return 0;
}

static int open_fabric(const struct shmemt_job *job, struct shmemt **tp_out)
{
    struct fabric *fabric = calloc(1, sizeof *fabric);
    if (!fabric) return -ENOMEM;
    fabric->tp.ops = &shmemt_libfabric_ops;
    fabric->job    = job;
    pthread_mutex_init(&fabric->lock, NULL);
    int err = shmemt_libfabric_provider_choose(job, &fabric->choice);
    if (err) goto destroy;
    fabric->library      = fabric->choice.library;
    fabric->info         = fabric->choice.info;
    fabric->mr_mode      = mr_modes(&fabric->choice);
    fabric->nic          = job->agent == SHMEMT_AGENT_NIC;
    fabric->inject_bytes = fabric->info->tx_attr->inject_size;
    fabric->cookie       = (uint32_t)((job->secret * 0x9e3779b97f4a7c15u) >> 32);
    shmemt_libfabric_provider_traits(job, &fabric->choice, &fabric->tp.traits);
    err = -ENOTSUP;
    if (fabric->nic && !(fabric->tp.traits.agents & 1u << SHMEMT_AGENT_NIC)) goto destroy;
    err = allocate(fabric);
    if (!err) err = open_endpoint(fabric);
    if (!err) err = register_buffers(fabric);
    if (err) goto destroy;
    shmemt_libfabric_endpoint_post_receives(fabric);
    *tp_out = &fabric->tp;
    return 0;

destroy:
    destroy(fabric);
    return err;
}

/* ---- peers ---- */

static int get_address(struct shmemt *tp, struct shmemt_address *address_out)
{
    struct fabric        *fabric  = fabric_of(tp);
    struct shmemt_address address = {0};
    size_t                bytes   = sizeof address.data;
    int                   err     = fi_getname(&fabric->ep->fid, address.data, &bytes);
    if (err) return err;
    address.bytes = (uint32_t)bytes;
    *address_out  = address;
    return 0;
}

static int add_peer(struct shmemt *tp, int pe, const struct shmemt_address *address)
{
    struct fabric *fabric = fabric_of(tp);
    if (pe < 0 || pe >= fabric->job->npes) return -EINVAL;
    struct peer *peer = &fabric->peers[pe];
    /* A PE without an address of this kind (the other has IPv6 only, say) is not an error of this one. */
    if (address->bytes == 0 || address->bytes > sizeof address->data) return -EHOSTUNREACH;
    if (fabric->info->src_addrlen > 0 && fabric->info->src_addrlen != address->bytes) return -EHOSTUNREACH;
    int inserted;
    pthread_mutex_lock(&fabric->lock);
    inserted    = fi_av_insert(fabric->av, address->data, 1, &peer->address, 0, NULL);
    peer->known = inserted == 1;
    pthread_mutex_unlock(&fabric->lock);
    return inserted == 1 ? 0 : -EHOSTUNREACH;
}

static void lose_peer(struct shmemt *tp, int pe)
{
    struct fabric *fabric = fabric_of(tp);
    if (pe < 0 || pe >= fabric->job->npes) return;
    pthread_mutex_lock(&fabric->lock);
    shmemt_libfabric_failure_lose(fabric, pe);
    pthread_mutex_unlock(&fabric->lock);
}

/* ---- contexts ---- */

static int open_ctx(struct shmemt *tp, unsigned options, struct shmemt_ctx **ctx_out)
{
    (void)options; /* a service context is like any: progress() moves everything on */
    struct fabric     *fabric = fabric_of(tp);
    struct fabric_ctx *ctx    = calloc(1, sizeof *ctx);
    if (!ctx) return -ENOMEM;
    ctx->ctx.tp = tp;
    ctx->fabric = fabric;
    ctx->peers  = calloc((size_t)fabric->job->npes, sizeof *ctx->peers);
    if (!ctx->peers) {
        free(ctx);
        return -ENOMEM;
    }
    pthread_mutex_lock(&fabric->lock);
    ctx->next = fabric->contexts;
    ctx->link = &fabric->contexts;
    if (ctx->next) ctx->next->link = &ctx->next;
    fabric->contexts = ctx;
    pthread_mutex_unlock(&fabric->lock);
    *ctx_out = &ctx->ctx;
    return 0;
}

/* What is under way belongs to nobody from here on. */
static void disown(struct fabric *fabric, struct fabric_ctx *ctx)
{
    for (size_t i = 0; i < OPS; i++)
        if (fabric->ops[i].ctx == ctx) fabric->ops[i].ctx = NULL, fabric->ops[i].done = NULL;
    for (int pe = 0; pe < fabric->job->npes; pe++) {
        struct traffic *traffic = fabric->peers[pe].traffic;
        for (int i = 0; traffic && i < WINDOW; i++)
            if (traffic->sent[i].ctx == ctx) traffic->sent[i] = (struct sent){0};
    }
}

/* Nothing is under way after a quiet, and then this takes the same short time whatever their number: all other threads wait meanwhile. */
static void forget_ctx(struct fabric *fabric, struct fabric_ctx *ctx)
{
    if (ctx->ops > 0 || ctx->messages > 0) disown(fabric, ctx);
    set_pending(ctx, false);
    *ctx->link = ctx->next;
    if (ctx->next) ctx->next->link = ctx->link;
}

static void close_ctx(struct shmemt_ctx *base)
{
    struct fabric_ctx *ctx = ctx_of(base);
    if (!ctx) return;
    pthread_mutex_lock(&ctx->fabric->lock);
    forget_ctx(ctx->fabric, ctx);
    pthread_mutex_unlock(&ctx->fabric->lock);
    free(ctx->peers);
    free(ctx);
}

/* ---- close ---- */

/* What is still owed to others goes out, if it goes at once: they may wait for it. */
static void settle_debts(struct fabric *fabric)
{
    int64_t end_ns = shmemt_libfabric_failure_now() + 20000000;
    while (fabric->debtors && shmemt_libfabric_failure_now() < end_ns) shmemt_libfabric_progress_locked(fabric);
}

static void close_fabric(struct shmemt *tp)
{
    struct fabric *fabric = fabric_of(tp);
    if (!fabric) return;
    pthread_mutex_lock(&fabric->lock);
    settle_debts(fabric);
    for (int pe = 0; pe < fabric->job->npes; pe++)
        if (fabric->peers[pe].trouble && fabric->peers[pe].trouble->probe >= 0) shmemt_libfabric_failure_lose(fabric, pe);
    pthread_mutex_unlock(&fabric->lock);
    for (int i = 0; i < SHMEMT_SEGMENTS_MAX; i++) shmemt_libfabric_memory_unexport(tp, i);
    destroy(fabric);
}

/* ---- the table ---- */

const struct shmemt_ops shmemt_libfabric_ops = {
    .version         = SHMEMT_VERSION,
    .name            = "libfabric",
    .probe           = probe,
    .open            = open_fabric,
    .close           = close_fabric,
    .address         = get_address,
    .add_peer        = add_peer,
    .lose_peer       = lose_peer,
    .export_region   = shmemt_libfabric_memory_export,
    .unexport_region = shmemt_libfabric_memory_unexport,
    .import_region   = shmemt_libfabric_memory_import,
    .ctx_open        = open_ctx,
    .ctx_close       = close_ctx,
    .put             = shmemt_libfabric_operation_put,
    .get             = shmemt_libfabric_operation_get,
    .amo             = shmemt_libfabric_operation_amo,
    .put_signal      = shmemt_libfabric_operation_put_signal,
    .fence           = shmemt_libfabric_progress_fence,
    .quiet           = shmemt_libfabric_progress_quiet,
    .progress        = shmemt_libfabric_progress_ctx,
    .arm             = shmemt_libfabric_progress_arm,
};

__attribute__((visibility("default"))) const struct shmemt_ops *shmemt_module(void);
const struct shmemt_ops                                        *shmemt_module(void)
{
    return &shmemt_libfabric_ops;
}
