/* SPDX-License-Identifier: Apache-2.0
 *
 * Layers: the nodes of a team, its views, and the meeting within a node; hier.h explains them.
 *
 * The words of that meeting are those of the central barrier, which a team on several nodes does not use: all count up central_arrived of the
 * leader, and the last one looks whether it sleeps; the leader then tells each by central_epoch. A leader that waits is woken once, and a
 * member too, with however few cores.
 * Tests: tests/api/coll_nodes/, tests/stress/collectives.c.
 */
#include "runtime/coll/hier.h"

#include "runtime/base/log.h"
#include "runtime/post.h"
#include "runtime/route.h"
#include "runtime/sync.h"
#include "runtime/team.h"
#include "runtime/wait.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct shmemi_hier **shmemi_hier_table;

struct area {
    SHMEMI_LINE char             bytes[SHMEMI_BOX_BYTES];
    SHMEMI_LINE _Atomic uint64_t arrived[2];
};

size_t shmemi_hier_slot_bytes(void)
{
    return sizeof(struct area);
}

/* ---- making ---- */

/* SHMEM_TEAM_WORLD is on several nodes, whose PEs map each other: all PEs opened shm, or none has a mapping of itself. */
static bool job_has_layers(void)
{
    const struct shmemi_state *state = &shmemi_state;
    return state->node_count > 1 && state->node_count < state->npes && state->same_transports &&
           state->peers[state->my_pe].mapped != SHMEMI_NOT_MAPPED && shmemi_options.coll_hierarchy != SHMEMI_ON_NO;
}

int shmemi_hier_init(void)
{
    if (!job_has_layers()) return 0;
    shmemi_hier_table = calloc((size_t)shmemi_state.slot_count, sizeof(struct shmemi_hier *));
    if (shmemi_hier_table) return 0;
    shmemi_error("could not get memory for %d teams" WHY "malloc gave none" FIX "raise `ulimit -v`", shmemi_state.slot_count);
    return -ENOMEM;
}

void shmemi_hier_finish(void)
{
    for (int slot = 0; shmemi_hier_table && slot < shmemi_state.slot_count; slot++) free(shmemi_hier_table[slot]);
    free(shmemi_hier_table);
    shmemi_hier_table = NULL;
}

/* Numbers the nodes by their first members. index: of each node of the job, -1. */
static void number_nodes(struct shmemi_hier *hier, const struct shmemi_team *team, int *index)
{
    hier->in_blocks = true;
    for (int member = 0; member < team->size; member++) {
        int node = shmemi_state.peers[shmemi_team_world_pe(team, member)].node;
        if (index[node] < 0) index[node] = hier->nodes++;
        hier->node_of[member] = index[node];
        if (member > 0 && hier->node_of[member] < hier->node_of[member - 1]) hier->in_blocks = false;
    }
    hier->node = hier->node_of[team->me];
}

/* next: an int for each node. */
static void list_members(struct shmemi_hier *hier, const struct shmemi_team *team, int *next)
{
    memset(hier->first, 0, ((size_t)hier->nodes + 1) * sizeof *hier->first);
    for (int member = 0; member < team->size; member++) hier->first[hier->node_of[member] + 1]++;
    for (int node = 0; node < hier->nodes; node++) {
        if (hier->first[node + 1] > hier->widest) hier->widest = hier->first[node + 1];
        hier->first[node + 1] += hier->first[node];
        next[node] = hier->first[node];
    }
    for (int member = 0; member < team->size; member++) {
        int place = next[hier->node_of[member]]++;
        if (member == team->me) hier->local.me = place - hier->first[hier->node];
        hier->pes[place] = shmemi_team_world_pe(team, member);
    }
}

static struct shmemi_team view(const int *list, int size, int me)
{
    return (struct shmemi_team){.size = size, .me = me, .stride = 1, .list = list, .slot = -1, .alive = true};
}

static void count_senders(struct shmemi_hier *hier)
{
    for (int node = 0; node < hier->nodes; node++) {
        int width = shmemi_hier_width(hier, node);
        if (node != hier->node && width > hier->local.me) hier->senders += (width - 1 - hier->local.me) / hier->local.size + 1;
    }
}

static void make_views(struct shmemi_hier *hier)
{
    for (int node = 0; node < hier->nodes; node++) hier->leader_pes[node] = hier->pes[hier->first[node]];
    hier->local        = view(hier->pes + hier->first[hier->node], shmemi_hier_width(hier, hier->node), hier->local.me);
    hier->leaders      = view(hier->leader_pes, hier->nodes, hier->node);
    hier->column       = view(hier->column_pes, hier->nodes, hier->node);
    hier->local.mapped = true;
}

