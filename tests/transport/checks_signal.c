/* SPDX-License-Identifier: Apache-2.0
 *
 * Promises of put_signal (or, where a transport has none, of put + fence + amo in its place): a signal vouches for its own data.
 */
#include "tests/transport/harness.h"

enum { SIGNAL = 96 << 10, ROUNDS = 200, BLOCK = 3000 };

static const struct shmemt_amo signal_set = {
    .segment = SHMEMT_SEGMENT_HEAP, .remote_offset = SIGNAL, .op = SHMEMT_AMO_SET, .bytes = 8};

static const char *own(struct pe *pe, uint64_t offset)
{
    return harness_memory(pe, pe->me, SHMEMT_SEGMENT_HEAP) + offset;
}

static void signal_comes_after_its_data(struct pe *pe)
{
    char   source[BLOCK], theirs[BLOCK];
    size_t bytes = harness_min(BLOCK, pe->tp->traits.bytes_max);
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        struct shmemt_amo        signal = signal_set;
        const struct shmemt_xfer xfer   = {
              .segment       = SHMEMT_SEGMENT_HEAP,
              .local         = source,
              .remote_offset = round % 7,
              .bytes         = bytes,
              .blocks        = 1,
        };
        signal.value = round;
        harness_fill(source, bytes, (unsigned)round + (unsigned)pe->me);
        EXPECT_EQ(pe, harness_put_signal(pe, pe->ctx, pe->next, &xfer, &signal), 0);
        WAIT_UNTIL(pe, pe->ctx, harness_read(own(pe, SIGNAL)) == round);
        harness_fill(theirs, bytes, (unsigned)round + (unsigned)pe->previous);
        EXPECT_SAME(pe, own(pe, round % 7), theirs, bytes);
        harness_quiet_all(pe, pe->ctx);
        harness_barrier(pe);
    }
}

static void signal_comes_after_every_piece(struct pe *pe)
{
    char                source[4][500], theirs[500];
    size_t              count = harness_min(4, pe->tp->traits.pieces_max);
    struct shmemt_piece pieces[4];
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        struct shmemt_amo signal = signal_set;
        for (unsigned i = 0; i < count; i++) {
            harness_fill(source[i], sizeof source[i], (unsigned)round * 5 + i + (unsigned)pe->me);
            pieces[i] = (struct shmemt_piece){.local = source[i], .remote_offset = i * 1111, .bytes = sizeof source[i]};
        }
        const struct shmemt_xfer xfer = {.segment = SHMEMT_SEGMENT_HEAP, .pieces = pieces, .piece_count = count};
        signal.value                  = round;
        EXPECT_EQ(pe, harness_put_signal(pe, pe->ctx, pe->next, &xfer, &signal), 0);
        WAIT_UNTIL(pe, pe->ctx, harness_read(own(pe, SIGNAL)) == round);
        for (unsigned i = 0; i < count; i++) {
            harness_fill(theirs, sizeof theirs, (unsigned)round * 5 + i + (unsigned)pe->previous);
            EXPECT_SAME(pe, own(pe, i * 1111), theirs, sizeof theirs);
        }
        harness_quiet_all(pe, pe->ctx);
        harness_barrier(pe);
    }
}

