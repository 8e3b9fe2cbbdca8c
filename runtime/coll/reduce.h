/* SPDX-License-Identifier: Apache-2.0
 *
 * What reductions and scans share: the loops over elements, and the work in parts, and in layers.
 */
#ifndef SHMEMI_REDUCE_RUNTIME_H
#define SHMEMI_REDUCE_RUNTIME_H

#include "runtime/coll/coll.h"

#include <limits.h>

/* ---- loops (reduce_loops.c, reduce_loops_avx2.c) ---- */

enum shmemi_reduce_which {
    SHMEMI_REDUCE_AND,
    SHMEMI_REDUCE_OR,
    SHMEMI_REDUCE_XOR,
    SHMEMI_REDUCE_MAX,
    SHMEMI_REDUCE_MIN,
    SHMEMI_REDUCE_SUM,
    SHMEMI_REDUCE_PROD,
    SHMEMI_REDUCE_OPS
};

/* Representations of an element. */
enum shmemi_reduce_kind {
    SHMEMI_REDUCE_I8,
    SHMEMI_REDUCE_I16,
    SHMEMI_REDUCE_I32,
    SHMEMI_REDUCE_I64,
    SHMEMI_REDUCE_U8,
    SHMEMI_REDUCE_U16,
    SHMEMI_REDUCE_U32,
    SHMEMI_REDUCE_U64,
    SHMEMI_REDUCE_F32,
    SHMEMI_REDUCE_F64,
    SHMEMI_REDUCE_FL,
    SHMEMI_REDUCE_C32,
    SHMEMI_REDUCE_C64,
    SHMEMI_REDUCE_KINDS
};

/* clang-format off */

/* The kind of a type. Each exact-width type is one of these. */
#define SHMEMI_REDUCE_KIND(T)                                                       \
    _Generic((T){0},                                                                \
        char:               CHAR_MIN < 0 ? SHMEMI_REDUCE_I8 : SHMEMI_REDUCE_U8,     \
        signed char:        SHMEMI_REDUCE_I8,                                       \
        short:              SHMEMI_REDUCE_I16,                                      \
        int:                SHMEMI_REDUCE_I32,                                      \
        long:               sizeof(long) == 8 ? SHMEMI_REDUCE_I64 : SHMEMI_REDUCE_I32, \
        long long:          SHMEMI_REDUCE_I64,                                      \
        unsigned char:      SHMEMI_REDUCE_U8,                                       \
        unsigned short:     SHMEMI_REDUCE_U16,                                      \
        unsigned int:       SHMEMI_REDUCE_U32,                                      \
        unsigned long:      sizeof(long) == 8 ? SHMEMI_REDUCE_U64 : SHMEMI_REDUCE_U32, \
        unsigned long long: SHMEMI_REDUCE_U64,                                      \
        float:              SHMEMI_REDUCE_F32,                                      \
        double:             SHMEMI_REDUCE_F64,                                      \
        long double:        SHMEMI_REDUCE_FL,                                       \
        float _Complex:     SHMEMI_REDUCE_C32,                                      \
        double _Complex:    SHMEMI_REDUCE_C64)

/* clang-format on */

/*
 * into[i] = first[i] joined with second[i]. into may be first or second itself. All are aligned like the element, but no
 * more than to 8.
 */
typedef void shmemi_reduce_loop(void *into, const void *first, const void *second, size_t nelems);

struct shmemi_reduce_op {
    shmemi_reduce_loop *loop; /* NULL: there is no such operation on this kind */
    size_t              elem_bytes;
};
extern const struct shmemi_reduce_op shmemi_reduce_loops_ops[SHMEMI_REDUCE_OPS][SHMEMI_REDUCE_KINDS];

/* The same for CPUs with longer vectors: at the same place of the table. */
extern const struct shmemi_reduce_op shmemi_reduce_loops_avx2_ops[SHMEMI_REDUCE_OPS][SHMEMI_REDUCE_KINDS];

struct shmemi_hier;

