/* SPDX-License-Identifier: Apache-2.0
 *
 * Promises about a PE that is killed: the transport says so once, what was for it ends, and the others go on. The last PE is the one that
 * dies; each check is a run of its own (--dying). POSTED transports whose peers are remote.
 */
#include "tests/transport/harness.h"

enum { LARGE = 64 << 10, TRIES = 64 };

static char source[LARGE];

/* Until it is refused for good, or there is nobody to refuse it. */
static bool keep_posting(struct pe *pe, int to, _Atomic uint32_t *done, uint32_t *accepted)
{
    static uint64_t          fetched[TRIES];
    static unsigned          turn;
    const struct shmemt_xfer small = {
        .segment = SHMEMT_SEGMENT_HEAP, .flags = SHMEMT_XFER_COPY, .local = source, .bytes = 8, .blocks = 1, .done = done};
    const struct shmemt_xfer large = {.segment = SHMEMT_SEGMENT_HEAP, .local = source, .bytes = LARGE, .blocks = 1, .done = done};
    const struct shmemt_amo  amo   = {
           .segment = SHMEMT_SEGMENT_HEAP, .op = SHMEMT_AMO_ADD, .bytes = 8, .fetch = &fetched[turn % TRIES], .done = done};
    int err;
    switch (turn++ % 4) {
    case 0: err = pe->ops->put(pe->ctx, to, &small); break;
    case 1: err = pe->ops->put(pe->ctx, to, &large); break;
    case 2: err = pe->ops->get(pe->ctx, to, &large); break;
    default: err = pe->ops->amo(pe->ctx, to, &amo); break;
    }
    *accepted += err == 0;
    EXPECT(pe, err == 0 || err == -EAGAIN || err == -EHOSTDOWN);
    pe->ops->progress(pe->ctx); /* may say by its result that a peer has failed */
    return err != -EHOSTDOWN;
}

static bool wait_without_progress_error(struct pe *pe, struct patience *patience, const char *what)
{
    pe->ops->progress(pe->ctx);
    return harness_wait(pe, patience, NULL, __FILE__, __LINE__, what);
}

static void survive(struct pe *pe, int dead)
{
    _Atomic uint32_t done     = 0;
    uint32_t         accepted = 0;
    uint64_t         value    = 77;
    struct patience  patience = {0};
    int              err;
    while (keep_posting(pe, dead, &done, &accepted) && wait_without_progress_error(pe, &patience, "a refusal")) {
    }
    EXPECT_EQ(pe, pe->ops->quiet(pe->ctx, dead), -EHOSTDOWN);
    patience = (struct patience){0};
    while ((err = pe->ops->quiet(pe->ctx, SHMEMT_ALL_PES)) == -EAGAIN && wait_without_progress_error(pe, &patience, "quiet")) {
    }
    EXPECT_EQ(pe, err, 0);
    EXPECT_EQ(pe, atomic_load(&done), accepted);
    /* The others, this PE among them, are as they were. */
    for (int to = 0; to < pe->npes; to++)
        if (to != dead) harness_put_bytes(pe, pe->ctx, to, 4096 + (uint64_t)pe->me * 8, &value, 8);
    harness_quiet_all(pe, pe->ctx);
    harness_barrier(pe);
    for (int from = 0; from < pe->npes; from++)
        if (from != dead) EXPECT_EQ(pe, harness_read(harness_memory(pe, pe->me, SHMEMT_SEGMENT_HEAP) + 4096 + from * 8), 77);
    EXPECT_EQ(pe, harness_failures(pe, dead), pe->npes - 1); /* each survivor was told once */
}

/* The words that its death is told by: the dying PE writes, and dies. */
static void wait_for_death(struct pe *pe)
{
    WAIT_UNTIL(pe, NULL, atomic_load(harness_note(pe, 0)) == 1);
}

static void a_killed_pe_is_told_once_and_the_others_go_on(struct pe *pe)
{
    int      dead  = pe->npes - 1;
    uint64_t value = 1;
    harness_put_bytes(pe, pe->ctx, dead, 64 + (uint64_t)pe->me * 8, &value, 8);
    harness_quiet_all(pe, pe->ctx); /* connected */
    harness_barrier(pe);
    if (pe->me == dead) {
        atomic_store(harness_note(pe, 0), 1);
        harness_die(pe);
    }
    wait_for_death(pe);
    survive(pe, dead);
}

static void a_pe_that_was_killed_before_the_first_word_is_told_once(struct pe *pe)
{
    int dead = pe->npes - 1;
    if (pe->me == dead) {
        atomic_store(harness_note(pe, 0), 1);
        harness_die(pe);
    }
    wait_for_death(pe);
    survive(pe, dead);
}

/* It dies while much is under way to it: windows and queues are full. */
static void a_pe_that_is_killed_under_load_is_told_once(struct pe *pe)
{
    int              dead     = pe->npes - 1;
    _Atomic uint32_t done     = 0;
    uint32_t         accepted = 0;
    harness_barrier(pe);
    if (pe->me == dead) {
        struct patience patience = {0};
        while (atomic_load(harness_note(pe, 1)) < (uint64_t)(pe->npes - 1) &&
               harness_wait(pe, &patience, pe->ctx, __FILE__, __LINE__, "load")) {
        }
        atomic_store(harness_note(pe, 0), 1);
        harness_die(pe);
    }
    struct patience patience = {0};
    while (atomic_load(harness_note(pe, 0)) == 0 && keep_posting(pe, dead, &done, &accepted) &&
           wait_without_progress_error(pe, &patience, "death")) {
        if (accepted == 200) atomic_fetch_add(harness_note(pe, 1), 1);
    }
    wait_for_death(pe);
    survive(pe, dead);
    EXPECT_EQ(pe, atomic_load(&done), accepted);
}

const struct check checks_dying[] = {
    CHECK_NAMED(a_killed_pe_is_told_once_and_the_others_go_on, .caps = SHMEMT_CAP_POSTED | SHMEMT_CAP_AMO, .pes_min = 2),
    CHECK_NAMED(a_pe_that_was_killed_before_the_first_word_is_told_once, .caps = SHMEMT_CAP_POSTED | SHMEMT_CAP_AMO, .pes_min = 2),
    CHECK_NAMED(a_pe_that_is_killed_under_load_is_told_once, .caps = SHMEMT_CAP_POSTED | SHMEMT_CAP_AMO, .pes_min = 2),
    {0},
};
