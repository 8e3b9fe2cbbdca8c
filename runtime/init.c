/* SPDX-License-Identifier: Apache-2.0
 *
 * Start-up and the end. Three exchanges, after each of which all PEs know the same and decide the same:
 *
 *   1. who and where: versions, options, executable, machine          -> node, heap size, layout
 *   2. the node's first PE has made the files and sent them           -> mapping
 *   3. addresses, keys and the verdict                                -> routes
 *
 * A PE that cannot go on says so in its next card instead of leaving, so that all fail together and nobody waits for it.
 * Spec: OpenSHMEM 1.6 §4 Execution Model, §9.1.1 shmem_init, §9.1.4 shmem_finalize, §9.1.5 shmem_query_initialized,
 * §9.1.13 start_pes, §9.2 Thread Support.  Tests: tests/api/init/, tests/api/threads/.
 */
#include "runtime/init.h"

#include "runtime/base/host.h"
#include "runtime/base/log.h"
#include "runtime/base/num.h"
#include "runtime/base/report.h"
#include "runtime/bootstrap/attr.h"
#include "runtime/coll/coll.h"
#include "runtime/connect.h"
#include "runtime/ctx.h"
#include "runtime/device.h"
#include "runtime/gpu/agent.h"
#include "runtime/gpu/gpu.h"
#include "runtime/heap.h"
#include "runtime/node.h"
#include "runtime/progress.h"
#include "runtime/rma.h"
#include "runtime/service.h"
#include "runtime/stats.h"
#include "runtime/sync.h"
#include "runtime/team.h"
#include "runtime/wait.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

enum { CARD_MAGIC = 0x504f5354, CARD_VERSION = 4 };
enum { TRIM_PES = 16 };                        /* from here on the cards are worth a call */
#define HEAP_BYTES_DEFAULT ((size_t)256 << 20) /* for the choice of pages; pages.c decides the size */
enum { SPIN_NS = 1000000, YIELD_CROWDED_NS = 1000000, SLEEP_NS = 1000000, SLEEP_POSTED_NS = 100000 };

#ifndef SHMEMI_CHECK_DEFAULT
#define SHMEMI_CHECK_DEFAULT 0
#endif

struct shmemi_state shmemi_state = {.node = {.node_fd = -1, .heap_fd = -1}};

static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;

/* The verdict was good: whoever fails from here on is waited for by the others, and must end the job. */
static bool all_start;

enum shmemi_log_level shmemi_init_silence_others(void)
{
    enum shmemi_log_level before = shmemi_log_level();
    if (shmemi_state.my_pe != 0) shmemi_log_set_level((enum shmemi_log_level) - 1);
    return before;
}

int shmemi_init_exchange(const void *mine, size_t bytes, void *all_out)
{
    return shmemi_state.boot->ops->allgather(shmemi_state.boot, mine, bytes, all_out, shmemi_options.init_timeout_ns);
}

int shmemi_init_no_memory(void)
{
    shmemi_error("could not get memory for start-up" WHY "malloc gave none" FIX "raise `ulimit -v`, or start fewer PEs");
    shmemi_state.boot->ops->abort(shmemi_state.boot, 1, "it could not start");
    return -ENOMEM;
}

/* ---- first exchange ---- */

static bool bound_to_cores(void)
{
    const char *binding = shmemi_options.boot_binding;
    return binding && strncmp(binding, "none", 4) != 0;
}

static bool checks_calls(void)
{
    return shmemi_options.check == SHMEMI_ON_AUTO ? SHMEMI_CHECK_DEFAULT : shmemi_options.check == SHMEMI_ON_YES;
}

