/* SPDX-License-Identifier: Apache-2.0
 *
 * The ibverbs transport over the simulated NIC, one seed after the other in one set of processes.
 *
 *     stress --path FOLDER [--pes N] [--seeds COUNT] [--from SEED] [--seed SEED] [--set KEY=VALUE,...] [--sets N]
 *            [--vanish] [--errors] [--refusals] [--must-catch] [--verbose]
 *
 * A seed decides everything: limits of the device, settings of the transport, what each PE does, and every choice of the
 * scheduler and the NIC. A PE sends over *ways* to each other PE, each of one kind: data, then something that vouches for it
 * (a signal, a word behind a fence, a note after a quiet). The receiver looks at the data in the moment that it sees this. Checked:
 *
 *   - what is vouched for is there, all bytes of it, and a counted signal is neither early nor double;
 *   - every operation ends: its done word counts one, quiet returns, the seed has an end;
 *   - fetch-and-adds of all PEs on one word each get a value of their own, and none is lost;
 *   - bytes around and between what was sent stay as they were, and the NIC refuses no key;
 *   - with --vanish, one PE's NIC goes dead at some step: the others are told, go on among themselves, end; and what it had under
 *     way no longer changes their memory once they have been told;
 *   - with --errors, messages find no way or are refused now and then: the two PEs lose each other, and go on with others;
 *   - with --refusals, registrations fail now and then: what was refused may be tried again.
 *
 * --must-catch: the transport is broken on purpose; status 0 if one of the seeds shows it. A failing seed is named, and is replayed alone by --seed.
 */
#include "runner.h"
#include "simverbs.h"

#include "transports/transport.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
    PES_MAX    = 4,
    KINDS      = 6,
    ROUNDS     = 3,
    PLACE      = 12 << 10,        /* of one way's data          */
    WAYS       = PES_MAX * KINDS, /* into one PE                */
    WORDS      = 64 + 64 * WAYS,  /* the signal words, spread   */
    COUNTER    = 16,              /* offset of the shared word  */
    HALF       = 24,              /* and of one of 4 bytes      */
    HEAP_BYTES = WORDS + PLACE * WAYS,
    GUARD      = 4096,
    FRESH      = 0x5a,
    STEPS_MAX  = 600000,
    TICKETS    = 256,
};

enum kind { SIGNAL_SET, SIGNAL_ADD, FENCE_PUT, FENCE_AMO, QUIET_NOTE, GET_BACK };

struct settings {
    const char *path;
    const char *set;
    int         pes;
    uint64_t    from;
    uint64_t    seeds;
    int         sets;
    bool        vanish, errors, refusals;
    bool        must_catch;
    bool        verbose;
};

/* What all processes share, at one address; never touched by the NIC but for the heaps. */
struct world {
    _Atomic uint64_t      seed;       /* under way */
    _Atomic int           arrived[8]; /* at the barriers of a seed */
    _Atomic bool          vanished[PES_MAX];
    _Atomic bool          told[PES_MAX][PES_MAX]; /* [who][of whom] */
    struct shmemt_address addresses[PES_MAX];
    struct shmemt_key     keys[PES_MAX];
    _Atomic uint32_t      sent[PES_MAX][WAYS];     /* rounds vouched for out of band */
    _Atomic uint32_t      received[PES_MAX][WAYS]; /* rounds checked by the receiver */
    _Atomic uint32_t      tickets[PES_MAX][TICKETS];
    _Atomic uint64_t      added[PES_MAX], added_half[PES_MAX];
    _Alignas(4096) unsigned char heaps[PES_MAX][GUARD + HEAP_BYTES + GUARD];
};

struct seeds {
    uint64_t from, step, count;
};

/* One PE's way to another. */
struct way {
    int           peer;
    enum kind     kind;
    unsigned      index; /* among the ways into the peer */
    uint32_t      round; /* sent */
    unsigned char data[PLACE];
};

struct pe {
    int                      me;
    uint64_t                 random;
    struct runner_set       *set;
    struct seeds             seeds;
    struct settings          settings;
    const struct shmemt_ops *ops;
    struct shmemt_job        job;
    enum shmemt_agent        agent;
    int                      local_of[PES_MAX];
    struct shmemt           *tp;
    struct shmemt_ctx       *ctx;
    struct shmemt_ctx       *service;
    _Atomic int              serving; /* 0: not yet, 1: yes, 2: stop, 3: stopped */
    struct way               ways[WAYS];
    unsigned                 way_count;
    unsigned char            snapshot[PES_MAX][KINDS][PLACE];
    unsigned                 tickets;
    unsigned                 vanish_after;
    unsigned                 tell_within; /* so many moves, about, the others hear of a loss */
    unsigned                 actions;
};

static struct world *world;
static struct pe     pe;

/* ---- failing ---- */

static void note(enum runner_end how, const char *format, va_list args)
{
    char why[500];

    vsnprintf(why, sizeof why, format, args);
    runner_fail(pe.set, how, "PE %d: %s", pe.me, why);
}

static _Noreturn void __attribute__((format(printf, 1, 2))) fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    note(RUNNER_WRONG, format, args);
    va_end(args);
    _exit(1);
}

