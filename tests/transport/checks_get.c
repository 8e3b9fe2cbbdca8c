/* SPDX-License-Identifier: Apache-2.0
 *
 * Promises of get. Each PE fills its heap, and reads that of the next one.
 */
#include "tests/transport/harness.h"

static char *expected_heap(int of)
{
    char *heap = malloc(HEAP_BYTES);
    harness_fill(heap, HEAP_BYTES, (unsigned)of);
    return heap;
}

static void fill_own_heap(struct pe *pe)
{
    harness_fill(harness_memory(pe, pe->me, SHMEMT_SEGMENT_HEAP), HEAP_BYTES, (unsigned)pe->me);
    harness_barrier(pe);
}

static void get_of_every_size_and_alignment_brings_exactly_that(struct pe *pe)
{
    static const size_t sizes[] = {1, 2, 3, 4, 7, 8, 9, 16, 33, 64, 65, 100, 255, 1000, 4095, 4096, 20000};
    char               *theirs = expected_heap(pe->next), *local = malloc(HEAP_BYTES), *model = malloc(HEAP_BYTES);
    size_t              at = 1, from = 0;
    memset(local, 0xee, HEAP_BYTES);
    memset(model, 0xee, HEAP_BYTES);
    fill_own_heap(pe);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t bytes = harness_min(sizes[i], pe->tp->traits.bytes_max);
        harness_get_bytes(pe, pe->ctx, pe->next, from, local + at, bytes);
        memcpy(model + at, theirs + from, bytes);
        at += bytes + 3;
        from += bytes + 2;
    }
    harness_quiet_all(pe, pe->ctx);
    EXPECT_SAME(pe, local, model, HEAP_BYTES);
    harness_barrier(pe);
    free(theirs), free(local), free(model);
}

static void get_done_tells_when_the_data_is_there(struct pe *pe)
{
    char *theirs = expected_heap(pe->next);
    char  local[1000];
    fill_own_heap(pe);
    for (unsigned i = 0; i < 100 && !pe->failed; i++) {
        _Atomic uint32_t         done = 0;
        const struct shmemt_xfer xfer = {
            .segment       = SHMEMT_SEGMENT_HEAP,
            .local         = local,
            .remote_offset = i * 1001,
            .bytes         = sizeof local,
            .blocks        = 1,
            .done          = &done,
        };
        memset(local, 0xee, sizeof local);
        EXPECT_EQ(pe, harness_get(pe, pe->ctx, pe->next, &xfer), 0);
        WAIT_UNTIL(pe, pe->ctx, atomic_load_explicit(&done, memory_order_acquire) > 0);
        EXPECT_SAME(pe, local, theirs + i * 1001, sizeof local);
    }
    harness_quiet_all(pe, pe->ctx);
    harness_barrier(pe);
    free(theirs);
}

static void get_strided_collects_each_block(struct pe *pe)
{
    static const struct {
        size_t    bytes;
        ptrdiff_t local_stride, remote_stride;
    } shapes[]    = {{8, 8, 8}, {8, 16, 24}, {3, 5, -7}, {100, -100, 1000}, {16, 16, 0}, {1, 3, 2}};
    char  *theirs = expected_heap(pe->next), local[2048], model[2048];
    size_t blocks = harness_min(4, pe->tp->traits.pieces_max);
    fill_own_heap(pe);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const struct shmemt_xfer xfer = {
            .segment       = SHMEMT_SEGMENT_HEAP,
            .local         = local + 1024,
            .remote_offset = 5000,
            .bytes         = shapes[i].bytes,
            .blocks        = blocks,
            .local_stride  = shapes[i].local_stride,
            .remote_stride = shapes[i].remote_stride,
        };
        memset(local, 0xee, sizeof local);
        memset(model, 0xee, sizeof model);
        for (ptrdiff_t block = 0; block < (ptrdiff_t)blocks; block++)
            memcpy(model + 1024 + block * shapes[i].local_stride, theirs + 5000 + block * shapes[i].remote_stride, shapes[i].bytes);
        EXPECT_EQ(pe, harness_get(pe, pe->ctx, pe->next, &xfer), 0);
        harness_quiet_all(pe, pe->ctx);
        EXPECT_SAME(pe, local, model, sizeof local);
    }
    harness_barrier(pe);
    free(theirs);
}

