/* SPDX-License-Identifier: Apache-2.0
 *
 * Collectives on GPU memory, made of the puts and gets of op.c and of meetings. Data move straight between the arrays; what is joined is joined by
 * the CPU, in host memory. That is right for any mix of memory and any route, and quick where the bytes count more than the meetings. Kernels
 * have their own collectives, in the device headers.
 */
#include "runtime/gpu/coll.h"

#include "runtime/gpu/inside.h"
#include "runtime/service.h"
#include "runtime/team.h"

#include <stdlib.h>
#include <string.h>

#define SEGMENT_BYTES ((size_t)256 << 10) /* of what is joined at once */

static struct shmemi_place place_at(const char *call, const struct shmemi_team *team, const void *address, size_t bytes, int member)
{
    struct shmemi_place place;
    shmemi_route_find(&shmemi_state.ctx_default, call, address, bytes, shmemi_team_world_pe(team, member), &place);
    return place;
}

static void put(const char *call, const struct shmemi_team *team, void *dest, const void *source, size_t bytes, int member,
                enum shmemi_post_wait wait)
{
    struct shmemi_place to = place_at(call, team, dest, bytes, member);
    shmemi_gpu_put(&shmemi_state.ctx_default, &to, source, bytes, wait);
}

static void get(const char *call, const struct shmemi_team *team, void *dest, const void *source, size_t bytes, int member)
{
    struct shmemi_place from = place_at(call, team, source, bytes, member);
    shmemi_gpu_get(&shmemi_state.ctx_default, &from, dest, bytes, SHMEMI_POST_LOCAL);
}

void shmemi_gpu_coll_broadcast(const char *call, struct shmemi_team *team, void *dest, const void *source, size_t bytes, int root,
                               bool root_too)
{
    shmemi_coll_barrier(call, team); /* the root's source is ready */
    if (team->me != root) get(call, team, dest, source, bytes, root);
    else if (root_too && dest != source) shmemi_gpu_copy(dest, source, bytes);
    shmemi_coll_barrier(call, team); /* and may be changed */
}

void shmemi_gpu_coll_push(const char *call, struct shmemi_team *team, void *dest, const void *source, size_t bytes, size_t offset)
{
    char *block = (char *)dest + offset;
    for (int i = 1; i < team->size && bytes > 0; i++)
        put(call, team, block, source, bytes, (team->me + i) % team->size, SHMEMI_POST_NBI);
    if (block != source) shmemi_gpu_copy(block, source, bytes);
    shmemi_coll_barrier(call, team);
}

void shmemi_gpu_coll_alltoall(const struct shmemi_gpu_coll_blocks *b)
{
    size_t bytes = b->nelems * b->elem_bytes;
    bool   dense = b->dest_step == (ptrdiff_t)b->elem_bytes && b->source_step == (ptrdiff_t)b->elem_bytes;
    for (int i = 0; i < b->team->size; i++) {
        int                 member = (b->team->me + i) % b->team->size;
        const char         *block  = b->source + (size_t)member * b->block_step;
        size_t              span   = dense ? bytes : (b->nelems - 1) * (size_t)b->dest_step + b->elem_bytes;
        struct shmemi_place to     = place_at(b->call, b->team, b->dest, span, member);
        if (dense) shmemi_gpu_put(&shmemi_state.ctx_default, &to, block, bytes, SHMEMI_POST_NBI);
        else shmemi_gpu_put_strided(&shmemi_state.ctx_default, &to, block, b->nelems, b->elem_bytes, b->source_step, b->dest_step);
    }
    shmemi_coll_barrier(b->call, b->team);
}

/* ---- what is joined ---- */

static void *room_of(const char *call, size_t bytes)
{
    void *room = malloc(bytes);
    if (!room)
        shmemi_service_fatal(call,
                             "could not get %zu bytes of host memory" WHY
                             "malloc gave none, and arrays in GPU memory are joined there" FIX
                             "raise `ulimit -v`, or reduce fewer elements at once",
                             bytes);
    return room;
}

/* Elements first to first + nelems - 1 of members 0 to count - 1, joined in their order. */
static void join(const struct shmemi_reduce *what, int count, size_t first, size_t nelems, char *sum, char *next)
{
    const char *source = what->source + first * what->elem_bytes;
    for (int member = 0; member < count; member++) {
        get(what->call, what->team, member == 0 ? sum : next, source, nelems * what->elem_bytes, member);
        if (member > 0) what->loop(sum, sum, next, nelems);
    }
}

static size_t segment_elems(const struct shmemi_reduce *what)
{
    size_t elems = SEGMENT_BYTES / what->elem_bytes;
    return elems < what->nelems ? elems : what->nelems;
}

/*
 * Each member makes a part of the result for all. Nobody else reads or writes that part of any array, so dest may be source; it is the same, bit
 * by bit, everywhere.
 */
void shmemi_gpu_coll_reduce(const struct shmemi_reduce *what)
{
    struct shmemi_team *team = what->team;
    size_t              n = (size_t)team->size, me = (size_t)team->me, most = segment_elems(what);
    size_t              first = what->nelems / n * me + (what->nelems % n < me ? what->nelems % n : me);
    size_t              end   = first + what->nelems / n + (me < what->nelems % n);
    char               *sum = room_of(what->call, most * what->elem_bytes), *next = room_of(what->call, most * what->elem_bytes);
    shmemi_coll_barrier(what->call, team); /* the sources are ready */
    while (first < end) {
        size_t nelems = end - first < most ? end - first : most;
        join(what, team->size, first, nelems, sum, next);
        for (int i = 0; i < team->size; i++)
            put(what->call, team, what->dest + first * what->elem_bytes, sum, nelems * what->elem_bytes,
                (team->me + i) % team->size, SHMEMI_POST_LOCAL);
        first += nelems;
    }
    shmemi_coll_barrier(what->call, team);
    free(sum);
    free(next);
}

/* All is read before anything is written: dest may be source. */
void shmemi_gpu_coll_scan(const struct shmemi_reduce *what)
{
    struct shmemi_team *team  = what->team;
    int                 count = what->exclusive ? team->me : team->me + 1;
    size_t              most  = segment_elems(what);
    char               *all = room_of(what->call, what->bytes), *next = room_of(what->call, most * what->elem_bytes);
    shmemi_coll_barrier(what->call, team);
    if (count == 0) memset(all, 0, what->bytes); /* SPEC §9.10.10: the first PE's result is 0 */
    for (size_t first = 0; first < what->nelems && count > 0; first += most) {
        size_t nelems = what->nelems - first < most ? what->nelems - first : most;
        join(what, count, first, nelems, all + first * what->elem_bytes, next);
    }
    shmemi_coll_barrier(what->call, team);
    shmemi_gpu_copy(what->dest, all, what->bytes);
    free(all);
    free(next);
}