static _Noreturn void __attribute__((format(printf, 1, 2))) cannot_run(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    note(RUNNER_NOT_RUN, format, args);
    va_end(args);
    _exit(1);
}

/* ---- what would wait in the kernel, or look at a clock: here it passes the token ---- */

/* The function of this name behind ours. */
#define REAL(name)                                              \
    __extension__({                                             \
        static __typeof__(&name) real_;                         \
        if (!real_) *(void **)&real_ = dlsym(RTLD_NEXT, #name); \
        real_;                                                  \
    })

__attribute__((visibility("default"))) int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    int err;
    if (!simverbs_takes_part()) return REAL(pthread_mutex_lock)(mutex);
    while ((err = pthread_mutex_trylock(mutex)) == EBUSY) simverbs_yield();
    return err;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (!simverbs_takes_part()) return REAL(clock_gettime)(clock, now);
    now->tv_sec  = (time_t)(simverbs_now_ns() / 1000000000);
    now->tv_nsec = (long)(simverbs_now_ns() % 1000000000);
    return 0;
}

__attribute__((visibility("default"))) int nanosleep(const struct timespec *time, struct timespec *left)
{
    if (!simverbs_takes_part()) return REAL(nanosleep)(time, left);
    simverbs_yield();
    return 0;
}

__attribute__((visibility("default"))) int sched_yield(void)
{
    if (!simverbs_takes_part()) return REAL(sched_yield)();
    simverbs_yield();
    return 0;
}

/* ---- chance, the same for all: from the seed and a purpose ---- */

static unsigned below(unsigned limit)
{
    return (unsigned)(runner_draw(&pe.random) % limit);
}

/* ---- memory ---- */

static unsigned char *heap(int who)
{
    return world->heaps[who] + GUARD;
}

static size_t place_of(unsigned index)
{
    return WORDS + (size_t)PLACE * index;
}

static size_t word_of(unsigned index)
{
    return 64 + 64 * (size_t)index;
}

static uint64_t read_word(const void *word)
{
    return __atomic_load_n((const uint64_t *)word, __ATOMIC_ACQUIRE);
}

static unsigned char expected_byte(int from, unsigned index, uint32_t round, size_t i)
{
    return (unsigned char)runner_mix((uint64_t)from << 56 ^ (uint64_t)index << 48 ^ (uint64_t)round << 32 ^ i);
}

/* How a round is sent: the same on both sides. A block is (offset, bytes) in the way's place. */
struct shape {
    unsigned blocks;
    size_t   bytes, stride, first;
    bool     vectored;
    bool     copy;
    uint64_t value; /* of its signal: what is set, or added */
};

static struct shape shape_of(int from, int to, unsigned index, uint32_t round)
{
    static const size_t sizes[] = {0, 1, 2, 4, 8, 24, 100, 256, 300, 700, 1500, 3000, 5000, 9000, 11000};
    uint64_t            state = atomic_load(&world->seed) * 1000003 + (unsigned)from * 101 + (unsigned)to * 11 + index * 7 + round;
    struct shape        s     = {.blocks = 1};
    uint64_t            r     = runner_draw(&state);
    s.bytes                   = sizes[r % (sizeof sizes / sizeof sizes[0])];
    if (r >> 8 & 1 && s.bytes > 0 && s.bytes <= 300) {
        s.blocks = 2 + (unsigned)(r >> 16 & 7);
        if (s.blocks > pe.tp->traits.pieces_max) s.blocks = (unsigned)pe.tp->traits.pieces_max; /* the runtime cuts */
        s.stride   = s.bytes + (r >> 24 & 63);
        s.vectored = r >> 32 & 1;
    }
    s.first                        = r >> 40 & 1 ? 8 * (r >> 41 & 7) : r >> 41 & 63;
    s.copy                         = (r >> 48 & 1) && s.bytes * s.blocks <= 4000;
    static const uint64_t values[] = {1, 3, 1000, UINT64_C(0x123456789abcdef), UINT64_MAX, UINT64_C(1) << 40};
    s.value = values[runner_draw(&state) % (sizeof values / sizeof values[0])] + 16 * round; /* no two rounds have the same */
    return s;
}

/* What the signal word of a way holds after this round. */
static uint64_t signal_after(int from, int to, enum kind kind, unsigned index, uint32_t round)
{
    uint64_t sum = 0;
    if (kind == SIGNAL_SET) return shape_of(from, to, index, round).value;
    if (kind == FENCE_PUT || kind == FENCE_AMO) return kind == FENCE_AMO ? 5 * (uint64_t)round : UINT64_C(0x1000000000) + round;
    for (uint32_t i = 1; i <= round; i++) sum += shape_of(from, to, index, i).value;
    return sum;
}

