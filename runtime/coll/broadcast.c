/* SPDX-License-Identifier: Apache-2.0
 *
 * Broadcast: the root's source goes to dest on all members.
 *
 *   tree     small data travel in boxes, from box to box and into dest; larger ones go straight to the child's dest, and an empty box says
 *            so. In small teams the tree is flat: the root sends to each.
 *   pull     mapped: the root tells all that its source is ready, they all read it at the same time, and the root returns when the last one has read
 *   scatter  each member gets a part from the root and passes it on to all; then they meet
 *
 * With tree nobody waits for a member behind it, so a PE that lags does not hold up the root. Active sets have no boxes: the root writes to each
 * member (tree), or all meet before and after (pull).
 *
 * In layers (hier.h) each node has a head: the root on its own, on others the leader. The heads are a team of their own, with the same ways, and
 * the other members of a node are below its head: on a tree, or they read its memory (pull, scatter). A team that is not layered
 * consists of heads.
 * Spec: OpenSHMEM 1.6 §9.10.7.  Tests: tests/api/coll/, tests/api/coll_nodes/.
 */
#include "runtime/coll/coll.h"

#include "runtime/base/options.h"
#include "runtime/coll/hier.h"
#include "runtime/gpu/coll.h"
#include "runtime/rma.h"
#include "runtime/service.h"
#include "runtime/team.h"

#include <string.h>

/*
 * Measured with 2, 4 and 8 PEs on two cores: from there on the readers at work at the same time make up for what the root waits for. With one
 * reader that is later. The limit of teams with many members, and that of scatter, are thought out, not measured.
 */
enum {
    PULL_BYTES_MIN_OF_TWO  = 32 << 10,
    PULL_BYTES_MIN         = 16 << 10,
    PULL_BYTES_MIN_OF_MANY = SHMEMI_BOX_BYTES + 1,
    SCATTER_BYTES_MIN      = 64 << 10,
    PART_ALIGN             = 64
};

struct broadcast {
    const char         *call;
    struct shmemi_team *team;
    struct shmemi_hier *hier; /* or NULL */
    char               *dest;
    const char         *source;
    size_t              bytes;
    int                 root;
};

static bool am_root(const struct broadcast *b)
{
    return b->team->me == b->root;
}

/* ---- heads ---- */

SHMEMI_INLINE int root_node(const struct broadcast *b)
{
    return b->hier ? b->hier->node_of[b->root] : b->root;
}

SHMEMI_INLINE int my_node(const struct broadcast *b)
{
    return b->hier ? b->hier->node : b->team->me;
}

SHMEMI_INLINE int head_count(const struct broadcast *b)
{
    return b->hier ? b->hier->nodes : b->team->size;
}

/* The head of a node, as a member of the team. */
SHMEMI_INLINE int head_of(const struct broadcast *b, int node)
{
    if (!b->hier) return node;
    return node == root_node(b) ? b->root : shmemi_team_find(b->team, b->hier->leader_pes[node]);
}

SHMEMI_INLINE bool am_head(const struct broadcast *b)
{
    return !b->hier || head_of(b, b->hier->node) == b->team->me;
}

/* Number of my node's head among its members there. */
static int local_head(const struct broadcast *b)
{
    const struct shmemi_team *local = &b->hier->local;
    int                       head = shmemi_team_world_pe(b->team, head_of(b, b->hier->node)), i = 0;
    while (shmemi_team_world_pe(local, i) != head) i++;
    return i;
}

/* ---- trees ---- */

/*
 * Numbers relative to the root. The children of v are v + 1, v + 2, v + 4, ... below the lowest bit of v: the largest first, which has the most
 * to pass on. In a small tree all are children of the root.
 */
struct tree {
    int size, root, me;
};

SHMEMI_INLINE int relative(const struct tree *tree)
{
    return (tree->me - tree->root + tree->size) % tree->size;
}

SHMEMI_INLINE int number_of(const struct tree *tree, int v)
{
    return (int)(((long)v + tree->root) % tree->size);
}

static int parent_in(const struct tree *tree)
{
    int v = relative(tree);
    return tree->size <= SHMEMI_FLAT_MAX ? tree->root : number_of(tree, v & (v - 1));
}

typedef void send_to_child(const struct broadcast *b, int child, const void *data);
typedef int  member_at(const struct broadcast *b, int number);

SHMEMI_INLINE void send_in_tree(const struct broadcast *b, const struct tree *tree, member_at *member, const void *data,
                                send_to_child *send)
{
    int n = tree->size, v = relative(tree);
    if (n <= SHMEMI_FLAT_MAX) {
        for (int i = 1; i < n && v == 0; i++) send(b, member(b, number_of(tree, i)), data);
        return;
    }
    int step = 1;
    while (step < n && !(v & step)) step *= 2;
    for (step /= 2; step > 0; step /= 2)
        if (v + step < n) send(b, member(b, number_of(tree, v + step)), data);
}

