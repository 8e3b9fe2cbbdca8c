/* SPDX-License-Identifier: Apache-2.0
 *
 * A simulated NIC: it does what the contract of transports/transport.h promises, and of everything else the opposite of
 * what one may hope for.
 *
 * Each transport has an engine thread that carries out accepted operations later, in an order that a seed decides. It cuts
 * puts and gets into grains that land in any order, lets later operations overtake earlier ones, reads sources as late as it may,
 * completes some puts locally long before they land, delivers amo results late and half of the completions only in progress(),
 * answers -EAGAIN at random and when its short queue is full. It maps nothing for the runtime, so that the posted path runs on
 * one machine; its small limits (traits) make the runtime cut.
 *
 * Bytes move by CPU stores, so the engine needs the target's memory. On the own node the runtime has mapped it; memory of another node, which
 * one machine only pretends to have (POSTERN_NODE), is mapped by chaos_files.c. There nobody is woken: a sleeper of
 * another node looks at its word from time to time.
 *
 *     POSTERN_CHAOS_SEED    each PE mixes its number in (default 1)
 *     POSTERN_CHAOS_DELAY   longest delay of one step, such as 20us (default 20us)
 *     POSTERN_CHAOS_LAZY    1: it moves only while this process calls progress(), as many a network library does: the engine then
 *                           takes a few steps for each call, and rings the bell that arm() gives when it could take more
 *
 * Compiled with -DCHAOS_BREAK=BREAK_..., it breaks one promise, and the conformance list must notice (CMakeLists.txt).
 * Self-contained: a module reaches no hidden symbol of the library.
 */
#include "tests/transport/chaos_chance.h"
#include "tests/transport/chaos_files.h"
#include "transports/mapped.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum {
    BREAK_NOTHING,
    BREAK_FENCE,      /* operations overtake a fence                          */
    BREAK_SIGNAL,     /* a signal may come before its data                    */
    BREAK_QUIET,      /* quiet does not wait for what is still to land        */
    BREAK_EARLY_DONE, /* a source is called reusable before it has been read  */
    BREAK_COPY,       /* a source to be copied is read later all the same     */
    BREAK_AMO,        /* an amo is a load and then a store                    */
    BREAK_AGAIN,      /* an operation answered with -EAGAIN happens all the same */
    BREAK_WAKE,       /* nobody is woken                                      */
    BREAK_WORD,       /* an aligned word may be seen in part                  */
};
#ifndef CHAOS_BREAK
#define CHAOS_BREAK BREAK_NOTHING
#endif

enum {
    BYTES_MAX      = 4096,
    PIECES_MAX     = 4,
    COPY_BYTES_MAX = 64,
    QUEUE_OPS      = 16,
    GRAINS_MAX     = 3 * PIECES_MAX, /* a piece is cut into at most three */
    AGAIN_ONE_IN   = 8,
    PAUSE_ONE_IN   = 8,
    CALL_STEPS     = 4, /* of the engine, for one call of progress() where it is lazy */
};

enum kind { KIND_PUT, KIND_GET, KIND_AMO, KIND_PUT_SIGNAL };

/* A part of a piece, which lands in one go. */
struct grain {
    char   *local, *remote;
    size_t  bytes;
    int64_t due_ns;
    bool    landed;
};

/* One accepted operation, until its completion has been delivered. */
struct op {
    bool      used;
    enum kind kind;
    int       pe;
    uint64_t  epoch; /* number of fences for this PE before it */

    struct grain grains[GRAINS_MAX];
    size_t       grain_count, grains_left;

    /* A put's source is read into `copy` when accepted (COPY), at snapshot_ns (early local completion), or by each grain. */
    bool    snapshot_due;
    int64_t snapshot_ns;
    char   *copy; /* PIECES_MAX * BYTES_MAX, allocated with the context */

    /* The amo, or the signal of a put_signal: after all grains. */
    bool              amo_due, answer_due;
    int64_t           amo_ns, answer_ns;
    struct shmemt_amo amo;
    void             *word;
    uint64_t          old;

    bool              by_engine;  /* who increases done: the engine, or progress() */
    bool              local_over; /* local memory is no longer used: done is due   */
    bool              told;       /* done has been increased                       */
    bool              busy;       /* the engine is working on it, outside the lock */
    _Atomic uint32_t *done;
};

struct chaos_ctx {
    struct shmemt_ctx ctx;
    struct chaos     *chaos;
    struct chaos_ctx *next;
    bool              service; /* of the progress thread */
    uint64_t          random;
    uint64_t         *epoch; /* [npes] */
    char             *copies;
    struct op         ops[QUEUE_OPS];
};

/* What is known of one PE's segment. */
struct target {
    char                   *base; /* NULL: not imported */
    size_t                  bytes;
    struct chaos_files_map *file; /* NULL: the runtime has mapped it */
};

struct chaos {
    struct shmemt            tp;
    const struct shmemt_job *job;
    int64_t                  delay_ns;
    uint64_t                 random; /* the engine's */