/* Every byte of the round is there, and none beside it was touched. */
static void check_place(int from, unsigned index, enum kind kind, uint32_t round, const unsigned char *place, const char *when)
{
    struct shape s = shape_of(from, pe.me, index, round);
    (void)kind;
    for (unsigned b = 0; b < s.blocks; b++) {
        for (size_t i = 0; i < s.bytes; i++) {
            size_t        at   = s.first + b * s.stride + i;
            unsigned char want = expected_byte(from, index, round, at);
            if (place[at] != want)
                fail("%s, kind %d, from PE %d, round %u: byte %zu of block %u (of %u blocks of %zu bytes) is 0x%02x, not 0x%02x",
                     when, (int)kind, from, round, i, b, s.blocks, s.bytes, place[at], want);
        }
    }
}

/* ---- moving on ---- */

static void receive_all(void);

static bool is_gone(int who)
{
    return atomic_load(&world->vanished[who]) || atomic_load(&world->told[pe.me][who]) || atomic_load(&world->told[who][pe.me]);
}

static void tell_state(void)
{
    fprintf(stderr, "PE %d after %llu steps:\n", pe.me, (unsigned long long)simverbs_steps());
    for (unsigned i = 0; i < pe.way_count; i++)
        fprintf(stderr, "  to PE %d, kind %d: sent %u, checked there %u\n", pe.ways[i].peer, (int)pe.ways[i].kind, pe.ways[i].round,
                atomic_load(&world->received[pe.ways[i].peer][pe.ways[i].index]));
    simverbs_describe();
}

static bool am_dead(void)
{
    return atomic_load(&world->vanished[pe.me]);
}

static void guard(void)
{
    static uint64_t told;
    if (pe.settings.verbose && simverbs_steps() > STEPS_MAX / 2 && told != atomic_load(&world->seed)) {
        told = atomic_load(&world->seed);
        tell_state();
    }
    if (simverbs_steps() > STEPS_MAX) fail("the seed has no end: %llu steps", (unsigned long long)simverbs_steps());
}

/* From here on this PE's bytes stay as they are. */
static void take_as_lost(int who)
{
    if (atomic_exchange(&world->told[pe.me][who], true)) return;
    for (int kind = 0; kind < KINDS; kind++)
        memcpy(pe.snapshot[who][kind], heap(pe.me) + place_of((unsigned)(who * KINDS + kind)), PLACE);
}

static _Thread_local unsigned said; /* bits: PEs that the progress() under way has named as lost */

static void failed_peer(int who, int error, const char *why)
{
    if (!atomic_load(&world->vanished[who]) && !pe.settings.errors)
        fail("the way to PE %d is said to have failed (%s): %s", who, strerror(-error), why);
    said |= 1u << who;
}

static void progress(struct shmemt_ctx *ctx)
{
    said    = 0;
    int err = pe.ops->progress(ctx);
    if (err < 0 && err != -EHOSTDOWN) fail("progress() says %s", strerror(-err));
    for (int who = 0; who < pe.settings.pes; who++)
        if (said & 1u << who) take_as_lost(who);
}

/* The runtime's part: tell the transport of a peer that is gone, some time after. From then on its bytes stay as they are. */
static void lose_those_that_are_gone(void)
{
    if (!pe.ctx || am_dead()) return;
    for (int who = 0; who < pe.settings.pes; who++) {
        if (!is_gone(who) || atomic_load(&world->told[pe.me][who]) || below(pe.tell_within) != 0) continue;
        pe.ops->lose_peer(pe.tp, who);
        take_as_lost(who);
    }
}

static void move_on(void)
{
    if (pe.ctx) progress(pe.ctx);
    lose_those_that_are_gone();
    simverbs_yield();
    receive_all();
    guard();
}

/* Another try may go well: also where memory could not be registered. */
static bool is_passing(int err)
{
    return err == -EAGAIN || (pe.settings.refusals && err == -ENOMEM);
}

/* Call it until it is taken. A dead PE stops in the middle. */
#define UNTIL_TAKEN(call)                                          \
    __extension__({                                                \
        int err_;                                                  \
        while (is_passing(err_ = (call)) && !am_dead()) move_on(); \
        err_;                                                      \
    })

static void expect_taken(int err, int peer, const char *what)
{
    /* It may come to a call before it comes to the runtime. */
    while (err == -EHOSTDOWN && (pe.settings.vanish || pe.settings.errors) && !is_gone(peer) && !am_dead()) move_on();
    if (err == 0 || am_dead() || (err == -EHOSTDOWN && is_gone(peer))) return;
    fail("%s to PE %d is refused: %s", what, peer, strerror(-err));
}

static void wait_for_done(_Atomic uint32_t *done, const char *what)
{
    while (atomic_load_explicit(done, memory_order_acquire) == 0 && !am_dead()) move_on();
    if (atomic_load(done) > 1) fail("%s has counted its done word %u times", what, atomic_load(done));
}

/* Numbers of words that outlive the call: a done word stays in place until it counts. */
static _Atomic uint32_t *new_done(void)
{
    static _Atomic uint32_t words[4096];
    static unsigned         next;
    _Atomic uint32_t       *word = &words[next++ % 4096];
    atomic_store(word, 0);
    return word;
}

/* ---- the receiver ---- */

