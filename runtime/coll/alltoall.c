/* SPDX-License-Identifier: Apache-2.0
 *
 * Alltoall and alltoalls: block k of a member's source goes to member k, as the block of the sender's number there.
 *
 *   boxes  tiny blocks in small teams: one meeting carries them
 *   push   each puts a block into everybody's dest at once, since that must be ready before anybody calls; then all meet
 *   pull   all meet, since a source is ready only when its owner has come; each reads from everybody; and they meet again
 *
 * In layers (hier.h) who waits knows how many blocks come from other nodes, so that they count themselves in and nobody needs to meet:
 *   pieces  small blocks: what the members of a node have for one PE of another node goes there in one piece. Each member packs them for
 *           its share of these PEs. So dest is in the order of nodes at first
 *   push    larger ones, each on its own
 *
 * Each begins with the member after itself, so that not all are at one member's memory at the same time.
 * A contiguous block is one with both strides 1.
 * Spec: OpenSHMEM 1.6 §9.10.5, §9.10.6.  Tests: tests/api/coll/, tests/api/coll_nodes/.
 */
#include "runtime/coll/coll.h"

#include "runtime/base/num.h"
#include "runtime/base/options.h"
#include "runtime/coll/hier.h"
#include "runtime/gpu/coll.h"
#include "runtime/post.h"
#include "runtime/rma.h"
#include "runtime/route.h"
#include "runtime/service.h"
#include "runtime/team.h"

#include <string.h>

struct alltoall {
    const char           *call;
    enum shmemi_coll_kind kind;
    struct shmemi_team   *team;
    char                 *dest;
    const char           *source;
    ptrdiff_t             dest_stride, source_stride; /* in elements */
    size_t                nelems, elem_bytes;
    size_t                bytes; /* of a block's elements together */
};

static bool is_contiguous(const struct alltoall *a)
{
    return a->dest_stride == 1 && a->source_stride == 1;
}

/* From one element to the next, in bytes. */
static ptrdiff_t dest_step(const struct alltoall *a)
{
    return a->dest_stride * (ptrdiff_t)a->elem_bytes;
}

static ptrdiff_t source_step(const struct alltoall *a)
{
    return a->source_stride * (ptrdiff_t)a->elem_bytes;
}

/* Block k of dest, and of source. */
static char *dest_block(const struct alltoall *a, int k)
{
    return a->dest + (size_t)k * a->nelems * (size_t)dest_step(a);
}

static const char *source_block(const struct alltoall *a, int k)
{
    return a->source + (size_t)k * a->nelems * (size_t)source_step(a);
}

/* Bytes from the first to past the last of `elements` elements at this distance; at least one of them. */
static size_t span(const struct alltoall *a, size_t elements, ptrdiff_t stride)
{
    size_t distance, last;
    if (!shmemi_mul_size(elements - 1, (size_t)stride, &distance) || !shmemi_add_size(distance, 1, &last)) last = SIZE_MAX;
    return shmemi_coll_bytes(a->call, last, a->elem_bytes);
}

/* ---- one block ---- */

static void copy_own(const struct alltoall *a)
{
    int me = a->team->me;
    if (is_contiguous(a)) shmemi_rma_copy(dest_block(a, me), source_block(a, me), a->bytes, shmemi_rma_large_get);
    else shmemi_rma_copy_strided(dest_block(a, me), dest_step(a), source_block(a, me), source_step(a), a->nelems, a->elem_bytes);
}

static struct shmemi_place find(const struct alltoall *a, const void *address, size_t bytes, int member)
{
    struct shmemi_place place;
    shmemi_route_find(&shmemi_state.ctx_default, a->call, address, bytes, shmemi_team_world_pe(a->team, member), &place);
    return place;
}

static void put_block(const struct alltoall *a, int member)
{
    char       *dest   = dest_block(a, a->team->me);
    const char *source = source_block(a, member);
    if (is_contiguous(a)) {
        shmemi_coll_put(a->call, a->team, dest, source, a->bytes, member);
        return;
    }
    struct shmemi_place to = find(a, dest, span(a, a->nelems, a->dest_stride), member);
    if (to.mapped) shmemi_rma_copy_strided(to.mapped, dest_step(a), source, source_step(a), a->nelems, a->elem_bytes);
    else shmemi_post_put_strided(&shmemi_state.ctx_default, &to, source, a->nelems, a->elem_bytes, source_step(a), dest_step(a));
}

