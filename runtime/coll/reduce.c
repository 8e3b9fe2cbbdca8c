/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions over a team, and the older ones over an active set. The ways:
 *
 *   flat       small arrays, teams of a few: each member sends its elements to all, and each joins them in the order of members
 *   doubling   small arrays, any team: log2 n rounds; in layers on several nodes (hier.c)
 *   direct     any array: each member makes a part of the result for all (reduce_parts.c); in layers: reduce_nodes.c
 *
 * In each of them the result is the same, bit by bit, on all members: it is made once, or by all in the same order.
 * Spec: OpenSHMEM 1.6 §9.10.9.  Tests: tests/api/coll_reduce/.
 */
#include "runtime/coll/reduce.h"

#include "runtime/base/cpu.h"
#include "runtime/coll/hier.h"
#include "runtime/gpu/coll.h"
#include "runtime/post.h"
#include "runtime/route.h"
#include "runtime/service.h"
#include "runtime/team.h"

#include <shmem.h>
#include <string.h>

/* ---- what scans share ---- */

static void check_arguments(const struct shmemi_reduce *what)
{
    shmemi_coll_enter(&(struct shmemi_coll_call){.call         = what->call,
                                                 .kind         = what->kind,
                                                 .dest         = what->dest,
                                                 .dest_bytes   = what->bytes,
                                                 .source       = what->source,
                                                 .source_bytes = what->bytes,
                                                 .in_place     = true,
                                                 .shape        = {what->nelems}},
                      what->team);
}

/* The loop for this machine. */
static shmemi_reduce_loop *loop_of(const struct shmemi_reduce_op *op)
{
#if defined(__x86_64__)
    if (shmemi_cpu_has_avx2()) op = &shmemi_reduce_loops_avx2_ops[0][0] + (op - &shmemi_reduce_loops_ops[0][0]);
#endif
    return op->loop;
}

static void describe(struct shmemi_reduce *what, size_t nelems, const struct shmemi_reduce_op *op)
{
    what->nelems     = nelems;
    what->elem_bytes = op->elem_bytes;
    what->bytes      = shmemi_coll_bytes(what->call, nelems, op->elem_bytes);
    what->loop       = loop_of(op);
}

bool shmemi_reduce_enter(struct shmemi_reduce *what, shmem_team_t team, size_t nelems, const struct shmemi_reduce_op *op)
{
    what->team = shmemi_coll_team(what->call, team);
    if (!what->team) return false;
    describe(what, nelems, op);
    check_arguments(what);
    return true;
}

/* Where a way does not fit, the next one is taken. */
enum shmemi_reduce_way shmemi_reduce_choose(const struct shmemi_team *team, size_t bytes)
{
    int forced = shmemi_options.coll_reduce;
    if (forced == SHMEMI_REDUCE_DIRECT || !shmemi_coll_fits_box(team, bytes)) return SHMEMI_REDUCE_BY_PARTS;
    if (forced == SHMEMI_REDUCE_AUTO && team->central) return SHMEMI_REDUCE_BY_PARTS; /* one meeting, and less to wake */
    if (forced != SHMEMI_REDUCE_DOUBLING && team->size <= SHMEMI_FLAT_MAX) return SHMEMI_REDUCE_BY_BOXES;
    return SHMEMI_REDUCE_BY_ROUNDS;
}

enum shmemi_reduce_way shmemi_reduce_choose_layered(const struct shmemi_team *team, size_t bytes)
{
    enum shmemi_reduce_way way = shmemi_reduce_choose(team, bytes);
    return way == SHMEMI_REDUCE_BY_BOXES && shmemi_options.coll_reduce == SHMEMI_REDUCE_AUTO ? SHMEMI_REDUCE_BY_ROUNDS : way;
}

/* ---- flat ---- */

static void reduce_flat(const struct shmemi_reduce *what)
{
    const struct shmemi_box *boxes = shmemi_coll_meet(what->call, what->team, what->source, what->bytes);
    const void              *sum   = boxes[0].bytes;
    for (int i = 1; i < what->team->size; i++) {
        what->loop(what->dest, sum, boxes[i].bytes, what->nelems);
        sum = what->dest;
    }
}

/* ---- doubling ---- */

static void combine(void *into, const void *first, const void *second, void *argument)
{
    const struct shmemi_reduce *what = argument;
    what->loop(into, first, second, what->nelems);
}

static void reduce_doubling(struct shmemi_reduce *what)
{
    _Alignas(SHMEMI_LINE_BYTES) char value[SHMEMI_BOX_BYTES];
    memcpy(value, what->source, what->bytes);
    shmemi_coll_doubling(what->call, what->team, value, what->bytes, combine, what);
    memcpy(what->dest, value, what->bytes);
}

/* ---- direct ---- */