static void receive_way(int from, enum kind kind)
{
    unsigned             index = (unsigned)(from * KINDS + (int)kind);
    uint32_t             round = atomic_load(&world->received[pe.me][index]) + 1;
    const unsigned char *place = heap(pe.me) + place_of(index);
    uint64_t             word  = read_word(heap(pe.me) + word_of(index));
    uint64_t             before, after;
    if (round > ROUNDS) return;
    if (kind == QUIET_NOTE || kind == GET_BACK) {
        if (atomic_load(&world->sent[pe.me][index]) < round) return;
        if (kind == QUIET_NOTE) check_place(from, index, kind, round, place, "after the sender's quiet");
    } else {
        before = round == 1 ? 0 : signal_after(from, pe.me, kind, index, round - 1);
        after  = signal_after(from, pe.me, kind, index, round);
        if (word == before) return;
        if (word != after)
            fail("signal word of kind %d from PE %d is 0x%llx, neither 0x%llx (before round %u) nor 0x%llx", (int)kind, from,
                 (unsigned long long)word, (unsigned long long)before, round, (unsigned long long)after);
        check_place(from, index, kind, round, place, "when its signal was seen");
    }
    atomic_store(&world->received[pe.me][index], round);
}

static void receive_all(void)
{
    if (am_dead()) return;
    for (int from = 0; from < pe.settings.pes; from++)
        for (int kind = 0; kind < KINDS; kind++)
            if (from != pe.me && !is_gone(from)) receive_way(from, (enum kind)kind);
}

/* ---- the sender ---- */

static size_t describe(struct way *way, const struct shape *s, struct shmemt_xfer *xfer, struct shmemt_piece *pieces,
                       unsigned char *local)
{
    *xfer = (struct shmemt_xfer){.segment = SHMEMT_SEGMENT_HEAP, .flags = s->copy ? SHMEMT_XFER_COPY : 0};
    if (s->vectored) {
        for (unsigned b = 0; b < s->blocks; b++)
            pieces[b] = (struct shmemt_piece){.local         = local + s->first + b * s->stride,
                                              .remote_offset = place_of(way->index) + s->first + b * s->stride,
                                              .bytes         = s->bytes};
        xfer->pieces      = pieces;
        xfer->piece_count = s->blocks;
    } else {
        xfer->local         = local + s->first;
        xfer->remote_offset = place_of(way->index) + s->first;
        xfer->bytes         = s->bytes;
        xfer->blocks        = s->blocks;
        xfer->local_stride = xfer->remote_stride = (ptrdiff_t)s->stride;
    }
    return s->bytes * s->blocks;
}

static struct shmemt_amo update_of(const struct way *way, enum shmemt_amo_op op, uint64_t value)
{
    return (struct shmemt_amo){
        .segment = SHMEMT_SEGMENT_HEAP, .remote_offset = word_of(way->index), .op = op, .bytes = 8, .value = value};
}

static void vouch(struct way *way, struct shmemt_xfer *xfer, const struct shape *s, uint32_t round)
{
    struct shmemt_amo        set    = update_of(way, SHMEMT_AMO_SET, s->value);
    struct shmemt_amo        add    = update_of(way, SHMEMT_AMO_ADD, way->kind == FENCE_AMO ? 5 : s->value);
    uint64_t                 flag   = signal_after(pe.me, way->peer, way->kind, way->index, round);
    struct shmemt_xfer       word   = {.segment       = SHMEMT_SEGMENT_HEAP,
                                       .flags         = SHMEMT_XFER_COPY,
                                       .local         = &flag,
                                       .remote_offset = word_of(way->index),
                                       .bytes         = 8,
                                       .blocks        = 1};
    const struct shmemt_amo *signal = way->kind == SIGNAL_SET ? &set : &add;
    int                      err    = 0;
    if (way->kind == SIGNAL_SET || way->kind == SIGNAL_ADD) {
        err = UNTIL_TAKEN(pe.ops->put_signal(pe.ctx, way->peer, xfer, signal));
        if (err != -ENOSYS) {
            expect_taken(err, way->peer, "put_signal");
            return;
        }
        err = UNTIL_TAKEN(pe.ops->put(pe.ctx, way->peer, xfer));
        if (!err) err = UNTIL_TAKEN(pe.ops->fence(pe.ctx, way->peer));
        if (!err) err = UNTIL_TAKEN(pe.ops->amo(pe.ctx, way->peer, signal));
        expect_taken(err, way->peer, "put, fence, amo");
        return;
    }
    expect_taken(UNTIL_TAKEN(pe.ops->put(pe.ctx, way->peer, xfer)), way->peer, "put");
    if (way->kind == FENCE_PUT || way->kind == FENCE_AMO)
        expect_taken(UNTIL_TAKEN(pe.ops->fence(pe.ctx, below(2) ? way->peer : SHMEMT_ALL_PES)), way->peer, "fence");
    else expect_taken(UNTIL_TAKEN(pe.ops->quiet(pe.ctx, below(2) ? way->peer : SHMEMT_ALL_PES)), way->peer, "quiet");
    if (way->kind == FENCE_PUT) expect_taken(UNTIL_TAKEN(pe.ops->put(pe.ctx, way->peer, &word)), way->peer, "put of a word");
    if (way->kind == FENCE_AMO) expect_taken(UNTIL_TAKEN(pe.ops->amo(pe.ctx, way->peer, &add)), way->peer, "amo");
}