static void get_block(const struct alltoall *a, int member)
{
    char       *dest   = dest_block(a, member);
    const char *source = source_block(a, a->team->me);
    if (is_contiguous(a)) {
        shmemi_coll_get(a->call, a->team, dest, source, a->bytes, member);
        return;
    }
    struct shmemi_place from = find(a, source, span(a, a->nelems, a->source_stride), member);
    if (from.mapped) shmemi_rma_copy_strided(dest, dest_step(a), from.mapped, source_step(a), a->nelems, a->elem_bytes);
    else shmemi_post_get_strided(&shmemi_state.ctx_default, &from, dest, a->nelems, a->elem_bytes, dest_step(a), source_step(a));
}

/* ---- all of them ---- */

static void push(const struct alltoall *a)
{
    int n = a->team->size, me = a->team->me;
    for (int i = 1; i < n; i++) put_block(a, (me + i) % n);
    copy_own(a);
    shmemi_coll_barrier(a->call, a->team);
}

static void pull(const struct alltoall *a)
{
    int n = a->team->size, me = a->team->me;
    shmemi_coll_barrier(a->call, a->team);
    for (int i = 1; i < n; i++) get_block(a, (me + i) % n);
    copy_own(a);
    shmemi_coll_barrier(a->call, a->team); /* peers have read my source */
}

/* ---- in layers ---- */

/* Of one piece, and of the room for pieces that are under way. */
enum { PACKED_BYTES_MAX = 8 << 10, PACKED_ROOM_BYTES = SHMEMI_HIER_SORT_BYTES_MAX };

/* Own block, and those for the members of my node. */
static void put_in_node(const struct alltoall *a, const struct shmemi_hier *hier)
{
    const struct shmemi_team *local = &hier->local;
    for (int i = 1; i < local->size; i++)
        put_block(a, shmemi_team_find(a->team, shmemi_team_world_pe(local, (local->me + i) % local->size)));
    copy_own(a);
}

/* All that is for me has come: what other nodes sent, and what my neighbours stored. */
static void await(const struct alltoall *a, struct shmemi_hier *hier, int arrivals)
{
    shmemi_hier_arrivals_wait(a->call, hier, arrivals);
    shmemi_hier_meet(a->call, hier);
    shmemi_coll_quiet(); /* the memory that I sent from may be changed */
}

/* What the members of this node have for one member of another, in their order. */
static void pack(const struct alltoall *a, const struct shmemi_hier *hier, int member, char *piece)
{
    for (int i = 0; i < hier->local.size; i++)
        shmemi_coll_get(a->call, &hier->local, piece + (size_t)i * a->bytes, source_block(a, member), a->bytes, i);
}

/* Places are those in the order of nodes. */
static void send_pieces(const struct alltoall *a, const struct shmemi_hier *hier, char room[PACKED_ROOM_BYTES])
{
    int    n = a->team->size, first = hier->first[hier->node], width = hier->local.size;
    size_t used = 0, piece = (size_t)width * a->bytes;
    for (int i = hier->local.me; i < n - width;
         i += width) { /* number of the PE among those of other nodes, from the next node on */
        int member = shmemi_hier_member(hier, (first + width + i) % n);
        if (used + piece > PACKED_ROOM_BYTES) {
            shmemi_coll_quiet();
            used = 0;
        }
        pack(a, hier, member, room + used);
        shmemi_hier_put(a->call, hier, a->team, dest_block(a, first), room + used, piece, member);
        used += piece;
    }
}

static void pack_and_push(const struct alltoall *a, struct shmemi_hier *hier)
{
    char                      room[PACKED_ROOM_BYTES];
    const struct shmemi_team *local = &hier->local;
    int                       first = hier->first[hier->node];
    shmemi_hier_arrivals_begin(hier, a->team);
    shmemi_hier_meet(a->call, hier);
    send_pieces(a, hier, room);
    for (int i = 0; i < local->size; i++) {
        int to = (local->me + i) % local->size;
        shmemi_coll_put(a->call, local, dest_block(a, first + local->me), source_block(a, shmemi_hier_member(hier, first + to)),
                        a->bytes, to);
    }
    await(a, hier, hier->nodes - 1);
    shmemi_hier_sort(hier, a->dest, a->bytes, room);
}

static void push_in_layers(const struct alltoall *a, struct shmemi_hier *hier)
{
    int n = a->team->size, me = a->team->me;
    shmemi_hier_arrivals_begin(hier, a->team);
    for (int i = 1; i < n; i++) {
        int member = (me + i) % n;
        if (hier->node_of[member] != hier->node)
            shmemi_hier_put(a->call, hier, a->team, dest_block(a, me), source_block(a, member), a->bytes, member);
    }
    put_in_node(a, hier);
    await(a, hier, n - hier->local.size);
}

