/* SPDX-License-Identifier: Apache-2.0
 *
 * The ring between kernels and the proxy, with threads on both sides: producers by the functions that kernels use (ring.cuh), the consumer
 * by those of the proxy (device/consumer.c).
 *
 *     ring_keeps_its_orders [SEED]        by default another one each time
 *
 * All memory that is handed over is plain, so where one of the orders of ring.h is missing, ThreadSanitizer sees a race: it follows
 * happens-before, and does not need the race to go wrong, which on x86 it hardly ever would. A second program, compiled with a weak
 * release in the producer, must be found out by it (unit.ring_weak_release_is_noticed).
 */
#include "device/consumer.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

/* There may be more threads than cores: who spins gives its core to the one that it waits for. */
#define shmemd_pause pause_of_the_header
#include <shmem/device/mem.cuh>
#undef shmemd_pause
static inline void shmemd_pause(void)
{
    sched_yield();
}
#include <shmem/device/ring.cuh>

enum { PRODUCERS = 5, SLOTS = 8, WORDS = 4 };

static int requests = 10000; /* of each producer */

static struct shmemd_descriptor descriptors[SLOTS];
static struct shmemd_reply      replies[SLOTS];
static struct shmemd_credit     credit;
static struct shmemd_producers  producers;
static struct shmemd_control    control;
static bool                     asked[SLOTS];

static struct shmemd_state state = {
    .control = &control,
    .ring    = {.descriptors = descriptors, .replies = replies, .credit = &credit, .producers = &producers, .slots = SLOTS},
};
static struct shmemd_consumer consumer = {
    .descriptors = descriptors, .replies = replies, .credit = &credit, .slots = SLOTS, .asked = asked};

