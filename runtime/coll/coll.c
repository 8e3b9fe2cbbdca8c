/* SPDX-License-Identifier: Apache-2.0
 *
 * The common steps of the collectives; coll.h explains them.
 * Spec: OpenSHMEM 1.6 §9.10 Collective Routines.  Tests: tests/api/coll/, tests/stress/.
 */
#include "runtime/coll/coll.h"

#include "runtime/base/num.h"
#include "runtime/coll/hier.h"
#include "runtime/gpu/gpu.h"
#include "runtime/post.h"
#include "runtime/rma.h"
#include "runtime/route.h"
#include "runtime/service.h"
#include "runtime/sync.h"
#include "runtime/team.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static_assert((int)SHMEMI_PSYNC_VALUES >= (int)SHMEMI_ROUNDS_MAX &&
                  (int)SHMEMI_PSYNC_VALUES + (int)SHMEMI_ROUNDS_MAX <= SHMEM_SYNC_SIZE,
              "pSync holds a semaphore and a value for each round");

/* ---- arguments ---- */

static SHMEMI_COLD void no_team(const char *call)
{
    shmemi_service_fatal(call,
                         "there is no such team" WHY "it was destroyed, or never made" FIX "look at where the handle comes from");
}

struct shmemi_team *shmemi_coll_team(const char *call, shmem_team_t handle)
{
    if (SHMEMI_UNLIKELY(!shmemi_state_running())) shmemi_service_outside(call);
    struct shmemi_team *team = shmemi_team_of(handle);
    if (SHMEMI_UNLIKELY(team && !team->alive)) no_team(call);
    if (SHMEMI_LIKELY(!shmemi_state.check)) return team;
    if (!team)
        shmemi_service_fatal(call,
                             "the team is SHMEM_TEAM_INVALID" WHY "a collective needs a team, of which this PE is a member" FIX
                             "call it only on PEs for which the split gave a team");
    if (!shmemi_team_is_alive(team)) no_team(call);
    return team;
}

size_t shmemi_coll_bytes(const char *call, size_t nelems, size_t elem_bytes)
{
    size_t bytes;
    if (!shmemi_mul_size(nelems, elem_bytes, &bytes))
        shmemi_service_fatal(
            call, "%zu elements of %zu bytes" WHY "that is more than an address can count" FIX "look at the number of elements",
            nelems, elem_bytes);
    return bytes;
}

void shmemi_coll_null(const struct shmemi_coll_call *what)
{
    shmemi_service_fatal(what->call,
                         "%s is NULL" WHY "NULL is allowed where there are no elements; shmem_malloc and its kin return it when "
                         "the symmetric heap (%zu MiB) is full" FIX "check their results, or raise SHMEM_SYMMETRIC_SIZE",
                         !what->dest && what->dest_bytes ? "dest" : "source", shmemi_state.all_heap_bytes >> 20);
}

/* name: of the argument, for the message. */
static void check_symmetric(const char *call, const char *name, const void *address, size_t bytes)
{
    struct shmemi_place unused; /* the careful path has the messages */
    char                text[96];
    if (bytes == 0) return;
    snprintf(text, sizeof text, "%s: %s", call, name);
    shmemi_route_find(&shmemi_state.ctx_default, text, address, bytes, shmemi_state.my_pe, &unused);
}

static void check_overlap(const struct shmemi_coll_call *what)
{
    uintptr_t dest = (uintptr_t)what->dest, source = (uintptr_t)what->source;
    if (what->dest_bytes == 0 || what->source_bytes == 0 || (what->in_place && dest == source)) return;
    if (dest < source + what->source_bytes && source < dest + what->dest_bytes)
        shmemi_service_fatal(what->call,
                             "dest (%zu bytes at %p) and source (%zu bytes at %p) overlap" WHY
                             "a collective reads one while it writes the other%s" FIX "use separate arrays",
                             what->dest_bytes, what->dest, what->source_bytes, what->source,
                             what->in_place ? "; only the same address for both is allowed" : "");
}

