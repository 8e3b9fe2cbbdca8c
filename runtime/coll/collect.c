/* SPDX-License-Identifier: Apache-2.0
 *
 * Collect and fcollect: the sources of all members, in the team's order, in dest on all of them.
 *
 *   boxes     tiny blocks in small teams: one meeting carries them
 *   push      each puts its block into everybody's dest at once, since that must be ready before anybody calls; then all meet
 *   doubling  fcollect: in log2(n) rounds each member passes on all that it has; the blocks go to their final places
 *
 * In layers (hier.h), so that a block goes to each node once:
 *   leaders   fcollect, small blocks: each leader has those of its node, the leaders pass them on by doubling, and give all to their members
 *   columns   fcollect: each puts its block into dest of one member of each other node; when all are there, each reads what its neighbours have
 *   to leaders  collect, where only the sum of sizes is known: the same, but the members put to the leaders, and read all from theirs
 *
 * In collect the blocks may differ in size, and a member may have none: members learn the sizes first. In a small team each box then carries
 * the block too, if it is tiny, and the meeting at the end is only owed where some block was not.
 * Spec: OpenSHMEM 1.6 §9.10.8.  Tests: tests/api/coll/, tests/api/coll_nodes/.
 */
#include "runtime/coll/coll.h"

#include "runtime/base/num.h"
#include "runtime/base/options.h"
#include "runtime/coll/hier.h"
#include "runtime/gpu/coll.h"
#include "runtime/post.h"
#include "runtime/rma.h"
#include "runtime/service.h"
#include "runtime/team.h"

#include <assert.h>
#include <string.h>

/* Where each message is posted, few messages count for more than few bytes up to there. */
enum { DOUBLING_BYTES_MAX = 16 << 10, DOUBLING_SIZE_MIN = 5 };

/*
 * All blocks together up to which the leaders do the work. Measured with 2 nodes of 2 and 3 PEs over libfabric's tcp: 59 us against 121 us by
 * columns for 8 KiB from each of 4, 327 against 151 us for 64 KiB.
 */
enum { LEADERS_BYTES_MAX = 32 << 10 };

struct collect {
    const char         *call;
    struct shmemi_team *team;
    char               *dest;
    const char         *source;
    size_t              bytes; /* of this member's block */
};

/* NULL: the team is not layered. */
static struct shmemi_hier *layers(const struct collect *c)
{
    return shmemi_hier_of(c->team);
}

/*
 * A large block goes in pieces, each to all before the next: its bytes come from memory once, not once for each member. From the last piece to the first, as
 * large copies do (rma.c). Measured with 2 PEs: 4 MiB in 590 us as a whole, 500 us in pieces.
 */
enum { PIECES_BYTES_MIN = 1 << 20, PIECE_BYTES = 64 << 10 };

static void push_piece(const struct collect *c, size_t offset, size_t start, size_t bytes)
{
    int         n = c->team->size, me = c->team->me;
    char       *dest   = c->dest + offset + start;
    const char *source = c->source + start;
    for (int i = 1; i < n; i++) shmemi_coll_put(c->call, c->team, dest, source, bytes, (me + i) % n);
    shmemi_rma_copy(dest, source, bytes, shmemi_rma_large_get);
}

/* Own block to its place on all members. */
static void push(const struct collect *c, size_t offset)
{
    size_t piece = c->team->mapped && c->bytes >= PIECES_BYTES_MIN ? PIECE_BYTES : c->bytes;
    for (size_t end = c->bytes; end > 0;) {
        size_t bytes = piece < end ? piece : end;
        end -= bytes;
        push_piece(c, offset, end, bytes);
    }
}

static void push_to_all(const struct collect *c, size_t offset)
{
    push(c, offset);
    shmemi_coll_barrier(c->call, c->team);
}

/* ---- fcollect ---- */

static void meet_with_blocks(const struct collect *c)
{
    const struct shmemi_box *boxes = shmemi_coll_meet(c->call, c->team, c->source, c->bytes);
    for (int i = 0; i < c->team->size; i++) memcpy(c->dest + (size_t)i * c->bytes, boxes[i].bytes, c->bytes);
}

/*
 * Doubling, among the members of the team, or the leaders of a layered one. Stretch i of dest is what number i of them has to give: a block, or those
 * of its node.
 */