    pthread_mutex_t         lock; /* guards all that follows; never held while calling out or touching user memory */
    pthread_cond_t          work; /* something was accepted, or stop */
    pthread_cond_t          idle; /* the engine has put an operation down */
    pthread_t               engine;
    bool                    stop, engine_sleeps;
    bool                    lazy; /* the engine takes only the steps that it is granted */
    unsigned                grants;
    unsigned                urgent; /* threads of the control plane that wait for it: no grants asked */
    bool                    moved;  /* since the service context's last progress() */
    int                     bell;   /* lazy: readable when there is something to do; else -1 */
    struct chaos_ctx       *contexts;
    struct target          *targets; /* [npes * SHMEMT_SEGMENTS_MAX] */
    struct chaos_files_map *files;
    bool                   *known, *lost; /* [npes] */

    _Atomic bool in_control; /* a thread opens or closes a context: the contract says one at a time */
};

/* The address of a PE has no segment and no file. */
struct chaos_key {
    uint64_t                secret, bytes;
    int32_t                 pe, segment;
    struct chaos_files_name file;
};
static_assert(sizeof(struct chaos_key) <= sizeof((struct shmemt_key *)0)->data, "a key must fit");

static const struct shmemt_ops chaos_ops;

/* ---- chance and time ---- */

/* A moment between now and the longest delay; often now, so that order changes without delay too. */
static int64_t some_time(const struct chaos *chaos, uint64_t *state, int64_t now)
{
    uint64_t chance = chaos_chance_draw(state);
    if (chaos->delay_ns <= 0 || chance % 3 == 0) return now;
    return now + (int64_t)((chance >> 8) % (uint64_t)chaos->delay_ns);
}

/* ---- the engine: steps of operations, each when it is due ---- */

static bool is_ordered(const struct op *op)
{
    return op->kind != KIND_GET; /* fence speaks of puts and amos only */
}

static bool lands_later(const struct op *op)
{
    return op->grains_left > 0 || op->amo_due;
}

/* Is something accepted before the last fence for this PE still to land? */
static bool held_by_fence(const struct chaos_ctx *ctx, const struct op *op)
{
    if (!is_ordered(op) || CHAOS_BREAK == BREAK_FENCE) return false;
    for (size_t i = 0; i < QUEUE_OPS; i++) {
        const struct op *other = &ctx->ops[i];
        if (other->used && other->pe == op->pe && is_ordered(other) && other->epoch < op->epoch && lands_later(other)) return true;
    }
    return false;
}

enum step_kind { STEP_NONE, STEP_SNAPSHOT, STEP_GRAIN, STEP_AMO, STEP_ANSWER, STEP_TELL };

struct step {
    enum step_kind kind;
    struct op     *op;
    struct grain  *grain;
};

struct choice {
    struct step step;
    uint64_t    seen;    /* steps that are due, of which step is one with equal chance */
    int64_t     next_ns; /* when the earliest of the others is due */
    int64_t     now;
    uint64_t   *random;
};

static void offer(struct choice *choice, int64_t due_ns, struct step step)
{
    if (due_ns > choice->now) {
        if (due_ns < choice->next_ns) choice->next_ns = due_ns;
    } else if (chaos_chance_draw(choice->random) % ++choice->seen == 0) {
        choice->step = step;
    }
}

static void offer_op(struct choice *choice, struct chaos_ctx *ctx, struct op *op)
{
    if (op->busy) return;
    if (op->snapshot_due) {
        offer(choice, op->snapshot_ns, (struct step){STEP_SNAPSHOT, op, NULL});
        return; /* grains land from the snapshot */
    }
    if (op->local_over && !op->told && op->by_engine) offer(choice, choice->now, (struct step){STEP_TELL, op, NULL});
    if (op->answer_due) offer(choice, op->answer_ns, (struct step){STEP_ANSWER, op, NULL});
    if (!lands_later(op) || held_by_fence(ctx, op)) return;
    for (size_t i = 0; i < op->grain_count; i++)
        if (!op->grains[i].landed) offer(choice, op->grains[i].due_ns, (struct step){STEP_GRAIN, op, &op->grains[i]});
    if (op->amo_due && (op->grains_left == 0 || CHAOS_BREAK == BREAK_SIGNAL))
        offer(choice, op->amo_ns, (struct step){STEP_AMO, op, NULL});
}

static void wake(const struct chaos *chaos, int pe, const void *address, size_t bytes)
{
    int local = chaos->job->local_of[pe];
    if (local >= 0 && chaos->job->wake && CHAOS_BREAK != BREAK_WAKE) chaos->job->wake(local, address, bytes);
}

static uint64_t change_word(const struct op *op)
{
    if (CHAOS_BREAK == BREAK_AMO) {
        struct shmemt_amo read = op->amo, write = op->amo;
        read.op      = SHMEMT_AMO_FETCH;
        uint64_t old = shmemt_mapped_amo(op->word, &read);
        if (op->amo.op != SHMEMT_AMO_ADD) return shmemt_mapped_amo(op->word, &op->amo);
        write.op = SHMEMT_AMO_SET;
        write.value += old;
        sched_yield();
        shmemt_mapped_amo(op->word, &write);
        return old;
    }
    return shmemt_mapped_amo(op->word, &op->amo);
}