/* Data in one segment, the signal in another; the source may be reused at once. */
/* As large as the transport takes, and values from those that fit beside the data to those that do not. */
static void signal_comes_after_large_data(struct pe *pe)
{
    enum { LARGE = 90000, LARGE_ROUNDS = 60 };
    size_t bytes  = harness_min(LARGE, pe->tp->traits.bytes_max);
    char  *source = malloc(bytes), *theirs = malloc(bytes);
    for (uint64_t round = 1; round <= LARGE_ROUNDS; round++) {
        struct shmemt_amo        signal = signal_set;
        const struct shmemt_xfer xfer   = {
              .segment = SHMEMT_SEGMENT_HEAP, .local = source, .remote_offset = round % 5, .bytes = bytes, .blocks = 1};
        signal.value = round % 3 == 0 ? round << 40 : round;
        harness_fill(source, bytes, (unsigned)round + (unsigned)pe->me);
        EXPECT_EQ(pe, harness_put_signal(pe, pe->ctx, pe->next, &xfer, &signal), 0);
        WAIT_UNTIL(pe, pe->service ? NULL : pe->ctx, harness_read(own(pe, SIGNAL)) == signal.value);
        harness_fill(theirs, bytes, (unsigned)round + (unsigned)pe->previous);
        EXPECT_SAME(pe, own(pe, round % 5), theirs, bytes);
        harness_quiet_all(pe, pe->ctx);
        harness_barrier(pe);
    }
    free(source), free(theirs);
}

/* Large and small pieces, and words, in one call. */
static void signal_comes_after_mixed_pieces(struct pe *pe)
{
    static const size_t sizes[] = {30000, 8, 25000, 100};
    enum { EACH_AT = 16384 * 2 };
    size_t              count  = harness_min(sizeof sizes / sizeof sizes[0], pe->tp->traits.pieces_max);
    char               *source = malloc(4 * EACH_AT), *theirs = malloc(EACH_AT);
    struct shmemt_piece pieces[4];
    for (uint64_t round = 1; round <= 60; round++) {
        struct shmemt_amo signal = signal_set;
        _Atomic uint32_t  done   = 0;
        for (unsigned i = 0; i < count; i++) {
            size_t bytes = harness_min(sizes[i], pe->tp->traits.bytes_max);
            harness_fill(source + i * EACH_AT, bytes, (unsigned)round * 5 + i + (unsigned)pe->me);
            pieces[i] = (struct shmemt_piece){
                .local = source + i * EACH_AT, .remote_offset = i == 3 ? 160 << 10 : i * EACH_AT, .bytes = bytes};
        }
        const struct shmemt_xfer xfer = {.segment = SHMEMT_SEGMENT_HEAP, .pieces = pieces, .piece_count = count, .done = &done};
        signal.value                  = round;
        EXPECT_EQ(pe, harness_put_signal(pe, pe->ctx, pe->next, &xfer, &signal), 0);
        WAIT_UNTIL(pe, pe->ctx, harness_read(own(pe, SIGNAL)) == round);
        for (unsigned i = 0; i < count; i++) {
            size_t bytes = harness_min(sizes[i], pe->tp->traits.bytes_max);
            harness_fill(theirs, bytes, (unsigned)round * 5 + i + (unsigned)pe->previous);
            EXPECT_SAME(pe, own(pe, i == 3 ? 160 << 10 : i * EACH_AT), theirs, bytes);
        }
        harness_quiet_all(pe, pe->ctx);
        EXPECT_EQ(pe, atomic_load(&done), 1);
        harness_barrier(pe);
    }
    free(source), free(theirs);
}

static void signal_with_copied_data_in_another_segment(struct pe *pe)
{
    char              source[64];
    size_t            bytes  = harness_min(sizeof source, pe->tp->traits.copy_bytes_max);
    struct shmemt_amo signal = signal_set;
    signal.segment           = SHMEMT_SEGMENT_DATA;
    signal.remote_offset     = 512;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        const struct shmemt_xfer xfer = {
            .segment       = SHMEMT_SEGMENT_HEAP,
            .flags         = SHMEMT_XFER_COPY,
            .local         = source,
            .remote_offset = 40,
            .bytes         = bytes,
            .blocks        = 1,
        };
        signal.value = round;
        harness_fill(source, bytes, (unsigned)round + (unsigned)pe->me);
        EXPECT_EQ(pe, harness_put_signal(pe, pe->ctx, pe->next, &xfer, &signal), 0);
        memset(source, 0xee, sizeof source);
        WAIT_UNTIL(pe, pe->ctx, harness_read(harness_memory(pe, pe->me, SHMEMT_SEGMENT_DATA) + 512) == round);
        harness_fill(source, bytes, (unsigned)round + (unsigned)pe->previous);
        EXPECT_SAME(pe, own(pe, 40), source, bytes);
        harness_barrier(pe);
    }
    harness_quiet_all(pe, pe->ctx);
}

