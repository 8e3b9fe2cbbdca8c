/* SPDX-License-Identifier: Apache-2.0
 *
 * Promises of put. Each PE puts to the next one; the target knows what the previous PE sends, and compares its whole heap
 * with a model, so that a byte too many is seen as well as one too few.
 */
#include "tests/transport/harness.h"

/* A private model of my heap. */
static char *new_model(void)
{
    char *model = malloc(HEAP_BYTES);
    memset(model, FRESH, HEAP_BYTES);
    return model;
}

static void compare_heap(struct pe *pe, char *model)
{
    EXPECT_SAME(pe, harness_memory(pe, pe->me, SHMEMT_SEGMENT_HEAP), model, HEAP_BYTES);
    free(model);
}

static const size_t sizes[] = {1,  2,  3,  4,   5,   7,   8,   9,    15,   16,   17,   31,
                               63, 64, 65, 100, 255, 256, 257, 1000, 4095, 4096, 4097, 20000};
enum { SIZE_COUNT = sizeof sizes / sizeof sizes[0], SIZES_SUM_MAX = 48 << 10 };

static void put_of_every_size_and_alignment_lands_exactly(struct pe *pe)
{
    char    *model = new_model(), *source = malloc(SIZES_SUM_MAX);
    uint64_t at = 1;
    harness_fill(source, SIZES_SUM_MAX, (unsigned)pe->me);
    for (size_t shift = 0; shift < 3; shift++) {
        size_t from = shift;
        for (size_t i = 0; i < SIZE_COUNT; i++) {
            size_t bytes = harness_min(sizes[i], pe->tp->traits.bytes_max);
            harness_put_bytes(pe, pe->ctx, pe->next, at, source + from, bytes);
            char *expected = malloc(SIZES_SUM_MAX);
            harness_fill(expected, SIZES_SUM_MAX, (unsigned)pe->previous);
            memcpy(model + at, expected + from, bytes);
            free(expected);
            at += bytes + 3 + shift; /* gaps show what is written too far */
            from += bytes;
        }
    }
    harness_quiet_all(pe, pe->ctx);
    free(source);
    harness_barrier(pe);
    compare_heap(pe, model);
}

static void put_of_the_largest_piece_lands_at_both_ends_of_the_segment(struct pe *pe)
{
    char  *model  = new_model();
    size_t bytes  = harness_min(pe->tp->traits.bytes_max, HEAP_BYTES / 2);
    char  *source = malloc(bytes);
    harness_fill(source, bytes, (unsigned)pe->me);
    harness_put_bytes(pe, pe->ctx, pe->next, 0, source, bytes);
    harness_put_bytes(pe, pe->ctx, pe->next, HEAP_BYTES - bytes, source, bytes);
    harness_quiet_all(pe, pe->ctx);
    harness_fill(model, bytes, (unsigned)pe->previous);
    harness_fill(model + HEAP_BYTES - bytes, bytes, (unsigned)pe->previous);
    free(source);
    harness_barrier(pe);
    compare_heap(pe, model);
}

static void put_of_zero_bytes_changes_nothing_and_is_counted(struct pe *pe)
{
    _Atomic uint32_t         done = 0;
    const struct shmemt_xfer xfer = {.segment = SHMEMT_SEGMENT_HEAP, .remote_offset = HEAP_BYTES, .blocks = 1, .done = &done};
    EXPECT_EQ(pe, harness_put(pe, pe->ctx, pe->next, &xfer), 0);
    harness_quiet_all(pe, pe->ctx);
    EXPECT_EQ(pe, atomic_load(&done), 1);
    harness_barrier(pe);
    compare_heap(pe, new_model());
}

static void put_reaches_each_segment(struct pe *pe)
{
    char source[64], expected[64];
    for (int segment = SHMEMT_SEGMENT_DATA; segment <= SHMEMT_SEGMENT_HEAP; segment++) {
        harness_fill(source, sizeof source, (unsigned)(10 * segment + pe->me));
        const struct shmemt_xfer xfer = {
            .segment = segment, .local = source, .remote_offset = 8, .bytes = sizeof source, .blocks = 1};
        EXPECT_EQ(pe, harness_put(pe, pe->ctx, pe->next, &xfer), 0);
        harness_quiet_all(pe, pe->ctx);
        harness_barrier(pe);
        harness_fill(expected, sizeof expected, (unsigned)(10 * segment + pe->previous));
        EXPECT_SAME(pe, harness_memory(pe, pe->me, segment) + 8, expected, sizeof expected);
    }
}