/* What was put and quieted comes back by a get. */
static void get_back(struct way *way, const struct shape *s, uint32_t round)
{
    static unsigned char back[PLACE];
    struct shmemt_xfer   xfer;
    struct shmemt_piece  pieces[16];
    if (is_gone(way->peer)) return;
    memset(back, FRESH, sizeof back);
    if (describe(way, s, &xfer, pieces, back) == 0) return;
    xfer.flags = 0;
    xfer.done  = new_done();
    int err    = UNTIL_TAKEN(pe.ops->get(pe.ctx, way->peer, &xfer));
    expect_taken(err, way->peer, "get");
    if (err) return;
    wait_for_done(xfer.done, "a get");
    if (is_gone(way->peer) || am_dead()) return;
    for (unsigned b = 0; b < s->blocks; b++)
        for (size_t i = 0; i < s->bytes; i++) {
            size_t at = s->first + b * s->stride + i;
            if (back[at] != expected_byte(pe.me, way->index, round, at))
                fail("a get of %u blocks of %zu bytes from PE %d: byte %zu of block %u is wrong", s->blocks, s->bytes, way->peer, i,
                     b);
        }
}

static void send_round(struct way *way)
{
    uint32_t            round = way->round + 1;
    struct shape        s     = shape_of(pe.me, way->peer, way->index, round);
    struct shmemt_xfer  xfer;
    struct shmemt_piece pieces[16];
    for (size_t i = 0; i < PLACE; i++) way->data[i] = expected_byte(pe.me, way->index, round, i);
    describe(way, &s, &xfer, pieces, way->data);
    xfer.done = below(2) ? new_done() : NULL;
    vouch(way, &xfer, &s, round);
    if (way->kind == GET_BACK) get_back(way, &s, round);
    if (!xfer.done) expect_taken(UNTIL_TAKEN(pe.ops->quiet(pe.ctx, way->peer)), way->peer, "quiet");
    else if (!am_dead() && !is_gone(way->peer)) wait_for_done(xfer.done, "a put");
    memset(way->data, 0xee, sizeof way->data); /* the source may be used again */
    if (am_dead()) return;
    way->round = round;
    if (way->kind == QUIET_NOTE || way->kind == GET_BACK) atomic_store(&world->sent[way->peer][way->index], round);
}

static void take_ticket(int peer)
{
    static uint64_t   old[4096];
    static unsigned   next;
    uint64_t         *value = &old[next++ % 4096];
    struct shmemt_amo amo   = {.segment       = SHMEMT_SEGMENT_HEAP,
                               .remote_offset = COUNTER,
                               .op            = SHMEMT_AMO_ADD,
                               .bytes         = 8,
                               .value         = 1,
                               .fetch         = value,
                               .done          = new_done()};
    struct shmemt_amo half  = {.segment = SHMEMT_SEGMENT_HEAP, .remote_offset = HALF, .op = SHMEMT_AMO_ADD, .bytes = 4, .value = 3};
    *value                  = UINT64_MAX;
    int err                 = UNTIL_TAKEN(pe.ops->amo(pe.ctx, peer, &amo));
    expect_taken(err, peer, "fetch-and-add");
    if (err) return;
    atomic_fetch_add(&world->added[peer], 1);
    if (UNTIL_TAKEN(pe.ops->amo(pe.ctx, peer, &half)) == 0) atomic_fetch_add(&world->added_half[peer], 3);
    wait_for_done(amo.done, "a fetch-and-add");
    if (is_gone(peer) || am_dead()) return;
    if (*value >= TICKETS) fail("a fetch-and-add at PE %d fetched %llu", peer, (unsigned long long)*value);
    if (atomic_fetch_add(&world->tickets[peer][*value], 1) != 0)
        fail("two fetch-and-adds at PE %d both fetched %llu", peer, (unsigned long long)*value);
}

/* ---- a seed ---- */

/* All PEs but dead ones, in the seed's own way: each goes on to serve the others meanwhile. */
static void meet(int barrier)
{
    atomic_fetch_add(&world->arrived[barrier], 1);
    while (atomic_load(&world->arrived[barrier]) < pe.settings.pes) {
        if (am_dead()) simverbs_yield();
        else move_on();
        guard();
    }
}

static const char *pick(uint64_t *state, const char *const *texts, unsigned count)
{
    return texts[runner_draw(state) % count];
}

