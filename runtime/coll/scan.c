/* SPDX-License-Identifier: Apache-2.0
 *
 * Scans: sums over the members before each one, with it (inscan) or without it (exscan). The ways are those of reduce.c:
 * boxes for small arrays and teams of a few, rounds for small arrays, and parts, whose workers make the running sums of
 * all members. In layers (hier.h) the leaders make the sums of their nodes' members, and scan the sums of nodes: for small arrays, and where the
 * members of each node follow each other.
 * Spec: OpenSHMEM 1.6 §9.10.10.  Tests: tests/api/coll_reduce/.
 */
#include "runtime/coll/reduce.h"

#include "runtime/coll/hier.h"
#include "runtime/gpu/coll.h"

#include <shmem.h>
#include <string.h>

/* ---- flat ---- */

static void scan_flat(const struct shmemi_reduce *what)
{
    const struct shmemi_box *boxes = shmemi_coll_meet(what->call, what->team, what->source, what->bytes);
    int                      last  = what->exclusive ? what->team->me - 1 : what->team->me;
    if (last < 0) memset(what->dest, 0, what->bytes);
    else memcpy(what->dest, boxes[0].bytes, what->bytes);
    for (int i = 1; i <= last; i++) what->loop(what->dest, what->dest, boxes[i].bytes, what->nelems);
}

/* ---- in rounds ---- */

/*
 * Before a round the sum is over members me - 2^round + 1 to me, as far as there are such. What comes in that round is
 * the sum of the 2^round members before those. All hear from all, so it is a full exchange.
 */
static void scan_rounds(const struct shmemi_reduce *what)
{
    _Alignas(SHMEMI_LINE_BYTES) char sum[SHMEMI_BOX_BYTES];
    _Alignas(SHMEMI_LINE_BYTES) char before[SHMEMI_BOX_BYTES] = {0};

    struct shmemi_team *team = what->team;
    int                 n = team->size, me = team->me;
    memcpy(sum, what->source, what->bytes);
    shmemi_coll_full_begin(team);
    for (int round = 0, distance = 1; distance < n; round++, distance *= 2) {
        shmemi_coll_full_send(team, round, (int)(((long)me + distance) % n), sum, what->bytes);
        const void *theirs = shmemi_coll_full_receive(what->call, team, round, (int)(((long)me - distance + n) % n));
        if (me < distance) continue; /* it is from members after me */
        what->loop(sum, theirs, sum, what->nelems);
        if (round == 0) memcpy(before, theirs, what->bytes); /* not 0 + theirs, which makes 0 of -0 */
        else what->loop(before, theirs, before, what->nelems);
    }
    shmemi_coll_full_end(team);
    memcpy(what->dest, what->exclusive ? before : sum, what->bytes);
}

/* ---- in layers ---- */

/* The sum over all members of the nodes before this one; false: there are none. */
static bool sum_before_node(const struct shmemi_reduce *what, const struct shmemi_hier *hier, struct shmemi_team *leaders,
                            void *before)
{
    _Alignas(SHMEMI_LINE_BYTES) char sum[SHMEMI_BOX_BYTES];

    const struct shmemi_reduce between = {
        .call       = what->call,
        .team       = leaders,
        .dest       = before,
        .source     = sum,
        .nelems     = what->nelems,
        .elem_bytes = what->elem_bytes,
        .bytes      = what->bytes,
        .loop       = what->loop,
        .exclusive  = true,
    };
    memcpy(sum, what->source, what->bytes);
    for (int i = 1; i < hier->local.size; i++) what->loop(sum, sum, shmemi_hier_area(hier, i), what->nelems);
    if (leaders->size <= SHMEMI_FLAT_MAX) scan_flat(&between);
    else scan_rounds(&between);
    return leaders->me > 0;
}

/* The leader's part: areas hold the members' elements, and then their results. */
static void scan_areas(const struct shmemi_reduce *what, const struct shmemi_hier *hier, struct shmemi_team *leaders)
{
    _Alignas(SHMEMI_LINE_BYTES) char sum[SHMEMI_BOX_BYTES];
    _Alignas(SHMEMI_LINE_BYTES) char next[SHMEMI_BOX_BYTES];

    bool any = sum_before_node(what, hier, leaders, sum);
    memcpy(shmemi_hier_area(hier, 0), what->source, what->bytes);
    for (int i = 0; i < hier->local.size; i++) {
        void *area = shmemi_hier_area(hier, i);
        if (any) what->loop(next, sum, area, what->nelems);
        else memcpy(next, area, what->bytes); /* not 0 + it, which makes 0 of -0 */
        if (!what->exclusive) memcpy(area, next, what->bytes);
        else if (any) memcpy(area, sum, what->bytes);
        else memset(area, 0, what->bytes);
        memcpy(sum, next, what->bytes);
        any = true;
    }
}

static void scan_in_layers(const struct shmemi_reduce *what, struct shmemi_hier *hier)
{
    struct shmemi_team *leaders = shmemi_hier_full(hier, what->team);
    void               *mine    = shmemi_hier_area(hier, hier->local.me);
    if (!shmemi_hier_is_leader(hier)) memcpy(mine, what->source, what->bytes);
    if (shmemi_hier_gather(what->call, hier)) scan_areas(what, hier, leaders);
    shmemi_hier_release(what->call, hier);
    memcpy(what->dest, mine, what->bytes);
}

