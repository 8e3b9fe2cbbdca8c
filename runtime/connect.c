/* SPDX-License-Identifier: Apache-2.0
 *
 * Each PE opens the transports that work for it, tells the others how to reach it through each of them, and takes for each peer the
 * first that maps its memory, else the first that posts to it. Transports are matched by name: machines may have different ones.
 * Spec: none; OpenSHMEM leaves the way to a PE to the library.  Tests: tests/api/nodes/, tests/api/init/.
 */
#include "runtime/connect.h"

#include "runtime/base/log.h"
#include "runtime/base/module.h"
#include "runtime/base/num.h"
#include "runtime/base/report.h"
#include "runtime/gpu/gpu.h"
#include "runtime/init.h"
#include "runtime/progress.h"
#include "runtime/service.h"
#include "runtime/state.h"
#include "runtime/wait.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the third card ---- */

/*
 * What a PE tells about its transports, packed, since most keys are short: for each its name, address and the keys of its segments, each behind
 * one byte with its length. A name of length 0 ends the list.
 */
enum { CARD_BYTES = 1536 };
struct reach_card {
    int32_t       failed;
    uint32_t      used;
    unsigned char bytes[CARD_BYTES - 8];
};

/* One transport of a card. */
struct reach {
    char                  name[32];
    struct shmemt_address address;
    struct shmemt_key     key[SHMEMT_SEGMENT_GPU + 1];
};

static bool pack(struct reach_card *card, const void *data, size_t bytes)
{
    if (bytes > UINT8_MAX || card->used + 1 + bytes > sizeof card->bytes) return false;
    card->bytes[card->used] = (unsigned char)bytes;
    memcpy(&card->bytes[card->used + 1], data, bytes);
    card->used += (uint32_t)bytes + 1;
    return true;
}

static bool pack_reach(struct reach_card *card, const struct reach *reach)
{
    bool fits = pack(card, reach->name, strlen(reach->name)) && pack(card, reach->address.data, reach->address.bytes);
    for (int segment = SHMEMT_SEGMENT_CTRL; segment <= SHMEMT_SEGMENT_GPU && fits; segment++)
        fits = pack(card, reach->key[segment].data, reach->key[segment].bytes);
    return fits;
}

/* The next part into room bytes at data_out; its length, or -1 where the card is at its end or makes no sense. */
static int unpack(const struct reach_card *card, size_t *at, void *data_out, size_t room)
{
    if (card->used > sizeof card->bytes || *at >= card->used) return -1;
    size_t bytes = card->bytes[*at];
    if (bytes > room || *at + 1 + bytes > card->used) return -1;
    memcpy(data_out, &card->bytes[*at + 1], bytes);
    *at += bytes + 1;
    return (int)bytes;
}

static bool unpack_reach(const struct reach_card *card, size_t *at, struct reach *reach_out)
{
    *reach_out = (struct reach){.name = ""};
    int bytes  = unpack(card, at, reach_out->name, sizeof reach_out->name - 1);
    if (bytes < 0) return false;
    if ((bytes = unpack(card, at, reach_out->address.data, sizeof reach_out->address.data)) < 0) return false;
    reach_out->address.bytes = (uint32_t)bytes;
    for (int segment = SHMEMT_SEGMENT_CTRL; segment <= SHMEMT_SEGMENT_GPU; segment++) {
        if ((bytes = unpack(card, at, reach_out->key[segment].data, sizeof reach_out->key[segment].data)) < 0) return false;
        reach_out->key[segment].bytes = (uint32_t)bytes;
    }
    return true;
}

/* ---- opening ---- */

static void describe_job(void)
{
    struct shmemi_state *state = &shmemi_state;
    state->job.my_pe           = state->my_pe;
    state->job.npes            = state->npes;
    state->job.local_of        = state->node.local_of;
    state->job.local_pes       = state->node.count;
    state->job.wake            = shmemi_wait_stored;
    state->job.failed          = shmemi_service_lost;
    state->job.agent           = shmemi_options.amo == SHMEMI_AMO_NIC ? SHMEMT_AGENT_NIC : SHMEMT_AGENT_CPU;
}