/* Settings of this seed, the same on all PEs. */
static void configure(uint64_t seed)
{
    static const char *const limits[]  = {"qp_wr=16,srq_wr=16,cqe=256,reads=1,inline=64", "qp_wr=32,srq_wr=64,reads=2,inline=64",
                                          "qp_wr=32,srq_wr=32,reads=16,inline=256", "qp_wr=64,srq_wr=48,reads=4,inline=100"};
    static const char *const packets[] = {"packet=64", "packet=256", "packet=1024"};
    static const char *const delays[]  = {"delay=0", "delay=500", "delay=5000", "delay=100000"};
    static const char *const faults[]  = {"rnr=0", "rnr=0", "rnr=100", "ud_loss=300", "rnr=50,ud_loss=100"};
    static const char *const queues[]  = {"1", "2", "2", "3"};
    static const char *const stripes[] = {"256", "512", "1024", "1m"};
    uint64_t                 state     = seed * UINT64_C(0x2545f4914f6cdd1d) + 17;
    char                     text[400];
    static const char *const errors[] = {"link=2", "access=2", "link=20", "access=20", "link=1,access=1"};
    const char *error = pe.settings.errors ? pick(&state, errors, 5) : pe.settings.refusals ? "register=150" : "link=0";
    snprintf(text, sizeof text, "chaos=1,%s,%s,%s,%s,%s%s%s", pick(&state, limits, 4), pick(&state, packets, 3),
             pick(&state, delays, 4), pick(&state, faults, 5), error, pe.settings.set ? "," : "",
             pe.settings.set ? pe.settings.set : "");
    setenv("SIMVERBS", text, 1);
    setenv("POSTERN_QPS", pick(&state, queues, 4), 1);
    setenv("POSTERN_IB_STRIPE", pick(&state, stripes, 4), 1);
    setenv("POSTERN_IB_TIMEOUT", "12", 1);
    pe.agent = runner_draw(&state) & 1 ? SHMEMT_AGENT_NIC : SHMEMT_AGENT_CPU;
    if (pe.settings.verbose && pe.me == 0)
        fprintf(stderr, "seed %llu: SIMVERBS=%s POSTERN_QPS=%s POSTERN_IB_STRIPE=%s POSTERN_AMO=%s\n", (unsigned long long)seed,
                text, getenv("POSTERN_QPS"), getenv("POSTERN_IB_STRIPE"), pe.agent == SHMEMT_AGENT_NIC ? "nic" : "cpu");
}

static void open_transport(void)
{
    struct shmemt_region region = {.segment = SHMEMT_SEGMENT_HEAP, .base = heap(pe.me), .bytes = HEAP_BYTES, .fd = -1};
    struct shmemt_traits traits;
    pe.job = (struct shmemt_job){.my_pe     = pe.me,
                                 .npes      = pe.settings.pes,
                                 .secret    = 0x5ec4e7,
                                 .local_of  = pe.local_of,
                                 .local_pes = 1,
                                 .failed    = failed_peer,
                                 .agent     = pe.agent};
    for (int i = 0; i < PES_MAX; i++) pe.local_of[i] = i == pe.me ? 0 : -1;
    int err;
    do err = pe.ops->probe(&pe.job, &traits);
    while (is_passing(err));
    if (err) cannot_run("probe says %s: %s", strerror(-err), traits.detail);
    do err = pe.ops->open(&pe.job, &pe.tp);
    while (is_passing(err));
    if (err) cannot_run("open says %s", strerror(-err));
    err = pe.ops->address(pe.tp, &world->addresses[pe.me]);
    if (err) cannot_run("address says %s", strerror(-err));
    do err = pe.ops->export_region(pe.tp, &region, &world->keys[pe.me]);
    while (is_passing(err));
    if (err) cannot_run("export_region says %s", strerror(-err));
    meet(0);
    for (int i = 0; i < pe.settings.pes; i++) {
        err = pe.ops->add_peer(pe.tp, i, &world->addresses[i]);
        if (!err) err = pe.ops->import_region(pe.tp, i, SHMEMT_SEGMENT_HEAP, &world->keys[i]);
        if (err) cannot_run("PE %d cannot be imported: %s", i, strerror(-err));
    }
    err = pe.ops->ctx_open(pe.tp, 0, &pe.ctx);
    if (!err) err = pe.ops->ctx_open(pe.tp, SHMEMT_CTX_SERVICE, &pe.service);
    if (err) cannot_run("ctx_open says %s", strerror(-err));
    atomic_store(&pe.serving, 1);
    meet(1);
}

static void close_transport(void)
{
    atomic_store(&pe.serving, 2);
    while (atomic_load(&pe.serving) != 3) simverbs_yield();
    pe.ops->ctx_close(pe.service);
    pe.ops->ctx_close(pe.ctx);
    pe.ctx = pe.service = NULL;
    pe.ops->unexport_region(pe.tp, SHMEMT_SEGMENT_HEAP);
    pe.ops->close(pe.tp);
    pe.tp = NULL;
}

static void make_ways(void)
{
    pe.way_count = 0;
    for (int peer = 0; peer < pe.settings.pes; peer++)
        for (int kind = 0; kind < KINDS && peer != pe.me; kind++)
            pe.ways[pe.way_count++] =
                (struct way){.peer = peer, .kind = (enum kind)kind, .index = (unsigned)(pe.me * KINDS + kind)};
}

/* The sender has had this way's last round checked. */
static bool way_is_free(const struct way *way)
{
    return !is_gone(way->peer) && way->round < ROUNDS && atomic_load(&world->received[way->peer][way->index]) == way->round;
}

static bool all_sent(void)
{
    for (unsigned i = 0; i < pe.way_count; i++)
        if (!is_gone(pe.ways[i].peer) && pe.ways[i].round < ROUNDS) return false;
    return true;
}