static size_t stretch(const struct collect *c, int i)
{
    const struct shmemi_hier *hier = layers(c);
    return (size_t)(hier ? hier->first[i] : i) * c->bytes;
}

/* Stretches first ... first + count - 1, counted round the end, to the same places of a member, and a box that follows them. */
static void pass_on(const struct collect *c, const struct shmemi_team *among, int round, int first, int count, int member)
{
    int    n = among->size, in_one = count < n - first ? count : n - first;
    size_t start = stretch(c, first), bytes = stretch(c, first + in_one) - start, rest = stretch(c, count - in_one);
    if (rest > 0) {
        shmemi_coll_put(c->call, among, c->dest, c->dest, rest, member);
        /* The box may not overtake it. On a mapped route it is a release. */
        if (shmemi_state.posted) shmemi_post_fence(&shmemi_state.ctx_default);
    }
    shmemi_coll_full_put(c->call, among, round, member, c->dest + start, c->dest + start, bytes);
}

/* Own stretch is there. Before the round with distance d each has the stretches of the d up to itself. */
static void double_stretches(const struct collect *c, struct shmemi_team *among)
{
    int n = among->size, me = among->me;
    shmemi_coll_full_begin(among);
    for (int round = 0, distance = 1; distance < n; round++, distance *= 2) {
        int to = (int)(((long)me + distance) % n), from = (int)(((long)me - distance + n) % n);
        int count = distance < n - distance ? distance : n - distance;
        pass_on(c, among, round, (int)(((long)me - count + 1 + n) % n), count, to);
        shmemi_coll_full_receive(c->call, among, round, from);
    }
    shmemi_coll_full_end(among);
}

static void doubling(const struct collect *c)
{
    shmemi_rma_copy(c->dest + (size_t)c->team->me * c->bytes, c->source, c->bytes, shmemi_rma_large_get);
    double_stretches(c, c->team);
    shmemi_coll_quiet(); /* dest is read until then, and the caller may change it next */
}

/* ---- fcollect in layers ---- */

/* The leader's part: what is in dest then is in the order of nodes, until it is sorted. Not inline: for the room. */
static __attribute__((noinline)) void join_nodes(const struct collect *c, struct shmemi_hier *hier, struct shmemi_team *leaders)
{
    char                      room[SHMEMI_HIER_SORT_BYTES_MAX];
    const struct shmemi_team *local = &hier->local;
    for (int i = 0; i < local->size; i++)
        shmemi_coll_get(c->call, local, c->dest + stretch(c, hier->node) + (size_t)i * c->bytes, c->source, c->bytes, i);
    double_stretches(c, leaders);
    if (!hier->in_blocks) shmemi_coll_quiet(); /* it is not to be sorted while it is sent */
    shmemi_hier_sort(hier, c->dest, c->bytes, room);
    for (int i = 1; i < local->size; i++) shmemi_coll_put(c->call, local, c->dest, c->dest, stretch(c, hier->nodes), i);
}

static void fcollect_by_leaders(const struct collect *c)
{
    struct shmemi_hier *hier    = layers(c);
    struct shmemi_team *leaders = shmemi_hier_full(hier, c->team);
    if (shmemi_hier_gather(c->call, hier)) join_nodes(c, hier, leaders);
    shmemi_hier_release(c->call, hier);
    if (shmemi_hier_is_leader(hier)) shmemi_coll_quiet(); /* as in doubling() */
}

/* My block, whose place in dest is offset, to one member of each other node, where it is an arrival. */
static void push_to_column(const struct collect *c, size_t offset, int place)
{
    const struct shmemi_team *column = shmemi_hier_column(layers(c), place);
    for (int i = 1; i < column->size; i++)
        shmemi_hier_put(c->call, layers(c), column, c->dest + offset, c->source, c->bytes, (column->me + i) % column->size);
}