/* Without the lock: the operation is busy, so nobody else touches it. */
static void do_step(struct chaos *chaos, const struct step *step)
{
    struct op    *op    = step->op;
    struct grain *grain = step->grain;
    switch (step->kind) {
    case STEP_NONE: break;
    case STEP_SNAPSHOT: {
        size_t used = 0;
        for (size_t i = 0; i < op->grain_count; i++) {
            memcpy(op->copy + used, op->grains[i].local, op->grains[i].bytes);
            op->grains[i].local = op->copy + used;
            used += op->grains[i].bytes;
        }
        break;
    }
    case STEP_GRAIN:
        if (op->kind == KIND_GET) {
            shmemt_mapped_load(grain->local, grain->remote, grain->bytes);
        } else {
            shmemt_mapped_store(grain->remote, grain->local, grain->bytes);
            /* Pairs with the acquire of a reader that was told by a later step of this thread. */
            atomic_thread_fence(memory_order_release);
            wake(chaos, op->pe, grain->remote, grain->bytes);
        }
        break;
    case STEP_AMO:
        op->old = change_word(op);
        if (op->amo.op != SHMEMT_AMO_FETCH) wake(chaos, op->pe, op->word, op->amo.bytes);
        break;
    case STEP_ANSWER: {
        struct shmemt_amo answer = op->amo;
        answer.done              = NULL; /* counted by STEP_TELL or progress() */
        shmemt_mapped_fetched(&answer, op->old);
        break;
    }
    case STEP_TELL: shmemt_mapped_done(op->done); break;
    }
}

static void free_when_over(struct op *op)
{
    if (op->told && !lands_later(op) && !op->answer_due) op->used = false;
}

/* With the lock again. */
static void end_step(struct chaos *chaos, const struct step *step)
{
    struct op *op = step->op;
    switch (step->kind) {
    case STEP_NONE: break;
    case STEP_SNAPSHOT:
        op->snapshot_due = false;
        op->local_over   = true;
        break;
    case STEP_GRAIN:
        step->grain->landed = true;
        if (--op->grains_left == 0) op->local_over = true;
        break;
    case STEP_AMO:
        op->amo_due = false;
        if (op->kind == KIND_AMO) {
            op->answer_due = true;
            op->answer_ns  = some_time(chaos, &chaos->random, chaos_chance_now_ns());
        }
        break;
    case STEP_ANSWER:
        op->answer_due = false;
        op->local_over = true;
        break;
    case STEP_TELL: op->told = true; break;
    }
    op->busy = false;
    free_when_over(op);
    pthread_cond_broadcast(&chaos->idle);
}

static void ring(const struct chaos *chaos)
{
    if (chaos->bell >= 0 && eventfd_write(chaos->bell, 1) != 0) abort(); /* it cannot be full: progress() empties it */
}

/* May the engine take a step now? Lazy, it waits for a call of progress() where it may not. */
static bool takes_step(struct chaos *chaos)
{
    if (!chaos->lazy || chaos->urgent > 0) return true;
    if (chaos->grants > 0) {
        chaos->grants--;
        return true;
    }
    ring(chaos);
    chaos->engine_sleeps = true;
    pthread_cond_wait(&chaos->work, &chaos->lock);
    chaos->engine_sleeps = false;
    return false;
}

static void sleep_until(struct chaos *chaos, int64_t when_ns)
{
    chaos->engine_sleeps = true;
    if (when_ns == INT64_MAX) {
        pthread_cond_wait(&chaos->work, &chaos->lock);
    } else {
        struct timespec when = {.tv_sec = when_ns / 1000000000, .tv_nsec = when_ns % 1000000000};
        pthread_cond_timedwait(&chaos->work, &chaos->lock, &when);
    }
    chaos->engine_sleeps = false;
}

/*
 * Now and then, stop between two steps, so that others have the time to see a state that is half done. Due times alone do not give
 * it: when the engine wakes up, several steps are due, and it takes them within microseconds.
 */
static void pause_between_steps(const struct chaos *chaos, uint64_t chance)
{
    if (chance % PAUSE_ONE_IN != 0) return;
    if (chaos->delay_ns > 0)
        nanosleep(&(struct timespec){.tv_nsec = (long)((chance >> 8) % (uint64_t)chaos->delay_ns) % 1000000000}, NULL);
    else sched_yield();
}

static void *run_engine(void *argument)
{
    struct chaos *chaos = argument;
    prctl(PR_SET_TIMERSLACK, 1000); /* or 20 us become 70 */
    pthread_mutex_lock(&chaos->lock);
    while (!chaos->stop) {
        struct choice choice = {.next_ns = INT64_MAX, .now = chaos_chance_now_ns(), .random = &chaos->random};
        for (struct chaos_ctx *ctx = chaos->contexts; ctx; ctx = ctx->next)
            for (size_t i = 0; i < QUEUE_OPS; i++)
                if (ctx->ops[i].used) offer_op(&choice, ctx, &ctx->ops[i]);
        if (choice.step.kind == STEP_NONE) {
            sleep_until(chaos, choice.next_ns);
            continue;
        }
        if (!takes_step(chaos)) continue;
        uint64_t chance      = chaos_chance_draw(&chaos->random);
        choice.step.op->busy = true;
        pthread_mutex_unlock(&chaos->lock);
        do_step(chaos, &choice.step);
        pthread_mutex_lock(&chaos->lock);
        end_step(chaos, &choice.step);
        chaos->moved = true;
        ring(chaos);
        pthread_mutex_unlock(&chaos->lock);
        pause_between_steps(chaos, chance);
        pthread_mutex_lock(&chaos->lock);
    }
    pthread_mutex_unlock(&chaos->lock);
    return NULL;
}

