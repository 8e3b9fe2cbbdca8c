/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions and scans in parts. All members meet, since a source is ready only when its owner has come; each of the workers
 * makes one part of the result from that part of everybody's source, and stores it to everybody's dest; all meet again. So each
 * source is read once and each dest written once, whatever the number of members, and dest may be source: a part is
 * read by its worker only, and written by it after that.
 *
 * A small array is not worth the second meeting where meetings are central, that is, with more PEs than cores: there the
 * last member to arrive makes the whole of it, while the others wait for it anyway.
 * Spec: OpenSHMEM 1.6 §9.10.9, §9.10.10.  Tests: tests/api/coll_reduce/.
 */
#include "runtime/coll/reduce.h"

#include "runtime/route.h"
#include "runtime/sync.h"
#include "runtime/team.h"

#include <stdlib.h>

/*
 * PART: below this a part costs its worker less than the others' lines cost that it fetches. LAST: all sources together
 * up to which one PE is as fast as all: 4 PEs on 2 cores take 23 us for 64 KiB each where one does it, 32 us in parts;
 * for 256 KiB each it is 105 and 102 us. FETCH: copies of elements of not mapped members at one time.
 */
enum { PART_BYTES_MIN = 512, LAST_BYTES = 256 << 10, FETCH_BYTES = 256 << 10 };

/* ---- members' memory ---- */

char *shmemi_reduce_parts_at(const struct shmemi_reduce *what, const void *array, int member, size_t first, size_t nelems)
{
    const char        *at = (const char *)array + first * what->elem_bytes;
    struct shmemi_spot spot;
    if (member == what->team->me) return (char *)(uintptr_t)at;
    if (shmemi_route_plain(at, shmemi_team_world_pe(what->team, member), &spot)) return spot.at;
    return shmemi_coll_peer(what->call, what->team, at, nelems * what->elem_bytes, member);
}

static size_t whole_lines(size_t bytes)
{
    return (bytes + SHMEMI_LINE_BYTES - 1) / SHMEMI_LINE_BYTES * SHMEMI_LINE_BYTES;
}

/* Segments so long that a round trip to other nodes is worth it, but not beyond the part; at least two members at a time. */
static void room_for_copies(struct shmemi_reduce_room *room, const struct shmemi_reduce *what, size_t part_elems)
{
    const size_t others        = 2; /* partial[] */
    size_t       members       = (size_t)what->team->size;
    size_t       segment_bytes = FETCH_BYTES / (members + others) / SHMEMI_LINE_BYTES * SHMEMI_LINE_BYTES;
    if (segment_bytes < SHMEMI_REDUCE_SEGMENT_BYTES) segment_bytes = SHMEMI_REDUCE_SEGMENT_BYTES;
    if (segment_bytes / what->elem_bytes > part_elems) segment_bytes = whole_lines(part_elems * what->elem_bytes);
    size_t batch = FETCH_BYTES / segment_bytes - others;
    if (batch > members) batch = members;
    room->allocated = malloc((batch + others) * segment_bytes);
    char *memory    = room->allocated;
    if (!memory) { /* slower, but it goes on */
        memory        = room->own;
        batch         = 2;
        segment_bytes = sizeof room->own / (batch + others);
    }
    room->batch         = (int)batch;
    room->segment_bytes = segment_bytes;
    room->partial[0]    = memory;
    room->partial[1]    = memory + segment_bytes;
    room->slots         = memory + others * segment_bytes;
}

void shmemi_reduce_parts_room_open(struct shmemi_reduce_room *room, const struct shmemi_reduce *what, size_t part_elems)
{
    room->allocated = NULL;
    if (what->team->mapped) {
        room->batch         = what->team->size;
        room->segment_bytes = SHMEMI_REDUCE_SEGMENT_BYTES;
        room->partial[0]    = room->own;
        room->partial[1]    = room->own + SHMEMI_REDUCE_SEGMENT_BYTES;
        room->slots         = NULL;
    } else {
        room_for_copies(room, what, part_elems);
    }
    room->segment_elems = room->segment_bytes / what->elem_bytes;
}

void shmemi_reduce_parts_room_close(struct shmemi_reduce_room *room)
{
    free(room->allocated);
}

void shmemi_reduce_parts_fetch(const struct shmemi_reduce *what, const struct shmemi_reduce_room *room, int base, size_t first,
                               size_t nelems)
{
    if (!room->slots) return;
    shmemi_coll_quiet(); /* puts may still read the slots */
    size_t bytes = nelems * what->elem_bytes;
    for (int i = 0; i < room->batch && base + i < what->team->size; i++) {
        int member = base + i;
        if (shmemi_reduce_parts_at(what, what->source, member, first, nelems)) continue;
        shmemi_coll_get(what->call, what->team, room->slots + (size_t)i * room->segment_bytes,
                        what->source + first * what->elem_bytes, bytes, member);
    }
    shmemi_coll_quiet();
}

char *shmemi_reduce_parts_source(const struct shmemi_reduce *what, const struct shmemi_reduce_room *room, int member, size_t first,
                                 size_t nelems, bool *in_slot_out)
{
    char *mapped = shmemi_reduce_parts_at(what, what->source, member, first, nelems);
    *in_slot_out = !mapped;
    return mapped ? mapped : room->slots + (size_t)(member % room->batch) * room->segment_bytes;
}

/* ---- parts ---- */

size_t shmemi_reduce_parts_count(const struct shmemi_reduce *what, size_t workers)
{
    size_t wanted = what->bytes / PART_BYTES_MIN;
    if (wanted < 1) wanted = 1;
    return wanted < workers ? wanted : workers;
}

/*
 * Parts begin where a line of dest does, so that no line has two writers. All members come to the same: a symmetric address has the same
 * place in its line on all PEs.
 */
size_t shmemi_reduce_parts_start(const struct shmemi_reduce *what, size_t parts, size_t part)
{
    if (part == 0) return 0;
    if (part >= parts) return what->nelems;
    size_t before = (uintptr_t)what->dest % SHMEMI_LINE_BYTES; /* bytes of its first line that lie before dest */
    size_t lines  = what->bytes / SHMEMI_LINE_BYTES;
    size_t line   = lines / parts * part + (lines % parts * part) / parts;
    size_t first  = (line * SHMEMI_LINE_BYTES - (line > 0 ? before : 0)) / what->elem_bytes;
    return first < what->nelems ? first : what->nelems;
}

struct whole {
    const struct shmemi_reduce *what;
    shmemi_reduce_part         *part;
};

static void make_whole(void *argument)
{
    const struct whole *whole = argument;
    whole->part(whole->what, 0, whole->what->nelems);
}

void shmemi_reduce_parts(const struct shmemi_reduce *what, shmemi_reduce_part *part)
{
    struct shmemi_team *team = what->team;
    if (team->central && what->bytes <= LAST_BYTES / (size_t)team->size) {
        struct whole whole = {.what = what, .part = part};
        shmemi_sync_gather(what->call, team, make_whole, &whole);
        return;
    }
    size_t workers = shmemi_reduce_parts_count(what, (size_t)team->size), me = (size_t)team->me;
    shmemi_sync_team(what->call, team);
    if (me < workers) {
        size_t first = shmemi_reduce_parts_start(what, workers, me), end = shmemi_reduce_parts_start(what, workers, me + 1);
        if (first < end) part(what, first, end - first);
    }
    shmemi_coll_barrier(what->call, team);
}