/* The blocks of one node's members, from the neighbours who have them: their own source, or dest. */
static void read_blocks_of_node(const struct collect *c, int node)
{
    const struct shmemi_hier *hier  = layers(c);
    const struct shmemi_team *local = &hier->local;
    for (int i = 0; i < shmemi_hier_width(hier, node); i++) {
        char *block = c->dest + (size_t)shmemi_hier_member(hier, hier->first[node] + i) * c->bytes;
        int   owner = i % local->size;
        if (node == hier->node) shmemi_coll_get(c->call, local, block, c->source, c->bytes, i);
        else if (owner != local->me) shmemi_coll_get(c->call, local, block, block, c->bytes, owner);
    }
}

static void fcollect_by_columns(const struct collect *c)
{
    struct shmemi_hier *hier = layers(c);
    shmemi_hier_arrivals_begin(hier, c->team);
    push_to_column(c, (size_t)c->team->me * c->bytes, hier->local.me);
    shmemi_hier_arrivals_wait(c->call, hier, hier->senders);
    shmemi_hier_meet(c->call, hier);
    for (int i = 0; i < hier->nodes; i++) read_blocks_of_node(c, (hier->node + i) % hier->nodes);
    shmemi_hier_meet(c->call, hier); /* they have read mine */
    shmemi_coll_quiet();             /* and the source may be changed */
}

static void fcollect_in_layers(const struct collect *c)
{
    int  wanted = shmemi_options.coll_collect;
    bool small  = c->bytes <= LEADERS_BYTES_MAX / (size_t)c->team->size;
    if (wanted != SHMEMI_COLLECT_AUTO) small = wanted == SHMEMI_COLLECT_DOUBLING;
    bool fits = layers(c)->in_blocks || c->bytes <= (size_t)SHMEMI_HIER_SORT_BYTES_MAX / (size_t)c->team->size;
    if (small && fits) fcollect_by_leaders(c);
    else fcollect_by_columns(c);
}

static enum shmemi_option_collect choose(const struct collect *c)
{
    const struct shmemi_team  *team   = c->team;
    enum shmemi_option_collect wanted = (enum shmemi_option_collect)shmemi_options.coll_collect;
    if (team->psync) return SHMEMI_COLLECT_PUSH;
    if (wanted != SHMEMI_COLLECT_AUTO) return wanted;
    bool few_messages = !team->mapped && team->size >= DOUBLING_SIZE_MIN && c->bytes <= DOUBLING_BYTES_MAX;
    return few_messages ? SHMEMI_COLLECT_DOUBLING : SHMEMI_COLLECT_PUSH;
}

static bool fits_boxes(const struct collect *c, size_t bytes)
{
    return c->team->size <= SHMEMI_FLAT_MAX && shmemi_coll_fits_box(c->team, bytes) && !shmemi_hier_forced(c->team);
}

static void join_equal(const struct collect *c)
{
    if (c->bytes == 0) return;
    if (shmemi_gpu_concerns_arrays(c->dest, c->source)) {
        shmemi_gpu_coll_push(c->call, c->team, c->dest, c->source, c->bytes, (size_t)c->team->me * c->bytes);
    } else if (c->team->size == 1) {
        shmemi_rma_copy(c->dest, c->source, c->bytes, shmemi_rma_large_get);
    } else if (SHMEMI_UNLIKELY(layers(c) != NULL)) {
        fcollect_in_layers(c);
    } else if (fits_boxes(c, c->bytes) && shmemi_options.coll_collect == SHMEMI_COLLECT_AUTO) {
        meet_with_blocks(c);
    } else if (choose(c) == SHMEMI_COLLECT_DOUBLING) {
        doubling(c);
    } else {
        push_to_all(c, (size_t)c->team->me * c->bytes);
    }
}

/* ---- collect ---- */

static void push_to_leaders(const struct collect *c, size_t offset, size_t all_bytes)
{
    struct shmemi_hier *hier  = layers(c);
    struct shmemi_team *local = &hier->local;
    shmemi_hier_arrivals_begin(hier, c->team);
    push_to_column(c, offset, 0);
    shmemi_coll_put(c->call, local, c->dest + offset, c->source, c->bytes, 0);
    if (shmemi_hier_gather(c->call, hier)) shmemi_hier_arrivals_wait(c->call, hier, c->team->size - local->size);
    shmemi_hier_release(c->call, hier);
    if (local->me != 0) shmemi_coll_get(c->call, local, c->dest, c->dest, all_bytes, 0);
    shmemi_hier_meet(c->call, hier); /* they have read the leader's */
    shmemi_coll_quiet();             /* and the source may be changed */
}