/* ---- control plane ---- */

static bool is_lazy(void)
{
    const char *lazy = getenv("POSTERN_CHAOS_LAZY");
    return lazy && strcmp(lazy, "1") == 0;
}

static int probe(const struct shmemt_job *job, struct shmemt_traits *traits_out)
{
    (void)job;
    *traits_out = (struct shmemt_traits){
        .caps = SHMEMT_CAP_POSTED | SHMEMT_CAP_AMO | SHMEMT_CAP_AMO_CPU | (is_lazy() ? 0u : (unsigned)SHMEMT_CAP_PROGRESS),
        .copy_bytes_max = COPY_BYTES_MAX,
        .bytes_max      = BYTES_MAX,
        .pieces_max     = PIECES_MAX,
        .agents         = 1u << SHMEMT_AGENT_CPU,
    };
    const char *seed = getenv("POSTERN_CHAOS_SEED"), *delay = getenv("POSTERN_CHAOS_DELAY");
    snprintf(traits_out->detail, sizeof traits_out->detail, "simulated NIC, seed %.20s, delay %.20s%s", seed ? seed : "1",
             delay ? delay : "20us", is_lazy() ? ", lazy" : "");
    return 0;
}

/* false: the value cannot be read. */
static bool read_environment(struct chaos *chaos)
{
    const char *seed = getenv("POSTERN_CHAOS_SEED"), *delay = getenv("POSTERN_CHAOS_DELAY");
    chaos->delay_ns = chaos_chance_parse_time(delay && *delay ? delay : "20us");
    chaos->random   = (uint64_t)strtoull(seed && *seed ? seed : "1", NULL, 10) << 24 ^ (uint64_t)chaos->job->my_pe;
    return chaos->delay_ns >= 0;
}

/* The engine must not take signals meant for the program. */
static int start_engine(struct chaos *chaos)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int err = pthread_create(&chaos->engine, NULL, run_engine, chaos);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -err;
}

static void free_chaos(struct chaos *chaos)
{
    if (chaos->bell >= 0) close(chaos->bell);
    chaos_files_close_all(&chaos->files);
    free(chaos->targets);
    free(chaos->known);
    free(chaos->lost);
    free(chaos);
}

static int open_nic(const struct shmemt_job *job, struct shmemt **tp_out)
{
    int           err   = -ENOMEM;
    struct chaos *chaos = calloc(1, sizeof *chaos);
    if (!chaos) return err;
    chaos->tp.ops = &chaos_ops;
    chaos->job    = job;
    chaos->lazy   = is_lazy();
    chaos->bell   = chaos->lazy ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
    probe(job, &chaos->tp.traits);
    chaos->targets = calloc((size_t)job->npes, SHMEMT_SEGMENTS_MAX * sizeof *chaos->targets);
    chaos->known   = calloc((size_t)job->npes, sizeof *chaos->known);
    chaos->lost    = calloc((size_t)job->npes, sizeof *chaos->lost);
    if (!chaos->targets || !chaos->known || !chaos->lost || (chaos->lazy && chaos->bell < 0)) goto free_chaos;

    err = -EINVAL;
    if (!read_environment(chaos)) {
        fprintf(stderr, "chaos: cannot use POSTERN_CHAOS_DELAY: not a time such as 20us\n");
        goto free_chaos;
    }
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&chaos->lock, NULL);
    pthread_cond_init(&chaos->work, &monotonic);
    pthread_cond_init(&chaos->idle, &monotonic);
    pthread_condattr_destroy(&monotonic);
    chaos->known[job->my_pe] = true;
    err                      = start_engine(chaos);
    if (err) goto free_chaos;
    *tp_out = &chaos->tp;
    return 0;

free_chaos:
    free_chaos(chaos);
    return err;
}

static void close_nic(struct shmemt *tp)
{
    struct chaos *chaos = (struct chaos *)tp;
    if (!chaos) return;
    assert(!chaos->contexts && "contexts are closed before");
    pthread_mutex_lock(&chaos->lock);
    chaos->stop = true;
    pthread_cond_signal(&chaos->work);
    pthread_mutex_unlock(&chaos->lock);
    pthread_join(chaos->engine, NULL);
    pthread_cond_destroy(&chaos->work);
    pthread_cond_destroy(&chaos->idle);
    pthread_mutex_destroy(&chaos->lock);
    free_chaos(chaos);
}

static int address_of_nic(struct shmemt *tp, struct shmemt_address *address_out)
{
    const struct shmemt_job *job = ((struct chaos *)tp)->job;
    struct chaos_key         key = {.secret = job->secret, .pe = job->my_pe};
    *address_out                 = (struct shmemt_address){.bytes = sizeof key};
    memcpy(address_out->data, &key, sizeof key);
    return 0;
}