/* ---- do all call the same? ---- */

struct record {
    int32_t  pe;
    uint32_t kind;
    uint64_t dest, source, shape[3]; /* addresses as positions */
    char     call[64];
};
static_assert(sizeof(struct record) <= SHMEMI_BOX_BYTES, "the record of a call fits a box");

static uint64_t position_of(const void *address, size_t bytes)
{
    int      segment;
    uint64_t offset;
    if (bytes == 0 || !shmemi_route_segment(address, &segment, &offset)) return 0;
    return shmemi_route_position(segment, offset);
}

/* What the numbers of a call are, for messages. */
static const char *const shape_names[][3] = {
    [SHMEMI_COLL_BARRIER]   = {NULL},
    [SHMEMI_COLL_SPLIT]     = {"the first number (start or xrange)", "stride", "size"},
    [SHMEMI_COLL_BROADCAST] = {"the number of bytes", "PE_root"},
    [SHMEMI_COLL_COLLECT]   = {"the number of bytes"},
    [SHMEMI_COLL_FCOLLECT]  = {"the number of bytes of one PE"},
    [SHMEMI_COLL_ALLTOALL]  = {"the number of bytes for each PE"},
    [SHMEMI_COLL_ALLTOALLS] = {"the number of bytes for each PE", "dst", "sst"},
    [SHMEMI_COLL_REDUCE]    = {"the number of elements"},
    [SHMEMI_COLL_SCAN]      = {"the number of elements"},
};

static void describe_difference(const struct record *mine, const struct record *theirs, char *text, size_t text_bytes)
{
    if (mine->dest != theirs->dest) snprintf(text, text_bytes, "dest is not the same symmetric object on both");
    else if (mine->source != theirs->source) snprintf(text, text_bytes, "source is not the same symmetric object on both");
    else
        for (int i = 0; i < 3; i++)
            if (mine->shape[i] != theirs->shape[i]) {
                const char *name = shape_names[mine->kind][i];
                snprintf(text, text_bytes, "%s is %lld here and %lld there", name ? name : "a number", (long long)mine->shape[i],
                         (long long)theirs->shape[i]);
                return;
            }
}

static void compare(const char *call, const struct record *mine, const struct record *theirs)
{
    char text[120] = "";
    if (mine->kind == SHMEMI_COLL_HEAP && theirs->kind == SHMEMI_COLL_HEAP) return;
    if (mine->kind != theirs->kind || strcmp(mine->call, theirs->call) != 0)
        shmemi_service_fatal(call,
                             "PE %d calls %s where this PE calls %s" WHY
                             "all PEs of a team make the same collective calls in the same order" FIX
                             "look at the conditions around the two calls",
                             theirs->pe, theirs->call, mine->call);
    describe_difference(mine, theirs, text, sizeof text);
    if (text[0])
        shmemi_service_fatal(call,
                             "PE %d and this PE pass different arguments: %s" WHY
                             "all PEs of a team pass the same ones to a collective" FIX "look at how the arguments are made",
                             theirs->pe, text);
}

void shmemi_coll_check(const struct shmemi_coll_call *what, struct shmemi_team *team)
{
    if (team->slot < 0 || !shmemi_state.check_calls) return;
    struct record mine = {
        .pe     = shmemi_state.my_pe,
        .kind   = what->kind,
        .dest   = position_of(what->dest, what->dest_bytes),
        .source = what->own_source ? 0 : position_of(what->source, what->source_bytes),
    };
    memcpy(mine.shape, what->shape, sizeof mine.shape);
    snprintf(mine.call, sizeof mine.call, "%s", what->call);

    int n = team->size, me = team->me;
    shmemi_coll_full_begin(team);
    for (int round = 0, distance = 1; distance < n; round++, distance *= 2) {
        shmemi_coll_full_send(team, round, (int)(((long)me + distance) % n), &mine, sizeof mine);
        compare(what->call, &mine, shmemi_coll_full_receive(what->call, team, round, (int)(((long)me - distance + n) % n)));
    }
    shmemi_coll_full_end(team);
}

