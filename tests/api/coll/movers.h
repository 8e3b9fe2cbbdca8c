/* SPDX-License-Identifier: Apache-2.0
 *
 * Call the collectives that move data and look at every byte of the result, on any team.
 *
 * Each call gets a piece of dest that nobody has used since the last synchronization, so that calls may follow each other at once; what lies
 * behind the piece must stay as it is. All share one source: when a call returns, its source may be overwritten, and the next call does.
 */
#ifndef POSTERN_TESTS_COLL_MOVERS_H
#define POSTERN_TESTS_COLL_MOVERS_H

#include "../api.h"

#ifndef MOVERS_ROOM_BYTES
#define MOVERS_ROOM_BYTES (1 << 20)
#endif
enum { MOVERS_ROOM = MOVERS_ROOM_BYTES, MOVERS_GUARD = 16, MOVERS_CLEAR = 0xEE };

struct movers {
    unsigned char *dest, *source; /* symmetric, MOVERS_ROOM bytes each */
    size_t         used;
    unsigned       salt;  /* counts calls: the same on all members     */
    int            calls; /* that were checked                         */
};

/* Collective over the world: memory in the heap. */
static inline struct movers movers_create(void)
{
    struct movers m = {.dest = shmem_malloc(MOVERS_ROOM), .source = shmem_malloc(MOVERS_ROOM)};
    if (!CHECK(m.dest && m.source)) shmem_global_exit(1);
    memset(m.dest, MOVERS_CLEAR, MOVERS_ROOM);
    shmem_barrier_all();
    return m;
}

/* Collective over the world: all PEs count alike again. For the next team. */
static inline void movers_reset(struct movers *m)
{
    shmem_barrier_all();
    memset(m->dest, MOVERS_CLEAR, MOVERS_ROOM);
    m->used = 0;
    m->salt = 0;
    shmem_barrier_all();
}

static inline void movers_destroy(struct movers *m)
{
    shmem_free(m->dest);
    shmem_free(m->source);
}

static inline unsigned char movers_byte(unsigned salt, int from, int to, size_t i)
{
    return (unsigned char)(salt * 31 + (unsigned)from * 7 + (unsigned)to * 13 + i * 3 + (i >> 8) + (i >> 16) * 5);
}

/* A piece of dest, the same on all members. Collective over the team where the room is used up. */
static inline unsigned char *movers_piece(struct movers *m, shmem_team_t team, size_t bytes)
{
    m->salt++;
    size_t whole = (bytes + MOVERS_GUARD + 15) / 16 * 16;
    if (!CHECK(whole <= MOVERS_ROOM)) shmem_global_exit(1);
    if (m->used + whole > MOVERS_ROOM) {
        shmem_team_sync(team);
        memset(m->dest, MOVERS_CLEAR, m->used);
        shmem_team_sync(team);
        m->used = 0;
    }
    unsigned char *piece = m->dest + m->used;
    m->used += whole;
    return piece;
}

/* Bytes that one member sent are what they should be. */
static inline void movers_check(const struct movers *m, const unsigned char *at, size_t bytes, int from, int to)
{
    for (size_t i = 0; i < bytes; i++)
        if (!CHECK_EQUAL(at[i], movers_byte(m->salt, from, to, i))) return;
}

static inline void movers_check_guard(struct movers *m, const unsigned char *end)
{
    m->calls++;
    for (int i = 0; i < MOVERS_GUARD; i++)
        if (!CHECK_EQUAL(end[i], MOVERS_CLEAR)) return;
}

static inline void movers_fill(const struct movers *m, unsigned char *at, size_t bytes, int from, int to)
{
    for (size_t i = 0; i < bytes; i++) at[i] = movers_byte(m->salt, from, to, i);
}

/* ---- the calls; from and to are numbers in the team, -1 where the data are for all ---- */

static inline void move_broadcast(struct movers *m, shmem_team_t team, size_t bytes, int root)
{
    unsigned char *dest = movers_piece(m, team, bytes);
    /* Only the root's source is read. */
    movers_fill(m, m->source, bytes, shmem_team_my_pe(team), -1);
    CHECK_EQUAL(shmem_broadcastmem(team, dest, m->source, bytes, root), 0);
    movers_check(m, dest, bytes, root, -1);
    movers_check_guard(m, dest + bytes);
}