/* PEs of other nodes. Known before the nodes are numbered. */
static bool has_far_pes(void)
{
    return shmemi_state.node.count < shmemi_state.npes;
}

/* Where modules are looked for. Ours are tried unasked only where there are nodes to reach: to load a network library takes time. */
static const char *module_path(char *buffer, size_t buffer_bytes)
{
    char        folder[PATH_MAX];
    const char *theirs = shmemi_options.transport_path;
    if (!has_far_pes() && !shmemi_options.transports) return theirs;
    const char *own = shmemi_module_folder(folder, sizeof folder);
    if (!own) return theirs;
    snprintf(buffer, buffer_bytes, "%s%s%s", theirs ? theirs : "", theirs ? ":" : "", own);
    return buffer;
}

/* What probe() has answered, by place in the registry. */
static struct probed {
    bool                 asked;
    int                  error;
    struct shmemt_traits traits;
} probed[SHMEMT_REGISTRY_MAX];

static const struct probed *probe(size_t i)
{
    struct probed *answer = &probed[i];
    if (answer->asked) return answer;
    answer->asked  = true;
    answer->traits = (struct shmemt_traits){.caps = 0};
    answer->error  = shmemi_state.registry.ops[i].probe(&shmemi_state.job, &answer->traits);
    return answer;
}

/* Can it serve PEs of other nodes, with the agent that the job has? */
static bool goes_far(const struct shmemt_traits *traits)
{
    return (traits->caps & SHMEMT_CAP_POSTED) && (traits->caps & SHMEMT_CAP_AMO) && !(traits->caps & SHMEMT_CAP_MAP_HOST) &&
           (shmemi_state.job.agent != SHMEMT_AGENT_NIC || (traits->agents & 1u << SHMEMT_AGENT_NIC));
}

/* A transport that works here, or NULL and the reason. */
static struct shmemt *open_one(size_t i, const char **reason_out)
{
    struct shmemt              *tp     = NULL;
    const struct probed        *answer = probe(i);
    const struct shmemt_traits *traits = &answer->traits;
    int                         err    = answer->error;
    /* Who maps memory serves plain puts and gets all the same: connect_peer() looks for another way for the agent's words. */
    if (!err && !(traits->caps & SHMEMT_CAP_MAP_HOST) && (traits->caps & SHMEMT_CAP_POSTED) && !goes_far(traits) &&
        shmemi_state.job.agent == SHMEMT_AGENT_NIC) {
        *reason_out = "POSTERN_AMO is nic, and its device does not execute all atomics";
        return NULL;
    }
    *reason_out = traits->detail[0] ? traits->detail : strerror(-err);
    if (err) return NULL;
    err = shmemi_state.registry.ops[i].open(&shmemi_state.job, &tp);
    if (!err) return tp;
    *reason_out = strerror(-err); /* the transport has said more */
    return NULL;
}

static bool is_listed(const char *name)
{
    for (size_t i = 0; i < shmemi_state.registry.count; i++)
        if (strcmp(shmemi_state.registry.ops[i].name, name) == 0) return true;
    return false;
}

static bool posts(const struct shmemt *tp)
{
    return (tp->traits.caps & SHMEMT_CAP_POSTED) && (tp->traits.caps & SHMEMT_CAP_AMO);
}

static SHMEMI_COLD int no_transport(void)
{
    shmemi_error("no transport works here" WHY "POSTERN_TRANSPORTS is \"%s\", and none of these can be used" FIX
                 "unset POSTERN_TRANSPORTS; POSTERN_REPORT=1 shows what was tried",
                 shmemi_options.transports ? shmemi_options.transports : "");
    return -ENODEV;
}