void shmemi_coll_enter_checked(const struct shmemi_coll_call *what, struct shmemi_team *team)
{
    check_symmetric(what->call, "dest", what->dest, what->dest_bytes);
    check_symmetric(what->call, "source", what->source, what->source_bytes);
    check_overlap(what);
    shmemi_coll_check(what, team);
}

/* ---- moving ---- */

static void find(const char *call, const struct shmemi_team *team, const void *address, size_t bytes, int member,
                 struct shmemi_place *place_out)
{
    shmemi_route_find(&shmemi_state.ctx_default, call, address, bytes, shmemi_team_world_pe(team, member), place_out);
}

void *shmemi_coll_peer(const char *call, const struct shmemi_team *team, const void *address, size_t bytes, int member)
{
    struct shmemi_place place;
    find(call, team, address, bytes, member, &place);
    return place.mapped;
}

void shmemi_coll_put(const char *call, const struct shmemi_team *team, void *dest, const void *source, size_t bytes, int member)
{
    struct shmemi_place to;
    if (bytes == 0) return;
    find(call, team, dest, bytes, member, &to);
    if (to.mapped) shmemi_rma_copy(to.mapped, source, bytes, shmemi_rma_large_put);
    else shmemi_post_put(&shmemi_state.ctx_default, &to, source, bytes, SHMEMI_POST_NBI);
}

void shmemi_coll_get(const char *call, const struct shmemi_team *team, void *dest, const void *source, size_t bytes, int member)
{
    struct shmemi_place from;
    if (bytes == 0) return;
    find(call, team, source, bytes, member, &from);
    if (from.mapped) shmemi_rma_copy(dest, from.mapped, bytes, shmemi_rma_large_get);
    else shmemi_post_get(&shmemi_state.ctx_default, &from, dest, bytes, SHMEMI_POST_NBI);
}

void shmemi_coll_quiet(void)
{
    /* On mapped routes the copies are done, and the release of the next notification orders them. */
    if (SHMEMI_UNLIKELY(shmemi_state.gpu)) shmemi_gpu_complete();
    if (SHMEMI_UNLIKELY(shmemi_state.posted)) shmemi_post_quiet(&shmemi_state.ctx_default, SHMEMT_ALL_PES);
}

/* The count itself: nobody tells anything before it was asked to, so this is what all earlier ones came to. */
uint64_t shmemi_coll_done_expected(const struct shmemi_team *team)
{
    return atomic_load_explicit(&shmemi_coll_slot(team)->done, memory_order_relaxed) + (uint64_t)team->size - 1;
}

void shmemi_coll_done_tell(const struct shmemi_team *team, int member, uint64_t expected)
{
    int                 local = shmemi_state.peers[shmemi_team_world_pe(team, member)].local;
    char               *ctrl  = (char *)shmemi_state_ctrl((unsigned)local);
    struct shmemi_slot *slot  = (struct shmemi_slot *)(void *)(ctrl + shmemi_state_slot_offset(team->slot));
    /* Release: my reads are over; pairs with the wait, which sees all additions through the last one. */
    if (atomic_fetch_add_explicit(&slot->done, 1, memory_order_release) + 1 == expected)
        shmemi_wait_stored(local, &slot->done, sizeof slot->done);
}

void shmemi_coll_done_wait(const char *call, const struct shmemi_team *team, uint64_t expected)
{
    shmemi_sync_wait(call, &shmemi_coll_slot(team)->done, expected, -1);
}

void shmemi_coll_barrier(const char *call, struct shmemi_team *team)
{
    shmemi_coll_quiet();
    shmemi_sync_team(call, team);
}

/* ---- boxes ---- */