SHMEMI_INLINE struct tree tree_of_heads(const struct broadcast *b)
{
    return (struct tree){.size = head_count(b), .root = root_node(b), .me = my_node(b)};
}

static struct tree tree_of_node(const struct broadcast *b)
{
    return (struct tree){.size = b->hier->local.size, .root = local_head(b), .me = b->hier->local.me};
}

static int local_member(const struct broadcast *b, int number)
{
    return shmemi_team_find(b->team, shmemi_team_world_pe(&b->hier->local, number));
}

/* Not called on the root. */
static int parent_of(const struct broadcast *b)
{
    if (am_head(b)) {
        const struct tree tree = tree_of_heads(b);
        return head_of(b, parent_in(&tree));
    }
    const struct tree tree = tree_of_node(b);
    return local_member(b, parent_in(&tree));
}

static void send_to_heads(const struct broadcast *b, const void *data, send_to_child *send)
{
    const struct tree tree = tree_of_heads(b);
    if (am_head(b)) send_in_tree(b, &tree, head_of, data, send);
}

static void send_in_node(const struct broadcast *b, const void *data, send_to_child *send)
{
    if (!b->hier || b->hier->local.size == 1) return;
    const struct tree tree = tree_of_node(b);
    send_in_tree(b, &tree, local_member, data, send);
}

/* ---- along the tree ---- */

static void send_box(const struct broadcast *b, int child, const void *data)
{
    shmemi_coll_oneway_send(b->team, child, data, b->bytes);
}

static void send_to_dest(const struct broadcast *b, int child, const void *data)
{
    shmemi_coll_oneway_put(b->call, b->team, child, b->dest, data, b->bytes);
}

static void copy_to_own_dest(const struct broadcast *b, const void *data)
{
    if (b->dest != data) shmemi_rma_copy(b->dest, data, b->bytes, shmemi_rma_large_get);
}

/* The way to other nodes takes longest, so that comes first. */
static void through_boxes(const struct broadcast *b)
{
    const void *data = am_root(b) ? b->source : shmemi_coll_oneway_receive(b->call, b->team, parent_of(b));
    send_to_heads(b, data, send_box);
    send_in_node(b, data, send_box);
    copy_to_own_dest(b, data);
}

static void along_tree(const struct broadcast *b)
{
    const char *data = am_root(b) ? b->source : b->dest;
    if (!am_root(b)) shmemi_coll_oneway_receive(b->call, b->team, parent_of(b));
    send_to_heads(b, data, send_to_dest);
    send_in_node(b, data, send_to_dest);
    if (am_root(b)) copy_to_own_dest(b, data);
    shmemi_coll_quiet(); /* what the children get is read from memory that the caller may change next */
}

/* ---- all read ---- */

static void send_word(const struct broadcast *b, int child, const void *data)
{
    shmemi_coll_oneway_send(b->team, child, data, sizeof(uint64_t));
}

static void pull(const struct broadcast *b)
{
    uint64_t expected;
    if (am_root(b)) {
        expected = shmemi_coll_done_expected(b->team);
        send_to_heads(b, &expected, send_word);
        copy_to_own_dest(b, b->source);
        shmemi_coll_done_wait(b->call, b->team, expected);
    } else {
        memcpy(&expected, shmemi_coll_oneway_receive(b->call, b->team, parent_of(b)), sizeof expected);
        send_to_heads(b, &expected, send_word);
        shmemi_coll_get(b->call, b->team, b->dest, b->source, b->bytes, b->root);
        shmemi_coll_done_tell(b->team, b->root, expected);
    }
}

/* Below a head, whose data are in its source, or dest. */
static void read_from_head(const struct broadcast *b)
{
    int         head = head_of(b, b->hier->node);
    const char *data = head == b->root ? b->source : b->dest;
    shmemi_coll_get(b->call, b->team, b->dest, data, b->bytes, head);
}

static void pull_in_nodes(const struct broadcast *b)
{
    const struct shmemi_team *local = &b->hier->local;
    uint64_t                  expected;
    if (!am_head(b)) {
        memcpy(&expected, shmemi_coll_oneway_receive(b->call, b->team, parent_of(b)), sizeof expected);
        send_in_node(b, &expected, send_word);
        read_from_head(b);
        shmemi_coll_done_tell(local, local_head(b), expected);
        return;
    }
    const char *data = am_root(b) ? b->source : b->dest;
    if (!am_root(b)) shmemi_coll_oneway_receive(b->call, b->team, parent_of(b));
    expected = shmemi_coll_done_expected(local);
    send_to_heads(b, data, send_to_dest);
    send_in_node(b, &expected, send_word);
    if (am_root(b)) copy_to_own_dest(b, data);
    if (local->size > 1) shmemi_coll_done_wait(b->call, local, expected);
    shmemi_coll_quiet(); /* as in along_tree() */
}