static bool exists(const struct chaos *chaos, int pe)
{
    return pe >= 0 && pe < chaos->job->npes;
}

static int add_nic(struct shmemt *tp, int pe, const struct shmemt_address *address)
{
    struct chaos    *chaos = (struct chaos *)tp;
    struct chaos_key key;
    if (!exists(chaos, pe)) return -EHOSTUNREACH;
    memcpy(&key, address->data, sizeof key);
    if (address->bytes != sizeof key || key.secret != chaos->job->secret || key.pe != pe) return -EINVAL;
    pthread_mutex_lock(&chaos->lock);
    chaos->known[pe] = true;
    pthread_mutex_unlock(&chaos->lock);
    return 0;
}

/* Drop what is still to be done for a lost PE, and say that it is over. */
static void drop(struct op *op)
{
    op->grains_left  = 0;
    op->grain_count  = 0;
    op->amo_due      = false;
    op->answer_due   = false;
    op->snapshot_due = false;
    op->local_over   = true;
}

static void lose_nic(struct shmemt *tp, int pe)
{
    struct chaos *chaos = (struct chaos *)tp;
    if (pe < 0 || pe >= chaos->job->npes) return;
    pthread_mutex_lock(&chaos->lock);
    chaos->lost[pe] = true;
    for (struct chaos_ctx *ctx = chaos->contexts; ctx; ctx = ctx->next) {
        for (size_t i = 0; i < QUEUE_OPS; i++) {
            struct op *op = &ctx->ops[i];
            while (op->used && op->pe == pe && op->busy) pthread_cond_wait(&chaos->idle, &chaos->lock);
            if (!op->used || op->pe != pe) continue;
            drop(op);
            free_when_over(op);
        }
    }
    pthread_cond_signal(&chaos->work);
    pthread_cond_broadcast(&chaos->idle);
    pthread_mutex_unlock(&chaos->lock);
}

static int export_memory(struct shmemt *tp, const struct shmemt_region *mine, struct shmemt_key *key_out)
{
    const struct shmemt_job *job = ((struct chaos *)tp)->job;
    if (mine->segment < 0 || mine->segment >= SHMEMT_SEGMENTS_MAX) return -EINVAL;
    struct chaos_key key = {.secret = job->secret, .bytes = mine->bytes, .pe = job->my_pe, .segment = mine->segment};
    if (mine->bytes > 0) {
        const char *base = job->node_map[mine->segment].base; /* what the own node writes through; without it, through the file */
        if (mine->memory != SHMEMT_MEMORY_HOST || (!base && mine->fd < 0)) return -ENOTSUP;
        if (base && base + (size_t)job->local_of[job->my_pe] * job->node_map[mine->segment].stride != mine->base) return -EINVAL;
        if (base && mine->bytes > job->node_map[mine->segment].bytes) return -EINVAL;
        int err = chaos_files_name(mine->fd, mine->fd_offset, &key.file);
        if (err) return err;
    }
    *key_out = (struct shmemt_key){.bytes = sizeof key};
    memcpy(key_out->data, &key, sizeof key);
    return 0;
}

static void unexport_memory(struct shmemt *tp, int segment)
{
    (void)tp, (void)segment;
}

/* What a key stands for; base stays NULL where the PE has no such segment. With the lock. */
static int find_memory(struct chaos *chaos, const struct chaos_key *theirs, struct target *target_out)
{
    const struct shmemt_job *job   = chaos->job;
    int                      local = job->local_of[theirs->pe];
    char                    *base  = job->node_map[theirs->segment].base;
    *target_out                    = (struct target){.bytes = theirs->bytes};
    if (theirs->bytes == 0) return 0;
    if (local < 0 || !base)
        return chaos_files_open(&chaos->files, &theirs->file, theirs->bytes, &target_out->file, &target_out->base);
    target_out->base = base + (size_t)local * job->node_map[theirs->segment].stride;
    return 0;
}

/* Return when nothing that was accepted touches memory of this PE any more; the engine needs nobody's help for that. With the lock. */
static void await_landing(struct chaos *chaos, int pe)
{
    chaos->urgent++;
    pthread_cond_signal(&chaos->work);
    for (struct chaos_ctx *ctx = chaos->contexts; ctx; ctx = ctx->next) {
        for (size_t i = 0; i < QUEUE_OPS; i++) {
            struct op *op = &ctx->ops[i];
            while (op->used && op->pe == pe && (op->busy || lands_later(op))) pthread_cond_wait(&chaos->idle, &chaos->lock);
        }
    }
    chaos->urgent--;
}