static bool is_limited(__rlimit_resource_t what)
{
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    return getrlimit(what, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/*
 * What the machine and the control groups allow. That is a dozen files of the kernel, so of the PEs of a machine one reads them for all that
 * are in the same groups, most often; who has limits of its own reads too. The launcher's word on who is first is only a hint:
 * complete_cards() sees who was not spoken for.
 */
static void look_at_machine(struct shmemi_card *card)
{
    struct shmemi_pages_room room = {.bytes = 0};
    if (shmemi_pages_room("", &room) != 0) room.bytes = UINT64_MAX;
    int quota         = shmemi_host_quota_cores("");
    card->looked      = true;
    card->room_bytes  = room.bytes;
    card->quota_cores = quota == INT_MAX ? UINT32_MAX : (uint32_t)quota;
    snprintf(card->room_limit, sizeof card->room_limit, "%s", room.limit);
}

static bool speaks_for_itself(const struct shmemi_card *card)
{
    return shmemi_state.boot->local_rank <= 0 || card->groups == 0 || card->space_limited;
}

static void fill_card(struct shmemi_card *card, int failed)
{
    struct shmemi_state  *state  = &shmemi_state;
    uint64_t              label  = 0;
    enum shmemi_log_level before = shmemi_log_level();
    shmemi_log_set_level((enum shmemi_log_level) - 1); /* it is said later, by one PE, since most often all have it */
    int wrong = shmemi_node_label(shmemi_options.node, state->my_pe, &label);
    shmemi_log_set_level(before);
    *card = (struct shmemi_card){
        .magic         = CARD_MAGIC,
        .version       = CARD_VERSION,
        .options_hash  = shmemi_options_hash(),
        .nonce         = state->nonce,
        .boot_id       = shmemi_host_boot_id(),
        .label         = label,
        .heap_asked    = shmemi_options.heap_bytes,
        .groups        = shmemi_host_groups(),
        .room_bytes    = UINT64_MAX,
        .data_bytes    = state->data.bytes,
        .identity      = {state->data.identity[0], state->data.identity[1]},
        .membarrier    = shmemi_options.membarrier != SHMEMI_ON_NO && shmemi_wait_register(),
        .failed        = failed ? failed : wrong,
        .thread_level  = (uint32_t)state->thread_level,
        .space_limited = is_limited(RLIMIT_AS) || is_limited(RLIMIT_FSIZE),
        .check         = checks_calls(),
        .device        = shmemi_device_wanted(),
        .heap_unit     = shmemi_pages_unit(shmemi_options.pages,
                                       shmemi_options.heap_bytes == SIZE_MAX ? HEAP_BYTES_DEFAULT : shmemi_options.heap_bytes),
    };
    shmemi_host_cpus(card->cpus, SHMEMI_CARD_CPU_WORDS);
    shmemi_gpu_fill_card(&card->gpu);
    if (speaks_for_itself(card)) look_at_machine(card);
    snprintf(card->executable, sizeof card->executable, "%.95s", state->data.executable);
    shmemi_host_name(card->host, sizeof card->host);
}

/* All cards are of this version of the library, and nobody has failed. */
static bool can_compare(void)
{
    const struct shmemi_card *cards = shmemi_state.cards;
    for (int pe = 0; pe < shmemi_state.npes; pe++)
        if (cards[pe].failed || cards[pe].magic != CARD_MAGIC || cards[pe].version != CARD_VERSION) return false;
    return true;
}

static int compare_cards(void)
{
    const struct shmemi_card *cards = shmemi_state.cards;
    for (int pe = 0; pe < shmemi_state.npes; pe++) {
        if (cards[pe].failed) return cards[pe].failed;
        if (cards[pe].magic != CARD_MAGIC || cards[pe].version != CARD_VERSION) {
            shmemi_error("PE %d uses another version of the library" WHY "PE 0 speaks start-up version %u, PE %d version %u" FIX
                         "start all PEs with the same libpostern",
                         pe, cards[0].version, pe, cards[pe].version);
            return -EPROTO;
        }
        if (cards[pe].options_hash != cards[0].options_hash) {
            shmemi_error(
                "PE %d has other options than PE 0" WHY
                "SHMEM_SYMMETRIC_SIZE and some POSTERN_ variables must be equal on all PEs (docs/environment.md marks them)" FIX
                "set them for the whole job: oshrun --env NAME=VALUE",
                pe);
            return -EINVAL;
        }
    }
    return 0;
}

/* Has a PE of the same machine and groups looked? The search begins at *at, where one was found last: launchers deal out PEs in order. */
static bool is_spoken_for(const struct shmemi_card *card, int *at)
{
    const struct shmemi_card *cards = shmemi_state.cards;
    for (int i = 0; i < shmemi_state.npes; i++, *at = (*at + 1) % shmemi_state.npes) {
        const struct shmemi_card *other = &cards[*at];
        if (other->looked && other->boot_id == card->boot_id && other->groups == card->groups) return true;
    }
    return false;
}

/* The same answer on all PEs, since it is made from the cards. */
static bool all_are_spoken_for(void)
{
    int at = 0;
    for (int pe = 0; pe < shmemi_state.npes; pe++)
        if (!shmemi_state.cards[pe].looked && !is_spoken_for(&shmemi_state.cards[pe], &at)) return false;
    return true;
}

/* Where a PE is in groups of its own, in a container say, one more exchange: everybody looks. */
static int complete_cards(const struct shmemi_card *mine)
{
    if (all_are_spoken_for()) return 0;
    struct shmemi_card full = *mine;
    if (!full.looked) look_at_machine(&full);
    return shmemi_init_exchange(&full, sizeof full, shmemi_state.cards);
}

/* What the PEs of one machine (not of one node: nodes may share a machine) have together. */
struct machine {
    int                      pes;
    struct shmemi_pages_room room;
};

static struct machine machine_of(uint64_t boot_id)
{
    const struct shmemi_card *cards   = shmemi_state.cards;
    struct machine            machine = {.room = {.bytes = UINT64_MAX}};
    for (int pe = 0; pe < shmemi_state.npes; pe++) {
        if (cards[pe].boot_id != boot_id) continue;
        machine.pes++;
        if (cards[pe].room_bytes >= machine.room.bytes) continue;
        machine.room.bytes = cards[pe].room_bytes;
        memcpy(machine.room.limit, cards[pe].room_limit, sizeof machine.room.limit);
    }
    return machine;
}

/* The machine with the least for each of its PEs decides. The same on all PEs: from the cards only. */
static int decide_heap(size_t *heap_bytes_out)
{
    const struct shmemi_card *cards      = shmemi_state.cards;
    size_t                    data_bytes = 0;
    struct machine            tightest   = machine_of(cards[0].boot_id);
    for (int pe = 0; pe < shmemi_state.npes; pe++) {
        if (cards[pe].data_bytes > data_bytes) data_bytes = cards[pe].data_bytes;
        if (pe == 0 || cards[pe].boot_id == cards[pe - 1].boot_id) continue;
        struct machine machine = machine_of(cards[pe].boot_id);
        if (machine.room.bytes / (uint64_t)machine.pes < tightest.room.bytes / (uint64_t)tightest.pes) tightest = machine;
    }
    return shmemi_pages_heap_size(&tightest.room, (size_t)cards[0].heap_asked, shmemi_state.ctrl_bytes + data_bytes, tightest.pes,
                                  shmemi_options.overcommit, heap_bytes_out);
}

/* Which static objects correspond, and whether any PE has code for kernels. */
static void note_executables(void)
{
    struct shmemi_state      *state = &shmemi_state;
    const struct shmemi_card *cards = state->cards, *mine = &cards[state->my_pe];
    int                       other = -1;
    state->same_data_everywhere     = true;
    for (int pe = 0; pe < state->npes; pe++) {
        if (cards[pe].device) state->device = true;
        bool same =
            memcmp(cards[pe].identity, mine->identity, sizeof mine->identity) == 0 && cards[pe].data_bytes == mine->data_bytes;
        state->peers[pe].same_data = same;
        if (!same) other = pe, state->same_data_everywhere = false;
    }
    if (state->data.bytes == 0)
        shmemi_report("static-data", SHMEMI_DEGRADED, "static objects are not symmetric: %s", state->data.reason);
    else if (!state->same_data_everywhere)
        shmemi_report("static-data", SHMEMI_DEGRADED, "not symmetric between different executables: this PE runs %s, PE %d %s",
                      mine->executable, other, cards[other].executable);
    else
        shmemi_report("static-data", SHMEMI_PRESENT, "static objects of %s are symmetric (%zu KiB)", mine->executable,
                      state->data.bytes >> 10);
}

static int first_exchange(int failed)
{
    struct shmemi_state *state = &shmemi_state;
    struct shmemi_card   mine;
    fill_card(&mine, failed);
    state->cards = calloc((size_t)state->npes, sizeof *state->cards);
    state->peers = calloc((size_t)state->npes, sizeof *state->peers);
    if (!state->cards || !state->peers) return shmemi_init_no_memory();
    int err = shmemi_init_exchange(&mine, sizeof mine, state->cards);
    if (!err && can_compare()) err = complete_cards(&mine);
    if (err) return err;
    state->job.secret                = state->cards[0].nonce;
    enum shmemi_log_level before     = shmemi_init_silence_others();
    size_t                heap_bytes = 0;
    err                              = compare_cards();
    if (!err) err = decide_heap(&heap_bytes);
    if (!err) err = shmemi_gpu_plan();
    shmemi_log_set_level(before);
    if (err) return err;
    note_executables();
    return shmemi_node_plan(state->cards, heap_bytes);
}

/* ---- second exchange ---- */

/* Nodes in the order of their first PEs. All must see the nodes alike, or some would wait for memory that nobody sends. */
static int number_nodes(const struct shmemi_node_card *cards)
{
    struct shmemi_state *state = &shmemi_state;
    state->node_count          = 0;
    for (int pe = 0; pe < state->npes; pe++) {
        int first             = cards[pe].first;
        state->peers[pe].node = first == pe ? state->node_count++ : state->peers[first].node;
        if ((first == state->node.pes[0]) == (state->node.local_of[pe] >= 0)) continue;
        shmemi_error("PE %d and PE %d do not agree on whether they are on one node" WHY
                     "one reaches the other's Unix socket, but not the other way round" FIX
                     "start all PEs of a machine in one network namespace, or give each group a name by POSTERN_NODE",
                     state->my_pe, pe);
        return -EPROTO;
    }
    return 0;
}

/* By which transport all PEs reach other nodes; "" where they have not one in common. */
static const char *common_way(const struct shmemi_node_card *cards)
{
    for (int pe = 1; pe < shmemi_state.npes; pe++)
        if (strcmp(cards[pe].way, cards[0].way) != 0) return "";
    return cards[0].way;
}

/* The result is the same on all PEs; what fails here alone goes to *failed_out and into the next card. */
static int second_exchange(int *failed_out, char *way_out, size_t way_bytes)
{
    struct shmemi_state                      *state = &shmemi_state;
    struct shmemi_node_card                   mine  = {.failed = 0};
    SHMEMI_AUTO_FREE struct shmemi_node_card *cards = calloc((size_t)state->npes, sizeof *cards);
    if (!cards) return shmemi_init_no_memory();
    mine.first  = state->node.pes[0];
    mine.failed = shmemi_node_create(shmemi_options.pages, &mine);
    mine.gpu    = shmemi_gpu_share(mine.failed);
    if (!mine.failed) mine.failed = shmemi_connect_probe(mine.way, sizeof mine.way);
    int err = shmemi_init_exchange(&mine, sizeof mine, cards);
    if (!err) shmemi_node_say_unreached();
    for (int pe = 0; pe < state->npes && !err; pe++) err = cards[pe].failed;
    for (int pe = 0; pe < state->npes && !err; pe++) {
        if (!cards[pe].gpu) continue;
        err = shmemi_gpu_without(pe, cards[pe].gpu);
        break;
    }
    if (!err) err = number_nodes(cards);
    if (err) return err;
    snprintf(way_out, way_bytes, "%s", common_way(cards));
    const struct shmemi_node_card *first = &cards[state->node.pes[0]];
    *failed_out                          = shmemi_node_map();
    if (state->all_heap_bytes == 0) {
        shmemi_report("huge", SHMEMI_CHOICE, "the symmetric heap has no bytes");
    } else {
        bool huge = first->page_bytes > (uint32_t)shmemi_host_page_bytes();
        shmemi_report("huge", huge ? SHMEMI_PRESENT : SHMEMI_DEGRADED, "heap of %zu MiB per PE on %s pages of %u KiB%s%s",
                      state->all_heap_bytes >> 20, first->page_kind, first->page_bytes >> 10, first->page_detail[0] ? "; " : "",
                      first->page_detail);
    }
    return 0;
}

/* ---- settings that follow from the cards ---- */

/* Have the PEs of this machine fewer cores than there are PEs? A core that some are bound to counts once. */
static bool is_crowded(void)
{
    const struct shmemi_card *cards                      = shmemi_state.cards;
    uint64_t                  set[SHMEMI_CARD_CPU_WORDS] = {0};
    uint32_t                  pes = 0, cores = 0, quota = 0;
    for (int pe = 0; pe < shmemi_state.npes; pe++) {
        if (cards[pe].boot_id != cards[shmemi_state.my_pe].boot_id) continue;
        pes++;
        for (int word = 0; word < SHMEMI_CARD_CPU_WORDS; word++) set[word] |= cards[pe].cpus[word];
        if (cards[pe].quota_cores > quota) quota = cards[pe].quota_cores;
    }
    for (int word = 0; word < SHMEMI_CARD_CPU_WORDS; word++) cores += (uint32_t)__builtin_popcountll(set[word]);
    return pes > (cores < quota ? cores : quota);
}

/* oshrun says what it has done; of other launchers only the result is known. */
static void report_binding(void)
{
    const struct shmemi_card *mine   = &shmemi_state.cards[shmemi_state.my_pe];
    long                      online = sysconf(_SC_NPROCESSORS_ONLN);
    int                       cpus   = 0;
    for (int word = 0; word < SHMEMI_CARD_CPU_WORDS; word++) cpus += __builtin_popcountll(mine->cpus[word]);
    if (shmemi_options.boot_binding)
        shmemi_report("bind", bound_to_cores() ? SHMEMI_PRESENT : SHMEMI_CHOICE, "%s", shmemi_options.boot_binding);
    else if (cpus < online) shmemi_report("bind", SHMEMI_PRESENT, "to %d of %ld CPUs, by what started it", cpus, online);
    else shmemi_report("bind", SHMEMI_CHOICE, "none: not started by oshrun");
}

static void choose_waiting(void)
{
    struct shmemi_state *state = &shmemi_state;
    state->writers_fence       = false;
    for (int i = 0; i < state->node.count; i++)
        if (!state->cards[state->node.pes[i]].membarrier) state->writers_fence = true;
    state->crowded         = is_crowded(); /* the same on all of the node: it chooses the barrier */
    bool choose            = shmemi_options.spin_ns < 0;
    state->spin_ns         = !choose ? shmemi_options.spin_ns : state->crowded ? 0 : SPIN_NS;
    state->yield_ns        = choose && state->crowded ? YIELD_CROWDED_NS : 0;
    state->wait_timeout_ns = shmemi_options.wait_timeout_ns;
    shmemi_report("membarrier", state->writers_fence ? SHMEMI_DEGRADED : SHMEMI_PRESENT, "%s",
                  state->writers_fence ? "not on all PEs of this node: every store to a peer is followed by a fence"
                                       : "sleepers pay for the order of sleep and store");
    report_binding();
    if (state->yield_ns)
        shmemi_report("waiting", SHMEMI_CHOICE, "gives its core away for %lld us, then sleeps (more PEs than cores)",
                      (long long)(state->yield_ns / 1000));
    else
        shmemi_report("waiting", SHMEMI_CHOICE, "spins %lld us, then sleeps%s", (long long)(state->spin_ns / 1000),
                      state->crowded ? " (more PEs than cores)" : "");
}

/* What every transport in use copies; above POST_SMALL_BYTES the instructions saved no longer count. */
static size_t posts_small(void)
{
    enum { POST_SMALL_BYTES = 256 };
    const struct shmemi_state *state = &shmemi_state;
    size_t                     bytes = POST_SMALL_BYTES;
    if (!state->posted || state->check || state->stats || state->gpu) return 0;
    for (int pe = 0; pe < state->npes; pe++) {
        if (state->peers[pe].mapped != SHMEMI_NOT_MAPPED) continue;
        const struct shmemt_traits *traits = &state->transports[state->peers[pe].posted]->traits;
        if (traits->copy_bytes_max < bytes) bytes = traits->copy_bytes_max;
        if (traits->bytes_max < bytes) bytes = traits->bytes_max;
    }
    return bytes;
}

static void choose_paths(void)
{
    struct shmemi_state *state    = &shmemi_state;
    bool                 in_order = true, all_mapped = true, same_data = true;
    bool                 nic = state->job.agent == SHMEMT_AGENT_NIC;
    state->posted            = false;
    for (int pe = 0; pe < state->npes; pe++)
        if (state->peers[pe].mapped < 0 || (nic && state->peers[pe].posted >= 0)) state->posted = true;
    for (int i = 0; i < state->node.count; i++) {
        const struct shmemi_peer *peer = &state->peers[state->node.pes[i]];
        if (state->node.pes[i] != state->node.pes[0] + i) in_order = false;
        if (peer->mapped < 0) all_mapped = false;
        if (!peer->same_data) same_data = false;
    }
    state->check         = checks_calls();
    state->check_calls   = true;
    state->careful_words = state->check || state->gpu;
    for (int pe = 0; pe < state->npes; pe++)
        if (!state->cards[pe].check) state->check_calls = false;
    shmemi_stats_start();
    state->post_small_bytes = posts_small();
    shmemi_rma_choose_copy(shmemi_options.copy_stream_bytes);

    bool plain        = in_order && all_mapped && !nic && !state->check && !state->stats && !state->writers_fence && !state->gpu;
    state->map_first  = (unsigned)state->node.pes[0];
    state->map_count  = plain ? (unsigned)state->node.count : 0;
    state->heap_base  = state->all_heap_base;
    state->heap_bytes = state->all_heap_bytes;
    state->data_base  = state->own_data_base;
    state->data_bytes = same_data ? state->own_data_bytes : 0;
    shmemi_report("checks", SHMEMI_CHOICE, "%s", state->check ? "every call is checked" : "off: POSTERN_CHECK=1 checks every call");
}

/*
 * A card is half a KiB, and a job may have very many PEs. What is asked for later is where they run, once for each node, and which executables
 * differ, if any do.
 */
static int forget_cards(void)
{
    struct shmemi_state *state = &shmemi_state;
    static_assert(sizeof *state->hosts == sizeof state->cards->host, "a name is copied whole");
    state->hosts = calloc((size_t)state->node_count, sizeof *state->hosts);
    if (!state->hosts) return shmemi_init_no_memory();
    for (int pe = state->npes - 1; pe >= 0; pe--)
        memcpy(state->hosts[state->peers[pe].node], state->cards[pe].host, sizeof *state->hosts);
    if (state->same_data_everywhere) {
        free(state->cards);
        state->cards = NULL;
    }
#if defined(__GLIBC__)
    /* All that start-up has taken grows with the job. Pages that were given back are kept by malloc otherwise, in every PE. */
    if (state->npes >= TRIM_PES) malloc_trim(0);
#endif
    return 0;
}

const char *shmemi_init_host(int pe)
{
    const struct shmemi_state *state = &shmemi_state;
    if (state->hosts) return state->hosts[state->peers[pe].node];
    return state->cards ? state->cards[pe].host : "?";
}

static void say_hello(void)
{
    struct shmemi_state *state = &shmemi_state;
    if (state->node_count == 1)
        shmemi_report("job", SHMEMI_CHOICE, "%d PE%s on %s, started by %s", state->npes, state->npes == 1 ? "" : "s",
                      shmemi_init_host(state->my_pe), state->boot->launcher);
    else
        shmemi_report("job", SHMEMI_CHOICE, "%d PEs on %d nodes, %d of them on this one (%s), started by %s", state->npes,
                      state->node_count, state->node.count, shmemi_init_host(state->my_pe), state->boot->launcher);
    if (state->my_pe != 0) return;
    if (shmemi_options.version) {
        char text[128];
        int  bytes =
            snprintf(text, sizeof text, "%s, OpenSHMEM %d.%d\n", SHMEM_VENDOR_STRING, SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION);
        if (write(STDOUT_FILENO, text, (size_t)bytes) < 0) shmemi_debug("standard output is closed");
    }
    if (shmemi_options.info) shmemi_options_print(STDOUT_FILENO);
    if (shmemi_options.info || shmemi_options.report) shmemi_report_print(shmemi_options.info ? STDOUT_FILENO : STDERR_FILENO);
}

/* ---- start and end ---- */

static void release_everything(bool started)
{
    struct shmemi_state *state = &shmemi_state;
    shmemi_service_before_unmap();
    shmemi_device_stop();
    shmemi_device_finish();
    shmemi_gpu_stop();
    shmemi_progress_stop();
    shmemi_ctx_finish_all();
    shmemi_team_finish_all();
    shmemi_connect_close();
    shmemi_gpu_close();
    shmemi_heap_finish();
    shmemi_node_close();
    shmemi_wait_signal_remove();
    if (state->boot) state->boot->ops->close(state->boot, started);
    shmemi_service_stop();
    shmemi_report_clear();
    free(state->peers);
    free(state->cards);
    free(state->hosts);
    shmemi_stats_stop();
    shmemi_state = (struct shmemi_state){.node = {.node_fd = -1, .heap_fd = -1}};
}

/* How a caller brings its own job; see shmemi_init_with(). */
struct own_job {
    int (*open)(const void *how, struct shmemb **b_out); /* NULL: the launcher's job */
    const void *how;
};

/*
 * *failed_out: an option has a wrong value here. It is said later, by one PE, since most often all have it.
 */
static int join_job(const struct own_job *own, int level, int *failed_out)
{
    struct shmemi_state *state = &shmemi_state;
    shmemi_log_set_level((enum shmemi_log_level) - 1);
    *failed_out = shmemi_options_load();
    shmemi_log_set_level(shmemi_options.debug ? SHMEMI_LOG_DEBUG : (enum shmemi_log_level)shmemi_options.log);
    int err = own->open ? own->open(own->how, &state->boot) : shmemi_attr_refuse_plain();
    if (!err && !own->open) err = shmemi_bootstrap_open(&state->boot);
    if (err) return err;
    state->my_pe        = state->boot->pe;
    state->npes         = state->boot->npes;
    state->pid          = getpid();
    state->thread_level = level;
    shmemi_team_plan_slots();
    shmemi_log_set_pe(state->my_pe);
    return 0;
}

/* After an exchange that failed: the first PE with wrong options says so. */
static void say_wrong_options(void)
{
    struct shmemi_state *state = &shmemi_state;
    uint64_t             unused;
    for (int pe = 0; state->cards && pe < state->my_pe; pe++)
        if (state->cards[pe].failed) return;
    if (shmemi_options_load() == 0) shmemi_node_label(shmemi_options.node, state->my_pe, &unused);
}

static int draw_nonce(void)
{
    ssize_t bytes = getrandom(&shmemi_state.nonce, sizeof shmemi_state.nonce, GRND_NONBLOCK);
    if (bytes == (ssize_t)sizeof shmemi_state.nonce) return 0;
    int err = bytes < 0 ? errno : EAGAIN;
    shmemi_error("could not draw a random number: %s" WHY "getrandom was refused, or the machine has just started" FIX
                 "start the job again",
                 strerror(err));
    return -err;
}

static int set_up(int options_failed)
{
    struct shmemi_state *state  = &shmemi_state;
    int                  failed = options_failed;
    if (options_failed) {
        int err = first_exchange(options_failed);
        say_wrong_options();
        return err ? err : options_failed;
    }
    if (state->my_pe == 0) failed = shmemi_options_report_unknown();
    if (shmemi_options.static_data) {
        int err = shmemi_data_find(&state->data);
        if (err) failed = err;
    } else {
        snprintf(state->data.reason, sizeof state->data.reason, "POSTERN_STATIC_DATA is 0");
    }
    if (!failed) failed = draw_nonce();
    if (!failed) failed = shmemi_node_listen();
    if (!failed) failed = shmemi_gpu_open();
    int err = first_exchange(failed);
    if (err && !failed) say_wrong_options();
    if (err) return err;
    char way[sizeof(((struct shmemi_node_card *)NULL)->way)];
    if ((err = second_exchange(&failed, way, sizeof way))) return err;
    choose_waiting();
    if (!failed) failed = shmemi_connect_open(way);
    if (!failed) failed = shmemi_heap_init();
    if (!failed) failed = shmemi_gpu_start();
    if (!failed) failed = shmemi_service_start(); /* last before the verdict: what can fail on one PE alone */
    if ((err = shmemi_connect_all(failed, &all_start))) return err;
    choose_paths();
    if ((err = forget_cards())) return err;
    if ((err = shmemi_team_init())) return err;
    if ((err = shmemi_ctx_init_default())) return err;
    if ((err = shmemi_gpu_serve())) return err;
    if ((err = shmemi_progress_start())) return err;
    if (state->device || state->gpu) state->silent_writers = true; /* kernels store, and look at no sleeper */
    state->sleep_ns = state->silent_writers ? SLEEP_POSTED_NS : SLEEP_NS;
    shmemi_wait_signal_install();
    shmemi_service_await_listener();
    shmemi_device_report();
    say_hello();
    return 0;
}

static int init_locked(const struct own_job *own, int requested, int *provided)
{
    struct shmemi_state *state = &shmemi_state;
    if (atomic_load_explicit(&state->init_count, memory_order_relaxed) > 0) {
        atomic_fetch_add_explicit(&state->init_count, 1, memory_order_relaxed);
        *provided = state->thread_level;
        return 0;
    }
    int options_failed = 0;
    int err            = join_job(own, requested, &options_failed);
    if (!err) {
        all_start = false;
        err       = set_up(options_failed);
        if (err && all_start) shmemi_state.boot->ops->abort(shmemi_state.boot, 1, "it could not start");
        if (err) release_everything(false);
    }
    if (err) return err;
    atomic_store_explicit(&state->init_count, 1, memory_order_release);
    if (state->device) shmemi_device_start();
    *provided = state->thread_level;
    return 0;
}

int shmemi_init_with(int (*open)(const void *how, struct shmemb **b_out), const void *how, int requested, int *provided_out)
{
    const struct own_job own   = {.open = open, .how = how};
    int                  level = SHMEM_THREAD_SINGLE;
    if (requested < SHMEM_THREAD_SINGLE || requested > SHMEM_THREAD_MULTIPLE) {
        shmemi_error("shmem_init_thread: %d is no thread level" WHY
                     "levels are SHMEM_THREAD_SINGLE (%d) to SHMEM_THREAD_MULTIPLE (%d)" FIX "pass one of the four",
                     requested, SHMEM_THREAD_SINGLE, SHMEM_THREAD_MULTIPLE);
        return -EINVAL;
    }
    if (shmemi_service_ends_here()) return -ECANCELED; /* from an exit handler, while the job ends */
    pthread_mutex_lock(&start_lock);
    int err = init_locked(&own, requested, &level);
    pthread_mutex_unlock(&start_lock);
    if (!err && provided_out) *provided_out = level;
    return err;
}

int pshmem_init_thread(int requested, int *provided)
{
    return -shmemi_init_with(NULL, NULL, requested, provided);
}
SHMEMI_EXPORT(shmem_init_thread)

void pshmem_init(void)
{
    int level;
    if (pshmem_init_thread(SHMEM_THREAD_SINGLE, &level) != 0) exit(1);
}
SHMEMI_EXPORT(shmem_init)

/*
 * Our last words of the barrier must leave before the transports close, and the others' answers to theirs too: nobody closes before all have
 * said that they owe and expect nothing. Not by the transports, of course.
 */
static void say_goodbye(void)
{
    shmemi_ctx_quiet_all();
    if (shmemi_init_exchange(NULL, 0, NULL) == -ETIMEDOUT)
        shmemi_service_fatal(
            "shmem_finalize",
            "a PE has not come to the end of the job" WHY
            "all PEs have met in this PE's last shmem_finalize, and some of them by another collective call: they wait "
            "where nobody will come any more" FIX
            "call shmem_init and shmem_finalize equally often on every PE, and all collective calls in the same order");
    shmemi_service_expect_goodbyes();
}

/* Of the program, where start_pes's exit handler finalizes. */
static int exit_status;

void pshmem_finalize(void)
{
    struct shmemi_state *state = &shmemi_state;
    if (shmemi_service_ends_here()) return; /* from an exit handler, while the job ends: there is nobody to meet in a barrier */
    pthread_mutex_lock(&start_lock);
    int count = atomic_load_explicit(&state->init_count, memory_order_relaxed);
    if (count == 0) {
        pthread_mutex_unlock(&start_lock);
        shmemi_error("shmem_finalize: nothing to finalize" WHY "there is no unmatched shmem_init" FIX
                     "call it once for each shmem_init");
        return;
    }
    if (getpid() != state->pid) { /* a fork of a PE, perhaps in an exit handler: it is no PE, and must not arrive in its barrier */
        atomic_store_explicit(&state->init_count, 0, memory_order_release);
        pthread_mutex_unlock(&start_lock);
        return;
    }
    /* A finalize that is not the last one acts as shmem_barrier_all. Spec: §9.1.4. */
    if (count == 1) {
        shmemi_gpu_agent_stop(); /* what streams of the GPU still have is done before anybody leaves */
        shmemi_device_stop();
        shmemi_ctx_quiet_all();
        state->boot->ops->leaving(state->boot, state->world.epoch, exit_status);
    }
    shmemi_sync_barrier("shmem_finalize", SHMEMI_COLL_BARRIER);
    if (count == 1) {
        if (state->posted) say_goodbye();
        shmemi_stats_print();
        atomic_store_explicit(&state->init_count, 0, memory_order_release);
        release_everything(true);
    } else {
        atomic_fetch_sub_explicit(&state->init_count, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&start_lock);
}
SHMEMI_EXPORT(shmem_finalize)

/* ---- start_pes ---- */

/*
 * Drop the reference of start_pes. Nothing to drop where the program has finalized itself; and a forked child is no PE.
 * A status other than 0 is told to the launcher, which gives the others a while to come to their end too, and then ends them.
 */
static void finalize_at_exit(int status, void *unused)
{
    (void)unused;
    if (!shmemi_state_running() || getpid() != shmemi_state.pid) return;
    exit_status = status & 0xff;
    shmemi_service_at_exit(pshmem_finalize);
}

/* The number of PEs was settled when they were started. Only the first call counts. Spec: §9.1.13. */
void pstart_pes(int npes)
{
    static atomic_flag called = ATOMIC_FLAG_INIT;
    (void)npes;
    if (atomic_flag_test_and_set(&called)) return;
    pshmem_init();
    if (on_exit(finalize_at_exit, NULL) != 0)
        shmemi_service_fatal("start_pes", "could not register the end of the job with exit()" WHY "there is no memory left" FIX
                                          "call shmem_init and shmem_finalize instead of start_pes");
}
SHMEMI_EXPORT(start_pes)

void pshmem_query_initialized(int *initialized)
{
    *initialized = atomic_load_explicit(&shmemi_state.init_count, memory_order_acquire) > 0;
}
SHMEMI_EXPORT(shmem_query_initialized)

void pshmem_query_thread(int *provided)
{
    *provided = shmemi_state.thread_level;
}
SHMEMI_EXPORT(shmem_query_thread)

void pshmem_global_exit(int status)
{
    shmemi_service_end(status);
}
SHMEMI_EXPORT(shmem_global_exit)
