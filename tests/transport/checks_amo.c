/* SPDX-License-Identifier: Apache-2.0
 *
 * Promises of amo.
 * Spec: OpenSHMEM 1.6 §3.2 Atomicity Guarantees, §9.7 Atomic Memory Operations
 */
#include "tests/transport/harness.h"

enum { WORD = 640 }; /* offset of the word in the heap */

static const struct {
    enum shmemt_amo_op op;
    uint64_t           before, value, compare, after;
} cases[] = {
    {SHMEMT_AMO_FETCH, 0x1122334455667788, 9, 9, 0x1122334455667788},
    {SHMEMT_AMO_SET, 0x1122334455667788, 0xfedcba9876543210, 0, 0xfedcba9876543210},
    {SHMEMT_AMO_CSWAP, 0x1122334455667788, 0xfedcba9876543210, 0x1122334455667788, 0xfedcba9876543210},
    {SHMEMT_AMO_CSWAP, 0x1122334455667788, 0xfedcba9876543210, 0x1122334455667789, 0x1122334455667788},
    {SHMEMT_AMO_ADD, 0xfffffffffffffff0, 0x20, 0, 0x10},
    {SHMEMT_AMO_ADD, 5, (uint64_t)-7, 0, (uint64_t)-2},
    {SHMEMT_AMO_AND, 0xff00ff00ff00ff00, 0x0ff00ff00ff00ff0, 0, 0x0f000f000f000f00},
    {SHMEMT_AMO_OR, 0xff00ff00ff00ff00, 0x0ff00ff00ff00ff0, 0, 0xfff0fff0fff0fff0},
    {SHMEMT_AMO_XOR, 0xff00ff00ff00ff00, 0x0ff00ff00ff00ff0, 0, 0xf0f0f0f0f0f0f0f0},
};
enum { CASE_COUNT = sizeof cases / sizeof cases[0] };

static uint64_t low(uint64_t value, unsigned bytes)
{
    return bytes == 8 ? value : (uint32_t)value;
}

/* Each PE works on a word of the next one, which only looks between barriers. */
static void every_operation(struct pe *pe, bool fetching)
{
    char *mine = harness_memory(pe, pe->me, SHMEMT_SEGMENT_HEAP) + WORD;
    for (size_t i = 0; i < CASE_COUNT; i++) {
        for (unsigned bytes = 4; bytes <= 8; bytes += 4) {
            memset(mine - 16, FRESH, 40);
            uint64_t before = cases[i].before, after = cases[i].after;
            uint32_t before32 = (uint32_t)before, after32 = (uint32_t)after;
            memcpy(mine, bytes == 8 ? (void *)&before : (void *)&before32, bytes);
            harness_barrier(pe);
            /* The upper half of a 4-byte operation's values is noise. */
            uint64_t                noise = bytes == 8 ? 0 : 0xabcdef0100000000;
            const struct shmemt_amo amo   = {
                  .segment       = SHMEMT_SEGMENT_HEAP,
                  .remote_offset = WORD,
                  .op            = cases[i].op,
                  .bytes         = bytes,
                  .value         = low(cases[i].value, bytes) | noise,
                  .compare       = low(cases[i].compare, bytes) | noise,
            };
            if (fetching) {
                EXPECT_EQ(pe, harness_fetch(pe, pe->ctx, pe->next, &amo), low(before, bytes));
            } else if (amo.op != SHMEMT_AMO_FETCH) {
                EXPECT_EQ(pe, harness_amo(pe, pe->ctx, pe->next, &amo), 0);
            }
            harness_quiet_all(pe, pe->ctx);
            harness_barrier(pe);
            char model[40];
            memset(model, FRESH, sizeof model);
            memcpy(model + 16, bytes == 8 ? (void *)&after : (void *)&after32, bytes);
            EXPECT_SAME(pe, mine - 16, model, sizeof model);
            harness_barrier(pe);
        }
    }
}

static void amo_does_each_operation_and_fetches_the_old_value(struct pe *pe)
{
    every_operation(pe, true);
}

static void amo_does_each_operation_without_fetching(struct pe *pe)
{
    every_operation(pe, false);
}

static void amo_done_is_counted_without_fetching(struct pe *pe)
{
    _Atomic uint32_t  done = 0;
    struct shmemt_amo amo  = {
         .segment       = SHMEMT_SEGMENT_HEAP,
         .remote_offset = WORD,
         .op            = SHMEMT_AMO_ADD,
         .bytes         = 8,
         .value         = 1,
         .done          = &done,
    };
    for (int i = 0; i < 50; i++) EXPECT_EQ(pe, harness_amo(pe, pe->ctx, pe->next, &amo), 0);
    harness_quiet_all(pe, pe->ctx);
    EXPECT_EQ(pe, atomic_load(&done), 50);
}

enum { ADDS = 400 };