/*
 * One segment. What is joined so far lies in my dest, where the rest of the members is added; but while my own
 * elements are still to be read there, in a partial result.
 */
static void join_segment(const struct shmemi_reduce *what, const struct shmemi_reduce_room *room, size_t first, size_t nelems)
{
    int         n = what->team->size, me = what->team->me;
    char       *dest     = what->dest + first * what->elem_bytes;
    bool        in_place = what->dest == what->source, in_slot;
    const char *sum      = NULL;
    for (int base = 0; base < n; base += room->batch) {
        shmemi_reduce_parts_fetch(what, room, base, first, nelems);
        for (int member = base; member < n && member < base + room->batch; member++) {
            const char *source = shmemi_reduce_parts_source(what, room, member, first, nelems, &in_slot);
            char       *into   = in_place && member < me ? room->partial[0] : dest;
            if (sum) what->loop(into, sum, source, nelems);
            sum = sum ? into : source;
        }
    }
}

/* A segment of a part, of which it may be the only one. The last is followed by the arrival, where such are wanted, and the others go before it. */
static void put_to_others(const struct shmemi_reduce *what, size_t first, size_t nelems, bool only, bool last)
{
    int    n = what->team->size, me = what->team->me;
    char  *dest   = what->dest + first * what->elem_bytes;
    size_t bytes  = nelems * what->elem_bytes;
    bool   arrive = what->arrive && last;
    if (arrive && !only) shmemi_post_fence(&shmemi_state.ctx_default);
    for (int i = 1; i < n; i++) {
        int member = (me + i) % n;
        if (arrive) shmemi_hier_put(what->call, what->arrive, what->team, dest, dest, bytes, member);
        else shmemi_coll_put(what->call, what->team, dest, dest, bytes, member);
    }
}

static void join_part(const struct shmemi_reduce *what, size_t first, size_t nelems, bool for_all)
{
    struct shmemi_reduce_room room;
    shmemi_reduce_parts_room_open(&room, what, nelems);
    for (size_t done = 0; done < nelems; done += room.segment_elems) {
        size_t left = nelems - done, segment = left < room.segment_elems ? left : room.segment_elems;
        join_segment(what, &room, first + done, segment);
        if (for_all) put_to_others(what, first + done, segment, segment == nelems, segment == left);
    }
    shmemi_coll_quiet(); /* the puts read my dest only, but the copies end before their room does */
    shmemi_reduce_parts_room_close(&room);
}

static void join_here(const struct shmemi_reduce *what, size_t first, size_t nelems)
{
    size_t start = first * what->elem_bytes;
    if (what->team->size > 1) join_part(what, first, nelems, false);
    else if (what->dest != what->source) memcpy(what->dest + start, what->source + start, nelems * what->elem_bytes);
}

static void join_for_all(const struct shmemi_reduce *what, size_t first, size_t nelems)
{
    join_part(what, first, nelems, true);
}

/* ---- all ---- */

static void reduce_in_layers(struct shmemi_reduce *what, struct shmemi_hier *hier)
{
    switch (shmemi_reduce_choose_layered(what->team, what->bytes)) {
    case SHMEMI_REDUCE_BY_BOXES: reduce_flat(what); break;
    case SHMEMI_REDUCE_BY_ROUNDS: reduce_doubling(what); break;
    case SHMEMI_REDUCE_BY_PARTS: shmemi_reduce_nodes(what, hier, join_here, join_for_all); break;
    }
}

static void reduce_any(struct shmemi_reduce *what)
{
    if (what->bytes == 0) return;
    if (shmemi_gpu_concerns_arrays(what->dest, what->source)) {
        shmemi_gpu_coll_reduce(what);
        return;
    }
    if (what->team->size == 1) {
        if (what->dest != what->source) memcpy(what->dest, what->source, what->bytes);
        return;
    }
    struct shmemi_hier *hier = shmemi_hier_of(what->team);
    if (SHMEMI_UNLIKELY(hier != NULL)) {
        reduce_in_layers(what, hier);
        return;
    }
    switch (shmemi_reduce_choose(what->team, what->bytes)) {
    case SHMEMI_REDUCE_BY_BOXES: reduce_flat(what); break;
    case SHMEMI_REDUCE_BY_ROUNDS: reduce_doubling(what); break;
    case SHMEMI_REDUCE_BY_PARTS: shmemi_reduce_parts(what, join_for_all); break;
    }
}

static int reduce(const char *call, shmem_team_t team, void *dest, const void *source, size_t nreduce,
                  const struct shmemi_reduce_op *op)
{
    struct shmemi_reduce what = {.call = call, .dest = dest, .source = source, .kind = SHMEMI_COLL_REDUCE};
    if (!shmemi_reduce_enter(&what, team, nreduce, op)) return -1;
    reduce_any(&what);
    return 0;
}

/* clang-format off */