static void signal_without_data_is_sent(struct pe *pe)
{
    _Atomic uint32_t         done   = 0;
    struct shmemt_amo        signal = signal_set;
    const struct shmemt_xfer xfer   = {.segment = SHMEMT_SEGMENT_HEAP, .blocks = 1, .done = &done};
    signal.value                    = 99;
    EXPECT_EQ(pe, harness_put_signal(pe, pe->ctx, pe->next, &xfer, &signal), 0);
    WAIT_UNTIL(pe, pe->ctx, harness_read(own(pe, SIGNAL)) == 99);
    harness_quiet_all(pe, pe->ctx);
    EXPECT_EQ(pe, atomic_load(&done), 1);
    harness_barrier(pe);
}

/* The count vouches for all pieces once it is complete, however the signals overtake each other. */
static void signals_of_all_pes_add_up(struct pe *pe)
{
    enum { EACH = 100 };
    char    *mine = harness_memory(pe, pe->me, SHMEMT_SEGMENT_HEAP);
    uint64_t source[EACH];
    harness_write(mine + SIGNAL, 0);
    harness_barrier(pe);
    for (uint64_t i = 0; i < EACH; i++) {
        for (int to = 0; to < pe->npes; to++) {
            struct shmemt_amo signal      = signal_set;
            signal.op                     = SHMEMT_AMO_ADD;
            signal.value                  = 3;
            source[i]                     = 1000 * i + (uint64_t)pe->me;
            const struct shmemt_xfer xfer = {
                .segment       = SHMEMT_SEGMENT_HEAP,
                .local         = &source[i],
                .remote_offset = (uint64_t)pe->me * EACH * 8 + i * 8,
                .bytes         = 8,
                .blocks        = 1,
            };
            EXPECT_EQ(pe, harness_put_signal(pe, pe->ctx, to, &xfer, &signal), 0);
        }
    }
    WAIT_UNTIL(pe, pe->ctx, harness_read(mine + SIGNAL) == 3u * EACH * (unsigned)pe->npes);
    for (uint64_t from = 0; from < (uint64_t)pe->npes; from++)
        for (uint64_t i = 0; i < EACH; i++) EXPECT_EQ(pe, harness_read(mine + from * EACH * 8 + i * 8), 1000 * i + from);
    harness_quiet_all(pe, pe->ctx);
    harness_barrier(pe);
    EXPECT_EQ(pe, harness_read(mine + SIGNAL), 3 * EACH * pe->npes);
}

static void signal_source_may_be_reused_when_done_says_so(struct pe *pe)
{
    char   source[BLOCK], theirs[BLOCK];
    size_t bytes = harness_min(BLOCK, pe->tp->traits.bytes_max);
    for (uint64_t round = 1; round <= 50; round++) {
        _Atomic uint32_t         done   = 0;
        struct shmemt_amo        signal = signal_set;
        const struct shmemt_xfer xfer   = {
              .segment       = SHMEMT_SEGMENT_HEAP,
              .local         = source,
              .remote_offset = 8,
              .bytes         = bytes,
              .blocks        = 1,
              .done          = &done,
        };
        signal.value = round;
        harness_fill(source, bytes, (unsigned)round + (unsigned)pe->me);
        EXPECT_EQ(pe, harness_put_signal(pe, pe->ctx, pe->next, &xfer, &signal), 0);
        WAIT_UNTIL(pe, pe->ctx, atomic_load_explicit(&done, memory_order_acquire) == 1);
        memset(source, 0xee, bytes);
        WAIT_UNTIL(pe, pe->ctx, harness_read(own(pe, SIGNAL)) == round);
        harness_fill(theirs, bytes, (unsigned)round + (unsigned)pe->previous);
        EXPECT_SAME(pe, own(pe, 8), theirs, bytes);
        harness_quiet_all(pe, pe->ctx);
        harness_barrier(pe);
    }
}

