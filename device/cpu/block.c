/* SPDX-License-Identifier: Apache-2.0
 *
 * The threads of a block take turns. None of this is seen by ThreadSanitizer (CMakeLists.txt compiles it without); what a barrier
 * orders is told to it by hand, so that it sees races between the threads of a block although they never run at once.
 */
#include "device/cpu/block.h"

#include <assert.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

_Thread_local struct shmemd_cpu_worker *shmemd_cpu_worker;

/* Turns of the whole block in which all only waited: so many end in sched_yield, those after them in a sleep. */
enum { RESTS_AWAKE = 256, REST_NS = 20000, REST_NS_MAX = 500000 };

const struct shmemx_cpu_thread *shmemx_cpu_self(void)
{
    const struct shmemd_cpu_worker *worker = shmemd_cpu_worker;
    return worker && worker->current ? &worker->current->self : NULL;
}

/* ---- turns ----------------------------------------------------------------------------------------------------------- */

static void enqueue(struct shmemd_cpu_worker *worker, struct shmemd_cpu_thread *thread)
{
    thread->state = SHMEMD_CPU_READY;
    thread->next  = NULL;
    if (worker->tail) worker->tail->next = thread;
    else worker->head = thread;
    worker->tail = thread;
}

/* The calling thread gives way to the scheduler. Its state says why. */
static void give_way(struct shmemd_cpu_worker *worker)
{
    struct shmemd_cpu_thread *me = worker->current;
    shmemd_cpu_fiber_switch(&me->fiber, &worker->scheduler, me->state == SHMEMD_CPU_ENDED);
}

static void release_block(struct shmemd_cpu_worker *worker)
{
    worker->hold_last = worker->hold;
    worker->live_last = worker->live;
    worker->hold = worker->at_block = 0;
    for (size_t i = 0; i < worker->launch->threads_per_block; i++) {
        if (worker->threads[i].state == SHMEMD_CPU_AT_BLOCK) enqueue(worker, &worker->threads[i]);
    }
}

/* Lanes of a warp that have arrived where `mask` waits, or never will because they have ended or are not there. */
static bool warp_is_whole(const struct shmemd_cpu_worker *worker, size_t first, unsigned mask)
{
    for (size_t lane = 0; lane < SHMEMD_CPU_WARP && first + lane < worker->launch->threads_per_block; lane++) {
        const struct shmemd_cpu_thread *thread = &worker->threads[first + lane];
        if (!(mask >> lane & 1) || thread->state == SHMEMD_CPU_ENDED) continue;
        if (!thread->begun || thread->state != SHMEMD_CPU_AT_WARP || thread->mask != mask) return false;
    }
    return true;
}

static void release_warp(struct shmemd_cpu_worker *worker, size_t first, unsigned mask)
{
    for (size_t lane = 0; lane < SHMEMD_CPU_WARP && first + lane < worker->launch->threads_per_block; lane++) {
        struct shmemd_cpu_thread *thread = &worker->threads[first + lane];
        if (thread->state == SHMEMD_CPU_AT_WARP && thread->mask == mask) enqueue(worker, thread);
    }
}

/* A thread that has ended holds up nobody: barriers do not wait for it. */
static void let_others_go(struct shmemd_cpu_worker *worker, size_t number)
{
    if (worker->live > 0 && worker->at_block == worker->live) release_block(worker);
    size_t first = number - number % SHMEMD_CPU_WARP;
    for (size_t lane = 0; lane < SHMEMD_CPU_WARP && first + lane < worker->launch->threads_per_block; lane++) {
        const struct shmemd_cpu_thread *thread = &worker->threads[first + lane];
        if (thread->state == SHMEMD_CPU_AT_WARP && warp_is_whole(worker, first, thread->mask))
            release_warp(worker, first, thread->mask);
    }
}

static size_t number_of(const struct shmemd_cpu_worker *worker, const struct shmemd_cpu_thread *thread)
{
    return (size_t)(thread - worker->threads);
}

/* Where every fiber begins. */
static void thread_main(void)
{
    struct shmemd_cpu_worker *worker = shmemd_cpu_worker;
    struct shmemd_cpu_thread *me     = worker->current;
    shmemd_cpu_fiber_arrived(&me->fiber, &worker->scheduler);
    shmemd_cpu_fiber_acquire(worker);
    worker->launch->kernel(worker->launch->argument);
    shmemd_cpu_fiber_release(worker);
    me->state = SHMEMD_CPU_ENDED;
    worker->live--;
    let_others_go(worker, number_of(worker, me));
    give_way(worker);
    abort(); /* it is never switched to again */
}

/* ---- the block ------------------------------------------------------------------------------------------------------- */