/* Said by the first PE of each node, since the nodes may have different transports. */
static SHMEMI_COLD int no_way_between_nodes(const char *tried)
{
    const char *host = shmemi_state.cards[shmemi_state.my_pe].host;
    if (shmemi_state.node.me == 0 && shmemi_options.transports)
        shmemi_error("there is no way from this node to the others" WHY
                     "the job has %d nodes, POSTERN_TRANSPORTS is \"%s\", and nothing of "
                     "that goes between nodes on %s%s" FIX "add a transport between nodes, such as libfabric, or unset it",
                     shmemi_state.node_count, shmemi_options.transports, host, tried);
    else if (shmemi_state.node.me == 0)
        shmemi_error("there is no way from this node to the others" WHY
                     "the job has %d nodes, and no transport between nodes works "
                     "on %s%s" FIX "install libfabric (Debian: libfabric1) on every node; postern-info shows what is missing",
                     shmemi_state.node_count, host, tried);
    return -EHOSTUNREACH;
}

/* Our modules that this job does without: what they could do here. */
static void survey(void)
{
    struct shmemt_registry others;
    char                   folder[PATH_MAX];
    if (!shmemi_module_folder(folder, sizeof folder) || shmemt_registry_open(NULL, folder, &others) != 0) return;
    for (size_t i = 0; i < others.count; i++) {
        struct shmemt_traits traits = {.caps = 0};
        char                 line[48];
        if (!others.module[i] || is_listed(others.ops[i].name)) continue;
        int err = others.ops[i].probe(&shmemi_state.job, &traits);
        snprintf(line, sizeof line, "transport %s", others.ops[i].name);
        shmemi_report(line, err ? SHMEMI_ABSENT : SHMEMI_PRESENT, "%s%s",
                      traits.detail[0] ? traits.detail
                      : err            ? strerror(-err)
                                       : "works here",
                      err ? "" : " (for jobs on several nodes)");
    }
    shmemt_registry_close(&others);
}

int shmemi_connect_probe(char *way_out, size_t way_bytes)
{
    struct shmemi_state *state = &shmemi_state;
    char                 path[PATH_MAX + 256];
    describe_job();
    memset(probed, 0, sizeof probed);
    snprintf(way_out, way_bytes, "%s", "");
    enum shmemi_log_level before = shmemi_init_silence_others();
    int                   err = shmemt_registry_open(shmemi_options.transports, module_path(path, sizeof path), &state->registry);
    shmemi_log_set_level(before);
    for (size_t i = 0; i < state->registry.count && has_far_pes() && !err; i++) {
        const struct probed *answer = probe(i);
        if (answer->error || !goes_far(&answer->traits)) continue;
        snprintf(way_out, way_bytes, "%s", state->registry.ops[i].name);
        break;
    }
    return err;
}

int shmemi_connect_open(const char *way)
{
    struct shmemi_state *state      = &shmemi_state;
    char                 tried[768] = "";
    bool                 far = false, needs_thread = false, has_way = false;
    for (size_t i = 0; i < state->registry.count; i++) {
        const struct shmemt_ops *ops = &state->registry.ops[i];
        const char              *reason;
        char                     line[48];
        snprintf(line, sizeof line, "transport %s", ops->name);
        if (has_way && state->registry.module[i]) {
            shmemi_report(line, SHMEMI_CHOICE, "not loaded: %s reaches all other nodes", way);
            continue;
        }
        struct shmemt *tp = open_one(i, &reason);
        if (!tp) {
            shmemi_report(line, SHMEMI_ABSENT, "%s", reason);
            size_t used = strlen(tried);
            snprintf(tried + used, sizeof tried - used, "%s%s: %.200s", used ? "; " : " (", ops->name, reason);
            continue;
        }
        tp->ops                                     = ops; /* the registry's copy has no empty slot */
        state->transports[state->transport_count++] = tp;
        if (*way && strcmp(way, ops->name) == 0) has_way = true;
        if (posts(tp) && !(tp->traits.caps & SHMEMT_CAP_MAP_HOST)) {
            far = true;
            if (!(tp->traits.caps & SHMEMT_CAP_PROGRESS)) needs_thread = true;
        }
        shmemi_report(line, SHMEMI_PRESENT, "%s", tp->traits.detail[0] ? tp->traits.detail : probe(i)->traits.detail);
    }
    int err = far ? shmemi_progress_report(needs_thread) : 0;
    if (err) return err;
    if (shmemi_options.survey) {
        survey();
        shmemi_bootstrap_survey();
    }
    if (state->transport_count == 0) return no_transport();
    if (state->node_count > 1 && !far) {
        size_t used = strlen(tried);
        snprintf(tried + used, sizeof tried - used, "%s", used ? ")" : "");
        return no_way_between_nodes(tried);
    }
    return 0;
}

