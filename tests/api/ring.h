/* SPDX-License-Identifier: Apache-2.0
 *
 * Partners for tests of one-sided calls: every PE sends to the next one, in the world and on a context of a team made by a split: the PEs
 * that share memory, in reverse order. Both rings are kept apart, with the numbers of the world beside, because that team numbers differently.
 */
#ifndef POSTERN_TESTS_RING_H
#define POSTERN_TESTS_RING_H

#include "api.h"

struct ring {
    int          me, npes;
    int          next, before; /* world numbers                                     */
    shmem_ctx_t  ctx;          /* on that team                                     */
    int          ctx_next;     /* number of my successor in that team                */
    int          ctx_next_world, ctx_before_world;
    shmem_team_t team;
};

/* Collective. */
static inline struct ring ring_open(void)
{
    struct ring ring = {.me = shmem_my_pe(), .npes = shmem_n_pes(), .ctx = SHMEM_CTX_INVALID, .team = SHMEM_TEAM_SHARED};
    ring.next        = (ring.me + 1) % ring.npes;
    ring.before      = (ring.me + ring.npes - 1) % ring.npes;
    /*
     * Where it is not all PEs, some PE may be alone in it, as over a transport that maps nothing or over several nodes: the world then, or
     * its context would reach no other PE.
     */
    if (shmem_team_n_pes(ring.team) != ring.npes) ring.team = SHMEM_TEAM_WORLD;
    int size = shmem_team_n_pes(ring.team), me;
    if (!CHECK(size > 0)) exit(1);
    if (!CHECK_EQUAL(shmem_team_split_strided(ring.team, size - 1, -1, size, NULL, 0, &ring.team), 0)) exit(1);
    me                    = shmem_team_my_pe(ring.team);
    ring.ctx_next         = (me + 1) % size;
    ring.ctx_next_world   = shmem_team_translate_pe(ring.team, ring.ctx_next, SHMEM_TEAM_WORLD);
    ring.ctx_before_world = shmem_team_translate_pe(ring.team, (me + size - 1) % size, SHMEM_TEAM_WORLD);
    if (!CHECK_EQUAL(shmem_team_create_ctx(ring.team, 0, &ring.ctx), 0)) exit(1);
    return ring;
}

/* All puts of both contexts are at their targets, on all PEs. */
static inline void ring_complete(const struct ring *ring)
{
    shmem_ctx_quiet(ring->ctx);
    shmem_barrier_all();
}

/* Collective. */
static inline void ring_close(struct ring *ring)
{
    shmem_ctx_destroy(ring->ctx);
    shmem_team_destroy(ring->team);
}

/* What PE number pe sends as element i; salt tells calls apart. The same on all PEs, for every arithmetic type. */
#define RING_VALUE(T, pe, i, salt) ((T)((pe)*7 + (int)(i)*3 + (salt)))

#endif
