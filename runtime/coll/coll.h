/* SPDX-License-Identifier: Apache-2.0
 *
 * What the collectives are built from. Each collective is a file of its own in this folder; a collective is a few of these steps.
 *
 *   enter     look at the arguments (checked mode: their validity, and whether all members call the same)
 *   meet      shmemi_sync_team(): all members have arrived
 *   move      put and get between members, over whatever route there is; peer(): a member's memory, where it is mapped
 *   boxes     small messages in the team's slot, without a meeting before or after
 *
 * Boxes. A box has a number, seq: the collective that its contents belong to. There are two kinds of use.
 * Full: in the end each member has heard from every other, directly or not. So nobody is more than one full collective ahead, and two boxes,
 * used in turn, are enough. One-way: some members only send. A sender may be ahead, so there are SHMEMI_ONEWAY_BOXES boxes used in turn,
 * and after that many one-way collectives without a full one or a synchronization the members synchronize.
 * Active sets have no slot: they meet in pSync, and use no boxes.
 *
 * The puts and gets of collectives travel on the default context. Spec: OpenSHMEM 1.6 §9.10.
 */
#ifndef SHMEMI_COLL_RUNTIME_H
#define SHMEMI_COLL_RUNTIME_H

#include "runtime/state.h"

#include <shmem.h>

enum shmemi_coll_kind {
    SHMEMI_COLL_BARRIER,
    SHMEMI_COLL_HEAP, /* the barriers of the memory routines, which compare their own arguments (heap.c) */
    SHMEMI_COLL_SYNC,
    SHMEMI_COLL_SPLIT,
    SHMEMI_COLL_DESTROY,
    SHMEMI_COLL_BROADCAST,
    SHMEMI_COLL_COLLECT,
    SHMEMI_COLL_FCOLLECT,
    SHMEMI_COLL_ALLTOALL,
    SHMEMI_COLL_ALLTOALLS,
    SHMEMI_COLL_REDUCE,
    SHMEMI_COLL_SCAN,
};

/* One collective call as this PE makes it. */
struct shmemi_coll_call {
    const char           *call; /* name, for messages */
    enum shmemi_coll_kind kind;
    const void           *dest; /* symmetric, may be NULL where dest_bytes is 0 */
    size_t                dest_bytes;
    const void           *source;
    size_t                source_bytes;
    bool                  in_place;   /* dest == source is allowed */
    bool                  own_source; /* members may have none: not compared with the others' */
    uint64_t              shape[3];   /* numbers that must be the same on all members: elements, root, strides */
};

/* The team of a collective call. Ends the job where the library is not running or the team was destroyed, and, in checked mode, where there
 * never was one or the handle is SHMEM_TEAM_INVALID; NULL for that handle otherwise. */
struct shmemi_team *shmemi_coll_team(const char *call, shmem_team_t handle);

/* Checked mode: arguments, then shmemi_coll_check(). Ends the job with a message. Else nothing. */
void shmemi_coll_enter_checked(const struct shmemi_coll_call *what, struct shmemi_team *team);

/* A NULL where there are elements. Ends the job with a message. */
SHMEMI_COLD void shmemi_coll_null(const struct shmemi_coll_call *what);

static inline void shmemi_coll_enter(const struct shmemi_coll_call *what, struct shmemi_team *team)
{
    if (SHMEMI_UNLIKELY((!what->dest && what->dest_bytes) || (!what->source && what->source_bytes))) shmemi_coll_null(what);
    if (SHMEMI_UNLIKELY(shmemi_state.check)) shmemi_coll_enter_checked(what, team);
}

/* Do all members make the same call? A round of boxes; nothing for active sets. */
void shmemi_coll_check(const struct shmemi_coll_call *what, struct shmemi_team *team);

/* Bytes of nelems elements; ends the job where that is more than an address can count. */
size_t shmemi_coll_bytes(const char *call, size_t nelems, size_t elem_bytes);

/* ---- moving ---- */

/* The member's memory at a symmetric address, in this address space; NULL where it is not mapped. */
void *shmemi_coll_peer(const char *call, const struct shmemi_team *team, const void *address, size_t bytes, int member);

/* Start a copy to or from a member (this PE too). bytes may be 0. Local buffers stay in use until shmemi_coll_quiet(). */
void shmemi_coll_put(const char *call, const struct shmemi_team *team, void *dest, const void *source, size_t bytes, int member);
void shmemi_coll_get(const char *call, const struct shmemi_team *team, void *dest, const void *source, size_t bytes, int member);