static uint64_t draw(uint64_t *numbers)
{
    *numbers += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = (*numbers ^ *numbers >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z          = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* What request i of a producer carries, the same on both sides. */
static uint64_t mark(int producer, uint64_t i, int word)
{
    return (uint64_t)producer << 56 ^ i << 8 ^ (uint64_t)word;
}

struct producer {
    int      me;
    uint64_t seed;
    uint64_t source[SLOTS * 4][WORDS]; /* plain memory that the consumer reads, long enough that none is written again too soon */
    uint64_t fetched;                  /* plain memory that the consumer writes before it replies */
};

static void ask(struct producer *self, uint64_t i, bool reply)
{
    uint64_t                *source = self->source[i % (SLOTS * 4)];
    struct shmemd_descriptor d      = {.pe     = self->me,
                                       .op     = (uint8_t)(SHMEMD_OP_PUT | (reply ? SHMEMD_OP_REPLY : 0)),
                                       .remote = i,
                                       .local  = (uint64_t)(uintptr_t)self,
                                       .bytes  = i % (SLOTS * 4)};
    uint64_t                 ticket, value = 0;
    for (int word = 0; word < 3; word++) d.argument[word] = mark(self->me, i, word);
    for (int word = 0; word < WORDS; word++) source[word] = mark(self->me, i, word + 3);
    CHECK(shmemd_ring_post(&state, &d, &ticket) == SHMEMD_RING_DONE);
    if (!reply) return;
    CHECK(shmemd_ring_wait_reply(&state, ticket, &value) == SHMEMD_RING_DONE);
    CHECK_EQ_U64(value, ~mark(self->me, i, 0));
    CHECK_EQ_U64(self->fetched, mark(self->me, i, 99));
}

static void *produce(void *argument)
{
    struct producer *self    = argument;
    uint64_t         numbers = self->seed;
    for (uint64_t i = 0; i < (uint64_t)requests; i++) {
        uint64_t drawn = draw(&numbers);
        /* At least each tenth waits, so that a source is read before it is written again: at most SLOTS others are ahead. */
        ask(self, i, drawn % 4 == 0 || i % 10 == 9);
        if (drawn % 64 == 1) sched_yield();
    }
    return NULL;
}

/* ---- the consumer ---- */

struct owed {
    uint64_t ticket, value;
};

static void look(const struct shmemd_descriptor *d, uint64_t *next)
{
    struct producer *from = (struct producer *)(uintptr_t)d->local;
    CHECK_EQ_I64(d->pe, from->me);
    CHECK_EQ_U64(d->remote, next[d->pe]); /* in the order of its thread, none twice and none lost */
    next[d->pe] = d->remote + 1;
    for (int word = 0; word < 3; word++) CHECK_EQ_U64(d->argument[word], mark(d->pe, d->remote, word));
    for (int word = 0; word < WORDS; word++) CHECK_EQ_U64(from->source[d->bytes][word], mark(d->pe, d->remote, word + 3));
    if (d->op & SHMEMD_OP_REPLY) from->fetched = mark(d->pe, d->remote, 99);
}

static void consume(uint64_t seed)
{
    uint64_t                 numbers = seed ^ 77, next[PRODUCERS] = {0}, taken = 0, ticket;
    struct owed              owed[SLOTS];
    struct shmemd_descriptor d;
    for (int count = 0; taken < (uint64_t)PRODUCERS * (uint64_t)requests || count > 0;) {
        uint64_t drawn = draw(&numbers);
        for (uint64_t burst = drawn % (SLOTS + 1); burst > 0 && count < SLOTS; burst--) {
            if (!shmemd_consumer_take(&consumer, &d, &ticket)) break;
            CHECK_EQ_U64(ticket, taken);
            /* Nobody may fill a slot that was not given back. */
            CHECK(ticket - consumer.freed < SLOTS);
            look(&d, next);
            if (d.op & SHMEMD_OP_REPLY) owed[count++] = (struct owed){ticket, ~mark(d.pe, d.remote, 0)};
            taken++;
        }
        /* Replies late, and in any order. */
        while (count > 0 && draw(&numbers) % 4 != 0) {
            int which = (int)(draw(&numbers) % (uint64_t)count);
            shmemd_consumer_reply(&consumer, owed[which].ticket, owed[which].value);
            owed[which] = owed[--count];
        }
        if (drawn >> 32 & 1) shmemd_consumer_free(&consumer);
        if (drawn >> 33 & 1) sched_yield();
    }
    for (int i = 0; i < PRODUCERS; i++) CHECK_EQ_U64(next[i], (uint64_t)requests);
}

static void all_arrive_once_and_in_order(uint64_t seed)
{
    static struct producer all[PRODUCERS];
    pthread_t              threads[PRODUCERS];
    for (int i = 0; i < PRODUCERS; i++) {
        all[i].me   = i;
        all[i].seed = seed + (uint64_t)i;
        pthread_create(&threads[i], NULL, produce, &all[i]);
    }
    consume(seed);
    for (int i = 0; i < PRODUCERS; i++) pthread_join(threads[i], NULL);
    CHECK(!shmemd_consumer_more(&consumer, atomic_load(&consumer.head)));
    shmemd_consumer_free(&consumer);
    CHECK_EQ_U64(consumer.freed, (uint64_t)PRODUCERS * (uint64_t)requests);
}

/* ---- the ways out ---- */

static void *fill_up(void *result)
{
    struct shmemd_descriptor d = {.op = SHMEMD_OP_FENCE};
    uint64_t                 ticket;
    while ((*(enum shmemd_ring_result *)result = shmemd_ring_post(&state, &d, &ticket)) == SHMEMD_RING_DONE) continue;
    return NULL;
}

static void *wait_for_reply(void *result)
{
    struct shmemd_descriptor d = {.op = SHMEMD_OP_QUIET | SHMEMD_OP_REPLY};
    uint64_t                 ticket, value;
    *(enum shmemd_ring_result *)result = shmemd_ring_post(&state, &d, &ticket);
    if (*(enum shmemd_ring_result *)result == SHMEMD_RING_DONE)
        *(enum shmemd_ring_result *)result = shmemd_ring_wait_reply(&state, ticket, &value);
    return NULL;
}

/* Nobody consumes. One waits for a reply, two for room, until `end` is there. */
static void waits_end(void (*end)(void), enum shmemd_ring_result wanted)
{
    void *(*const run[3])(void *)      = {wait_for_reply, fill_up, fill_up};
    pthread_t               threads[3] = {0};
    enum shmemd_ring_result results[3];
    /* A ring of its own: empty, nothing taken. */
    memset(descriptors, 0, sizeof descriptors);
    memset(replies, 0, sizeof replies);
    memset(&credit, 0, sizeof credit);
    memset(&producers, 0, sizeof producers);
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, run[i], &results[i]);
    if (end) end();
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 3; i++) CHECK_EQ_I64(results[i], wanted);
}

static void abort_all(void)
{
    usleep(2000); /* some wait by now, others do later */
    atomic_store((_Atomic uint64_t *)&control.abort, SHMEMD_ABORT_END);
}

int main(int argc, char **argv)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)now.tv_nsec;
    if (argc > 2) requests = atoi(argv[2]);
    printf("seed %" PRIu64 "\n", seed);
    fflush(stdout);
    all_arrive_once_and_in_order(seed);
    waits_end(abort_all, SHMEMD_RING_ABORT);
    control.abort = SHMEMD_GO;
    state.wait_ns = 1000000;
    waits_end(NULL, SHMEMD_RING_LATE);
    return unit_result();
}