static inline void move_fcollect(struct movers *m, shmem_team_t team, size_t bytes)
{
    size_t         n    = (size_t)shmem_team_n_pes(team);
    unsigned char *dest = movers_piece(m, team, n * bytes);
    movers_fill(m, m->source, bytes, shmem_team_my_pe(team), -1);
    CHECK_EQUAL(shmem_fcollectmem(team, dest, m->source, bytes), 0);
    for (size_t i = 0; i < n; i++) movers_check(m, dest + i * bytes, bytes, (int)i, -1);
    movers_check_guard(m, dest + n * bytes);
}

/* Every third member gives nothing, the others each another number of bytes. */
static inline size_t movers_share(size_t bytes, int member)
{
    return member % 3 == 1 ? 0 : bytes + (bytes > 0 ? (size_t)member : 0);
}

static inline void move_collect(struct movers *m, shmem_team_t team, size_t bytes)
{
    int    n = shmem_team_n_pes(team), me = shmem_team_my_pe(team);
    size_t all = 0, share = movers_share(bytes, me);
    for (int i = 0; i < n; i++) all += movers_share(bytes, i);
    unsigned char *dest = movers_piece(m, team, all);
    movers_fill(m, m->source, share, me, -1);
    CHECK_EQUAL(shmem_collectmem(team, dest, share ? m->source : NULL, share), 0);
    for (int i = 0; i < n; dest += movers_share(bytes, i++)) movers_check(m, dest, movers_share(bytes, i), i, -1);
    movers_check_guard(m, dest);
}

static inline void move_alltoall(struct movers *m, shmem_team_t team, size_t bytes)
{
    int            n = shmem_team_n_pes(team), me = shmem_team_my_pe(team);
    unsigned char *dest = movers_piece(m, team, (size_t)n * bytes);
    for (int i = 0; i < n; i++) movers_fill(m, m->source + (size_t)i * bytes, bytes, me, i);
    CHECK_EQUAL(shmem_alltoallmem(team, dest, m->source, bytes), 0);
    for (int i = 0; i < n; i++) movers_check(m, dest + (size_t)i * bytes, bytes, i, me);
    movers_check_guard(m, dest + (size_t)n * bytes);
}

/* Elements of two bytes; the gaps between them in dest stay as they are. */
static inline void move_alltoalls(struct movers *m, shmem_team_t team, size_t nelems, ptrdiff_t dst, ptrdiff_t sst)
{
    size_t   n = (size_t)shmem_team_n_pes(team), me = (size_t)shmem_team_my_pe(team), to = (size_t)dst, from = (size_t)sst;
    size_t   elements = n * nelems, bytes = elements ? ((elements - 1) * to + 1) * sizeof(int16_t) : 0;
    int16_t *dest = (int16_t *)(void *)movers_piece(m, team, bytes), *source = (int16_t *)(void *)m->source, gap;
    memset(&gap, MOVERS_CLEAR, sizeof gap);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < nelems; i++) source[from * (k * nelems + i)] = (int16_t)(m->salt * 1000 + me * 100 + k * 10 + i);
    CHECK_EQUAL(shmem_int16_alltoalls(team, dest, source, dst, sst, nelems), 0);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < nelems; i++) {
            size_t at = to * (k * nelems + i);
            if (!CHECK_EQUAL(dest[at], (int16_t)(m->salt * 1000 + k * 100 + me * 10 + i))) return;
            if (to > 1 && at + 1 < bytes / 2 && !CHECK_EQUAL(dest[at + 1], gap)) return;
        }
    movers_check_guard(m, (unsigned char *)dest + bytes);
}

/* Each of them, with blocks of about that size, one after the other without anything between. */
static inline void move_all(struct movers *m, shmem_team_t team, size_t bytes)
{
    int n = shmem_team_n_pes(team);
    move_broadcast(m, team, bytes, 0);
    move_fcollect(m, team, bytes);
    move_broadcast(m, team, bytes, n - 1);
    move_collect(m, team, bytes);
    move_alltoall(m, team, bytes);
    move_broadcast(m, team, bytes, n / 2);
    move_alltoalls(m, team, bytes / 2, 2, 3);
}

#endif