static void get_vectored_collects_each_piece(struct pe *pe)
{
    const size_t        bytes[4] = {200, 0, 1, 77};
    char               *theirs   = expected_heap(pe->next), local[4][200];
    size_t              count    = harness_min(4, pe->tp->traits.pieces_max);
    struct shmemt_piece pieces[4];
    fill_own_heap(pe);
    for (unsigned i = 0; i < count; i++)
        pieces[i] = (struct shmemt_piece){.local = local[i], .remote_offset = 9000 - 1001 * i, .bytes = bytes[i]};
    const struct shmemt_xfer xfer = {.segment = SHMEMT_SEGMENT_HEAP, .pieces = pieces, .piece_count = count};
    EXPECT_EQ(pe, harness_get(pe, pe->ctx, pe->next, &xfer), 0);
    memset(pieces, 0xff, sizeof pieces);
    harness_quiet_all(pe, pe->ctx);
    for (unsigned i = 0; i < count; i++) EXPECT_SAME(pe, local[i], theirs + 9000 - 1001 * i, bytes[i]);
    harness_barrier(pe);
    free(theirs);
}

static void get_of_zero_bytes_is_counted(struct pe *pe)
{
    _Atomic uint32_t         done = 0;
    const struct shmemt_xfer xfer = {.segment = SHMEMT_SEGMENT_HEAP, .blocks = 1, .done = &done};
    EXPECT_EQ(pe, harness_get(pe, pe->ctx, pe->next, &xfer), 0);
    harness_quiet_all(pe, pe->ctx);
    EXPECT_EQ(pe, atomic_load(&done), 1);
}

static void gets_beyond_the_queue_all_arrive(struct pe *pe)
{
    enum { COUNT = 1000 };
    char *theirs = expected_heap(pe->next), *local = malloc(COUNT * 16);
    fill_own_heap(pe);
    for (size_t i = 0; i < COUNT; i++) harness_get_bytes(pe, pe->ctx, pe->next, i * 16, local + i * 16, 16);
    harness_quiet_all(pe, pe->ctx);
    EXPECT_SAME(pe, local, theirs, COUNT * 16);
    harness_barrier(pe);
    free(theirs), free(local);
}

static void get_reads_from_every_pe(struct pe *pe)
{
    char local[PES_MAX][100];
    fill_own_heap(pe);
    for (int from = 0; from < pe->npes; from++) harness_get_bytes(pe, pe->ctx, from, 64, local[from], sizeof local[from]);
    harness_quiet_all(pe, pe->ctx);
    for (int from = 0; from < pe->npes; from++) {
        char *theirs = expected_heap(from);
        EXPECT_SAME(pe, local[from], theirs + 64, sizeof local[from]);
        free(theirs);
    }
    harness_barrier(pe);
}

const struct check checks_get[] = {
    CHECK_NAMED(get_of_every_size_and_alignment_brings_exactly_that, .caps = SHMEMT_CAP_POSTED),
    CHECK_NAMED(get_done_tells_when_the_data_is_there, .caps = SHMEMT_CAP_POSTED),
    CHECK_NAMED(get_strided_collects_each_block, .caps = SHMEMT_CAP_POSTED),
    CHECK_NAMED(get_vectored_collects_each_piece, .caps = SHMEMT_CAP_POSTED),
    CHECK_NAMED(get_of_zero_bytes_is_counted, .caps = SHMEMT_CAP_POSTED),
    CHECK_NAMED(gets_beyond_the_queue_all_arrive, .caps = SHMEMT_CAP_POSTED),
    CHECK_NAMED(get_reads_from_every_pe, .caps = SHMEMT_CAP_POSTED),
    {0},
};
