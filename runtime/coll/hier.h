/* SPDX-License-Identifier: Apache-2.0
 *
 * Layers: how the members of a team on several nodes work together. Within a node they use shared memory, and between nodes few messages
 * do what would take one for each pair of members.
 *
 * A team is layered where that can save messages: its members are on several nodes, some of them on one and the same, and those of a node map
 * each other. This follows from the numbers of nodes that all PEs know, so all members come to the same without a message. Teams within
 * one node, with one member on each, and active sets, which have no slot, are not layered.
 *
 *   gather, release   the members of this node tell its first one, the leader, that they have come; it lets them go. In between it works for
 *                     all: it reads and writes their memory, and talks to the other leaders
 *   views             some of the members as a team of their own, on which the steps of coll.h work: those of this node; the leaders; and a
 *                     column, one of each node, which together are the way of large data: as many columns as a node has members, all at work
 *   areas             a small message of each member, which the members of its node can read and write
 *   arrivals          a member of another node puts data here, and counts itself in behind them: so who is told how many will come needs no meeting
 *
 * A view has the team's slot, so it lives on the team's counters: shmemi_hier_full() says how.
 */
#ifndef SHMEMI_HIER_H
#define SHMEMI_HIER_H

#include "runtime/coll/coll.h"

struct shmemi_hier {
    const struct shmemi_team *team;        /* whose layers these are: its views have the same slot */
    int                       nodes, node; /* on which there are members; mine. Numbered by their first members */
    int                       widest;      /* most members on one node: the number of columns */
    bool                      in_blocks;   /* the members of a node follow each other in the team */
    struct shmemi_team        local;       /* view: the members on this node, in the team's order; the first is its leader */
    struct shmemi_team        leaders;     /* view: of all nodes, in their order */
    struct shmemi_team        column;      /* view: see shmemi_hier_column() */
    uint64_t                  meetings;    /* within this node, so far */
    int                       senders;     /* members of other nodes in whose column this PE is */
    uint64_t                  parity;      /* of the arrivals under way */
    uint64_t                  arrivals[2]; /* of each parity, so far, as they were waited for */
    int                      *node_of;     /* [size of the team] */
    int                      *first;       /* [nodes + 1] where a node's members begin in pes */
    int                      *pes;         /* [size of the team] world numbers, node after node */
    int                      *leader_pes, *column_pes; /* [nodes] lists of the views */
    int                       numbers[];
};

/* The layers of the team in a slot, or NULL; the table is NULL where no team can be layered. */
extern struct shmemi_hier **shmemi_hier_table;

static inline struct shmemi_hier *shmemi_hier_of(const struct shmemi_team *team)
{
    if (SHMEMI_LIKELY(team->mapped || !shmemi_hier_table || team->slot < 0)) return NULL;
    struct shmemi_hier *hier = shmemi_hier_table[team->slot];
    return hier && hier->team == team ? hier : NULL;
}

/* Asked for where the library would not choose it. */
static inline bool shmemi_hier_forced(const struct shmemi_team *team)
{
    return SHMEMI_UNLIKELY(shmemi_options.coll_hierarchy == SHMEMI_ON_YES) && shmemi_hier_of(team);
}

/* ---- making (team.c) ---- */

/* Room at the end of each slot. */
size_t shmemi_hier_slot_bytes(void);

/* Whether teams of this job can be layered; before the first team is made. 0 or -ENOMEM, logged. */
int  shmemi_hier_init(void);
void shmemi_hier_finish(void); /* after all teams are gone */

/* The layers of a team that has no slot yet. *hier_out is NULL where it is not layered. 0, or -ENOMEM. */
int shmemi_hier_make(const struct shmemi_team *team, struct shmemi_hier **hier_out);

/* Now it has a slot. hier may be NULL. */
void shmemi_hier_attach(struct shmemi_hier *hier, const struct shmemi_team *team);

/* Free what was made; and also of a team with a slot, before it gives that back. */
void shmemi_hier_drop(struct shmemi_hier *hier);

/* ---- steps ---- */

static inline bool shmemi_hier_is_leader(const struct shmemi_hier *hier)
{
    return hier->local.me == 0;
}

/* The members of this node tell the leader that they have come. On the leader, true once all have; on others false, at once. */
bool shmemi_hier_gather(const char *call, struct shmemi_hier *hier);

/* The leader lets the others go; they wait for that, and see what it stored. Between them and a gather nothing else of this kind. */
void shmemi_hier_release(const char *call, struct shmemi_hier *hier);

/* Both: the members of this node have come. */
void shmemi_hier_meet(const char *call, struct shmemi_hier *hier);

/*
 * Called by all members before a full collective (coll.h) of the leaders only, which must lie between a gather and a release, so that it is one
 * of the whole team: counts it, and gives the view on which the leaders make it.
 */
struct shmemi_team *shmemi_hier_full(struct shmemi_hier *hier, struct shmemi_team *team);

/* Member `place` of each node, counted round where a node has fewer. Valid until the next call. */
struct shmemi_team *shmemi_hier_column(struct shmemi_hier *hier, int place);

/* Number of members on a node. */
static inline int shmemi_hier_width(const struct shmemi_hier *hier, int node)
{
    return hier->first[node + 1] - hier->first[node];
}

/* Number in the team of the member at this place of pes. */
static inline int shmemi_hier_member(const struct shmemi_hier *hier, int place)
{
    return (hier->pes[place] - hier->team->start) / hier->team->stride; /* such a team has no list */
}

/*
 * A block of each member, which lie in the order of pes, into the order of the team. room: for all of them, not used where the two are the same.
 * The limit is for callers that have it on their stack.
 */
enum { SHMEMI_HIER_SORT_BYTES_MAX = 32 << 10 };
void shmemi_hier_sort(const struct shmemi_hier *hier, char *blocks, size_t block_bytes, char *room);

/* A member's area of SHMEMI_BOX_BYTES, aligned like a box: its own until it has come, and the leader's until it lets it go. */
void *shmemi_hier_area(const struct shmemi_hier *hier, int local);

/* ---- arrivals ---- */

/*
 * Called by all members before a collective in which some put with shmemi_hier_put() and others wait. It must be a full one (coll.h): so nobody
 * is more than one of them ahead, and two counts, used in turn, are enough.
 */
void shmemi_hier_arrivals_begin(struct shmemi_hier *hier, struct shmemi_team *team);

/* Bytes, which may be none, to the dest of a member of another node, and one arrival there. source stays in use until shmemi_coll_quiet(). */
void shmemi_hier_put(const char *call, const struct shmemi_hier *hier, const struct shmemi_team *view, void *dest,
                     const void *source, size_t bytes, int member);

/* So many have arrived; once per collective. */
void shmemi_hier_arrivals_wait(const char *call, struct shmemi_hier *hier, int count);

/* shmemi_coll_doubling() of a layered team. */
void shmemi_hier_combine(const char *call, struct shmemi_hier *hier, struct shmemi_team *team, void *value, size_t bytes,
                         shmemi_coll_combine *combine, void *argument);

#endif