/* What a member tells of its block: the size, and the block itself if it fits. */
struct parcel {
    uint64_t bytes;
    char     block[SHMEMI_BOX_BYTES - sizeof(uint64_t)];
};
static_assert(sizeof(struct parcel) == SHMEMI_BOX_BYTES, "a parcel is what a box can carry");

static SHMEMI_COLD void too_much(const char *call)
{
    shmemi_service_fatal(call, "the blocks of all PEs together are more bytes than an address can count" WHY
                               "each PE gives a number of elements, and dest gets them all" FIX "look at the numbers of elements");
}

/* Now that the sizes are known: checked mode, which compares dest and the sum. */
static void enter_with_sizes(const struct collect *c, size_t all_bytes)
{
    const struct shmemi_coll_call what = {
        .call         = c->call,
        .kind         = SHMEMI_COLL_COLLECT,
        .dest         = c->dest,
        .dest_bytes   = all_bytes,
        .source       = c->source,
        .source_bytes = c->bytes,
        .own_source   = true,
        .shape        = {all_bytes},
    };
    shmemi_coll_enter(&what, c->team);
}

/* The parcels of all members are copied: checked mode makes another full collective before they are opened. */
static void join_by_parcels(const struct collect *c)
{
    struct parcel parcels[SHMEMI_FLAT_MAX], mine = {.bytes = c->bytes};
    size_t        n = (size_t)c->team->size, before = 0, all_bytes = 0;
    bool          all_fit = true;
    bool          fits    = c->bytes <= sizeof mine.block;
    if (fits && c->bytes > 0) memcpy(mine.block, c->source, c->bytes);
    const struct shmemi_box *boxes = shmemi_coll_meet(c->call, c->team, &mine, sizeof mine.bytes + (fits ? (size_t)c->bytes : 0));
    for (size_t i = 0; i < n; i++) {
        memcpy(&parcels[i].bytes, boxes[i].bytes, sizeof parcels[i].bytes);
        if (i == (size_t)c->team->me) before = all_bytes;
        if (parcels[i].bytes > sizeof parcels[i].block) all_fit = false;
        else memcpy(parcels[i].block, boxes[i].bytes + sizeof parcels[i].bytes, parcels[i].bytes);
        if (!shmemi_add_size(all_bytes, parcels[i].bytes, &all_bytes)) too_much(c->call);
    }
    enter_with_sizes(c, all_bytes);
    if (!all_fit && layers(c)) {
        push_to_leaders(c, before, all_bytes);
        return;
    }
    if (!fits) push(c, before);
    char *to = c->dest; /* NULL only where nobody gives anything */
    for (size_t i = 0; i < n && to; to += parcels[i++].bytes)
        if (parcels[i].bytes > 0 && parcels[i].bytes <= sizeof parcels[i].block) memcpy(to, parcels[i].block, parcels[i].bytes);
    if (!all_fit) shmemi_coll_barrier(c->call, c->team);
}

static void add_word(void *into, const void *first, const void *second, void *argument)
{
    uint64_t a, b;
    (void)argument;
    memcpy(&a, first, sizeof a);
    memcpy(&b, second, sizeof b);
    a += b;
    memcpy(into, &a, sizeof a);
}

static void join_by_prefix(const struct collect *c)
{
    uint64_t before, all_bytes;
    shmemi_coll_prefix(c->call, c->team, c->bytes, &before);
    all_bytes = before + c->bytes;
    if (SHMEMI_UNLIKELY(all_bytes < before || all_bytes > PTRDIFF_MAX)) too_much(c->call);
    if (SHMEMI_UNLIKELY((shmemi_state.check && !c->team->psync) || layers(c))) {
        all_bytes = c->bytes;
        shmemi_coll_doubling(c->call, c->team, &all_bytes, sizeof all_bytes, add_word, NULL);
    }
    enter_with_sizes(c, all_bytes);
    if (shmemi_state.gpu) shmemi_gpu_coll_push(c->call, c->team, c->dest, c->source, c->bytes, before);
    else if (layers(c)) push_to_leaders(c, before, all_bytes);
    else push_to_all(c, before);
}