static int import_memory(struct shmemt *tp, int pe, int segment, const struct shmemt_key *key)
{
    struct chaos    *chaos = (struct chaos *)tp;
    struct chaos_key theirs;
    struct target    target = {0};
    int              err    = 0;
    if (!exists(chaos, pe)) return -EHOSTUNREACH;
    if (segment < 0 || segment >= SHMEMT_SEGMENTS_MAX) return -EINVAL;
    if (key->bytes > 0) {
        memcpy(&theirs, key->data, sizeof theirs);
        if (key->bytes != sizeof theirs || theirs.secret != chaos->job->secret || theirs.pe != pe || theirs.segment != segment)
            return -EINVAL;
    }
    pthread_mutex_lock(&chaos->lock);
    if (key->bytes > 0) err = find_memory(chaos, &theirs, &target);
    if (!err) {
        struct target *place  = &chaos->targets[(size_t)pe * SHMEMT_SEGMENTS_MAX + (size_t)segment];
        struct target  before = *place;
        *place                = target; /* from here on nothing new goes to the old place */
        if (before.file) await_landing(chaos, pe);
        chaos_files_close(&chaos->files, before.file);
    }
    pthread_mutex_unlock(&chaos->lock);
    return err;
}

/* A transport may build on that: two threads here are the runtime's mistake. The core given away makes it likely to show. */
static void enter_control(struct chaos *chaos)
{
    if (atomic_exchange(&chaos->in_control, true)) {
        fprintf(stderr, "chaos: two threads open or close contexts at once\n");
        abort();
    }
    sched_yield();
}

static void leave_control(struct chaos *chaos)
{
    atomic_store(&chaos->in_control, false);
}

static void free_ctx(struct chaos_ctx *ctx)
{
    free(ctx->epoch);
    free(ctx->copies);
    free(ctx);
}

static int open_queue(struct shmemt *tp, unsigned options, struct shmemt_ctx **ctx_out)
{
    struct chaos     *chaos = (struct chaos *)tp;
    struct chaos_ctx *ctx   = calloc(1, sizeof *ctx);
    if (!ctx) return -ENOMEM;
    enter_control(chaos);
    ctx->ctx.tp  = tp;
    ctx->service = options & SHMEMT_CTX_SERVICE;
    ctx->chaos   = chaos;
    ctx->epoch   = calloc((size_t)chaos->job->npes, sizeof *ctx->epoch);
    ctx->copies  = malloc((size_t)QUEUE_OPS * PIECES_MAX * BYTES_MAX);
    if (!ctx->epoch || !ctx->copies) {
        free_ctx(ctx);
        leave_control(chaos);
        return -ENOMEM;
    }
    for (size_t i = 0; i < QUEUE_OPS; i++) ctx->ops[i].copy = ctx->copies + i * PIECES_MAX * BYTES_MAX;
    pthread_mutex_lock(&chaos->lock);
    ctx->random     = chaos_chance_draw(&chaos->random);
    ctx->next       = chaos->contexts;
    chaos->contexts = ctx;
    pthread_mutex_unlock(&chaos->lock);
    leave_control(chaos);
    *ctx_out = &ctx->ctx;
    return 0;
}

static void close_queue(struct shmemt_ctx *shmemt_ctx)
{
    struct chaos_ctx *ctx = (struct chaos_ctx *)shmemt_ctx;
    if (!ctx) return;
    struct chaos *chaos = ctx->chaos;
    enter_control(chaos);
    pthread_mutex_lock(&chaos->lock);
    for (size_t i = 0; i < QUEUE_OPS; i++) {
        /* After a quiet nothing is left; a runtime that gives up early finds its memory untouched from here on. */
        while (ctx->ops[i].used && ctx->ops[i].busy) pthread_cond_wait(&chaos->idle, &chaos->lock);
        ctx->ops[i].used = false;
    }
    for (struct chaos_ctx **link = &chaos->contexts; *link; link = &(*link)->next) {
        if (*link == ctx) {
            *link = ctx->next;
            break;
        }
    }
    pthread_mutex_unlock(&chaos->lock);
    leave_control(chaos);
    free_ctx(ctx);
}

/* ---- data plane ---- */

static int find_target(const struct chaos *chaos, int pe, int segment, struct target *target_out)
{
    if (pe < 0 || pe >= chaos->job->npes || segment < 0 || segment >= SHMEMT_SEGMENTS_MAX) return -ENXIO;
    if (chaos->lost[pe]) return -EHOSTDOWN;
    *target_out = chaos->targets[(size_t)pe * SHMEMT_SEGMENTS_MAX + (size_t)segment];
    return chaos->known[pe] && target_out->base ? 0 : -ENXIO;
}

/* A free place in the queue, or NULL: full, or not in the mood. */
static struct op *find_place(struct chaos_ctx *ctx)
{
    if (chaos_chance_one_in(&ctx->random, AGAIN_ONE_IN)) return NULL;
    for (size_t i = 0; i < QUEUE_OPS; i++)
        if (!ctx->ops[i].used) return &ctx->ops[i];
    return NULL;
}

/* An aligned word is never seen in part. */
static bool is_word(const struct shmemt_piece *piece)
{
    bool word_bytes = piece->bytes == 2 || piece->bytes == 4 || piece->bytes == 8;
    return CHAOS_BREAK != BREAK_WORD && word_bytes && piece->remote_offset % piece->bytes == 0;
}