/* All copies are complete and visible at their targets. */
void shmemi_coll_quiet(void);

/*
 * Mapped teams: all others tell one member that they are done with its memory. It knows what to wait for beforehand, and lets the others
 * know (in a box): so only the last one looks whether it sleeps.
 */
uint64_t shmemi_coll_done_expected(const struct shmemi_team *team);
void     shmemi_coll_done_tell(const struct shmemi_team *team, int member, uint64_t expected);
void     shmemi_coll_done_wait(const char *call, const struct shmemi_team *team, uint64_t expected);

/* shmemi_coll_quiet(), then all members have arrived: what they put here is here, and they are done with my memory. */
void shmemi_coll_barrier(const char *call, struct shmemi_team *team);

/* ---- boxes: only for teams with a slot and more than one member ---- */

static inline struct shmemi_slot *shmemi_coll_slot(const struct shmemi_team *team)
{
    return (struct shmemi_slot *)(void *)((char *)shmemi_state.ctrl + shmemi_state_slot_offset(team->slot));
}

static inline bool shmemi_coll_fits_box(const struct shmemi_team *team, size_t bytes)
{
    return team->slot >= 0 && bytes <= SHMEMI_BOX_BYTES;
}

/*
 * Full. Every member gives bytes (at most SHMEMI_BOX_BYTES) and gets those of all: box i of the result holds member i's. Valid until this
 * PE's next full collective on the team. At most SHMEMI_FLAT_MAX members.
 */
const struct shmemi_box *shmemi_coll_meet(const char *call, struct shmemi_team *team, const void *mine, size_t bytes);

/* The same, but member i gets the bytes at mine + i * stride. */
const struct shmemi_box *shmemi_coll_exchange(const char *call, struct shmemi_team *team, const void *mine, size_t stride,
                                              size_t bytes);

/*
 * Full, in rounds, for teams of any size: begin; in each round send one box and receive one; end. round < shmemi_state.slot_rounds, each used
 * once. What is received is valid until the next full collective. It is the caller's duty that in the end all have heard from all.
 */
void shmemi_coll_full_begin(struct shmemi_team *team);
void shmemi_coll_full_send(const struct shmemi_team *team, int round, int member, const void *mine, size_t bytes);
/* Any number of bytes straight to the member's dest, and an empty box that tells so. source stays in use until shmemi_coll_quiet(). */
void shmemi_coll_full_put(const char *call, const struct shmemi_team *team, int round, int member, void *dest, const void *source,
                          size_t bytes);
const void *shmemi_coll_full_receive(const char *call, const struct shmemi_team *team, int round, int member);
void        shmemi_coll_full_end(struct shmemi_team *team);

/*
 * Full. Combine a value of all members, by recursive doubling or in layers (hier.h); afterwards value is the same, bit by bit, on all of them.
 * combine(into, first, second, argument): into may be either of the two.
 */
typedef void shmemi_coll_combine(void *into, const void *first, const void *second, void *argument);
void shmemi_coll_doubling(const char *call, struct shmemi_team *team, void *value, size_t bytes, shmemi_coll_combine *combine,
                          void *argument);

/* Full: bitwise and of words of 8 bytes. */
void shmemi_coll_and(const char *call, struct shmemi_team *team, uint64_t *words, size_t bytes);

/*
 * Full: sums of one number. before: over members 0 to me - 1; all: over all. For active sets too, which must call shmemi_coll_barrier() before
 * they return.
 */
void shmemi_coll_prefix(const char *call, struct shmemi_team *team, uint64_t mine, uint64_t *before_out);

/* One-way: begin (on all members); then each member sends any number of times to members that receive exactly once. */
void shmemi_coll_oneway_begin(const char *call, struct shmemi_team *team);
void shmemi_coll_oneway_send(const struct shmemi_team *team, int member, const void *mine, size_t bytes);
/* As shmemi_coll_full_put(). */
void        shmemi_coll_oneway_put(const char *call, const struct shmemi_team *team, int member, void *dest, const void *source,
                                   size_t bytes);
const void *shmemi_coll_oneway_receive(const char *call, const struct shmemi_team *team, int member);

/* ---- in pSync, for active sets (sync.c) ---- */

/* Wait for a semaphore and take 1 off. member: who gives it, or -1 where any may. */
void shmemi_sync_take(const char *call, const struct shmemi_team *team, long *word, int member);

/* An active set's value words lie behind its semaphores. */
enum { SHMEMI_PSYNC_VALUES = 32 };

#endif