/* ---- in parts ---- */

/* The sums of one segment, from member to member. */
struct running {
    const char *sum;   /* of all members so far, or NULL */
    int         other; /* the partial result that does not hold it */
};

/* out: the member's dest, or its copy of source, from which it is then put. */
static void next_sum(const struct shmemi_reduce *what, const struct shmemi_reduce_room *room, struct running *running,
                     const char *source, char *out, size_t nelems)
{
    size_t bytes = nelems * what->elem_bytes;
    if (what->exclusive) { /* out may be source, so the next sum is made before */
        char *next = room->partial[running->other];
        if (running->sum) what->loop(next, running->sum, source, nelems);
        else memcpy(next, source, bytes);
        if (running->sum) memcpy(out, running->sum, bytes);
        else memset(out, 0, bytes);
        running->sum   = next;
        running->other = !running->other;
        return;
    }
    if (running->sum) what->loop(out, running->sum, source, nelems);
    else if (out != source) memcpy(out, source, bytes);
    running->sum = out;
}

static void scan_segment(const struct shmemi_reduce *what, const struct shmemi_reduce_room *room, size_t first, size_t nelems)
{
    size_t         bytes   = nelems * what->elem_bytes;
    int            n       = what->team->size;
    struct running running = {.sum = NULL};
    for (int base = 0; base < n; base += room->batch) {
        if (running.sum && !what->exclusive) { /* it lies in a slot, perhaps */
            memcpy(room->partial[0], running.sum, bytes);
            running.sum = room->partial[0];
        }
        shmemi_reduce_parts_fetch(what, room, base, first, nelems);
        for (int member = base; member < n && member < base + room->batch; member++) {
            bool  in_slot;
            char *source = shmemi_reduce_parts_source(what, room, member, first, nelems, &in_slot);
            char *out    = in_slot ? source : shmemi_reduce_parts_at(what, what->dest, member, first, nelems);
            next_sum(what, room, &running, source, out, nelems);
            if (in_slot) shmemi_coll_put(what->call, what->team, what->dest + first * what->elem_bytes, out, bytes, member);
        }
    }
}

static void scan_part(const struct shmemi_reduce *what, size_t first, size_t nelems)
{
    struct shmemi_reduce_room room;
    shmemi_reduce_parts_room_open(&room, what, nelems);
    for (size_t done = 0; done < nelems; done += room.segment_elems) {
        size_t left = nelems - done;
        scan_segment(what, &room, first + done, left < room.segment_elems ? left : room.segment_elems);
    }
    shmemi_coll_quiet(); /* puts may still read the room */
    shmemi_reduce_parts_room_close(&room);
}

/* ---- all ---- */

static void scan_alone(const struct shmemi_reduce *what)
{
    if (what->exclusive) memset(what->dest, 0, what->bytes); /* SPEC §9.10.10: the first PE's result is 0 */
    else if (what->dest != what->source) memcpy(what->dest, what->source, what->bytes);
}

static int scan(const char *call, shmem_team_t team, void *dest, const void *source, size_t nelems, bool exclusive,
                const struct shmemi_reduce_op *op)
{
    struct shmemi_reduce what = {.call = call, .dest = dest, .source = source, .kind = SHMEMI_COLL_SCAN, .exclusive = exclusive};
    if (!shmemi_reduce_enter(&what, team, nelems, op)) return -1;
    if (what.bytes == 0) return 0;
    if (shmemi_gpu_concerns_arrays(dest, source)) {
        shmemi_gpu_coll_scan(&what);
        return 0;
    }
    if (what.team->size == 1) {
        scan_alone(&what);
        return 0;
    }
    struct shmemi_hier *hier = shmemi_hier_of(what.team);
    if (hier && hier->in_blocks && shmemi_reduce_choose_layered(what.team, what.bytes) == SHMEMI_REDUCE_BY_ROUNDS) {
        scan_in_layers(&what, hier);
        return 0;
    }
    switch (shmemi_reduce_choose(what.team, what.bytes)) {
    case SHMEMI_REDUCE_BY_BOXES: scan_flat(&what); break;
    case SHMEMI_REDUCE_BY_ROUNDS: scan_rounds(&what); break;
    case SHMEMI_REDUCE_BY_PARTS: shmemi_reduce_parts(&what, scan_part); break;
    }
    return 0;
}

/* clang-format off */

#define DEFINE_SCAN(NAME, T, OP, EXCLUSIVE)                                                           \
    int pshmem_##NAME##_##OP(SHMEMI_SCAN_ARGS(T))                                                     \
    {                                                                                                 \
        return scan("shmem_" #NAME "_" #OP, team, dest, source, nelems, EXCLUSIVE,                    \
                    &shmemi_reduce_loops_ops[SHMEMI_REDUCE_SUM][SHMEMI_REDUCE_KIND(T)]);                    \
    }                                                                                                 \
    SHMEMI_EXPORT(shmem_##NAME##_##OP)

SHMEMI_REDUCE_SUM_TYPES(DEFINE_SCAN, sum_inscan, false)
SHMEMI_REDUCE_SUM_TYPES(DEFINE_SCAN, sum_exscan, true)

/* clang-format on */