/* Cut one piece into one to three grains. */
static void cut(struct chaos_ctx *ctx, struct op *op, const struct shmemt_piece *piece, char *base, int64_t now)
{
    size_t start = 0, most = piece->bytes < 3 ? piece->bytes : 3;
    size_t parts = is_word(piece) ? 1 : 1 + chaos_chance_draw(&ctx->random) % most;
    for (size_t part = 0; part < parts; part++) {
        size_t end                    = part + 1 == parts ? piece->bytes
                                                          : start + 1 + chaos_chance_draw(&ctx->random) % (piece->bytes - start - (parts - part - 1));
        op->grains[op->grain_count++] = (struct grain){
            .local  = (char *)piece->local + start,
            .remote = base + piece->remote_offset + start,
            .bytes  = end - start,
            .due_ns = some_time(ctx->chaos, &ctx->random, now),
        };
        start = end;
    }
}

static void add_grains(struct chaos_ctx *ctx, struct op *op, const struct shmemt_xfer *xfer, char *base, int64_t now)
{
    for (size_t i = 0; i < shmemt_mapped_pieces(xfer); i++) {
        struct shmemt_piece piece = shmemt_mapped_piece(xfer, i);
        if (piece.bytes > 0) cut(ctx, op, &piece, base, now);
    }
    op->grains_left = op->grain_count;
    op->done        = xfer->done;
    if (op->grain_count == 0) op->local_over = true;
}

/* When is a put's source read? Now (COPY), in one go before it lands, or by each grain as it lands. */
static void choose_reading(struct chaos_ctx *ctx, struct op *op, const struct shmemt_xfer *xfer, int64_t now)
{
    if (op->grain_count == 0) return;
    if ((xfer->flags & SHMEMT_XFER_COPY) && CHAOS_BREAK != BREAK_COPY) {
        do_step(ctx->chaos, &(struct step){STEP_SNAPSHOT, op, NULL});
        op->local_over = true;
    } else if (CHAOS_BREAK == BREAK_EARLY_DONE) {
        op->local_over = true;
    } else if (chaos_chance_one_in(&ctx->random, 2)) {
        op->snapshot_due = true;
        op->snapshot_ns  = some_time(ctx->chaos, &ctx->random, now);
    }
}

static void add_amo(struct chaos_ctx *ctx, struct op *op, const struct shmemt_amo *amo, char *base, int64_t now)
{
    op->amo     = *amo;
    op->amo_due = true;
    op->amo_ns  = some_time(ctx->chaos, &ctx->random, now);
    op->word    = base + amo->remote_offset;
}

static void start_op(struct chaos_ctx *ctx, struct op *op, enum kind kind, int pe)
{
    *op = (struct op){
        .kind      = kind,
        .pe        = pe,
        .epoch     = ctx->epoch[pe],
        .copy      = op->copy,
        .by_engine = chaos_chance_one_in(&ctx->random, 2),
    };
}

static void accept_op(struct chaos_ctx *ctx, struct op *op)
{
    op->used = true;
    if (ctx->chaos->engine_sleeps) pthread_cond_signal(&ctx->chaos->work);
}

/* What all four have in common: checks, then a place in the queue. xfer or amo may be NULL; a put_signal has both. */
static int post(struct chaos_ctx *ctx, enum kind kind, int pe, const struct shmemt_xfer *xfer, const struct shmemt_amo *amo)
{
    struct chaos *chaos = ctx->chaos;
    struct target data = {0}, word = {0};
    int           err = 0;
    if (xfer && shmemt_mapped_pieces(xfer) > 0) {
        err = find_target(chaos, pe, xfer->segment, &data);
        if (!err && xfer->local_memory != SHMEMT_MEMORY_HOST) err = -EINVAL;
        if (!err) err = shmemt_mapped_check(xfer, data.bytes, &chaos->tp.traits);
    }
    if (!err && amo) err = find_target(chaos, pe, amo->segment, &word);
    if (!err && amo) err = shmemt_mapped_check_amo(amo, word.bytes);
    if (!err && kind == KIND_PUT_SIGNAL && (amo->fetch || amo->bytes != 8)) err = -EINVAL;
    if (err) return err;

    struct op *op = find_place(ctx);
    if (!op) {
        if (CHAOS_BREAK == BREAK_AGAIN && kind == KIND_AMO && amo->op == SHMEMT_AMO_ADD)
            shmemt_mapped_amo(word.base + amo->remote_offset, amo);
        return -EAGAIN;
    }
    int64_t now = chaos_chance_now_ns();
    start_op(ctx, op, kind, pe);
    if (xfer) add_grains(ctx, op, xfer, data.base, now);
    if (xfer && kind != KIND_GET) choose_reading(ctx, op, xfer, now);
    if (amo) add_amo(ctx, op, amo, word.base, now);
    if (kind == KIND_AMO) op->done = amo->done;
    accept_op(ctx, op);
    return 0;
}

static int post_locked(struct shmemt_ctx *shmemt_ctx, enum kind kind, int pe, const struct shmemt_xfer *xfer,
                       const struct shmemt_amo *amo)
{
    struct chaos_ctx *ctx = (struct chaos_ctx *)shmemt_ctx;
    pthread_mutex_lock(&ctx->chaos->lock);
    int err = post(ctx, kind, pe, xfer, amo);
    pthread_mutex_unlock(&ctx->chaos->lock);
    return err;
}