/* ---- in parts ---- */

struct part {
    size_t start, bytes;
};

/* Parts begin at whole lines; the last ones may be short or empty. */
static struct part part_of(const struct broadcast *b, int node)
{
    size_t n     = (size_t)head_count(b);
    size_t share = ((b->bytes - 1) / n + PART_ALIGN) / PART_ALIGN * PART_ALIGN;
    size_t start = share * (size_t)node;
    if (start >= b->bytes) return (struct part){.start = 0, .bytes = 0};
    return (struct part){.start = start, .bytes = b->bytes - start < share ? b->bytes - start : share};
}

static void pass_on(const struct broadcast *b, struct part part, const char *data)
{
    int n = head_count(b), me = my_node(b);
    for (int i = 1; i < n; i++) {
        int node = (me + i) % n;
        if (node != root_node(b))
            shmemi_coll_put(b->call, b->team, b->dest + part.start, data + part.start, part.bytes, head_of(b, node));
    }
}

/* Active sets have no boxes: deal() ends with a meeting there. */
static void deal(const struct broadcast *b)
{
    const struct tree tree = tree_of_heads(b);
    for (int i = 1; i < tree.size; i++) {
        int         node = number_of(&tree, i), head = head_of(b, node);
        struct part part = part_of(b, node);
        char       *dest = b->dest + part.start;
        if (b->team->psync) shmemi_coll_put(b->call, b->team, dest, b->source + part.start, part.bytes, head);
        else shmemi_coll_oneway_put(b->call, b->team, head, dest, b->source + part.start, part.bytes);
    }
}

static void scatter(const struct broadcast *b)
{
    bool root = am_root(b), head = am_head(b);
    if (root) deal(b);
    if (b->team->psync) shmemi_coll_barrier(b->call, b->team);
    else if (!root && head) shmemi_coll_oneway_receive(b->call, b->team, b->root);
    if (head) pass_on(b, part_of(b, my_node(b)), root ? b->source : b->dest);
    if (root && !b->team->psync) copy_to_own_dest(b, b->source);
    shmemi_coll_barrier(b->call, b->team);
    if (!b->hier) return;
    if (!head) read_from_head(b);
    shmemi_hier_meet(b->call, b->hier); /* they have read my memory */
}

/* ---- choice ---- */

static size_t pull_bytes_min(int size)
{
    return size == 2 ? PULL_BYTES_MIN_OF_TWO : size <= SHMEMI_FLAT_MAX ? PULL_BYTES_MIN : PULL_BYTES_MIN_OF_MANY;
}

static enum shmemi_option_broadcast choose(const struct broadcast *b)
{
    const struct shmemi_team    *team   = b->team;
    enum shmemi_option_broadcast wanted = (enum shmemi_option_broadcast)shmemi_options.coll_broadcast;
    if (wanted == SHMEMI_BROADCAST_PULL && !team->mapped && !b->hier) wanted = SHMEMI_BROADCAST_AUTO;
    if (wanted != SHMEMI_BROADCAST_AUTO) return wanted;
    if (team->mapped) return b->bytes >= pull_bytes_min(team->size) ? SHMEMI_BROADCAST_PULL : SHMEMI_BROADCAST_TREE;
    if (head_count(b) > 2 && b->bytes >= SCATTER_BYTES_MIN) return SHMEMI_BROADCAST_SCATTER;
    return b->hier && b->bytes >= pull_bytes_min(b->hier->widest) ? SHMEMI_BROADCAST_PULL : SHMEMI_BROADCAST_TREE;
}

static void broadcast_in_team(const struct broadcast *b)
{
    if (b->team->size == 1) {
        copy_to_own_dest(b, b->source);
        return;
    }
    shmemi_coll_oneway_begin(b->call, b->team);
    switch (choose(b)) {
    case SHMEMI_BROADCAST_PULL:
        if (b->hier) pull_in_nodes(b);
        else pull(b);
        break;
    case SHMEMI_BROADCAST_SCATTER: scatter(b); break;
    default:
        if (shmemi_coll_fits_box(b->team, b->bytes)) through_boxes(b);
        else along_tree(b);
    }
}