/* Every value from 0 to npes * ADDS - 1 is fetched by exactly one: no update is lost and none happens twice. */
static void fetch_adds_of_all_pes_each_get_their_own_value(struct pe *pe)
{
    uint64_t        *fetched = calloc(ADDS, sizeof *fetched);
    _Atomic uint32_t done    = 0;
    char            *words   = harness_memory(pe, pe->me, SHMEMT_SEGMENT_HEAP);
    memset(words, 0, 8 + PES_MAX * ADDS * 8);
    harness_barrier(pe);
    for (int i = 0; i < ADDS; i++) {
        const struct shmemt_amo amo = {
            .segment = SHMEMT_SEGMENT_HEAP,
            .op      = SHMEMT_AMO_ADD,
            .bytes   = 8,
            .value   = 1,
            .fetch   = &fetched[i],
            .done    = &done,
        };
        EXPECT_EQ(pe, harness_amo(pe, pe->ctx, 0, &amo), 0);
    }
    harness_quiet_all(pe, pe->ctx);
    EXPECT_EQ(pe, atomic_load(&done), ADDS);
    /* Mark each value in a table on PE 0, which then has one mark everywhere. */
    for (int i = 0; i < ADDS; i++)
        if (fetched[i] < (uint64_t)pe->npes * ADDS) harness_update(pe, pe->ctx, 0, 8 + fetched[i] * 8, SHMEMT_AMO_ADD, 1);
    harness_quiet_all(pe, pe->ctx);
    harness_barrier(pe);
    if (pe->me == 0) {
        EXPECT_EQ(pe, harness_read(words), pe->npes * ADDS);
        for (int i = 0; i < pe->npes * ADDS; i++) EXPECT_EQ(pe, harness_read(words + 8 + i * 8), 1);
    }
    free(fetched);
    harness_barrier(pe);
}

/* The target's CPU adds to the same word, with its own atomics, at the same time. */
static void amo_is_atomic_with_the_targets_cpu(struct pe *pe)
{
    uint64_t *mine = (uint64_t *)(void *)(harness_memory(pe, pe->me, SHMEMT_SEGMENT_HEAP) + WORD);
    harness_write(mine, 0);
    harness_barrier(pe);
    uint64_t own = 0;
    for (int i = 0; i < 1000; i++) {
        harness_update(pe, pe->ctx, pe->next, WORD, SHMEMT_AMO_ADD, 1);
        for (int j = 0; j < 20; j++, own++) __atomic_fetch_add(mine, 1u << 16, __ATOMIC_RELAXED);
    }
    harness_quiet_all(pe, pe->ctx);
    harness_barrier(pe);
    EXPECT_EQ(pe, harness_read(mine), 1000 + (own << 16));
}

static void compare_and_swap_is_won_by_one_pe(struct pe *pe)
{
    const struct shmemt_amo amo = {
        .segment = SHMEMT_SEGMENT_HEAP,
        .op      = SHMEMT_AMO_CSWAP,
        .bytes   = 8,
        .compare = 0,
        .value   = (uint64_t)pe->me + 1,
    };
    for (uint64_t round = 0; round < 50; round++) {
        struct shmemt_amo mine = amo;
        char             *word = harness_memory(pe, pe->me, SHMEMT_SEGMENT_HEAP) + round * 8;
        if (pe->me == 0) harness_write(word, 0);
        harness_barrier(pe);
        mine.remote_offset = round * 8;
        uint64_t winner    = harness_fetch(pe, pe->ctx, 0, &mine);
        if (winner == 0) winner = (uint64_t)pe->me + 1;
        harness_barrier(pe);
        mine.op = SHMEMT_AMO_FETCH;
        EXPECT_EQ(pe, harness_fetch(pe, pe->ctx, 0, &mine), winner);
    }
}

static void amo_wakes_the_target(struct pe *pe)
{
    harness_watch(pe, harness_memory(pe, pe->me, SHMEMT_SEGMENT_HEAP) + WORD, 8);
    harness_barrier(pe);
    harness_update(pe, pe->ctx, pe->next, WORD, SHMEMT_AMO_SET, 3);
    harness_quiet_all(pe, pe->ctx);
    harness_barrier(pe);
    EXPECT(pe, harness_wakes(pe) > 0);
}

const struct check checks_amo[] = {
    CHECK_NAMED(amo_does_each_operation_and_fetches_the_old_value, .caps = SHMEMT_CAP_AMO),
    CHECK_NAMED(amo_does_each_operation_without_fetching, .caps = SHMEMT_CAP_AMO),
    CHECK_NAMED(amo_done_is_counted_without_fetching, .caps = SHMEMT_CAP_AMO),
    CHECK_NAMED(fetch_adds_of_all_pes_each_get_their_own_value, .caps = SHMEMT_CAP_AMO),
    CHECK_NAMED(amo_is_atomic_with_the_targets_cpu, .caps = SHMEMT_CAP_AMO | SHMEMT_CAP_AMO_CPU),
    CHECK_NAMED(compare_and_swap_is_won_by_one_pe, .caps = SHMEMT_CAP_AMO),
    CHECK_NAMED(amo_wakes_the_target, .caps = SHMEMT_CAP_AMO | SHMEMT_CAP_AMO_CPU, .cpu_stores = true),
    {0},
};