/* One call. */
struct shmemi_reduce {
    const char           *call;
    struct shmemi_team   *team;
    char                 *dest;
    const char           *source;
    size_t                nelems, elem_bytes, bytes;
    shmemi_reduce_loop   *loop;
    enum shmemi_coll_kind kind;      /* REDUCE or SCAN */
    bool                  exclusive; /* scan: without my own */
    struct shmemi_hier   *arrive;    /* not NULL: what goes to others is an arrival there (hier.h), one for each call of a part */
};

enum shmemi_reduce_way { SHMEMI_REDUCE_BY_BOXES, SHMEMI_REDUCE_BY_ROUNDS, SHMEMI_REDUCE_BY_PARTS };

/* Arguments of a call over a team, looked at in checked mode. op: an element of the table above. false: no team. */
bool shmemi_reduce_enter(struct shmemi_reduce *what, shmem_team_t team, size_t nelems, const struct shmemi_reduce_op *op);

/* The same on all members. bytes > 0, and more than one member. The second: of a team that has a way in layers, one of rounds. */
enum shmemi_reduce_way shmemi_reduce_choose(const struct shmemi_team *team, size_t bytes);
enum shmemi_reduce_way shmemi_reduce_choose_layered(const struct shmemi_team *team, size_t bytes);

/* ---- in parts (reduce_parts.c) ---- */

/*
 * Any size, any route, active sets too. After all have met, the work is split: a member makes elements first to first +
 * nelems - 1 of every member's dest from those of every member's source. Nobody else touches these. part() is called on
 * those members that have a part.
 */
typedef void shmemi_reduce_part(const struct shmemi_reduce *what, size_t first, size_t nelems);
void         shmemi_reduce_parts(const struct shmemi_reduce *what, shmemi_reduce_part *part);

/* First element of part number `part` of `parts`; with part == parts, the end. The same on all members. */
size_t shmemi_reduce_parts_start(const struct shmemi_reduce *what, size_t parts, size_t part);

/* In how many parts, of those that could work on them at the same time. */
size_t shmemi_reduce_parts_count(const struct shmemi_reduce *what, size_t workers);

/* Memory for one part, which is worked on in segments, so that what lies between two steps stays in the cache. */
enum { SHMEMI_REDUCE_SEGMENT_BYTES = 8 << 10 };
struct shmemi_reduce_room {
    size_t           segment_elems, segment_bytes;
    int              batch;      /* members whose elements are there at the same time: all where the team is mapped */
    char            *partial[2]; /* a segment each */
    char            *slots;      /* batch segments, for members that are not mapped */
    char            *allocated;
    SHMEMI_LINE char own[2 * SHMEMI_REDUCE_SEGMENT_BYTES];
};
void shmemi_reduce_parts_room_open(struct shmemi_reduce_room *room, const struct shmemi_reduce *what, size_t part_elems);
void shmemi_reduce_parts_room_close(struct shmemi_reduce_room *room);

/* A member's memory at an element of dest or source, in this address space; NULL where it is not mapped. */
char *shmemi_reduce_parts_at(const struct shmemi_reduce *what, const void *array, int member, size_t first, size_t nelems);

/*
 * Elements first to first + nelems - 1 (at most a segment) of the sources of members base to base + batch - 1 can be read where
 * shmemi_reduce_parts_source() says, until the next fetch. Copies that were started before are complete.
 */
void shmemi_reduce_parts_fetch(const struct shmemi_reduce *what, const struct shmemi_reduce_room *room, int base, size_t first,
                               size_t nelems);

/* in_slot_out: it is a copy, in the room. */
char *shmemi_reduce_parts_source(const struct shmemi_reduce *what, const struct shmemi_reduce_room *room, int member, size_t first,
                                 size_t nelems, bool *in_slot_out);

/* ---- in layers (reduce_nodes.c) ---- */

/*
 * Any size, for a layered team. join_here makes a part of what's dest on this PE only, join_for_all on all members; both of a team
 * that is a view.
 */
void shmemi_reduce_nodes(const struct shmemi_reduce *what, struct shmemi_hier *hier, shmemi_reduce_part *join_here,
                         shmemi_reduce_part *join_for_all);

#endif