static struct shmemx_cpu_index index_in(struct shmemx_cpu_index size, size_t number)
{
    struct shmemx_cpu_index at;
    at.x = (unsigned)(number % size.x);
    at.y = (unsigned)(number / size.x % size.y);
    at.z = (unsigned)(number / size.x / size.y);
    return at;
}

static void begin_thread(struct shmemd_cpu_worker *worker, struct shmemd_cpu_thread *thread)
{
    struct shmemd_cpu_stack *stack = worker->free_stacks;
    if (stack) worker->free_stacks = stack->next;
    else stack = shmemd_cpu_stack_create();
    if (!stack) {
        shmemd_cpu_report_fail("no memory for the stack of another thread: %zu of the block wait already"
                               "\n    fix: use smaller blocks, or let fewer of them run at a time (POSTERN_CPU_BLOCKS)",
                               worker->live);
    }
    shmemd_cpu_fiber_init(&thread->fiber, stack, thread_main);
    thread->begun = true;
}

/* A stack is free again when its thread has ended, so a block whose threads never wait needs one. */
static void end_thread(struct shmemd_cpu_worker *worker, struct shmemd_cpu_thread *thread)
{
    thread->fiber.stack->next = worker->free_stacks;
    worker->free_stacks       = thread->fiber.stack;
    shmemd_cpu_fiber_finish(&thread->fiber);
}

/* All that can run only wait for something from outside: another block, another PE. Let it have the processor. */
static void rest(struct shmemd_cpu_worker *worker)
{
    worker->idle = 0;
    if (worker->rests++ < RESTS_AWAKE) {
        (void)sched_yield();
        return;
    }
    size_t          over = (worker->rests - RESTS_AWAKE) * REST_NS / 16 + REST_NS;
    struct timespec time = {.tv_nsec = (long)(over < REST_NS_MAX ? over : REST_NS_MAX)};
    (void)nanosleep(&time, NULL);
}

static struct shmemd_cpu_thread *next_thread(struct shmemd_cpu_worker *worker)
{
    if (worker->not_begun < worker->launch->threads_per_block) {
        struct shmemd_cpu_thread *thread = &worker->threads[worker->not_begun++];
        begin_thread(worker, thread);
        return thread;
    }
    struct shmemd_cpu_thread *thread = worker->head;
    if (!thread) shmemd_cpu_report_stuck(worker);
    worker->head = thread->next;
    if (!worker->head) worker->tail = NULL;
    return thread;
}

static void prepare(struct shmemd_cpu_worker *worker, size_t number)
{
    const shmemx_cpu_launch_t *how = &worker->launch->how;
    for (size_t i = 0; i < worker->launch->threads_per_block; i++) {
        worker->threads[i] = (struct shmemd_cpu_thread){
            .self = {.thread_index = index_in(how->block, i),
                     .block_index  = index_in(how->grid, number),
                     .block_dim    = how->block,
                     .grid_dim     = how->grid,
                     .lane         = (unsigned)(i % SHMEMD_CPU_WARP),
                     .shared       = worker->shared,
                     .shared_bytes = how->shared_bytes,
                     .state        = how->state},
        };
    }
    /* What is in shared memory at the start is anything; let nobody count on 0, nor on what the last block left. */
    if (worker->shared) memset(worker->shared, 0xa5, how->shared_bytes);
    worker->head = worker->tail = NULL;
    worker->not_begun = worker->at_block = worker->hold = worker->idle = worker->rests = 0;
    worker->live                                                                       = worker->launch->threads_per_block;
}

void shmemd_cpu_block_run(struct shmemd_cpu_worker *worker, size_t number)
{
    prepare(worker, number);
    shmemd_cpu_fiber_release(worker);
    size_t waiting = 0;
    while (worker->live > 0) {
        struct shmemd_cpu_thread *thread = next_thread(worker);
        size_t                    idle   = worker->idle;
        worker->current                  = thread;
        shmemd_cpu_fiber_switch(&worker->scheduler, &thread->fiber, 0);
        worker->current = NULL;
        if (thread->state == SHMEMD_CPU_ENDED) end_thread(worker, thread);
        if (worker->idle == idle) { /* it did something: arrived, or ended */
            worker->idle = worker->rests = waiting = 0;
        } else if (worker->idle == 1) {
            waiting = 1;
            for (const struct shmemd_cpu_thread *other = worker->head; other && other->next; other = other->next) waiting++;
        }
        if (waiting && worker->idle >= waiting && worker->not_begun == worker->launch->threads_per_block) rest(worker);
    }
    shmemd_cpu_fiber_acquire(worker);
}

