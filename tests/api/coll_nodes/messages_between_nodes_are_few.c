/* SPDX-License-Identifier: Apache-2.0
 *
 * What layers are for: of a node with three PEs one sends the messages of a meeting or a small reduction, and in larger collectives a block crosses
 * to another node once, not once for each PE there. Without layers each PE sends to each.
 *
 * PES: 6
 * NODES: a:3,b:3
 * ENV: POSTERN_COLL_COLLECT=push POSTERN_CHECK=0
 * NOLIBFABRIC: its quiet and its fence may be messages
 * Spec: none; the number of messages is what makes collectives over a network quick
 */
#include "../api.h"

#include <shmemx.h>

enum { PES = 6, TURNS = 10, BYTES = 4096 };

static char        *dest, *source;
static uint64_t     posted_before;
static _Atomic long posted_by[PES];
static long         number, sum;

static uint64_t posted(void)
{
    uint64_t value = 0;
    CHECK_EQUAL(shmemx_counter("posted", &value), 0);
    return value;
}

static void begin(void)
{
    shmem_barrier_all();
    posted_before = posted();
}

/* Posted operations of each PE for one turn; the same number on all PEs. */
static void end(long per_turn_out[PES])
{
    long mine = (long)(posted() - posted_before);
    shmem_barrier_all();
    for (int pe = 0; pe < PES; pe++) shmem_long_p((long *)(void *)&posted_by[shmem_my_pe()], mine, pe);
    shmem_barrier_all();
    for (int pe = 0; pe < PES; pe++) per_turn_out[pe] = posted_by[pe] / TURNS;
}

static void look_at_leaders(const char *what, const long *per_turn, long most)
{
    for (int pe = 0; pe < PES; pe++) {
        if (per_turn[pe] <= (pe % 3 == 0 ? most : 0)) continue;
        fprintf(stderr, "PE %d: %s: PE %d posted %ld operations for each\n", shmem_my_pe(), what, pe, per_turn[pe]);
        CHECK(!"only the first PE of a node sends");
    }
}

static void look_at_all(const char *what, const long *per_turn, long most)
{
    long all = 0;
    for (int pe = 0; pe < PES; pe++) all += per_turn[pe];
    if (all > most) fprintf(stderr, "PE %d: %s: %ld operations for each, more than %ld\n", shmem_my_pe(), what, all, most);
    CHECK(all <= most);
}

int main(void)
{
    long per_turn[PES];
    shmem_init();
    dest   = shmem_malloc((size_t)BYTES * PES);
    source = shmem_malloc(BYTES);
    if (!CHECK(dest && source)) shmem_global_exit(1);
    memset(source, shmem_my_pe(), BYTES);

    begin();
    for (int i = 0; i < TURNS; i++) shmem_sync_all();
    end(per_turn);
    look_at_leaders("sync_all", per_turn, 1);

    begin();
    for (int i = 0; i < TURNS; i++) {
        number = shmem_my_pe() + i;
        CHECK_EQUAL(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &number, 1), 0);
        CHECK_EQUAL(sum, 15 + PES * i);
    }
    end(per_turn);
    look_at_leaders("reduction of 8 bytes", per_turn, 2);

    /* A message and a meeting for each turn. */
    begin();
    for (int i = 0; i < TURNS; i++) CHECK_EQUAL(shmem_broadcastmem(SHMEM_TEAM_WORLD, dest, source, BYTES, 0), 0);
    end(per_turn);
    look_at_leaders("broadcast", per_turn, 3);

    /* Each block to the other node, and a meeting. Without layers: 18 blocks and a meeting of all. */
    begin();
    for (int i = 0; i < TURNS; i++) CHECK_EQUAL(shmem_fcollectmem(SHMEM_TEAM_WORLD, dest, source, BYTES), 0);
    end(per_turn);
    look_at_all("fcollect", per_turn, 6 + 2);
    for (int pe = 0; pe < PES; pe++) CHECK_EQUAL(dest[(size_t)(pe + 1) * BYTES - 1], pe);

    /* Each column: a half from the other node, and a half of the result to it; two meetings. */
    begin();
    for (int i = 0; i < TURNS; i++)
        CHECK_EQUAL(shmem_int64_max_reduce(SHMEM_TEAM_WORLD, (int64_t *)(void *)dest, (int64_t *)(void *)source, 1024), 0);
    end(per_turn);
    look_at_all("reduction of 8 KiB", per_turn, 6 * 2 + 2 * 2);

    /* A piece for each PE of the other node, and a meeting. Without layers: 18 blocks. */
    begin();
    for (int i = 0; i < TURNS; i++) CHECK_EQUAL(shmem_alltoallmem(SHMEM_TEAM_WORLD, dest, source, 160), 0);
    end(per_turn);
    look_at_all("alltoall", per_turn, 6 + 2);
    shmem_free(source);
    shmem_free(dest);
    shmem_finalize();
    return api_result();
}