static bool all_received(void)
{
    for (int from = 0; from < pe.settings.pes; from++)
        for (int kind = 0; kind < KINDS; kind++)
            if (from != pe.me && !is_gone(from) && atomic_load(&world->received[pe.me][from * KINDS + kind]) < ROUNDS) return false;
    return true;
}

static void check_that_lost_ones_write_no_more(void)
{
    for (int who = 0; who < pe.settings.pes; who++)
        for (int kind = 0; kind < KINDS; kind++)
            if (atomic_load(&world->told[pe.me][who]) &&
                memcmp(pe.snapshot[who][kind], heap(pe.me) + place_of((unsigned)(who * KINDS + kind)), PLACE) != 0)
                fail("PE %d wrote here after its loss was reported", who);
}

static void act(void)
{
    unsigned what = below(8);
    if (pe.settings.vanish && pe.me == 0 && ++pe.actions == pe.vanish_after) {
        simverbs_vanish((unsigned)pe.me);
        atomic_store(&world->vanished[pe.me], true);
        return;
    }
    if (what < 4) {
        struct way *way = &pe.ways[below(pe.way_count)];
        if (way_is_free(way)) send_round(way);
    } else if (what == 4 && pe.tickets < 4) {
        int peer = (int)below((unsigned)pe.settings.pes);
        pe.tickets++;
        if (!is_gone(peer)) take_ticket(peer);
    } else if (what == 5 && below(8) == 0) {
        pe.ops->arm(pe.ctx);
    }
    move_on();
}

static void check_counters(void)
{
    uint32_t half;
    memcpy(&half, heap(pe.me) + HALF, 4);
    bool     lossy = pe.settings.vanish || pe.settings.errors;
    uint64_t added = atomic_load(&world->added[pe.me]);
    if (!lossy && read_word(heap(pe.me) + COUNTER) != added)
        fail("%llu fetch-and-adds made %llu of the counter", (unsigned long long)added,
             (unsigned long long)read_word(heap(pe.me) + COUNTER));
    if (!lossy && half != atomic_load(&world->added_half[pe.me]))
        fail("the counter of 4 bytes is %u, not %llu", half, (unsigned long long)atomic_load(&world->added_half[pe.me]));
    for (int i = 0; i < GUARD; i++)
        if (world->heaps[pe.me][i] != FRESH || world->heaps[pe.me][GUARD + HEAP_BYTES + i] != FRESH)
            fail("memory outside the segment was changed");
}

/* Bytes that no round of a way has sent are as they were. */
static void check_gaps(int from, enum kind kind)
{
    static bool    mine[PLACE];
    unsigned       index = (unsigned)(from * KINDS + (int)kind);
    unsigned char *place = heap(pe.me) + place_of(index);
    memset(mine, 0, sizeof mine);
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        struct shape s = shape_of(from, pe.me, index, round);
        for (unsigned b = 0; b < s.blocks; b++) memset(mine + s.first + b * s.stride, 1, s.bytes);
    }
    for (size_t i = 0; i < PLACE; i++)
        if (!mine[i] && place[i] != FRESH) fail("byte %zu beside what PE %d sent (kind %d) was changed", i, from, (int)kind);
}

static void run_seed(uint64_t seed)
{
    pe.random                      = seed * 977 + (uint64_t)pe.me * UINT64_C(0x9e3779b97f4a7c15);
    pe.tickets                     = 0;
    pe.actions                     = 0;
    pe.vanish_after                = 1 + (unsigned)(runner_mix(seed) % 120);
    static const unsigned within[] = {1, 10, 200};
    pe.tell_within                 = within[runner_mix(seed + 1) % 3];
    make_ways();
    memset(world->heaps[pe.me], FRESH, sizeof world->heaps[pe.me]);
    memset(heap(pe.me), 0, WORDS);
    open_transport();
    while (!am_dead() && !(all_sent() && all_received())) act();
    meet(2);
    if (!am_dead()) {
        while (pe.settings.vanish && !atomic_load(&world->told[pe.me][0]) && pe.me != 0 && atomic_load(&world->vanished[0])) {
            move_on();
        }
        expect_taken(UNTIL_TAKEN(pe.ops->quiet(pe.ctx, SHMEMT_ALL_PES)), pe.me, "the last quiet");
    }
    meet(3);
    if (!am_dead()) {
        check_counters();
        check_that_lost_ones_write_no_more();
        for (int from = 0; from < pe.settings.pes; from++)
            for (int kind = 0; kind < KINDS; kind++)
                if (from != pe.me) check_gaps(from, (enum kind)kind);
    }
    meet(4);
    close_transport();
    meet(5);
}

/* ---- processes ---- */

static void *serve(void *unused)
{
    (void)unused;
    for (uint64_t i = 0; i < pe.seeds.count; i++) {
        simverbs_begin(1, pe.seeds.from + i * pe.seeds.step);
        while (atomic_load(&pe.serving) != 2) {
            if (atomic_load(&pe.serving) == 1) progress(pe.service);
            simverbs_yield();
        }
        atomic_store(&pe.serving, 3);
        simverbs_end();
    }
    return NULL;
}