static void join(const struct collect *c)
{
    /* Checked mode: do all call this? Sizes are not known yet, and with no bytes there are no addresses. */
    const struct shmemi_coll_call what = {
        .call         = c->call,
        .kind         = SHMEMI_COLL_COLLECT,
        .source       = c->source,
        .source_bytes = c->bytes,
        .own_source   = true,
    };
    shmemi_coll_enter(&what, c->team);
    if (SHMEMI_UNLIKELY(shmemi_state.gpu)) {
        join_by_prefix(c); /* a member with nothing to give need not have an array, so the arrays do not tell all alike */
    } else if (c->team->size == 1) {
        enter_with_sizes(c, c->bytes);
        shmemi_rma_copy(c->dest, c->source, c->bytes, shmemi_rma_large_get);
    } else if (fits_boxes(c, 0) && shmemi_options.coll_collect == SHMEMI_COLLECT_AUTO) {
        join_by_parcels(c);
    } else {
        join_by_prefix(c);
    }
}

/* ---- the calls ---- */

static void enter_equal(const struct collect *c, size_t all_bytes)
{
    const struct shmemi_coll_call what = {
        .call         = c->call,
        .kind         = SHMEMI_COLL_FCOLLECT,
        .dest         = c->dest,
        .dest_bytes   = all_bytes,
        .source       = c->source,
        .source_bytes = c->bytes,
        .shape        = {c->bytes},
    };
    shmemi_coll_enter(&what, c->team);
}

static void fcollect(const char *call, struct shmemi_team *team, void *dest, const void *source, size_t nelems, size_t elem_bytes)
{
    struct collect c = {.call = call, .team = team, .dest = dest, .source = source};
    c.bytes          = shmemi_coll_bytes(call, nelems, elem_bytes);
    enter_equal(&c, shmemi_coll_bytes(call, (size_t)team->size, c.bytes));
    join_equal(&c);
}

static void collect(const char *call, struct shmemi_team *team, void *dest, const void *source, size_t nelems, size_t elem_bytes)
{
    struct collect c = {.call = call, .team = team, .dest = dest, .source = source};
    c.bytes          = shmemi_coll_bytes(call, nelems, elem_bytes);
    join(&c);
}

/* clang-format off */

#define DEFINE_COLLECT(NAME, T, BYTES, JOIN)                                                          \
    int pshmem_##NAME(shmem_team_t team, T *dest, const T *source, size_t nelems)                     \
    {                                                                                                 \
        struct shmemi_team *found = shmemi_coll_team("shmem_" #NAME, team);                           \
        if (SHMEMI_UNLIKELY(!found)) return -1;                                                       \
        JOIN("shmem_" #NAME, found, dest, source, nelems, BYTES);                                     \
        return 0;                                                                                     \
    }                                                                                                 \
    SHMEMI_EXPORT(shmem_##NAME)
#define DEFINE_TYPED(NAME, T, OP) DEFINE_COLLECT(NAME##_##OP, T, sizeof(T), OP)
SHMEMI_RMA_TYPES(DEFINE_TYPED, collect)
SHMEMI_RMA_TYPES(DEFINE_TYPED, fcollect)
DEFINE_COLLECT(collectmem, void, 1, collect)
DEFINE_COLLECT(fcollectmem, void, 1, fcollect)

#define DEFINE_ACTIVE(BITS, BYTES, OP)                                                                \
    void pshmem_##OP##BITS(void *dest, const void *source, size_t nelems, int PE_start,               \
                           int logPE_stride, int PE_size, long *pSync)                                \
    {                                                                                                 \
        const char        *call = "shmem_" #OP #BITS;                                                 \
        struct shmemi_team set;                                                                       \
        if (!shmemi_team_active_set(call, PE_start, logPE_stride, PE_size, pSync, &set)) return;      \
        OP(call, &set, dest, source, nelems, BYTES);                                                  \
    }                                                                                                 \
    SHMEMI_EXPORT(shmem_##OP##BITS)
SHMEMI_ACTIVE_SET_SIZES(DEFINE_ACTIVE, collect)
SHMEMI_ACTIVE_SET_SIZES(DEFINE_ACTIVE, fcollect)

/* clang-format on */