void shmemd_cpu_block_free_stacks(struct shmemd_cpu_worker *worker)
{
    while (worker->free_stacks) {
        struct shmemd_cpu_stack *stack = worker->free_stacks;
        worker->free_stacks            = stack->next;
        shmemd_cpu_stack_destroy(stack);
    }
}

/* ---- what a kernel calls --------------------------------------------------------------------------------------------- */

static struct shmemd_cpu_worker *worker_of_kernel(const char *what)
{
    struct shmemd_cpu_worker *worker = shmemd_cpu_worker;
    if (!worker || !worker->current) shmemd_cpu_report_fail("%s is called outside a kernel", what);
    return worker;
}

void shmemx_cpu_yield(void)
{
    struct shmemd_cpu_worker *worker = shmemd_cpu_worker;
    if (!worker || !worker->current) {
        (void)sched_yield();
        return;
    }
    worker->idle++;
    enqueue(worker, worker->current);
    give_way(worker);
}

void shmemx_cpu_breathe(void)
{
    enum { TIMES = 64 };
    struct shmemd_cpu_worker *worker = shmemd_cpu_worker;
    if (worker && worker->current && ++worker->breaths % TIMES == 0) shmemx_cpu_yield();
}

int shmemx_cpu_syncthreads(enum shmemx_cpu_vote vote, int predicate)
{
    struct shmemd_cpu_worker *worker = worker_of_kernel("__syncthreads");
    shmemd_cpu_fiber_release(&worker->at_block);
    worker->hold += predicate != 0;
    worker->at_block++;
    worker->current->state = SHMEMD_CPU_AT_BLOCK;
    if (worker->at_block == worker->live) release_block(worker);
    give_way(worker);
    shmemd_cpu_fiber_acquire(&worker->at_block);
    /* The results stay until the next barrier is whole, and that takes all who read them here. */
    switch (vote) {
    case SHMEMX_CPU_VOTE_OR: return worker->hold_last > 0;
    case SHMEMX_CPU_VOTE_AND: return worker->hold_last == worker->live_last;
    case SHMEMX_CPU_VOTE_COUNT: return (int)worker->hold_last;
    case SHMEMX_CPU_VOTE_NONE: break;
    }
    return 0;
}

static size_t first_of_warp(struct shmemd_cpu_worker *worker)
{
    return number_of(worker, worker->current) - worker->current->self.lane;
}

void shmemx_cpu_syncwarp(unsigned mask)
{
    struct shmemd_cpu_worker *worker = worker_of_kernel("__syncwarp");
    struct shmemd_cpu_thread *me     = worker->current;
    size_t                    first  = first_of_warp(worker);
    if (!(mask >> me->self.lane & 1))
        shmemd_cpu_report_fail("lane %u is not in the mask 0x%08x of its own barrier", me->self.lane, mask);
    shmemd_cpu_fiber_release(&worker->threads[first].mask);
    me->mask  = mask;
    me->state = SHMEMD_CPU_AT_WARP;
    if (warp_is_whole(worker, first, mask)) release_warp(worker, first, mask);
    give_way(worker);
    shmemd_cpu_fiber_acquire(&worker->threads[first].mask);
}

/* Twice together: nobody reads before all have shown, and nobody shows anew before all have read. */
uint64_t shmemx_cpu_shuffle(unsigned mask, uint64_t value, unsigned source_lane)
{
    struct shmemd_cpu_worker *worker = worker_of_kernel("__shfl_sync");
    size_t                    source = first_of_warp(worker) + source_lane % SHMEMD_CPU_WARP;
    worker->current->value           = value;
    shmemx_cpu_syncwarp(mask);
    if (source < worker->launch->threads_per_block) value = worker->threads[source].value;
    shmemx_cpu_syncwarp(mask);
    return value;
}

unsigned shmemx_cpu_ballot(unsigned mask, int predicate)
{
    struct shmemd_cpu_worker *worker = worker_of_kernel("__ballot_sync");
    size_t                    first  = first_of_warp(worker);
    unsigned                  set    = 0;
    worker->current->value           = predicate != 0;
    shmemx_cpu_syncwarp(mask);
    for (size_t lane = 0; lane < SHMEMD_CPU_WARP && first + lane < worker->launch->threads_per_block; lane++) {
        const struct shmemd_cpu_thread *thread = &worker->threads[first + lane];
        if (mask >> lane & 1 && thread->state != SHMEMD_CPU_ENDED && thread->value) set |= 1u << lane;
    }
    shmemx_cpu_syncwarp(mask);
    return set;
}

unsigned shmemx_cpu_activemask(void)
{
    struct shmemd_cpu_worker *worker = worker_of_kernel("__activemask");
    return 1u << worker->current->self.lane;
}