static void reset_world(uint64_t seed)
{
    atomic_store(&world->seed, seed);
    atomic_store(&pe.set->seed, seed);
    memset((void *)world->arrived, 0, sizeof world->arrived);
    memset((void *)world->vanished, 0, sizeof world->vanished);
    memset((void *)world->told, 0, sizeof world->told);
    memset((void *)world->sent, 0, sizeof world->sent);
    memset((void *)world->received, 0, sizeof world->received);
    memset((void *)world->tickets, 0, sizeof world->tickets);
    memset((void *)world->added, 0, sizeof world->added);
    memset((void *)world->added_half, 0, sizeof world->added_half);
}

static const struct shmemt_ops *load(const char *path)
{
    char file[1000];
    snprintf(file, sizeof file, "%s/transport_ibverbs.so", path);
    void *module = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!module) cannot_run("cannot load %s: %s", file, dlerror());
    shmemt_module_fn *module_fn = NULL;
    *(void **)&module_fn        = dlsym(module, SHMEMT_MODULE_SYMBOL);
    if (module_fn) return module_fn();
    cannot_run("%s has no %s", file, SHMEMT_MODULE_SYMBOL);
}

static void run_pe(int me, struct runner_set *set, uint64_t from, uint64_t step, uint64_t count)
{
    pthread_t thread;

    pe.me    = me;
    pe.set   = set;
    pe.seeds = (struct seeds){.from = from, .step = step, .count = count};
    simverbs_attach((unsigned)pe.me, (unsigned)pe.settings.pes, 2);
    pe.ops = load(pe.settings.path);
    if (pthread_create(&thread, NULL, serve, NULL)) cannot_run("no thread");
    for (uint64_t i = 0; i < count; i++) {
        uint64_t seed = from + i * step;
        configure(seed);
        simverbs_begin(0, seed);
        atomic_store(&pe.serving, 0);
        if (atomic_load(&world->seed) != seed) reset_world(seed);
        run_seed(seed);
        if (pe.me == 0) atomic_fetch_add(&set->trace, runner_mix(simverbs_trace() + seed));
        unsigned lost = 0;
        for (int k = 0; k < PES_MAX * PES_MAX; k++) lost += atomic_load(&world->told[k / PES_MAX][k % PES_MAX]);
        if (pe.me == 0 && pe.settings.verbose)
            fprintf(stderr, "seed %llu: %llu steps, trace %016llx, %u losses told\n", (unsigned long long)seed,
                    (unsigned long long)simverbs_steps(), (unsigned long long)simverbs_trace(), lost);
        simverbs_end();
    }
    pthread_join(thread, NULL);
}

static void make_world(void)
{
    world = mmap(NULL, sizeof *world, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (world == MAP_FAILED) {
        perror("stress: memory to share");
        _exit(2);
    }
}

static bool parse(int argc, char **argv, struct settings *s)
{
    *s = (struct settings){.pes = 2, .from = 1, .seeds = 100};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--vanish") == 0) s->vanish = true;
        else if (strcmp(argv[i], "--must-catch") == 0) s->must_catch = true;
        else if (strcmp(argv[i], "--verbose") == 0) s->verbose = true;
        else if (strcmp(argv[i], "--errors") == 0) s->errors = true;
        else if (strcmp(argv[i], "--refusals") == 0) s->refusals = true;
        else if (!value) return false;
        else if (strcmp(argv[i], "--path") == 0) s->path = argv[++i];
        else if (strcmp(argv[i], "--set") == 0) s->set = argv[++i];
        else if (strcmp(argv[i], "--pes") == 0) s->pes = atoi(argv[++i]);
        else if (strcmp(argv[i], "--seeds") == 0) s->seeds = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--sets") == 0) s->sets = atoi(argv[++i]);
        else if (strcmp(argv[i], "--from") == 0) s->from = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0) s->from = strtoull(argv[++i], NULL, 10), s->seeds = 1;
        else return false;
    }
    return s->path && s->pes >= 2 && s->pes <= PES_MAX && s->seeds > 0;
}

int main(int argc, char **argv)
{
    char again[100];

    if (!parse(argc, argv, &pe.settings)) {
        fprintf(stderr,
                "usage: stress --path FOLDER [--pes 2..%d] [--seeds COUNT] [--from SEED] [--seed SEED] [--set KEY=VALUE,...]\n"
                "              [--sets N] [--vanish] [--errors] [--refusals] [--must-catch] [--verbose]\n",
                PES_MAX);
        return 2;
    }
    snprintf(again, sizeof again, "--pes %d%s", pe.settings.pes,
             pe.settings.vanish     ? " --vanish"
             : pe.settings.errors   ? " --errors"
             : pe.settings.refusals ? " --refusals"
                                    : "");
    return runner_main(&(struct runner){.pes        = pe.settings.pes,
                                        .from       = pe.settings.from,
                                        .seeds      = pe.settings.seeds,
                                        .sets       = pe.settings.sets,
                                        .again      = again,
                                        .must_catch = pe.settings.must_catch,
                                        .prepare    = make_world,
                                        .run        = run_pe});
}