int shmemi_hier_make(const struct shmemi_team *team, struct shmemi_hier **hier_out)
{
    size_t nodes = (size_t)shmemi_state.node_count, size = (size_t)team->size;
    *hier_out = NULL;
    if (!shmemi_hier_table || team->mapped || team->size < 3) return 0;
    /* node_of and pes; first; leader_pes and column_pes: there are fewer nodes than members, or it is not layered. */
    struct shmemi_hier   *hier  = calloc(1, sizeof *hier + 5 * size * sizeof(int));
    SHMEMI_AUTO_FREE int *index = malloc(nodes * sizeof *index);
    if (!hier || !index) {
        free(hier);
        return -ENOMEM;
    }
    memset(index, -1, nodes * sizeof *index);
    hier->node_of    = hier->numbers;
    hier->pes        = hier->node_of + size;
    hier->first      = hier->pes + size;
    hier->leader_pes = hier->first + size;
    hier->column_pes = hier->leader_pes + size;
    number_nodes(hier, team, index);
    if (hier->nodes < 2 || hier->nodes == team->size) {
        free(hier);
        return 0;
    }
    list_members(hier, team, index);
    make_views(hier);
    count_senders(hier);
    *hier_out = hier;
    return 0;
}

void shmemi_hier_attach(struct shmemi_hier *hier, const struct shmemi_team *team)
{
    if (!hier) return;
    hier->team                    = team;
    hier->local.slot              = team->slot;
    hier->leaders.slot            = team->slot;
    hier->column.slot             = team->slot;
    shmemi_hier_table[team->slot] = hier;
}

void shmemi_hier_drop(struct shmemi_hier *hier)
{
    if (!hier) return;
    if (hier->team) shmemi_hier_table[hier->team->slot] = NULL;
    free(hier);
}

/* ---- in the node ---- */

/* The team's slot of a member of this node. */
static char *slot_of(const struct shmemi_hier *hier, int local)
{
    int index = shmemi_state.peers[shmemi_team_world_pe(&hier->local, local)].local;
    return (char *)shmemi_state_ctrl((unsigned)index) + shmemi_state_slot_offset(hier->local.slot);
}

bool shmemi_hier_gather(const char *call, struct shmemi_hier *hier)
{
    struct shmemi_slot *slot   = (struct shmemi_slot *)(void *)slot_of(hier, 0);
    uint64_t            others = (uint64_t)hier->local.size - 1, wanted = ++hier->meetings * others;
    if (shmemi_hier_is_leader(hier)) {
        if (others > 0) shmemi_sync_wait(call, &slot->central_arrived, wanted, -1);
        return true;
    }
    /* Release: the leader sees what this PE stored before; pairs with its wait, which sees all additions through the last one. */
    if (atomic_fetch_add_explicit(&slot->central_arrived, 1, memory_order_release) + 1 == wanted)
        shmemi_wait_stored(shmemi_state.peers[shmemi_team_world_pe(&hier->local, 0)].local, &slot->central_arrived,
                           sizeof slot->central_arrived);
    return false;
}

void shmemi_hier_release(const char *call, struct shmemi_hier *hier)
{
    size_t offset = shmemi_state_slot_offset(hier->local.slot) + offsetof(struct shmemi_slot, central_epoch);
    if (shmemi_hier_is_leader(hier)) {
        for (int i = 1; i < hier->local.size; i++)
            shmemi_sync_notify(shmemi_team_world_pe(&hier->local, i), offset, hier->meetings);
    } else {
        shmemi_sync_wait(call, &shmemi_coll_slot(&hier->local)->central_epoch, hier->meetings,
                         shmemi_team_world_pe(&hier->local, 0));
    }
}

void shmemi_hier_meet(const char *call, struct shmemi_hier *hier)
{
    if (hier->local.size == 1) return;
    shmemi_hier_gather(call, hier);
    shmemi_hier_release(call, hier);
}

/* ---- between nodes ---- */

struct shmemi_team *shmemi_hier_full(struct shmemi_hier *hier, struct shmemi_team *team)
{
    hier->leaders.full = team->full++;
    shmemi_coll_full_end(team);
    return &hier->leaders;
}