void shmemi_connect_close(void)
{
    struct shmemi_state *state = &shmemi_state;
    for (size_t i = 0; i < state->transport_count; i++) {
        struct shmemt *tp = state->transports[i];
        for (int segment = SHMEMT_SEGMENT_CTRL; segment <= SHMEMT_SEGMENT_GPU; segment++) tp->ops->unexport_region(tp, segment);
        tp->ops->close(tp);
    }
    shmemt_registry_close(&state->registry);
}

/* ---- offering ---- */

/*
 * Addresses in the node's mapping, also of static data: a fork moves other pages under the program's own addresses. By those the program names
 * its variables, so a transport knows both.
 */
static struct shmemt_region own_region(int segment)
{
    struct shmemi_state *state = &shmemi_state;
    size_t               local = (size_t)state->node.me;
    switch (segment) {
    case SHMEMT_SEGMENT_HEAP:
        return (struct shmemt_region){.segment   = segment,
                                      .base      = (void *)state->all_heap_base,
                                      .bytes     = state->all_heap_bytes,
                                      .fd        = state->node.heap_fd,
                                      .fd_offset = local * state->heap_stride};
    case SHMEMT_SEGMENT_DATA:
        return (struct shmemt_region){.segment   = segment,
                                      .base      = state->data_map + local * state->data_stride,
                                      .bytes     = state->own_data_bytes,
                                      .fd        = state->node.node_fd,
                                      .fd_offset = state->node.ctrl_bytes + local * state->data_stride,
                                      .alias     = (void *)state->own_data_base};
    default:
        return (struct shmemt_region){.segment   = segment,
                                      .base      = state->ctrl,
                                      .bytes     = state->ctrl_bytes,
                                      .fd        = state->node.node_fd,
                                      .fd_offset = local * state->ctrl_stride};
    }
}

/* Who maps memory of the host has no use for it; who cannot register it is no error, but something to say. */
static void export_gpu(size_t i, struct shmemt_key *key_out)
{
    struct shmemt             *tp     = shmemi_state.transports[i];
    const struct shmemt_region region = shmemi_gpu_region();
    if (region.bytes == 0 || !posts(tp) || (tp->traits.caps & SHMEMT_CAP_MAP_HOST)) return;
    int err = tp->ops->export_region(tp, &region, key_out);
    if (err) key_out->bytes = 0;
    shmemi_gpu_registered(i, err);
}

static int export_one(size_t i, struct reach_card *card)
{
    struct shmemt *tp    = shmemi_state.transports[i];
    struct reach   reach = {.name = ""};
    snprintf(reach.name, sizeof reach.name, "%s", tp->ops->name);
    int err = tp->ops->address(tp, &reach.address);
    for (int segment = SHMEMT_SEGMENT_CTRL; segment <= SHMEMT_SEGMENT_HEAP && !err; segment++) {
        struct shmemt_region region = own_region(segment);
        err                         = tp->ops->export_region(tp, &region, &reach.key[segment]);
    }
    if (!err) export_gpu(i, &reach.key[SHMEMT_SEGMENT_GPU]);
    if (!err && !pack_reach(card, &reach)) err = -E2BIG;
    if (!err) return 0;
    shmemi_error("could not offer this PE's memory to others: %s" WHY "transport %s refused it" FIX
                 "leave it out of POSTERN_TRANSPORTS",
                 err == -E2BIG ? "too many transports for one card" : strerror(-err), tp->ops->name);
    return err;
}

static int export_all(struct reach_card *card)
{
    int err = 0;
    for (size_t i = 0; i < shmemi_state.transport_count && !err; i++) err = export_one(i, card);
    if (!err) shmemi_gpu_report_rdma();
    return err;
}

/* ---- routes ---- */