#define DEFINE_REDUCE(NAME, T, OP, WHICH)                                                             \
    int pshmem_##NAME##_##OP(SHMEMI_REDUCE_ARGS(T))                                                   \
    {                                                                                                 \
        return reduce("shmem_" #NAME "_" #OP, team, dest, source, nreduce,                            \
                      &shmemi_reduce_loops_ops[SHMEMI_REDUCE_##WHICH][SHMEMI_REDUCE_KIND(T)]);              \
    }                                                                                                 \
    SHMEMI_EXPORT(shmem_##NAME##_##OP)

SHMEMI_REDUCE_BIT_TYPES(DEFINE_REDUCE, and_reduce, AND)
SHMEMI_REDUCE_BIT_TYPES(DEFINE_REDUCE, or_reduce, OR)
SHMEMI_REDUCE_BIT_TYPES(DEFINE_REDUCE, xor_reduce, XOR)
SHMEMI_REDUCE_ARITH_TYPES(DEFINE_REDUCE, max_reduce, MAX)
SHMEMI_REDUCE_ARITH_TYPES(DEFINE_REDUCE, min_reduce, MIN)
SHMEMI_REDUCE_SUM_TYPES(DEFINE_REDUCE, sum_reduce, SUM)
SHMEMI_REDUCE_SUM_TYPES(DEFINE_REDUCE, prod_reduce, PROD)

/* clang-format on */

/* ---- over active sets ---- */

struct active_set {
    int   start, log_stride, size;
    long *psync;
    void *pwrk;
};

/* SPEC §9.10.9: pWrk is symmetric and has max(nreduce/2 + 1, SHMEM_REDUCE_MIN_WRKDATA_SIZE) elements. Nothing here uses it. */
static SHMEMI_COLD void check_old_arguments(const struct shmemi_reduce *what, int nreduce, size_t elem_bytes, const void *pwrk)
{
    if (nreduce < 0) shmemi_service_fatal(what->call, "nreduce is %d" WHY "it counts elements" FIX "pass 0 or more", nreduce);
    size_t              wanted = (size_t)nreduce / 2 + 1;
    struct shmemi_place unused; /* the careful path has the messages */
    if (wanted < SHMEM_REDUCE_MIN_WRKDATA_SIZE) wanted = SHMEM_REDUCE_MIN_WRKDATA_SIZE;
    if (nreduce > 0)
        shmemi_route_find(&shmemi_state.ctx_default, what->call, pwrk, wanted * elem_bytes, shmemi_state.my_pe, &unused);
}

static void to_all(const char *call, void *dest, const void *source, int nreduce, const struct active_set *set,
                   const struct shmemi_reduce_op *op)
{
    struct shmemi_reduce what = {.call = call, .dest = dest, .source = source, .kind = SHMEMI_COLL_REDUCE};
    struct shmemi_team   team;
    if (!shmemi_team_active_set(call, set->start, set->log_stride, set->size, set->psync, &team)) return;
    if (SHMEMI_UNLIKELY(shmemi_state.check)) check_old_arguments(&what, nreduce, op->elem_bytes, set->pwrk);
    what.team = &team;
    describe(&what, nreduce > 0 ? (size_t)nreduce : 0, op);
    check_arguments(&what);
    reduce_any(&what);
}

/* clang-format off */

#define DEFINE_TO_ALL(NAME, T, OP, WHICH)                                                             \
    void pshmem_##NAME##_##OP(SHMEMI_TO_ALL_ARGS(T))                                                  \
    {                                                                                                 \
        const struct active_set set = {PE_start, logPE_stride, PE_size, pSync, pWrk};                 \
        to_all("shmem_" #NAME "_" #OP, dest, source, nreduce, &set,                                   \
               &shmemi_reduce_loops_ops[SHMEMI_REDUCE_##WHICH][SHMEMI_REDUCE_KIND(T)]);                     \
    }                                                                                                 \
    SHMEMI_EXPORT(shmem_##NAME##_##OP)

SHMEMI_TO_ALL_BIT_TYPES(DEFINE_TO_ALL, and_to_all, AND)
SHMEMI_TO_ALL_BIT_TYPES(DEFINE_TO_ALL, or_to_all, OR)
SHMEMI_TO_ALL_BIT_TYPES(DEFINE_TO_ALL, xor_to_all, XOR)
SHMEMI_TO_ALL_ARITH_TYPES(DEFINE_TO_ALL, max_to_all, MAX)
SHMEMI_TO_ALL_ARITH_TYPES(DEFINE_TO_ALL, min_to_all, MIN)
SHMEMI_TO_ALL_SUM_TYPES(DEFINE_TO_ALL, sum_to_all, SUM)
SHMEMI_TO_ALL_SUM_TYPES(DEFINE_TO_ALL, prod_to_all, PROD)

/* clang-format on */
