/* SPDX-License-Identifier: Apache-2.0
 *
 * Open and close, peers, regions, lanes and contexts; and the table.
 *
 * Nothing is connected here. Of a PE that it never talks to another has its address (struct peer), and nothing else.
 */
#include "transports/ibverbs/verbs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* ---- settings ---- */

static uint64_t size_setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    char       *end;
    if (!text || *text < '0' || *text > '9') return otherwise;
    uint64_t value = strtoull(text, &end, 10);
    unsigned shift = *end == 'k' || *end == 'K' ? 10 : *end == 'm' || *end == 'M' ? 20 : *end == 'g' || *end == 'G' ? 30 : 0;
    if (shift) end++;
    return *end == '\0' && value <= UINT64_MAX >> shift ? value << shift : otherwise;
}

static uint32_t least(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

static uint32_t number_setting(const char *name, uint32_t low, uint32_t high, uint32_t otherwise)
{
    uint64_t value = size_setting(name, otherwise);
    return value >= low && value <= high ? (uint32_t)value : otherwise;
}

/* The largest power of two that is not above it. */
static uint32_t power_of_two(uint32_t value)
{
    while (value & (value - 1)) value &= value - 1;
    return value;
}

/* What the device's limits leave of our numbers. */
static void scale(struct verbs *verbs)
{
    const struct ibv_device_attr *limits = &verbs->device.port.limits;
    verbs->depth                         = power_of_two(least(QUEUE_DEPTH, (uint64_t)limits->max_qp_wr));
    verbs->reserve                       = verbs->depth >= 64 ? 8 : 2;
    verbs->signal_every                  = least(SIGNAL_EVERY, verbs->depth / 4);
    verbs->receives                      = least(RECEIVES, (uint64_t)limits->max_srq_wr);
    verbs->datagrams                     = least(DATAGRAMS, (uint64_t)limits->max_qp_wr);
}

static void read_settings(struct verbs *verbs)
{
    /* 0.27 s for an acknowledgement, and 6 times again: of 7 Soft-RoCE makes "for ever". */
    enum { TIMEOUT = 16, RETRIES = 6, CONNECT_S = 10, STRIPE = 1 << 20 };
    verbs->timeout      = (uint8_t)number_setting("POSTERN_IB_TIMEOUT", 1, 31, TIMEOUT);
    verbs->retries      = (uint8_t)number_setting("POSTERN_IB_RETRIES", 0, 7, RETRIES);
    verbs->connect_s    = number_setting("POSTERN_IB_CONNECT_TIMEOUT", 1, 3600, CONNECT_S);
    verbs->queues       = number_setting("POSTERN_QPS", 1, QUEUES_MAX, 1);
    verbs->unordered    = number_setting("POSTERN_IB_UNORDERED", 0, 1, 0) == 1;
    verbs->stripe_bytes = size_setting("POSTERN_IB_STRIPE", STRIPE);
}

static size_t pieces_max(const struct verbs *verbs)
{
    uint32_t room = verbs->depth / 2 > verbs->reserve + 3 ? verbs->depth / 2 - verbs->reserve - 3 : 1;
    return least(PIECES_MAX, room);
}

/* "mlx5_0:1, RoCE v2 100 Gb/s, MTU 4096, GID 3 192.0.2.1, 1 QP, signals by immediate" */
static void describe(const struct verbs *verbs, enum shmemt_agent agent, char *text, size_t bytes)
{
    shmemt_ibverbs_device_describe(&verbs->device, text, bytes);
    size_t used = strlen(text);
    snprintf(text + used, bytes - used, ", %u QP%s%s, signals by %s", verbs->queues, verbs->queues == 1 ? "" : "s",
             verbs->unordered ? ", no order" : "", agent == SHMEMT_AGENT_NIC ? "the device" : "immediate");
}

static void set_traits(const struct verbs *verbs, enum shmemt_agent agent, struct shmemt_traits *traits_out)
{
    const struct ib_port *port     = &verbs->device.port;
    bool                  coherent = false, atomics = shmemt_ibverbs_device_atomics(port, &coherent);
    size_t                max = port->attr.max_msg_sz > 0 ? port->attr.max_msg_sz : 1u << 30;
    *traits_out               = (struct shmemt_traits){
                      .caps           = SHMEMT_CAP_POSTED | SHMEMT_CAP_AMO | (verbs->queues == 1 && !verbs->unordered ? SHMEMT_CAP_PUT_ORDER : 0),
                      .copy_bytes_max = COPY_BYTES_MAX,
                      .bytes_max      = max < 1u << 30 ? max : 1u << 30,
                      .pieces_max     = pieces_max(verbs),
                      .agents         = 1u << SHMEMT_AGENT_CPU | (atomics ? 1u << SHMEMT_AGENT_NIC : 0),
                      .silent         = true,
    };
    if (agent == SHMEMT_AGENT_CPU || coherent) traits_out->caps |= SHMEMT_CAP_AMO_CPU;
    describe(verbs, agent, traits_out->detail, sizeof traits_out->detail);
    /* Of the CPUs that this PE may use: whoever bound it to others knew why. */
    struct ib_cpus own;
    shmemt_ibverbs_topology_own_cpus(&own);
    if (memcmp(&own, &verbs->device.near, sizeof own) != 0)
        shmemt_ibverbs_topology_print_cpus(&verbs->device.near, traits_out->near_cpus, sizeof traits_out->near_cpus);
}

/* ---- probe ---- */

extern const struct shmemt_ops shmemt_ibverbs_ops;

static int open_device(const struct shmemt_job *job, struct verbs *verbs, char *detail, size_t bytes)
{
    int err = shmemt_ibverbs_device_open(job, "", &verbs->device, detail, bytes);
    if (err) return err;
    err = shmemt_ibverbs_memory_check_limit(&verbs->device.port, shmemt_ibverbs_memory_need(job), detail, bytes);
    if (!err) {
        read_settings(verbs);
        scale(verbs);
        return 0;
    }
    shmemt_ibverbs_device_close(&verbs->device);
    return err;
}

static int probe(const struct shmemt_job *job, struct shmemt_traits *traits_out)
{
    struct verbs *verbs = calloc(1, sizeof *verbs);
    *traits_out         = (struct shmemt_traits){.caps = 0};
    if (!verbs) return -ENOMEM;
    int err = open_device(job, verbs, traits_out->detail, sizeof traits_out->detail);
    if (!err) {
        set_traits(verbs, job->agent, traits_out);
        shmemt_ibverbs_device_close(&verbs->device);
    }
    free(verbs);
    return err;
}

/* ---- open and close ---- */

static int no_block(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ? -errno : 0;
}

static int watch(int epoll, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

/* One descriptor that speaks for completions and for the device's own events. */
static int open_events(struct verbs *verbs)
{
    verbs->channel = ibv_create_comp_channel(verbs->device.context);
    if (!verbs->channel) return errno ? -errno : -ENOMEM;
    int err = no_block(verbs->channel->fd);
    if (!err) err = no_block(verbs->device.context->async_fd);
    if (err) return err;
    verbs->wait_fd = epoll_create1(EPOLL_CLOEXEC);
    if (verbs->wait_fd < 0) return -errno;
    err = watch(verbs->wait_fd, verbs->channel->fd);
    return err ? err : watch(verbs->wait_fd, verbs->device.context->async_fd);
}

/* How much goes inline? Devices refuse what is too much, and need more room in the queue for more. */
static int measure_inline(struct verbs *verbs)
{
    static const uint32_t sizes[] = {INLINE_BYTES, 128, 64, sizeof(struct message)};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct ibv_qp_init_attr attr = {
            .send_cq = verbs->receive_cq,
            .recv_cq = verbs->receive_cq,
            .srq     = verbs->srq,
            .cap     = {.max_send_wr = verbs->depth, .max_send_sge = 1, .max_inline_data = sizes[i]},
            .qp_type = IBV_QPT_RC,
        };
        struct ibv_qp *qp = ibv_create_qp(verbs->pd, &attr);
        if (!qp) continue;
        ibv_destroy_qp(qp);
        verbs->inline_bytes = sizes[i];
        return 0;
    }
    return -ENOTSUP;
}

static int open_queues(struct verbs *verbs)
{
    struct ibv_srq_init_attr srq     = {.attr = {.max_wr = verbs->receives, .max_sge = 1}};
    uint32_t                 entries = verbs->receives + 2 * verbs->datagrams;
    verbs->pd                        = ibv_alloc_pd(verbs->device.context);
    if (!verbs->pd) return errno ? -errno : -ENOMEM;
    verbs->receive_cq = ibv_create_cq(verbs->device.context, (int)entries, NULL, verbs->channel, 0);
    if (!verbs->receive_cq) return errno ? -errno : -ENOMEM;
    verbs->srq = ibv_create_srq(verbs->pd, &srq);
    if (!verbs->srq) return errno ? -errno : -ENOMEM;
    int err = measure_inline(verbs);
    if (!err) err = shmemt_ibverbs_connect_open(verbs);
    if (!err) err = shmemt_ibverbs_progress_open(verbs);
    if (!err) err = shmemt_ibverbs_memory_open(verbs->job, verbs->pd, &verbs->device.port, &verbs->memory);
    return err;
}

static void destroy_lane(struct lane *lane)
{
    if (!lane) return;
    shmemt_ibverbs_memory_ring_destroy(lane->verbs->memory, &lane->ring);
    shmemt_ibverbs_memory_ring_destroy(lane->verbs->memory, &lane->results);
    if (lane->cq) ibv_destroy_cq(lane->cq);
    free(lane->loops);
    free(lane);
}

static void destroy(struct verbs *verbs)
{
    shmemt_ibverbs_peer_close(verbs); /* with the links, before the queues that they complete to */
    for (unsigned i = 0; i < LANES_MAX; i++) destroy_lane(verbs->lanes[i]);
    if (verbs->ud) ibv_destroy_qp(verbs->ud);
    if (verbs->srq) ibv_destroy_srq(verbs->srq);
    if (verbs->receive_cq) ibv_destroy_cq(verbs->receive_cq);
    if (verbs->buffers_mr) ibv_dereg_mr(verbs->buffers_mr);
    shmemt_ibverbs_memory_close(verbs->memory);
    if (verbs->pd) ibv_dealloc_pd(verbs->pd);
    if (verbs->wait_fd >= 0) close(verbs->wait_fd);
    if (verbs->channel) ibv_destroy_comp_channel(verbs->channel);
    shmemt_ibverbs_device_close(&verbs->device);
    free(verbs->buffers);
    free(verbs->by_qpn);
    free(verbs);
}

/* What a large private buffer may take at a time: the runtime cuts what is larger. Two operations should have room. */
static void fit_memory(struct verbs *verbs)
{
    size_t room = shmemt_ibverbs_memory_room(verbs->memory) / 2, *most = &verbs->tp.traits.bytes_max;
    if (room < *most) *most = room > COPY_BYTES_MAX ? room : COPY_BYTES_MAX;
}

static int open_verbs(const struct shmemt_job *job, struct shmemt **tp_out)
{
    char          detail[sizeof((struct shmemt_traits *)NULL)->detail];
    struct verbs *verbs = calloc(1, sizeof *verbs);
    if (!verbs) return -ENOMEM;
    verbs->tp.ops      = &shmemt_ibverbs_ops;
    verbs->job         = job;
    verbs->wait_fd     = -1;
    verbs->nic         = job->agent == SHMEMT_AGENT_NIC;
    verbs->npes        = job->npes;
    verbs->own_pe      = verbs->nic ? -1 : job->my_pe;
    verbs->cookie      = (job->secret ^ 0x6962766572627300u) * 0x9e3779b97f4a7c15u;
    verbs->debtors_end = &verbs->debtors;
    int err            = open_device(job, verbs, detail, sizeof detail);
    if (err) goto destroy;
    set_traits(verbs, job->agent, &verbs->tp.traits);
    err = -ENOTSUP;
    if (verbs->nic && !(verbs->tp.traits.agents & 1u << SHMEMT_AGENT_NIC)) goto destroy;
    err = shmemt_ibverbs_peer_open(verbs);
    if (!err) err = open_events(verbs);
    if (!err) err = open_queues(verbs);
    if (err) goto destroy;
    fit_memory(verbs);
    shmemt_ibverbs_counters_open(verbs);
    *tp_out = &verbs->tp;
    return 0;

destroy:
    destroy(verbs);
    return err;
}

/* What is still owed to others goes out, if it goes at once: they may wait for it. */
static void settle_debts(struct verbs *verbs)
{
    int64_t end_ns = shmemt_ibverbs_failure_now() + 20000000;
    while (verbs->debtors && shmemt_ibverbs_failure_now() < end_ns) shmemt_ibverbs_progress_receive(verbs);
}

static void close_verbs(struct shmemt *tp)
{
    struct verbs *verbs = verbs_of(tp);
    if (!verbs) return;
    shmemi_latch_take(&verbs->lock);
    settle_debts(verbs);
    shmemi_latch_give(&verbs->lock);
    destroy(verbs);
}

/* ---- peers and regions ---- */

static int get_address(struct shmemt *tp, struct shmemt_address *address_out)
{
    struct verbs     *verbs    = verbs_of(tp);
    const char       *progress = getenv("POSTERN_PROGRESS");
    struct ib_address address  = {
         .cookie   = verbs->cookie,
         .endpoint = verbs->device.port.endpoint,
         .ud_qpn   = verbs->ud->qp_num,
         .serves   = !progress || strcmp(progress, "0") != 0,
    };
    *address_out = (struct shmemt_address){.bytes = sizeof address};
    memcpy(address_out->data, &address, sizeof address);
    return 0;
}

static int add_peer(struct shmemt *tp, int pe, const struct shmemt_address *theirs)
{
    struct verbs     *verbs = verbs_of(tp);
    struct ib_address address;
    if (pe < 0 || pe >= verbs->job->npes) return -EINVAL;
    if (theirs->bytes != sizeof address) return -EHOSTUNREACH;
    memcpy(&address, theirs->data, sizeof address);
    if (address.cookie != verbs->cookie) return -EINVAL;
    if (shmemt_ibverbs_device_mismatch(&verbs->device.port.endpoint, &address.endpoint)) return -EHOSTUNREACH;
    shmemi_latch_take(&verbs->lock);
    int err = shmemt_ibverbs_peer_add(verbs, pe, &address);
    shmemi_latch_give(&verbs->lock);
    return err;
}

static void lose_peer(struct shmemt *tp, int pe)
{
    struct verbs *verbs = verbs_of(tp);
    if (pe < 0 || pe >= verbs->job->npes) return;
    shmemi_latch_take(&verbs->lock);
    shmemt_ibverbs_failure_lose(verbs, pe);
    shmemi_latch_give(&verbs->lock);
}

static int export_region(struct shmemt *tp, const struct shmemt_region *mine, struct shmemt_key *key_out)
{
    struct verbs *verbs = verbs_of(tp);
    if (mine->segment < 0 || mine->segment >= SHMEMT_SEGMENTS_MAX) return -EINVAL;
    struct ib_remote offer;
    int              err = shmemt_ibverbs_memory_export(verbs->memory, mine, key_out);
    if (!err) err = shmemt_ibverbs_memory_import(verbs->job, verbs->job->my_pe, mine->segment, key_out, &offer);
    if (err) return err;
    shmemi_latch_take(&verbs->lock);
    verbs->mine[mine->segment].rkey  = offer.rkey;
    verbs->mine[mine->segment].base  = mine->base;
    verbs->mine[mine->segment].bytes = mine->bytes;
    verbs->mine[mine->segment].host  = mine->memory == SHMEMT_MEMORY_HOST;
    shmemi_latch_give(&verbs->lock);
    return 0;
}

static void unexport_region(struct shmemt *tp, int segment)
{
    struct verbs *verbs = verbs_of(tp);
    if (segment < 0 || segment >= SHMEMT_SEGMENTS_MAX) return;
    shmemi_latch_take(&verbs->lock);
    verbs->mine[segment].base  = NULL;
    verbs->mine[segment].bytes = 0;
    verbs->mine[segment].host  = false;
    shmemi_latch_give(&verbs->lock);
    shmemt_ibverbs_memory_unexport(verbs->memory, segment);
}

static int import_region(struct shmemt *tp, int pe, int segment, const struct shmemt_key *key)
{
    struct verbs    *verbs = verbs_of(tp);
    struct ib_remote remote;
    if (pe < 0 || pe >= verbs->job->npes || segment < 0 || segment >= SHMEMT_SEGMENTS_MAX) return -EINVAL;
    if (key->bytes != 0 && !verbs->peers[pe].known) return -EHOSTUNREACH;
    int err = shmemt_ibverbs_memory_import(verbs->job, pe, segment, key, &remote);
    if (err) return err;
    shmemi_latch_take(&verbs->lock);
    err = shmemt_ibverbs_peer_import(verbs, pe, segment, &remote);
    shmemi_latch_give(&verbs->lock);
    return err;
}

/* ---- lanes and contexts ---- */

struct lane *shmemt_ibverbs_module_lane(struct verbs *verbs, unsigned number)
{
    int          entries = (int)least(COMPLETIONS, (uint64_t)verbs->device.port.limits.max_cqe);
    struct lane *lane    = verbs->lanes[number];
    if (lane) return lane;
    lane = calloc(1, sizeof *lane);
    if (!lane) return NULL;
    lane->verbs         = verbs;
    lane->number        = number;
    lane->cq            = ibv_create_cq(verbs->device.context, entries, NULL, verbs->channel, 0);
    lane->completions   = (uint32_t)entries;
    lane->in_flight_max = lane->completions - lane->completions / 8;
    for (int i = 0; i < SLOTS; i++) {
        lane->stripes[i].next = lane->free_stripes;
        lane->free_stripes    = &lane->stripes[i];
    }
    shmemt_ibverbs_usual_prepare(lane);
    if (lane->cq) return verbs->lanes[number] = lane;
    destroy_lane(lane);
    return NULL;
}

/* The lowest lane that no context has: it may have its connections already. */
static int take_lane(struct verbs *verbs, struct ib_ctx *ctx)
{
    for (unsigned i = 0; i < LANES_MAX; i++) {
        if (verbs->lanes[i] && verbs->lanes[i]->owner) continue;
        ctx->lane = shmemt_ibverbs_module_lane(verbs, i);
        if (!ctx->lane) return -ENOMEM;
        ctx->lane->owner = &ctx->ctx;
        return 0;
    }
    return -EMFILE;
}

static int open_ctx(struct shmemt *tp, unsigned options, struct shmemt_ctx **ctx_out)
{
    struct verbs  *verbs = verbs_of(tp);
    struct ib_ctx *ctx   = calloc(1, sizeof *ctx);
    if (!ctx) return -ENOMEM;
    ctx->ctx.tp = tp;
    ctx->verbs  = verbs;
    if (!(options & SHMEMT_CTX_SERVICE)) {
        shmemi_latch_take(&verbs->lock);
        int err = take_lane(verbs, ctx);
        shmemi_latch_give(&verbs->lock);
        if (err) {
            free(ctx);
            return err;
        }
    }
    *ctx_out = &ctx->ctx;
    return 0;
}

/* After a quiet nothing is left; after a failure something may be, and then nobody wants it. */
static void close_ctx(struct shmemt_ctx *base)
{
    struct ib_ctx *ctx = base ? ctx_of(base) : NULL;
    if (!ctx) return;
    if (ctx->lane) {
        shmemi_latch_take(&ctx->verbs->lock);
        shmemi_latch_take(&ctx->lane->lock);
        for (struct link *link = ctx->lane->dirty; link; link = link->next_dirty) shmemt_ibverbs_queue_forget(link);
        shmemi_latch_give(&ctx->lane->lock);
        ctx->lane->owner = NULL;
        shmemi_latch_give(&ctx->verbs->lock);
    }
    free(ctx);
}

/* ---- the table ---- */

const struct shmemt_ops shmemt_ibverbs_ops = {
    .version         = SHMEMT_VERSION,
    .name            = "ibverbs",
    .probe           = probe,
    .open            = open_verbs,
    .close           = close_verbs,
    .address         = get_address,
    .add_peer        = add_peer,
    .lose_peer       = lose_peer,
    .export_region   = export_region,
    .unexport_region = unexport_region,
    .import_region   = import_region,
    .ctx_open        = open_ctx,
    .ctx_close       = close_ctx,
    .put             = shmemt_ibverbs_usual_put,
    .get             = shmemt_ibverbs_post_get,
    .amo             = shmemt_ibverbs_atomic_amo,
    .put_signal      = shmemt_ibverbs_signal_put,
    .fence           = shmemt_ibverbs_progress_fence,
    .quiet           = shmemt_ibverbs_progress_quiet,
    .progress        = shmemt_ibverbs_progress_ctx,
    .arm             = shmemt_ibverbs_progress_arm,
    .counters        = shmemt_ibverbs_counters_list,
};

__attribute__((visibility("default"))) const struct shmemt_ops *shmemt_module(void);
const struct shmemt_ops                                        *shmemt_module(void)
{
    return &shmemt_ibverbs_ops;
}