/* box_offset: from the start of the slot. */
static void send(const struct shmemi_team *team, int member, size_t box_offset, uint64_t seq, const void *mine, size_t bytes)
{
    int                       pe     = shmemi_team_world_pe(team, member);
    const struct shmemi_peer *peer   = &shmemi_state.peers[pe];
    size_t                    offset = shmemi_state_slot_offset(team->slot) + box_offset;
    if (SHMEMI_LIKELY(peer->mapped != SHMEMI_NOT_MAPPED)) {
        struct shmemi_box *box = (struct shmemi_box *)(void *)((char *)shmemi_state_ctrl((unsigned)peer->local) + offset);
        if (bytes == sizeof(uint64_t)) memcpy(box->bytes, mine, sizeof(uint64_t));
        else if (bytes) memcpy(box->bytes, mine, bytes);
        atomic_store_explicit(&box->seq, seq, memory_order_release); /* vouches for the contents; pairs with the wait */
        shmemi_wait_stored(peer->local, &box->seq, sizeof box->seq);
        return;
    }
    struct shmemi_place signal   = {.transport = peer->posted, .pe = pe, .segment = SHMEMT_SEGMENT_CTRL, .offset = offset};
    struct shmemi_place contents = signal;
    contents.offset += offsetof(struct shmemi_box, bytes);
    shmemi_post_put_signal(&shmemi_state.ctx_default, &contents, mine, bytes, &signal, seq, SHMEMT_AMO_SET, SHMEMI_POST_LOCAL);
}

/* Bytes to the member's dest, and an empty box that follows them. */
static void put_and_send(const char *call, const struct shmemi_team *team, int member, size_t box_offset, uint64_t seq, void *dest,
                         const void *source, size_t bytes)
{
    struct shmemi_place to = {.mapped = NULL};
    if (bytes > 0) find(call, team, dest, bytes, member, &to);
    if (bytes == 0 || to.mapped) {
        if (bytes > 0) shmemi_rma_copy(to.mapped, source, bytes, shmemi_rma_large_put);
        send(team, member, box_offset, seq, NULL, 0);
        return;
    }
    int                 pe     = shmemi_team_world_pe(team, member);
    struct shmemi_place signal = {.transport = shmemi_state.peers[pe].posted, .pe = pe, .segment = SHMEMT_SEGMENT_CTRL};
    signal.offset              = shmemi_state_slot_offset(team->slot) + box_offset;
    shmemi_post_put_signal(&shmemi_state.ctx_default, &to, source, bytes, &signal, seq, SHMEMT_AMO_SET, SHMEMI_POST_NBI);
}

static const void *receive(const char *call, const struct shmemi_team *team, int member, struct shmemi_box *box, uint64_t seq)
{
    shmemi_sync_wait(call, &box->seq, seq, shmemi_team_world_pe(team, member));
    return box->bytes;
}

static int after(int member, int n)
{
    return member + 1 < n ? member + 1 : 0;
}

static int before(int member, int n)
{
    return member > 0 ? member - 1 : n - 1;
}

const struct shmemi_box *shmemi_coll_exchange(const char *call, struct shmemi_team *team, const void *mine, size_t stride,
                                              size_t bytes)
{
    const char        *parts  = mine;
    uint64_t           seq    = ++team->full;
    size_t             parity = seq % 2;
    struct shmemi_box *boxes  = shmemi_coll_slot(team)->flat[parity];
    int                n = team->size, me = team->me;
    size_t             mine_offset = offsetof(struct shmemi_slot, flat) + (parity * SHMEMI_FLAT_MAX + (size_t)me) * sizeof *boxes;
    if (bytes) memcpy(boxes[me].bytes, parts + (size_t)me * stride, bytes);
    /* Around the team without a division: others wait for what follows. */
    for (int member = after(me, n); member != me; member = after(member, n))
        send(team, member, mine_offset, seq, parts + (size_t)member * stride, bytes);
    for (int member = before(me, n); member != me; member = before(member, n)) receive(call, team, member, &boxes[member], seq);
    shmemi_coll_full_end(team);
    return boxes;
}