static void put_reaches_the_own_pe(struct pe *pe)
{
    char *model = new_model(), source[500];
    harness_fill(source, sizeof source, 77);
    harness_put_bytes(pe, pe->ctx, pe->me, 33, source, sizeof source);
    harness_quiet_all(pe, pe->ctx);
    memcpy(model + 33, source, sizeof source);
    compare_heap(pe, model);
}

static void put_from_every_pe_reaches_every_pe(struct pe *pe)
{
    char *model = new_model(), source[PES_MAX][300];
    for (int to = 0; to < pe->npes; to++) {
        harness_fill(source[to], sizeof source[to], (unsigned)(pe->me * PES_MAX + to));
        harness_put_bytes(pe, pe->ctx, to, (uint64_t)pe->me * 1000, source[to], sizeof source[to]);
        harness_fill(model + to * 1000, sizeof source[to], (unsigned)(to * PES_MAX + pe->me));
    }
    harness_quiet_all(pe, pe->ctx);
    harness_barrier(pe);
    compare_heap(pe, model);
}

/* Strides in bytes; start offsets leave room for negative ones. */
static const struct {
    size_t    bytes;
    ptrdiff_t local_stride, remote_stride;
} shapes[] = {
    {8, 8, 8},     {8, 16, 24},  {3, 5, 7},   {100, 100, 1000}, {64, -64, 64},
    {64, 96, -96}, {7, -9, -11}, {16, 0, 40}, {16, 0, 0},       {1, 2, 3},
};
enum { SHAPE_COUNT = sizeof shapes / sizeof shapes[0], SHAPE_ROOM = 8192, SHAPE_START = 4096 };

static void put_strided_lands_in_each_block(struct pe *pe)
{
    char  *model = new_model(), *source = malloc(SHAPE_ROOM), *theirs = malloc(SHAPE_ROOM);
    size_t blocks = harness_min(4, pe->tp->traits.pieces_max);
    harness_fill(source, SHAPE_ROOM, (unsigned)pe->me);
    harness_fill(theirs, SHAPE_ROOM, (unsigned)pe->previous);
    for (size_t i = 0; i < SHAPE_COUNT; i++) {
        uint64_t                 start = i * SHAPE_ROOM + SHAPE_START;
        const struct shmemt_xfer xfer  = {
             .segment       = SHMEMT_SEGMENT_HEAP,
             .local         = source + SHAPE_START,
             .remote_offset = start,
             .bytes         = shapes[i].bytes,
             .blocks        = blocks,
             .local_stride  = shapes[i].local_stride,
             .remote_stride = shapes[i].remote_stride,
        };
        EXPECT_EQ(pe, harness_put(pe, pe->ctx, pe->next, &xfer), 0);
        for (ptrdiff_t block = 0; block < (ptrdiff_t)blocks; block++)
            memcpy(model + start + block * shapes[i].remote_stride, theirs + SHAPE_START + block * shapes[i].local_stride,
                   shapes[i].bytes);
    }
    harness_quiet_all(pe, pe->ctx);
    free(source);
    free(theirs);
    harness_barrier(pe);
    compare_heap(pe, model);
}

static void put_vectored_lands_in_each_piece_and_lets_go_of_the_list(struct pe *pe)
{
    char               *model    = new_model(), source[4][200], theirs[200];
    const size_t        bytes[4] = {200, 0, 1, 77};
    size_t              count    = harness_min(4, pe->tp->traits.pieces_max);
    struct shmemt_piece pieces[4];
    _Atomic uint32_t    done = 0;
    for (unsigned i = 0; i < count; i++) {
        harness_fill(source[i], sizeof source[i], 8 * (unsigned)pe->me + i);
        pieces[i] = (struct shmemt_piece){.local = source[i], .remote_offset = 9000 - 1001 * i, .bytes = bytes[i]};
        harness_fill(theirs, sizeof theirs, 8 * (unsigned)pe->previous + i);
        memcpy(model + 9000 - 1001 * i, theirs, bytes[i]);
    }
    const struct shmemt_xfer xfer = {.segment = SHMEMT_SEGMENT_HEAP, .pieces = pieces, .piece_count = count, .done = &done};
    EXPECT_EQ(pe, harness_put(pe, pe->ctx, pe->next, &xfer), 0);
    memset(pieces, 0xff, sizeof pieces); /* accepted: the list is ours again */
    harness_quiet_all(pe, pe->ctx);
    EXPECT_EQ(pe, atomic_load(&done), 1);
    harness_barrier(pe);
    compare_heap(pe, model);
}