/* May this PE use the transport to reach it? 0; -EHOSTUNREACH: it cannot; another error is one. */
static int import(struct shmemt *tp, int pe, const struct reach *reach)
{
    int err = tp->ops->add_peer(tp, pe, &reach->address);
    for (int segment = SHMEMT_SEGMENT_CTRL; segment <= SHMEMT_SEGMENT_HEAP && !err; segment++)
        err = tp->ops->import_region(tp, pe, segment, &reach->key[segment]);
    if (err == 0 || err == -EHOSTUNREACH) return err;
    shmemi_service_give_launcher_time(); /* its memory may be gone because it is dead */
    shmemi_error("could not reach memory of PE %d: %s" WHY "transport %s refused it" FIX "look at the report (POSTERN_REPORT=1)",
                 pe, strerror(-err), tp->ops->name);
    return err;
}

/* What its owner could not register is not there. */
static bool import_gpu(struct shmemt *tp, int pe, const struct shmemt_key *key)
{
    return key->bytes > 0 && tp->ops->import_region(tp, pe, SHMEMT_SEGMENT_GPU, key) == 0;
}

static const struct reach *find_reach(const struct reach *reaches, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(reaches[i].name, name) == 0) return &reaches[i];
    return NULL;
}

/*
 * The first transport that maps the PE's memory, else the first that posts to it. Where the device executes the atomics it does so on words
 * of near PEs too, or two agents would change one word: then a mapped PE needs a posted route as well.
 */
static int connect_peer(int pe, const struct reach *reaches, size_t count)
{
    struct shmemi_peer *peer     = &shmemi_state.peers[pe];
    bool                need_all = shmemi_state.job.agent == SHMEMT_AGENT_NIC;
    bool                common   = false;
    peer->mapped = peer->posted = SHMEMI_NOT_MAPPED;
    peer->local                 = shmemi_state.node.local_of[pe];
    for (size_t i = 0; i < shmemi_state.transport_count; i++) {
        struct shmemt      *tp    = shmemi_state.transports[i];
        const struct reach *reach = find_reach(reaches, count, tp->ops->name);
        if (!reach || (peer->posted >= 0 && !(tp->traits.caps & SHMEMT_CAP_MAP_HOST))) continue;
        int err = import(tp, pe, reach);
        common |= !(tp->traits.caps & SHMEMT_CAP_MAP_HOST); /* of another node that says nothing */
        if (err == -EHOSTUNREACH) continue;
        if (err) return err;
        if (peer->mapped < 0 && tp->ops->map(tp, pe, SHMEMT_SEGMENT_CTRL)) peer->mapped = (int8_t)i;
        else if (peer->posted < 0 && posts(tp)) {
            peer->posted    = (int8_t)i;
            peer->posts_gpu = import_gpu(tp, pe, &reach->key[SHMEMT_SEGMENT_GPU]);
        }
        if (peer->mapped >= 0 && (peer->posted >= 0 || !need_all)) break;
    }
    if (peer->mapped >= 0 || peer->posted >= 0) return 0;
    if (common) shmemi_service_give_launcher_time(); /* it has a transport that we have, and may be dead */
    shmemi_error("PE %d (on %s) cannot be reached from PE %d (on %s)" WHY "they have no transport in common that can" FIX
                 "look at the reports of both (POSTERN_REPORT=1); start all PEs with the same libpostern and libraries",
                 pe, shmemi_state.cards[pe].host, shmemi_state.my_pe, shmemi_state.cards[shmemi_state.my_pe].host);
    return -EHOSTUNREACH;
}

static int connect_card(int pe, const struct reach_card *card, bool *same_out)
{
    struct reach *reaches = calloc(SHMEMT_REGISTRY_MAX, sizeof *reaches);
    size_t        at = 0, count = 0;
    if (!reaches) return shmemi_init_no_memory();
    while (count < SHMEMT_REGISTRY_MAX && unpack_reach(card, &at, &reaches[count])) count++;
    if (count != shmemi_state.transport_count) *same_out = false;
    for (size_t i = 0; i < shmemi_state.transport_count; i++)
        if (!find_reach(reaches, count, shmemi_state.transports[i]->ops->name)) *same_out = false;
    int err = connect_peer(pe, reaches, count);
    free(reaches);
    return err;
}