static int put(struct shmemt_ctx *ctx, int pe, const struct shmemt_xfer *xfer)
{
    return post_locked(ctx, KIND_PUT, pe, xfer, NULL);
}

static int get(struct shmemt_ctx *ctx, int pe, const struct shmemt_xfer *xfer)
{
    return post_locked(ctx, KIND_GET, pe, xfer, NULL);
}

static int amo(struct shmemt_ctx *ctx, int pe, const struct shmemt_amo *amo_in)
{
    return post_locked(ctx, KIND_AMO, pe, NULL, amo_in);
}

static int put_signal(struct shmemt_ctx *ctx, int pe, const struct shmemt_xfer *xfer, const struct shmemt_amo *signal_in)
{
    return post_locked(ctx, KIND_PUT_SIGNAL, pe, xfer, signal_in);
}

static int fence(struct shmemt_ctx *shmemt_ctx, int pe)
{
    struct chaos_ctx *ctx   = (struct chaos_ctx *)shmemt_ctx;
    struct chaos     *chaos = ctx->chaos;
    int               err   = 0;
    pthread_mutex_lock(&chaos->lock);
    if (chaos_chance_one_in(&ctx->random, AGAIN_ONE_IN)) {
        err = -EAGAIN;
    } else {
        for (int each = 0; each < chaos->job->npes; each++)
            if (pe == each || pe == SHMEMT_ALL_PES) ctx->epoch[each]++;
    }
    pthread_mutex_unlock(&chaos->lock);
    return err;
}

static int quiet(struct shmemt_ctx *shmemt_ctx, int pe)
{
    struct chaos_ctx *ctx   = (struct chaos_ctx *)shmemt_ctx;
    struct chaos     *chaos = ctx->chaos;
    int               err   = 0;
    pthread_mutex_lock(&chaos->lock);
    for (size_t i = 0; i < QUEUE_OPS; i++) {
        struct op *op = &ctx->ops[i];
        if (!op->used || (pe != SHMEMT_ALL_PES && op->pe != pe)) continue;
        if (CHAOS_BREAK == BREAK_QUIET && op->told) continue;
        err = -EAGAIN;
    }
    if (chaos_chance_one_in(&ctx->random, AGAIN_ONE_IN)) err = -EAGAIN;
    if (!err && pe != SHMEMT_ALL_PES && chaos->lost[pe]) err = -EHOSTDOWN;
    pthread_mutex_unlock(&chaos->lock);
    /* Visible before anything that the caller reads or tells others afterwards. */
    atomic_thread_fence(memory_order_seq_cst);
    return err;
}

/* Lazy: let the engine take some steps, and tell the progress thread that it has taken some. */
static bool let_engine_work(struct chaos_ctx *ctx)
{
    struct chaos *chaos = ctx->chaos;
    eventfd_t     rings;
    bool          moved = ctx->service && chaos->moved;
    if (!chaos->lazy) return false;
    if (ctx->service) {
        chaos->moved = false;
        eventfd_read(chaos->bell, &rings);
    }
    chaos->grants = CALL_STEPS;
    if (chaos->engine_sleeps) pthread_cond_signal(&chaos->work);
    return moved;
}

/* Deliver those completions that the engine leaves to us: some of them, from a random place on. */
static int progress(struct shmemt_ctx *shmemt_ctx)
{
    struct chaos_ctx *ctx = (struct chaos_ctx *)shmemt_ctx;
    pthread_mutex_lock(&ctx->chaos->lock);
    int    told  = let_engine_work(ctx);
    size_t first = chaos_chance_draw(&ctx->random) % QUEUE_OPS;
    for (size_t i = 0; i < QUEUE_OPS; i++) {
        struct op *op = &ctx->ops[(first + i) % QUEUE_OPS];
        if (!op->used || op->by_engine || op->told || op->busy || !op->local_over || chaos_chance_one_in(&ctx->random, 4)) continue;
        shmemt_mapped_done(op->done);
        op->told = true;
        told++;
        free_when_over(op);
    }
    pthread_mutex_unlock(&ctx->chaos->lock);
    return told;
}

static int arm(struct shmemt_ctx *ctx)
{
    return ((struct chaos_ctx *)ctx)->chaos->bell;
}

#ifndef CHAOS_NAME
#define CHAOS_NAME "chaos"
#endif

static const struct shmemt_ops chaos_ops = {
    .version         = SHMEMT_VERSION,
    .name            = CHAOS_NAME,
    .probe           = probe,
    .open            = open_nic,
    .close           = close_nic,
    .address         = address_of_nic,
    .add_peer        = add_nic,
    .lose_peer       = lose_nic,
    .export_region   = export_memory,
    .unexport_region = unexport_memory,
    .import_region   = import_memory,
    .ctx_open        = open_queue,
    .ctx_close       = close_queue,
    .put             = put,
    .get             = get,
    .amo             = amo,
    .put_signal      = put_signal,
    .fence           = fence,
    .quiet           = quiet,
    .progress        = progress,
    .arm             = arm,
};

__attribute__((visibility("default"))) const struct shmemt_ops *shmemt_module(void)
{
    return &chaos_ops;
}