static void put_with_copy_lets_go_of_the_source_at_once(struct pe *pe)
{
    char  *model  = new_model();
    size_t bytes  = harness_min(pe->tp->traits.copy_bytes_max, 1000);
    char  *source = malloc(bytes + 1);
    for (unsigned i = 0; i < 100; i++) {
        const struct shmemt_xfer xfer = {
            .segment       = SHMEMT_SEGMENT_HEAP,
            .flags         = SHMEMT_XFER_COPY,
            .local         = source,
            .remote_offset = i * bytes,
            .bytes         = bytes,
            .blocks        = 1,
        };
        harness_fill(source, bytes, i + (unsigned)pe->me);
        EXPECT_EQ(pe, harness_put(pe, pe->ctx, pe->next, &xfer), 0);
        memset(source, 0xee, bytes);
        harness_fill(model + i * bytes, bytes, i + (unsigned)pe->previous);
    }
    harness_quiet_all(pe, pe->ctx);
    free(source);
    harness_barrier(pe);
    compare_heap(pe, model);
}

static void done_tells_when_the_source_may_be_reused(struct pe *pe)
{
    char  *model  = new_model();
    size_t bytes  = harness_min(pe->tp->traits.bytes_max, 1000);
    char  *source = malloc(bytes);
    for (unsigned i = 0; i < 100 && !pe->failed; i++) {
        _Atomic uint32_t         done = 0;
        const struct shmemt_xfer xfer = {
            .segment       = SHMEMT_SEGMENT_HEAP,
            .local         = source,
            .remote_offset = i * bytes,
            .bytes         = bytes,
            .blocks        = 1,
            .done          = &done,
        };
        harness_fill(source, bytes, i + (unsigned)pe->me);
        EXPECT_EQ(pe, harness_put(pe, pe->ctx, pe->next, &xfer), 0);
        WAIT_UNTIL(pe, pe->ctx, atomic_load_explicit(&done, memory_order_acquire) > 0);
        memset(source, 0xee, bytes);
    }
    for (unsigned i = 0; i < 100; i++) harness_fill(model + i * bytes, bytes, i + (unsigned)pe->previous);
    harness_quiet_all(pe, pe->ctx);
    free(source);
    harness_barrier(pe);
    compare_heap(pe, model);
}

static void done_is_increased_once_for_each_put(struct pe *pe)
{
    _Atomic uint32_t done = 0;
    char             source[40];
    harness_fill(source, sizeof source, 5);
    for (int i = 0; i < 200; i++) {
        const struct shmemt_xfer xfer = {
            .segment       = SHMEMT_SEGMENT_HEAP,
            .local         = source,
            .remote_offset = 64u * (unsigned)i,
            .bytes         = sizeof source,
            .blocks        = 1,
            .done          = &done,
        };
        EXPECT_EQ(pe, harness_put(pe, pe->ctx, pe->next, &xfer), 0);
    }
    harness_quiet_all(pe, pe->ctx);
    EXPECT_EQ(pe, atomic_load(&done), 200);
    for (int i = 0; i < 100; i++) pe->ops->progress(pe->ctx);
    EXPECT_EQ(pe, atomic_load(&done), 200);
}

static void puts_beyond_the_queue_all_land(struct pe *pe)
{
    static const int count  = 3000;
    char            *model  = new_model();
    uint64_t        *source = calloc((size_t)count, sizeof *source);
    for (int i = 0; i < count; i++) {
        source[i] = (uint64_t)i << 32 | (unsigned)pe->me;
        harness_put_bytes(pe, pe->ctx, pe->next, (uint64_t)i * 8, &source[i], 8);
        ((uint64_t *)(void *)model)[i] = (uint64_t)i << 32 | (unsigned)pe->previous;
    }
    harness_quiet_all(pe, pe->ctx);
    free(source);
    harness_barrier(pe);
    compare_heap(pe, model);
}

/* A word of 2, 4 or 8 bytes of another PE, read in one load; or whatever lies at the address of a local copy. */
static uint64_t read_word(const void *word, size_t bytes)
{
    switch (bytes) {
    case 2: return __atomic_load_n((const uint16_t *)word, __ATOMIC_ACQUIRE);
    case 4: return __atomic_load_n((const uint32_t *)word, __ATOMIC_ACQUIRE);
    default: return __atomic_load_n((const uint64_t *)word, __ATOMIC_ACQUIRE);
    }
}

