/* SPDX-License-Identifier: Apache-2.0
 *
 * Promises of fence and quiet.
 */
#include "tests/transport/harness.h"

enum { FLAG = 64 << 10, BLOCK = 2000, ROUNDS = 150 };

static const char *own(struct pe *pe, uint64_t offset)
{
    return harness_memory(pe, pe->me, SHMEMT_SEGMENT_HEAP) + offset;
}

enum ending { END_BY_PUT, END_BY_AMO };

/* Data to the next PE, fence, flag to the next PE; who sees the flag has the data. */
static void fenced_rounds(struct pe *pe, bool all_pes, enum ending ending)
{
    static const uint64_t places[] = {0, 8000, 16001};
    char                  source[3][BLOCK], theirs[BLOCK];
    size_t                bytes = harness_min(BLOCK, pe->tp->traits.bytes_max);
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        for (unsigned i = 0; i < 3; i++) {
            harness_fill(source[i], bytes, (unsigned)round + i + (unsigned)pe->me);
            harness_put_bytes(pe, pe->ctx, pe->next, places[i], source[i], bytes);
        }
        EXPECT_EQ(pe, harness_fence(pe, pe->ctx, all_pes ? SHMEMT_ALL_PES : pe->next), 0);
        if (ending == END_BY_PUT) {
            harness_put_bytes(pe, pe->ctx, pe->next, FLAG, &round, 8);
        } else {
            harness_update(pe, pe->ctx, pe->next, FLAG, SHMEMT_AMO_SET, round);
        }
        WAIT_UNTIL(pe, pe->ctx, harness_read(own(pe, FLAG)) == round);
        for (unsigned i = 0; i < 3; i++) {
            harness_fill(theirs, bytes, (unsigned)round + i + (unsigned)pe->previous);
            EXPECT_SAME(pe, own(pe, places[i]), theirs, bytes);
        }
        harness_quiet_all(pe, pe->ctx); /* the sources are ours again */
        harness_barrier(pe);
    }
}

static void fence_puts_earlier_puts_before_later_puts(struct pe *pe)
{
    fenced_rounds(pe, false, END_BY_PUT);
}

static void fence_puts_earlier_puts_before_later_amos(struct pe *pe)
{
    fenced_rounds(pe, false, END_BY_AMO);
}

static void fence_of_all_pes_orders_too(struct pe *pe)
{
    fenced_rounds(pe, true, END_BY_AMO);
}

static void fence_puts_earlier_amos_before_later_puts(struct pe *pe)
{
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        for (uint64_t i = 0; i < 4; i++) harness_update(pe, pe->ctx, pe->next, i * 64, SHMEMT_AMO_SET, round);
        EXPECT_EQ(pe, harness_fence(pe, pe->ctx, pe->next), 0);
        harness_put_bytes(pe, pe->ctx, pe->next, FLAG, &round, 8);
        WAIT_UNTIL(pe, pe->ctx, harness_read(own(pe, FLAG)) == round);
        for (uint64_t i = 0; i < 4; i++) EXPECT_EQ(pe, harness_read(own(pe, i * 64)), round);
        harness_quiet_all(pe, pe->ctx);
        harness_barrier(pe);
    }
}

/*
 * A small put and an amo, fence, a large put: transports may send them by quite different ways. Any byte of the large one that has landed
 * tells that both are there. The target only looks; whoever serves it brings things in meanwhile.
 */
static void fence_puts_small_things_before_a_later_large_put(struct pe *pe)
{
    enum { LARGE_AT = 32 << 10, LARGE = 60000 };
    size_t bytes  = harness_min(LARGE, pe->tp->traits.bytes_max);
    char  *source = malloc(bytes);
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        const volatile char *first = own(pe, LARGE_AT), *last = own(pe, LARGE_AT) + bytes - 1;
        const char           mark = (char)(round % 100 + 1);
        memset(source, mark, bytes);
        harness_put_bytes(pe, pe->ctx, pe->next, 8, &round, 8);
        harness_update(pe, pe->ctx, pe->next, 64, SHMEMT_AMO_SET, round);
        EXPECT_EQ(pe, harness_fence(pe, pe->ctx, pe->next), 0);
        harness_put_bytes(pe, pe->ctx, pe->next, LARGE_AT, source, bytes);
        struct shmemt_ctx *mover = pe->service || (pe->caps & SHMEMT_CAP_PROGRESS) ? NULL : pe->ctx;
        WAIT_UNTIL(pe, mover, *first == mark || *last == mark);
        atomic_thread_fence(memory_order_acquire);
        EXPECT_EQ(pe, harness_read(own(pe, 8)), round);
        EXPECT_EQ(pe, harness_read(own(pe, 64)), round);
        harness_quiet_all(pe, pe->ctx);
        harness_barrier(pe);
    }
    free(source);
}