static bool can_pack(const struct alltoall *a, const struct shmemi_hier *hier)
{
    bool can_sort = hier->in_blocks || a->bytes <= (size_t)PACKED_ROOM_BYTES / (size_t)a->team->size;
    return is_contiguous(a) && can_sort && a->bytes <= (size_t)PACKED_BYTES_MAX / (size_t)hier->widest;
}

/* Not inline: the room is not to be in the frame of calls that need none. */
static __attribute__((noinline)) void move_in_layers(const struct alltoall *a, struct shmemi_hier *hier)
{
    if (can_pack(a, hier)) pack_and_push(a, hier);
    else if (is_contiguous(a)) push_in_layers(a, hier);
    else push(a);
}

/* Elements lie close together in a box. */
static void exchange(const struct alltoall *a)
{
    char        packed[SHMEMI_FLAT_MAX * SHMEMI_BOX_BYTES];
    const char *blocks = a->source;
    int         n      = a->team->size;
    ptrdiff_t   close  = (ptrdiff_t)a->elem_bytes;
    if (a->source_stride != 1) {
        shmemi_rma_copy_strided(packed, close, a->source, source_step(a), (size_t)n * a->nelems, a->elem_bytes);
        blocks = packed;
    }
    const struct shmemi_box *boxes = shmemi_coll_exchange(a->call, a->team, blocks, a->bytes, a->bytes);
    for (int i = 0; i < n; i++) {
        if (a->dest_stride == 1) memcpy(dest_block(a, i), boxes[i].bytes, a->bytes);
        else shmemi_rma_copy_strided(dest_block(a, i), dest_step(a), boxes[i].bytes, close, a->nelems, a->elem_bytes);
    }
}

/*
 * Measured with 2, 4 and 8 PEs on two cores, each element written before and read after. With two PEs a push is as quick as a pull or quicker, and needs one
 * meeting less: 13.9 against 17.1 us for 64 KiB. With more, a pull is quicker in the middle: 48 against 99 us with 4 PEs, 19 against 29 us for 16 KiB.
 */
enum { PULL_BYTES_MIN = 16 << 10, PULL_BYTES_MAX = 128 << 10 };

static bool pull_is_quicker(const struct alltoall *a)
{
    return a->team->mapped && a->team->size > 2 && a->bytes >= PULL_BYTES_MIN && a->bytes <= PULL_BYTES_MAX;
}

static void choose_and_move(const struct alltoall *a)
{
    const struct shmemi_team *team = a->team;
    struct shmemi_hier       *hier = shmemi_hier_of(team);
    if (SHMEMI_UNLIKELY(hier && can_pack(a, hier))) move_in_layers(a, hier);
    else if (team->size <= SHMEMI_FLAT_MAX && shmemi_coll_fits_box(team, a->bytes)) exchange(a);
    else if (pull_is_quicker(a)) pull(a);
    else if (hier) move_in_layers(a, hier);
    else push(a);
}

static void move_on_gpu(const struct alltoall *a)
{
    shmemi_gpu_coll_alltoall(&(struct shmemi_gpu_coll_blocks){
        .call        = a->call,
        .team        = a->team,
        .dest        = dest_block(a, a->team->me),
        .source      = a->source,
        .block_step  = a->nelems * (size_t)source_step(a),
        .nelems      = a->nelems,
        .elem_bytes  = a->elem_bytes,
        .dest_step   = dest_step(a),
        .source_step = source_step(a),
    });
}

static void move_blocks(const struct alltoall *a)
{
    if (shmemi_gpu_concerns_arrays(a->dest, a->source)) move_on_gpu(a);
    else if (a->team->size == 1) copy_own(a);
    else if (shmemi_options.coll_alltoall == SHMEMI_ALLTOALL_PULL) pull(a);
    else if (shmemi_options.coll_alltoall == SHMEMI_ALLTOALL_PUSH) push(a);
    else choose_and_move(a);
}

/* ---- the calls ---- */

static SHMEMI_COLD void bad_stride(const struct alltoall *a)
{
    shmemi_service_fatal(a->call,
                         "dst is %td and sst is %td" WHY "strides count elements, and 1 is the least" FIX "look at the two numbers",
                         a->dest_stride, a->source_stride);
}

static void enter(const struct alltoall *a)
{
    size_t elements = shmemi_coll_bytes(a->call, (size_t)a->team->size, a->nelems);
    if (SHMEMI_UNLIKELY(a->dest_stride < 1 || a->source_stride < 1)) bad_stride(a);
    const struct shmemi_coll_call what = {
        .call         = a->call,
        .kind         = a->kind,
        .dest         = a->dest,
        .dest_bytes   = elements ? span(a, elements, a->dest_stride) : 0,
        .source       = a->source,
        .source_bytes = elements ? span(a, elements, a->source_stride) : 0,
        .shape        = {a->bytes, (uint64_t)a->dest_stride, (uint64_t)a->source_stride},
    };
    shmemi_coll_enter(&what, a->team);
}