const struct shmemi_box *shmemi_coll_meet(const char *call, struct shmemi_team *team, const void *mine, size_t bytes)
{
    return shmemi_coll_exchange(call, team, mine, 0, bytes);
}

void shmemi_coll_full_begin(struct shmemi_team *team)
{
    team->full++;
}

void shmemi_coll_full_end(struct shmemi_team *team)
{
    team->oneway_left = SHMEMI_ONEWAY_BOXES;
}

static size_t round_box(const struct shmemi_team *team, int round)
{
    return offsetof(struct shmemi_slot, round) + (size_t)round * sizeof(struct shmemi_round) + offsetof(struct shmemi_round, box) +
           team->full % 2 * sizeof(struct shmemi_box);
}

void shmemi_coll_full_send(const struct shmemi_team *team, int round, int member, const void *mine, size_t bytes)
{
    send(team, member, round_box(team, round), team->full, mine, bytes);
}

void shmemi_coll_full_put(const char *call, const struct shmemi_team *team, int round, int member, void *dest, const void *source,
                          size_t bytes)
{
    put_and_send(call, team, member, round_box(team, round), team->full, dest, source, bytes);
}

const void *shmemi_coll_full_receive(const char *call, const struct shmemi_team *team, int round, int member)
{
    return receive(call, team, member, &shmemi_coll_slot(team)->round[round].box[team->full % 2], team->full);
}

static int log2_floor(int n)
{
    return 31 - __builtin_clz((unsigned)n);
}

/*
 * With n not a power of two, the members from power on first give their value to the member `power` before them, and get the
 * result from it in the end. Both partners of a round combine lower member's first, so they compute the same bits.
 */
void shmemi_coll_doubling(const char *call, struct shmemi_team *team, void *value, size_t bytes, shmemi_coll_combine *combine,
                          void *argument)
{
    struct shmemi_hier *hier = shmemi_hier_of(team);
    if (team->size <= 1) return;
    if (hier) {
        shmemi_hier_combine(call, hier, team, value, bytes, combine, argument);
        return;
    }
    int  n = team->size, me = team->me, rounds = log2_floor(n), power = 1 << rounds;
    bool folded = me >= power, folds = me + power < n;
    shmemi_coll_full_begin(team);
    if (folded) shmemi_coll_full_send(team, rounds, me - power, value, bytes);
    if (folds) combine(value, value, shmemi_coll_full_receive(call, team, rounds, me + power), argument);
    for (int round = 0; round < rounds && !folded; round++) {
        int partner = me ^ (1 << round);
        shmemi_coll_full_send(team, round, partner, value, bytes);
        const void *theirs = shmemi_coll_full_receive(call, team, round, partner);
        combine(value, partner < me ? theirs : value, partner < me ? value : theirs, argument);
    }
    if (folds) shmemi_coll_full_send(team, rounds + 1, me + power, value, bytes);
    if (folded) memcpy(value, shmemi_coll_full_receive(call, team, rounds + 1, me - power), bytes);
    shmemi_coll_full_end(team);
}

static void and_words(void *into, const void *first, const void *second, void *argument)
{
    uint64_t       *result = into;
    const uint64_t *a = first, *b = second;
    const size_t   *bytes = argument;
    for (size_t i = 0; i < *bytes / sizeof *result; i++) result[i] = a[i] & b[i];
}

void shmemi_coll_and(const char *call, struct shmemi_team *team, uint64_t *words, size_t bytes)
{
    shmemi_coll_doubling(call, team, words, bytes, and_words, &bytes);
}

/* ---- prefix sums ---- */