/* A chain: each link comes after the one before, so the target never sees a later word ahead of an earlier one. */
static void fences_chain(struct pe *pe)
{
    enum { LINKS = 10 };
    for (uint64_t round = 1; round <= 40; round++) {
        for (uint64_t i = 0; i < LINKS; i++) {
            harness_update(pe, pe->ctx, pe->next, i * 64, SHMEMT_AMO_SET, round);
            EXPECT_EQ(pe, harness_fence(pe, pe->ctx, pe->next), 0);
        }
        for (uint64_t i = LINKS; i-- > 0;) {
            uint64_t later = harness_read(own(pe, i * 64));
            for (uint64_t j = 0; j < i && later == round; j++) EXPECT_EQ(pe, harness_read(own(pe, j * 64)), round);
        }
        harness_quiet_all(pe, pe->ctx);
        harness_barrier(pe);
    }
}

static void fence_without_anything_before_it_is_harmless(struct pe *pe)
{
    for (int i = 0; i < 20; i++) {
        EXPECT_EQ(pe, harness_fence(pe, pe->ctx, pe->next), 0);
        EXPECT_EQ(pe, harness_fence(pe, pe->ctx, SHMEMT_ALL_PES), 0);
    }
    harness_quiet_all(pe, pe->ctx);
}

/* Data to PE 1; then PE 2 is told, outside of the transport, and reads it. */
static void quiet_makes_puts_visible_to_a_third_pe(struct pe *pe)
{
    int               reader = pe->npes - 1; /* with 2 PEs, the target itself */
    char              source[BLOCK], seen[BLOCK];
    size_t            bytes = harness_min(BLOCK, pe->tp->traits.bytes_max);
    _Atomic uint64_t *told  = harness_note(pe, 0);
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        harness_fill(source, bytes, (unsigned)round);
        if (pe->me == 0) {
            for (uint64_t i = 0; i < 4; i++) harness_put_bytes(pe, pe->ctx, 1, i * 4000, source, bytes);
            EXPECT_EQ(pe, harness_quiet(pe, pe->ctx, round % 2 ? SHMEMT_ALL_PES : 1), 0);
            atomic_store_explicit(told, round, memory_order_release);
        } else if (pe->me == reader) {
            WAIT_UNTIL(pe, pe->ctx, atomic_load_explicit(told, memory_order_acquire) == round);
            /* At once, by CPU, where the transport writes by CPU; a get takes a while, in which much may land. */
            for (uint64_t i = 0; i < 4 && pe->cpu_stores; i++)
                EXPECT_SAME(pe, harness_memory(pe, 1, SHMEMT_SEGMENT_HEAP) + i * 4000, source, bytes);
            for (uint64_t i = 0; i < 4; i++) {
                memset(seen, 0, sizeof seen);
                harness_get_bytes(pe, pe->ctx, 1, i * 4000, seen, bytes);
                harness_quiet_all(pe, pe->ctx);
                EXPECT_SAME(pe, seen, source, bytes);
            }
        }
        harness_barrier(pe);
    }
}

/*
 * That the source is free does not say that the data is there; quiet does. PE 1 is not served for a while, so what it needs to do itself is not
 * done: either quiet waits for it, or the data is there all the same.
 */
static void quiet_covers_large_puts_whose_source_is_free(struct pe *pe)
{
    enum { LARGE = 100000, TRIES = 200, TOLD = 0, GO_ON = 1 };
    size_t bytes  = harness_min(LARGE, pe->tp->traits.bytes_max);
    char  *source = malloc(bytes);
    if (pe->me == 0) harness_put_bytes(pe, pe->ctx, 1, 0, "connect", 8);
    harness_quiet_all(pe, pe->ctx);
    harness_barrier(pe);
    for (uint64_t round = 1; round <= 20 && !pe->failed; round++) {
        harness_fill(source, bytes, (unsigned)round);
        if (pe->me == 1) atomic_store(&pe->service_pause, true);
        harness_barrier(pe);
        if (pe->me == 0) {
            _Atomic uint32_t         done = 0;
            const struct shmemt_xfer xfer = {
                .segment = SHMEMT_SEGMENT_HEAP, .local = source, .remote_offset = 512, .bytes = bytes, .blocks = 1, .done = &done};
            int err = -EAGAIN;
            EXPECT_EQ(pe, harness_put(pe, pe->ctx, 1, &xfer), 0);
            for (int i = 0; i < TRIES && err == -EAGAIN; i++) {
                pe->ops->progress(pe->ctx);
                if (atomic_load(&done) == 1) err = pe->ops->quiet(pe->ctx, round % 2 ? SHMEMT_ALL_PES : 1);
            }
            if (err == -EAGAIN) atomic_store(harness_note(pe, GO_ON), round);
            harness_quiet_all(pe, pe->ctx);
            atomic_store_explicit(harness_note(pe, TOLD), round, memory_order_release);
        } else if (pe->me == 1) {
            WAIT_UNTIL(pe, NULL, atomic_load(harness_note(pe, TOLD)) == round || atomic_load(harness_note(pe, GO_ON)) == round);
            if (atomic_load(harness_note(pe, GO_ON)) == round) atomic_store(&pe->service_pause, false);
            WAIT_UNTIL(pe, NULL, atomic_load_explicit(harness_note(pe, TOLD), memory_order_acquire) == round);
            EXPECT_SAME(pe, own(pe, 512), source, bytes);
            atomic_store(&pe->service_pause, false);
        }
        harness_barrier(pe);
    }
    free(source);
}