/* The meeting at the end makes the set's pSync free for the next call, whoever its root is. */
static void broadcast_in_set(const struct broadcast *b)
{
    if (b->team->size == 1) return;
    switch (choose(b)) {
    case SHMEMI_BROADCAST_PULL:
        shmemi_coll_barrier(b->call, b->team);
        if (!am_root(b)) shmemi_coll_get(b->call, b->team, b->dest, b->source, b->bytes, b->root);
        shmemi_coll_barrier(b->call, b->team);
        break;
    case SHMEMI_BROADCAST_SCATTER: scatter(b); break;
    default:
        for (int i = 1; i < b->team->size && am_root(b); i++)
            shmemi_coll_put(b->call, b->team, b->dest, b->source, b->bytes, (b->root + i) % b->team->size);
        shmemi_coll_barrier(b->call, b->team);
    }
}

/* ---- the calls ---- */

static SHMEMI_COLD void no_such_root(const char *call, int root, int size)
{
    shmemi_service_fatal(call, "PE_root is %d" WHY "the team has PEs 0 to %d" FIX "pass the root's number in the team", root,
                         size - 1);
}

static void enter(const struct broadcast *b)
{
    if (SHMEMI_UNLIKELY(b->root < 0 || b->root >= b->team->size)) no_such_root(b->call, b->root, b->team->size);
    const struct shmemi_coll_call what = {
        .call         = b->call,
        .kind         = SHMEMI_COLL_BROADCAST,
        .dest         = b->dest,
        .dest_bytes   = b->bytes,
        .source       = b->source,
        .source_bytes = b->bytes,
        .in_place     = true,
        .shape        = {b->bytes, (uint64_t)b->root},
    };
    shmemi_coll_enter(&what, b->team);
}

static int broadcast(const char *call, shmem_team_t team, void *dest, const void *source, size_t nelems, size_t elem_bytes,
                     int root)
{
    struct broadcast b = {.call = call, .team = shmemi_coll_team(call, team), .dest = dest, .source = source, .root = root};
    if (SHMEMI_UNLIKELY(!b.team)) return -1;
    b.bytes = shmemi_coll_bytes(call, nelems, elem_bytes);
    b.hier  = shmemi_hier_of(b.team);
    enter(&b);
    if (b.bytes > 0 && shmemi_gpu_concerns_arrays(dest, source))
        shmemi_gpu_coll_broadcast(call, b.team, dest, source, b.bytes, root, true);
    else if (b.bytes > 0) broadcast_in_team(&b);
    return 0;
}

/* SPEC §9.10.7: over an active set, dest on the root is not written. */
static void broadcast_set(const char *call, struct shmemi_team *set, void *dest, const void *source, size_t nelems,
                          size_t elem_bytes, int root)
{
    struct broadcast b = {.call = call, .team = set, .dest = dest, .source = source, .root = root};
    b.bytes            = shmemi_coll_bytes(call, nelems, elem_bytes);
    enter(&b);
    if (b.bytes > 0 && shmemi_gpu_concerns_arrays(dest, source))
        shmemi_gpu_coll_broadcast(call, set, dest, source, b.bytes, root, false);
    else if (b.bytes > 0) broadcast_in_set(&b);
}

/* clang-format off */

#define DEFINE_BROADCAST(NAME, T, BYTES)                                                              \
    int pshmem_##NAME(shmem_team_t team, T *dest, const T *source, size_t nelems, int PE_root)        \
    {                                                                                                 \
        return broadcast("shmem_" #NAME, team, dest, source, nelems, BYTES, PE_root);                 \
    }                                                                                                 \
    SHMEMI_EXPORT(shmem_##NAME)
#define DEFINE_TYPED(NAME, T, OP) DEFINE_BROADCAST(NAME##_##OP, T, sizeof(T))
SHMEMI_RMA_TYPES(DEFINE_TYPED, broadcast)
DEFINE_BROADCAST(broadcastmem, void, 1)

#define DEFINE_ACTIVE(BITS, BYTES, OP)                                                                \
    void pshmem_##OP##BITS(void *dest, const void *source, size_t nelems, int PE_root, int PE_start,  \
                           int logPE_stride, int PE_size, long *pSync)                                \
    {                                                                                                 \
        const char        *call = "shmem_" #OP #BITS;                                                 \
        struct shmemi_team set;                                                                       \
        if (!shmemi_team_active_set(call, PE_start, logPE_stride, PE_size, pSync, &set)) return;      \
        broadcast_set(call, &set, dest, source, nelems, BYTES, PE_root);                              \
    }                                                                                                 \
    SHMEMI_EXPORT(shmem_##OP##BITS)
SHMEMI_ACTIVE_SET_SIZES(DEFINE_ACTIVE, broadcast)

/* clang-format on */