struct shmemi_team *shmemi_hier_column(struct shmemi_hier *hier, int place)
{
    for (int node = 0; node < hier->nodes; node++)
        hier->column_pes[node] = hier->pes[hier->first[node] + place % shmemi_hier_width(hier, node)];
    return &hier->column;
}

void shmemi_hier_sort(const struct shmemi_hier *hier, char *blocks, size_t block_bytes, char *room)
{
    int n = hier->team->size;
    if (hier->in_blocks) return;
    memcpy(room, blocks, (size_t)n * block_bytes);
    for (int place = 0; place < n; place++)
        memcpy(blocks + (size_t)shmemi_hier_member(hier, place) * block_bytes, room + (size_t)place * block_bytes, block_bytes);
}

/* ---- areas ---- */

static size_t area_offset(void)
{
    return offsetof(struct shmemi_slot, round) + (size_t)shmemi_state.slot_rounds * sizeof(struct shmemi_round);
}

static struct area *area_of(const struct shmemi_hier *hier, int local)
{
    return (struct area *)(void *)(slot_of(hier, local) + area_offset());
}

void *shmemi_hier_area(const struct shmemi_hier *hier, int local)
{
    return area_of(hier, local)->bytes;
}

/* ---- arrivals ---- */

void shmemi_hier_arrivals_begin(struct shmemi_hier *hier, struct shmemi_team *team)
{
    hier->parity = ++team->full % 2;
    shmemi_coll_full_end(team);
}

void shmemi_hier_put(const char *call, const struct shmemi_hier *hier, const struct shmemi_team *view, void *dest,
                     const void *source, size_t bytes, int member)
{
    int                       pe     = shmemi_team_world_pe(view, member);
    struct shmemi_place       to     = {.mapped = NULL};
    const struct shmemi_place signal = {
        .transport = shmemi_state.peers[pe].posted,
        .pe        = pe,
        .segment   = SHMEMT_SEGMENT_CTRL,
        .offset    = shmemi_state_slot_offset(hier->local.slot) + area_offset() + offsetof(struct area, arrived) +
                  hier->parity * sizeof(_Atomic uint64_t),
    };
    if (bytes > 0) shmemi_route_find(&shmemi_state.ctx_default, call, dest, bytes, pe, &to);
    /* ADD: several members count in the same word, all of them by post. */
    shmemi_post_put_signal(&shmemi_state.ctx_default, &to, source, bytes, &signal, 1, SHMEMT_AMO_ADD, SHMEMI_POST_NBI);
}

void shmemi_hier_arrivals_wait(const char *call, struct shmemi_hier *hier, int count)
{
    struct area *mine = area_of(hier, hier->local.me);
    hier->arrivals[hier->parity] += (uint64_t)count;
    shmemi_sync_wait(call, &mine->arrived[hier->parity], hier->arrivals[hier->parity], -1);
}

/* ---- small values ---- */

/* All leaders combine in the order of nodes, or in pairs, so they compute the same bits. */
static void combine_leaders(const char *call, struct shmemi_team *leaders, void *value, size_t bytes, shmemi_coll_combine *combine,
                            void *argument)
{
    if (leaders->size > SHMEMI_FLAT_MAX) {
        shmemi_coll_doubling(call, leaders, value, bytes, combine, argument);
        return;
    }
    const struct shmemi_box *boxes = shmemi_coll_meet(call, leaders, value, bytes);
    memcpy(value, boxes[0].bytes, bytes);
    for (int i = 1; i < leaders->size; i++) combine(value, value, boxes[i].bytes, argument);
}

void shmemi_hier_combine(const char *call, struct shmemi_hier *hier, struct shmemi_team *team, void *value, size_t bytes,
                         shmemi_coll_combine *combine, void *argument)
{
    struct shmemi_team *leaders = shmemi_hier_full(hier, team);
    void               *mine    = shmemi_hier_area(hier, hier->local.me);
    if (!shmemi_hier_is_leader(hier)) memcpy(mine, value, bytes);
    if (shmemi_hier_gather(call, hier)) {
        for (int i = 1; i < hier->local.size; i++) combine(value, value, shmemi_hier_area(hier, i), argument);
        combine_leaders(call, leaders, value, bytes, combine, argument);
        for (int i = 1; i < hier->local.size; i++) memcpy(shmemi_hier_area(hier, i), value, bytes);
    }
    shmemi_hier_release(call, hier);
    if (!shmemi_hier_is_leader(hier)) memcpy(value, mine, bytes);
}