static void quiet_delivers_every_result_and_count(struct pe *pe)
{
    enum { COUNT = 20 };
    uint64_t         fetched[COUNT], got[COUNT], source[COUNT];
    _Atomic uint32_t done = 0;
    memset(harness_memory(pe, pe->me, SHMEMT_SEGMENT_HEAP), 0x11, 4096);
    harness_barrier(pe);
    for (int round = 0; round < 30; round++) {
        atomic_store(&done, 0);
        memset(fetched, 0, sizeof fetched);
        memset(got, 0, sizeof got);
        for (uint64_t i = 0; i < COUNT; i++) {
            source[i]                   = i;
            const struct shmemt_amo amo = {
                .segment       = SHMEMT_SEGMENT_HEAP,
                .remote_offset = i * 8,
                .op            = SHMEMT_AMO_FETCH,
                .bytes         = 8,
                .fetch         = &fetched[i],
                .done          = &done,
            };
            const struct shmemt_xfer get = {
                .segment       = SHMEMT_SEGMENT_HEAP,
                .local         = &got[i],
                .remote_offset = 2048 + i * 8,
                .bytes         = 8,
                .blocks        = 1,
                .done          = &done,
            };
            const struct shmemt_xfer put = {
                .segment       = SHMEMT_SEGMENT_HEAP,
                .local         = &source[i],
                .remote_offset = 8192 + i * 8,
                .bytes         = 8,
                .blocks        = 1,
                .done          = &done,
            };
            EXPECT_EQ(pe, harness_amo(pe, pe->ctx, pe->next, &amo), 0);
            EXPECT_EQ(pe, harness_get(pe, pe->ctx, pe->next, &get), 0);
            EXPECT_EQ(pe, harness_put(pe, pe->ctx, pe->next, &put), 0);
        }
        EXPECT_EQ(pe, harness_quiet(pe, pe->ctx, round % 2 ? SHMEMT_ALL_PES : pe->next), 0);
        EXPECT_EQ(pe, atomic_load(&done), 3 * COUNT);
        for (int i = 0; i < COUNT; i++) {
            EXPECT_EQ(pe, fetched[i], 0x1111111111111111);
            EXPECT_EQ(pe, got[i], 0x1111111111111111);
        }
    }
    harness_barrier(pe);
}

static void quiet_without_anything_before_it_ends(struct pe *pe)
{
    EXPECT_EQ(pe, harness_quiet(pe, pe->ctx, SHMEMT_ALL_PES), 0);
    EXPECT_EQ(pe, harness_quiet(pe, pe->ctx, pe->next), 0);
    EXPECT_EQ(pe, harness_quiet(pe, pe->ctx, pe->me), 0);
}

const struct check checks_order[] = {
    CHECK_NAMED(fence_puts_earlier_puts_before_later_puts, .caps = SHMEMT_CAP_POSTED),
    CHECK_NAMED(fence_puts_earlier_puts_before_later_amos, .caps = SHMEMT_CAP_POSTED | SHMEMT_CAP_AMO),
    CHECK_NAMED(fence_of_all_pes_orders_too, .caps = SHMEMT_CAP_POSTED | SHMEMT_CAP_AMO),
    CHECK_NAMED(fence_puts_earlier_amos_before_later_puts, .caps = SHMEMT_CAP_POSTED | SHMEMT_CAP_AMO),
    CHECK_NAMED(fence_puts_small_things_before_a_later_large_put, .caps = SHMEMT_CAP_POSTED | SHMEMT_CAP_AMO),
    CHECK_NAMED(fences_chain, .caps = SHMEMT_CAP_POSTED | SHMEMT_CAP_AMO),
    CHECK_NAMED(fence_without_anything_before_it_is_harmless, .caps = SHMEMT_CAP_POSTED),
    CHECK_NAMED(quiet_makes_puts_visible_to_a_third_pe, .caps = SHMEMT_CAP_POSTED, .pes_min = 2),
    CHECK_NAMED(quiet_covers_large_puts_whose_source_is_free, .caps = SHMEMT_CAP_POSTED, .pes_min = 2),
    CHECK_NAMED(quiet_delivers_every_result_and_count, .caps = SHMEMT_CAP_POSTED | SHMEMT_CAP_AMO),
    CHECK_NAMED(quiet_without_anything_before_it_ends, .caps = SHMEMT_CAP_POSTED),
    {0},
};