/* How the routes are, in a line: which transport serves how many PEs. */
static void report_routes(void)
{
    const struct shmemi_state *state = &shmemi_state;
    char                       text[256];
    size_t                     used = 0;
    for (int mapped = 1; mapped >= 0; mapped--)
        for (size_t i = 0; i < state->transport_count; i++) {
            int count = 0;
            for (int pe = 0; pe < state->npes; pe++) {
                const struct shmemi_peer *peer = &state->peers[pe];
                if (mapped ? peer->mapped == (int)i : peer->mapped < 0 && peer->posted == (int)i) count++;
            }
            if (count && used < sizeof text)
                used += (size_t)snprintf(text + used, sizeof text - used, "%s%d PE%s %s %s", used ? ", " : "", count,
                                         count == 1 ? "" : "s", mapped ? "mapped by" : "posted to over",
                                         state->transports[i]->ops->name);
        }
    shmemi_report("routes", SHMEMI_CHOICE, "from PE %d: %s", state->my_pe, text);
    shmemi_report("atomics", SHMEMI_CHOICE, "%s",
                  state->job.agent == SHMEMT_AGENT_NIC ? "executed by the network device, for near PEs too (POSTERN_AMO=nic)"
                                                       : "executed by the CPU of whom the memory belongs to, or that maps it");
}

/* What most transports of libfabric's are: named first in their detail. */
static bool is_rdma(const struct shmemt *tp)
{
    static const char *const others[] = {"tcp", "sockets", "udp", "net"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strncmp(tp->traits.detail, others[i], strlen(others[i])) == 0) return false;
    return strcmp(tp->ops->name, "ibverbs") == 0 || strcmp(tp->ops->name, "libfabric") == 0;
}

/* Of the transport that reaches other nodes. Of one node only where it is asked for: to say that there is nothing to reach. */
static void report_rdma(void)
{
    const struct shmemt *way = NULL;
    for (size_t i = 0; i < shmemi_state.transport_count && !way; i++) {
        const struct shmemt *tp = shmemi_state.transports[i];
        if (posts(tp) && !(tp->traits.caps & SHMEMT_CAP_MAP_HOST)) way = tp;
    }
    if (way && is_rdma(way)) shmemi_report("rdma", SHMEMI_PRESENT, "transport %s, %s", way->ops->name, way->traits.detail);
    else if (way && has_far_pes())
        shmemi_report("rdma", SHMEMI_DEGRADED, "other nodes are reached over %s (%s)", way->ops->name, way->traits.detail);
    else if (shmemi_options.require) shmemi_report("rdma", SHMEMI_ABSENT, "no transport to other nodes is in use");
}

/* The capabilities that POSTERN_REQUIRE names are there, on this PE. Most often all PEs lack the same, so it is said after the exchange. */
static int require_in_silence(void)
{
    enum shmemi_log_level before = shmemi_log_level();
    shmemi_log_set_level((enum shmemi_log_level) - 1);
    int err = shmemi_report_require(shmemi_options.require);
    shmemi_log_set_level(before);
    return err;
}

int shmemi_connect_all(int failed, bool *all_start_out)
{
    struct shmemi_state                *state = &shmemi_state;
    SHMEMI_AUTO_FREE struct reach_card *mine  = calloc(1, sizeof *mine);
    SHMEMI_AUTO_FREE struct reach_card *cards = calloc((size_t)state->npes, sizeof *cards);
    if (!cards || !mine) return shmemi_init_no_memory();
    state->same_transports = true;
    mine->failed           = failed ? failed : export_all(mine);
    report_rdma();
    bool lacks = !mine->failed && (mine->failed = require_in_silence()) != 0;
    int  err   = shmemi_init_exchange(mine, sizeof *mine, cards);
    for (int pe = 0; pe < state->npes && !err; pe++) {
        err = cards[pe].failed;
        if (err && lacks && pe == state->my_pe) shmemi_report_require(shmemi_options.require); /* the first that lacks it says so */
    }
    *all_start_out = !err;
    for (int pe = 0; pe < state->npes && !err; pe++) err = connect_card(pe, &cards[pe], &state->same_transports);
    if (!err) report_routes();
    return err;
}