/* The value travels with the semaphore that says it is there. */
static void send_in_psync(const char *call, const struct shmemi_team *team, int round, int member, uint64_t value)
{
    struct shmemi_place to, semaphore;
    long               *at = &team->psync[SHMEMI_PSYNC_VALUES + round];
    find(call, team, at, sizeof *at, member, &to);
    find(call, team, &team->psync[round], sizeof *at, member, &semaphore);
    shmemi_route_by_agent(&to);
    shmemi_route_by_agent(&semaphore);
    if (to.mapped) {
        memcpy(to.mapped, &value, sizeof value);
        /* Release: the value is there before the semaphore says so. */
        atomic_fetch_add_explicit((_Atomic uint64_t *)semaphore.mapped, 1, memory_order_release);
        shmemi_wait_stored((int)semaphore.local, semaphore.mapped, sizeof value);
    } else {
        shmemi_post_put_signal(&shmemi_state.ctx_default, &to, &value, sizeof value, &semaphore, 1, SHMEMT_AMO_ADD,
                               SHMEMI_POST_LOCAL);
    }
}

static uint64_t receive_in_psync(const char *call, const struct shmemi_team *team, int round, int member)
{
    uint64_t value;
    shmemi_sync_take(call, team, &team->psync[round], member);
    memcpy(&value, &team->psync[SHMEMI_PSYNC_VALUES + round], sizeof value);
    team->psync[SHMEMI_PSYNC_VALUES + round] = SHMEM_SYNC_VALUE;
    return value;
}

static uint64_t shift(const char *call, const struct shmemi_team *team, int round, int to, int from, uint64_t value)
{
    if (team->psync) {
        send_in_psync(call, team, round, to, value);
        return receive_in_psync(call, team, round, from);
    }
    uint64_t received;
    shmemi_coll_full_send(team, round, to, &value, sizeof value);
    memcpy(&received, shmemi_coll_full_receive(call, team, round, from), sizeof received);
    return received;
}

/* Dissemination, so all hear from all. A sum over the 2^round members up to a sender counts only where these lie before me. */
void shmemi_coll_prefix(const char *call, struct shmemi_team *team, uint64_t mine, uint64_t *before_out)
{
    int      n = team->size, me = team->me;
    uint64_t sum = mine; /* over members me - 2^round + 1 to me */
    shmemi_coll_full_begin(team);
    for (int round = 0, distance = 1; distance < n; round++, distance *= 2) {
        int      to = (int)(((long)me + distance) % n), from = (int)(((long)me - distance + n) % n);
        uint64_t received = shift(call, team, round, to, from, sum);
        if (me >= distance) sum += received;
    }
    shmemi_coll_full_end(team);
    *before_out = sum - mine;
}

/* ---- one-way ---- */

static size_t oneway_index(const struct shmemi_team *team)
{
    return team->oneway % SHMEMI_ONEWAY_BOXES;
}

void shmemi_coll_oneway_begin(const char *call, struct shmemi_team *team)
{
    if (team->oneway_left == 0) shmemi_sync_team(call, team); /* sets it */
    team->oneway_left--;
    team->oneway++;
}

void shmemi_coll_oneway_send(const struct shmemi_team *team, int member, const void *mine, size_t bytes)
{
    size_t offset = offsetof(struct shmemi_slot, oneway) + oneway_index(team) * sizeof(struct shmemi_box);
    send(team, member, offset, team->oneway, mine, bytes);
}

void shmemi_coll_oneway_put(const char *call, const struct shmemi_team *team, int member, void *dest, const void *source,
                            size_t bytes)
{
    size_t offset = offsetof(struct shmemi_slot, oneway) + oneway_index(team) * sizeof(struct shmemi_box);
    put_and_send(call, team, member, offset, team->oneway, dest, source, bytes);
}

const void *shmemi_coll_oneway_receive(const char *call, const struct shmemi_team *team, int member)
{
    return receive(call, team, member, &shmemi_coll_slot(team)->oneway[oneway_index(team)], team->oneway);
}
