/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions of any size over a layered team (hier.h), so that each element crosses from node to node as seldom as can be. The array is cut
 * into parts, a column of members for each: one on each node.
 *
 *   1. the members of a node meet: their sources are ready
 *   2. the worker of a part joins it from the sources of its node, into its own dest
 *   3. all meet: so have those of the other nodes
 *   4. the column's members share the part out: each joins a piece of it from the dests of the column, and puts it to all of them
 *   5. when the pieces of the others have arrived, each worker's part is the result
 *   6. everybody reads the other parts from the workers of its node, and they meet
 *
 * dest may be source: a part of it is written by its node's worker only, which has read it before; and a piece by the one who joins it.
 * The result is the same, bit by bit, on all members: each piece is made once.
 * Spec: OpenSHMEM 1.6 §9.10.9.  Tests: tests/api/coll_nodes/, tests/api/coll_reduce/.
 */
#include "runtime/coll/hier.h"
#include "runtime/coll/reduce.h"
#include "runtime/sync.h"

/* Elements of dest that a call of join() is about. */
struct range {
    size_t first, nelems;
};

static struct range range_of(const struct shmemi_reduce *what, size_t parts, size_t part)
{
    size_t first = shmemi_reduce_parts_start(what, parts, part);
    return (struct range){.first = first, .nelems = shmemi_reduce_parts_start(what, parts, part + 1) - first};
}

/* A worker has the parts of its number on the node, and, where the node has fewer members than others, of further ones. */
static void join_in_node(const struct shmemi_reduce *what, struct shmemi_hier *hier, size_t parts, shmemi_reduce_part *join_here)
{
    struct shmemi_reduce here = *what;
    here.team                 = &hier->local;
    for (size_t part = (size_t)hier->local.me; part < parts; part += (size_t)hier->local.size) {
        struct range range = range_of(what, parts, part);
        if (range.nelems > 0) join_here(&here, range.first, range.nelems);
    }
}

/* A part as the business of its column: in place in dest. */
static struct shmemi_reduce column_call(const struct shmemi_reduce *what, struct shmemi_hier *hier, size_t parts, size_t part)
{
    struct range         range   = range_of(what, parts, part);
    struct shmemi_reduce between = *what;
    between.team                 = shmemi_hier_column(hier, (int)part);
    between.dest += range.first * what->elem_bytes;
    between.source = between.dest;
    between.nelems = range.nelems;
    between.bytes  = range.nelems * what->elem_bytes;
    between.arrive = hier;
    return between;
}

/* Returns how many pieces of other nodes' members will arrive. */
static int join_between_nodes(const struct shmemi_reduce *what, struct shmemi_hier *hier, size_t parts,
                              shmemi_reduce_part *join_for_all)
{
    int arrivals = 0;
    for (size_t part = (size_t)hier->local.me; part < parts; part += (size_t)hier->local.size) {
        struct shmemi_reduce between = column_call(what, hier, parts, part);
        size_t               pieces  = shmemi_reduce_parts_count(&between, (size_t)hier->nodes);
        for (size_t i = 0; i < pieces; i++) {
            struct range piece = range_of(&between, pieces, i);
            if (piece.nelems == 0) continue;
            if (i == (size_t)hier->node) join_for_all(&between, piece.first, piece.nelems);
            else arrivals++;
        }
    }
    return arrivals;
}

static void read_other_parts(const struct shmemi_reduce *what, const struct shmemi_hier *hier, size_t parts)
{
    const struct shmemi_team *local = &hier->local;
    for (size_t i = 1; i <= parts; i++) {
        size_t       part   = ((size_t)local->me + i) % parts; /* not all at one worker at the same time */
        int          worker = (int)(part % (size_t)local->size);
        struct range range  = range_of(what, parts, part);
        char        *at     = what->dest + range.first * what->elem_bytes;
        if (worker != local->me) shmemi_coll_get(what->call, local, at, at, range.nelems * what->elem_bytes, worker);
    }
}

void shmemi_reduce_nodes(const struct shmemi_reduce *what, struct shmemi_hier *hier, shmemi_reduce_part *join_here,
                         shmemi_reduce_part *join_for_all)
{
    size_t parts = shmemi_reduce_parts_count(what, (size_t)hier->widest);
    shmemi_hier_arrivals_begin(hier, what->team);
    shmemi_hier_meet(what->call, hier);
    join_in_node(what, hier, parts, join_here);
    shmemi_sync_team(what->call, what->team);
    shmemi_hier_arrivals_wait(what->call, hier, join_between_nodes(what, hier, parts, join_for_all));
    shmemi_hier_meet(what->call, hier);
    read_other_parts(what, hier, parts);
    shmemi_hier_meet(what->call, hier);
    shmemi_coll_quiet(); /* what I put lies in dest */
}