/* All bytes of the word change with each put, so a part is seen as a mixture. */
static void word_is_never_seen_in_part(struct pe *pe, size_t bytes)
{
    char    *mine      = harness_memory(pe, pe->me, SHMEMT_SEGMENT_HEAP) + 256;
    uint64_t values[2] = {0, UINT64_MAX}, all = UINT64_MAX >> (64 - 8 * bytes), seen;
    harness_write(mine, 0);
    harness_barrier(pe);
    for (unsigned i = 0; i < 400; i++) {
        uint64_t got = 0;
        harness_put_bytes(pe, pe->ctx, pe->next, 256, &values[i % 2], bytes);
        for (int j = 0; j < 20; j++) {
            seen = read_word(mine, bytes);
            EXPECT(pe, seen == 0 || seen == all);
            pe->ops->progress(pe->ctx);
        }
        harness_get_bytes(pe, pe->ctx, pe->next, 256, &got, bytes);
        harness_quiet_all(pe, pe->ctx);
        seen = read_word(&got, bytes);
        EXPECT(pe, seen == 0 || seen == all);
    }
    harness_barrier(pe);
}

static void an_aligned_word_is_never_seen_in_part(struct pe *pe)
{
    word_is_never_seen_in_part(pe, 8);
}

static void an_aligned_word_of_4_bytes_is_never_seen_in_part(struct pe *pe)
{
    word_is_never_seen_in_part(pe, 4);
}

static void an_aligned_word_of_2_bytes_is_never_seen_in_part(struct pe *pe)
{
    word_is_never_seen_in_part(pe, 2);
}

/* The target polls memory; the initiator does nothing more until it is told. */
static void put_completes_without_progress_calls(struct pe *pe)
{
    uint64_t    flag = 42;
    const char *word = harness_memory(pe, pe->me, SHMEMT_SEGMENT_HEAP) + 4096;
    harness_put_bytes(pe, pe->ctx, pe->next, 4096, &flag, 8);
    WAIT_UNTIL(pe, NULL, harness_read(word) == 42);
    harness_barrier(pe);
    harness_quiet_all(pe, pe->ctx);
}

/* The target does not call the transport until the initiator knows that its put, and a fetch, are done. */
static void a_target_that_computes_holds_up_nothing(struct pe *pe)
{
    enum { ROUNDS = 20 };
    static char             source[20000];
    _Atomic uint64_t       *served   = harness_note(pe, 1);
    const uint64_t          all      = (uint64_t)pe->npes * ROUNDS;
    struct patience         patience = {0};
    volatile uint64_t       sum      = 0;
    bool                    computes = pe->npes > 1 && pe->me == pe->npes - 1;
    const struct shmemt_amo add      = {
             .segment = SHMEMT_SEGMENT_HEAP, .remote_offset = 64, .op = SHMEMT_AMO_ADD, .bytes = 8, .value = 1};
    if (computes) {
        uint64_t seen = 0, now;
        while ((now = atomic_load(served)) < all - ROUNDS && !pe->failed) {
            for (int i = 0; i < 100000; i++) sum = sum + (uint64_t)i;
            if (now != seen)
                patience = (struct patience){0}; /* the guard is for one of the rounds, not for all of them on a busy machine */
            seen = now;
            if (!harness_wait(pe, &patience, NULL, __FILE__, __LINE__, "the other PEs to be served")) break;
        }
    }
    for (int i = 0; i < ROUNDS && !computes && !pe->failed; i++) {
        int to = pe->npes - 1;
        harness_put_bytes(pe, pe->ctx, to, 4096, source, harness_min(sizeof source, pe->tp->traits.bytes_max));
        harness_put_bytes(pe, pe->ctx, to, 8, source, 8);
        harness_fetch(pe, pe->ctx, to, &add);
        harness_quiet_all(pe, pe->ctx);
        atomic_fetch_add(served, 1);
    }
    harness_barrier(pe);
}

static void puts_become_visible_in_call_order(struct pe *pe)
{
    const char *heap = harness_memory(pe, pe->me, SHMEMT_SEGMENT_HEAP);
    for (uint64_t i = 1; i <= 300; i++) {
        harness_put_bytes(pe, pe->ctx, pe->next, 512, &i, 8);
        harness_put_bytes(pe, pe->ctx, pe->next, 1024, &i, 8);
        WAIT_UNTIL(pe, pe->ctx, harness_read(heap + 1024) == i);
        EXPECT_EQ(pe, harness_read(heap + 512), i);
        harness_barrier(pe); /* quiet would order too */
    }
    harness_quiet_all(pe, pe->ctx);
}