static void fence_orders_signals(struct pe *pe)
{
    char source[256];
    harness_fill(source, sizeof source, 1);
    for (uint64_t round = 1; round <= 50; round++) {
        for (uint64_t i = 0; i < 4; i++) {
            struct shmemt_amo        signal = signal_set;
            const struct shmemt_xfer xfer   = {
                  .segment       = SHMEMT_SEGMENT_HEAP,
                  .local         = source,
                  .remote_offset = i * 256,
                  .bytes         = sizeof source,
                  .blocks        = 1,
            };
            signal.value         = round;
            signal.remote_offset = SIGNAL + i * 64;
            EXPECT_EQ(pe, harness_put_signal(pe, pe->ctx, pe->next, &xfer, &signal), 0);
            EXPECT_EQ(pe, harness_fence(pe, pe->ctx, pe->next), 0);
        }
        WAIT_UNTIL(pe, pe->ctx, harness_read(own(pe, SIGNAL + 3 * 64)) == round);
        for (uint64_t i = 0; i < 4; i++) EXPECT_EQ(pe, harness_read(own(pe, SIGNAL + i * 64)), round);
        harness_quiet_all(pe, pe->ctx);
        harness_barrier(pe);
    }
}

static void signal_wakes_the_target(struct pe *pe)
{
    uint64_t                 value  = 7;
    struct shmemt_amo        signal = signal_set;
    const struct shmemt_xfer xfer   = {.segment = SHMEMT_SEGMENT_HEAP, .local = &value, .bytes = 8, .blocks = 1};
    signal.value                    = 5;
    harness_watch(pe, own(pe, SIGNAL), 8);
    harness_barrier(pe);
    EXPECT_EQ(pe, harness_put_signal(pe, pe->ctx, pe->next, &xfer, &signal), 0);
    harness_quiet_all(pe, pe->ctx);
    harness_barrier(pe);
    EXPECT(pe, harness_wakes(pe) > 0);
}

const struct check checks_signal[] = {
    CHECK_NAMED(signal_comes_after_its_data, .caps = SHMEMT_CAP_POSTED | SHMEMT_CAP_AMO),
    CHECK_NAMED(signal_comes_after_every_piece, .caps = SHMEMT_CAP_POSTED | SHMEMT_CAP_AMO),
    CHECK_NAMED(signal_comes_after_large_data, .caps = SHMEMT_CAP_POSTED | SHMEMT_CAP_AMO),
    CHECK_NAMED(signal_comes_after_mixed_pieces, .caps = SHMEMT_CAP_POSTED | SHMEMT_CAP_AMO),
    CHECK_NAMED(signal_with_copied_data_in_another_segment, .caps = SHMEMT_CAP_POSTED | SHMEMT_CAP_AMO),
    CHECK_NAMED(signal_without_data_is_sent, .caps = SHMEMT_CAP_POSTED | SHMEMT_CAP_AMO),
    CHECK_NAMED(signals_of_all_pes_add_up, .caps = SHMEMT_CAP_POSTED | SHMEMT_CAP_AMO),
    CHECK_NAMED(signal_source_may_be_reused_when_done_says_so, .caps = SHMEMT_CAP_POSTED | SHMEMT_CAP_AMO),
    CHECK_NAMED(fence_orders_signals, .caps = SHMEMT_CAP_POSTED | SHMEMT_CAP_AMO),
    CHECK_NAMED(signal_wakes_the_target, .caps = SHMEMT_CAP_POSTED | SHMEMT_CAP_AMO, .cpu_stores = true),
    {0},
};