static void alltoall(const char *call, struct shmemi_team *team, void *dest, const void *source, size_t nelems, size_t elem_bytes)
{
    const struct alltoall a = {
        .call          = call,
        .kind          = SHMEMI_COLL_ALLTOALL,
        .team          = team,
        .dest          = dest,
        .source        = source,
        .dest_stride   = 1,
        .source_stride = 1,
        .nelems        = nelems,
        .elem_bytes    = elem_bytes,
        .bytes         = shmemi_coll_bytes(call, nelems, elem_bytes),
    };
    enter(&a);
    if (nelems > 0) move_blocks(&a);
}

static void alltoalls(const char *call, struct shmemi_team *team, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
                      size_t nelems, size_t elem_bytes)
{
    const struct alltoall a = {
        .call          = call,
        .kind          = SHMEMI_COLL_ALLTOALLS,
        .team          = team,
        .dest          = dest,
        .source        = source,
        .dest_stride   = dst,
        .source_stride = sst,
        .nelems        = nelems,
        .elem_bytes    = elem_bytes,
        .bytes         = shmemi_coll_bytes(call, nelems, elem_bytes),
    };
    enter(&a);
    if (nelems > 0) move_blocks(&a);
}

/* clang-format off */

#define PLAIN_ARGS(T)        shmem_team_t team, T *dest, const T *source, size_t nelems
#define STRIDED_ARGS(T)      shmem_team_t team, T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems
#define PLAIN_SET_ARGS       void *dest, const void *source, size_t nelems, \
                             int PE_start, int logPE_stride, int PE_size, long *pSync
#define STRIDED_SET_ARGS     void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, \
                             int PE_start, int logPE_stride, int PE_size, long *pSync

#define DEFINE_TEAM(NAME, ARGS, MOVE, ...)                                                            \
    int pshmem_##NAME(ARGS)                                                                           \
    {                                                                                                 \
        struct shmemi_team *found = shmemi_coll_team("shmem_" #NAME, team);                           \
        if (SHMEMI_UNLIKELY(!found)) return -1;                                                       \
        MOVE("shmem_" #NAME, found, dest, source, __VA_ARGS__);                                       \
        return 0;                                                                                     \
    }                                                                                                 \
    SHMEMI_EXPORT(shmem_##NAME)
#define DEFINE_PLAIN(NAME, T, OP)   DEFINE_TEAM(NAME##_##OP, PLAIN_ARGS(T), OP, nelems, sizeof(T))
#define DEFINE_STRIDED(NAME, T, OP) DEFINE_TEAM(NAME##_##OP, STRIDED_ARGS(T), OP, dst, sst, nelems, sizeof(T))
SHMEMI_RMA_TYPES(DEFINE_PLAIN, alltoall)
SHMEMI_RMA_TYPES(DEFINE_STRIDED, alltoalls)
DEFINE_TEAM(alltoallmem, PLAIN_ARGS(void), alltoall, nelems, 1)
DEFINE_TEAM(alltoallsmem, STRIDED_ARGS(void), alltoalls, dst, sst, nelems, 1)

#define DEFINE_SET(NAME, ARGS, MOVE, ...)                                                             \
    void pshmem_##NAME(ARGS)                                                                          \
    {                                                                                                 \
        const char        *call = "shmem_" #NAME;                                                     \
        struct shmemi_team set;                                                                       \
        if (!shmemi_team_active_set(call, PE_start, logPE_stride, PE_size, pSync, &set)) return;      \
        MOVE(call, &set, dest, source, __VA_ARGS__);                                                  \
    }                                                                                                 \
    SHMEMI_EXPORT(shmem_##NAME)
#define DEFINE_PLAIN_SET(BITS, BYTES, OP)   DEFINE_SET(OP##BITS, PLAIN_SET_ARGS, OP, nelems, BYTES)
#define DEFINE_STRIDED_SET(BITS, BYTES, OP) DEFINE_SET(OP##BITS, STRIDED_SET_ARGS, OP, dst, sst, nelems, BYTES)
SHMEMI_ACTIVE_SET_SIZES(DEFINE_PLAIN_SET, alltoall)
SHMEMI_ACTIVE_SET_SIZES(DEFINE_STRIDED_SET, alltoalls)

/* clang-format on */