static void put_wakes_the_target(struct pe *pe)
{
    uint64_t value = 7;
    harness_watch(pe, harness_memory(pe, pe->me, SHMEMT_SEGMENT_HEAP) + 800, 8);
    harness_barrier(pe);
    harness_put_bytes(pe, pe->ctx, pe->next, 800, &value, 8);
    harness_quiet_all(pe, pe->ctx);
    harness_barrier(pe);
    EXPECT(pe, harness_wakes(pe) > 0);
}

static void map_shows_the_memory_of_the_peer(struct pe *pe)
{
    char *mine = harness_memory(pe, pe->me, SHMEMT_SEGMENT_HEAP), expected[1000];
    harness_fill(mine + 100, sizeof expected, (unsigned)pe->me);
    harness_barrier(pe);
    char *theirs = pe->ops->map(pe->tp, pe->next, SHMEMT_SEGMENT_HEAP);
    harness_fill(expected, sizeof expected, (unsigned)pe->next);
    EXPECT(pe, theirs != NULL);
    if (theirs) {
        EXPECT_SAME(pe, theirs + 100, expected, sizeof expected);
        theirs[0] = (char)(pe->me + 1);
    }
    EXPECT(pe, pe->ops->map(pe->tp, pe->next, EMPTY) == NULL);
    harness_barrier(pe);
    EXPECT_EQ(pe, mine[0], pe->previous + 1);
}

const struct check checks_put[] = {
    CHECK_NAMED(put_of_every_size_and_alignment_lands_exactly, .caps = SHMEMT_CAP_POSTED),
    CHECK_NAMED(put_of_the_largest_piece_lands_at_both_ends_of_the_segment, .caps = SHMEMT_CAP_POSTED),
    CHECK_NAMED(put_of_zero_bytes_changes_nothing_and_is_counted, .caps = SHMEMT_CAP_POSTED),
    CHECK_NAMED(put_reaches_each_segment, .caps = SHMEMT_CAP_POSTED),
    CHECK_NAMED(put_reaches_the_own_pe, .caps = SHMEMT_CAP_POSTED),
    CHECK_NAMED(put_from_every_pe_reaches_every_pe, .caps = SHMEMT_CAP_POSTED),
    CHECK_NAMED(put_strided_lands_in_each_block, .caps = SHMEMT_CAP_POSTED),
    CHECK_NAMED(put_vectored_lands_in_each_piece_and_lets_go_of_the_list, .caps = SHMEMT_CAP_POSTED),
    CHECK_NAMED(put_with_copy_lets_go_of_the_source_at_once, .caps = SHMEMT_CAP_POSTED),
    CHECK_NAMED(done_tells_when_the_source_may_be_reused, .caps = SHMEMT_CAP_POSTED),
    CHECK_NAMED(done_is_increased_once_for_each_put, .caps = SHMEMT_CAP_POSTED),
    CHECK_NAMED(puts_beyond_the_queue_all_land, .caps = SHMEMT_CAP_POSTED),
    CHECK_NAMED(an_aligned_word_is_never_seen_in_part, .caps = SHMEMT_CAP_POSTED),
    CHECK_NAMED(an_aligned_word_of_4_bytes_is_never_seen_in_part, .caps = SHMEMT_CAP_POSTED),
    CHECK_NAMED(an_aligned_word_of_2_bytes_is_never_seen_in_part, .caps = SHMEMT_CAP_POSTED),
    CHECK_NAMED(put_completes_without_progress_calls, .caps = SHMEMT_CAP_POSTED | SHMEMT_CAP_PROGRESS),
    CHECK_NAMED(a_target_that_computes_holds_up_nothing, .caps = SHMEMT_CAP_POSTED | SHMEMT_CAP_AMO),
    CHECK_NAMED(puts_become_visible_in_call_order, .caps = SHMEMT_CAP_POSTED | SHMEMT_CAP_PUT_ORDER),
    CHECK_NAMED(put_wakes_the_target, .caps = SHMEMT_CAP_POSTED, .cpu_stores = true),
    CHECK_NAMED(map_shows_the_memory_of_the_peer, .caps = SHMEMT_CAP_MAP_HOST),
    {0},
};
