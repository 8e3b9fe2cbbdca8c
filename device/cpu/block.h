/* SPDX-License-Identifier: Apache-2.0
 *
 * One block of a kernel: its threads are fibers that take turns on one thread of the system. So `__shared__` is `thread_local`, and
 * 1024 threads cost no more than their stacks. Blocks run on threads of their own (launch.c): a loop that waits for another
 * block goes on while that block runs, whatever the loop looks like.
 *
 * A fiber gives way at barriers, and in shmemx_cpu_yield, which every loop that waits calls.
 */
#ifndef SHMEMD_CPU_BLOCK_H
#define SHMEMD_CPU_BLOCK_H

#include "device/cpu/fiber.h"

#include <shmem/device/cpu.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { SHMEMD_CPU_WARP = 32 };

/* A launch, while its blocks run (launch.c). */
struct shmemd_cpu_launch {
    struct shmemd_cpu_launch *next;
    shmemx_cpu_launch_t       how;
    void (*kernel)(void *);
    void (*done)(void *);
    void          *argument;
    size_t         blocks, threads_per_block; /* in all dimensions                      */
    _Atomic size_t claimed, ended;            /* blocks that a worker has begun, ended  */
    size_t         workers;                   /* blocks that run at a time              */
    pthread_t     *worker_ids;
};

enum shmemd_cpu_state { SHMEMD_CPU_READY, SHMEMD_CPU_AT_BLOCK, SHMEMD_CPU_AT_WARP, SHMEMD_CPU_ENDED };

struct shmemd_cpu_thread {
    struct shmemx_cpu_thread  self; /* what cpu.h shows of it */
    struct shmemd_cpu_fiber   fiber;
    struct shmemd_cpu_thread *next; /* in the queue of those that can run */
    enum shmemd_cpu_state     state;
    bool                      begun;
    unsigned                  mask;  /* lanes that it waits for at a warp's barrier */
    uint64_t                  value; /* what it shows to its warp                   */
};

/* Runs blocks one after another. */
struct shmemd_cpu_worker {
    struct shmemd_cpu_launch *launch;
    struct shmemd_cpu_fiber   scheduler;
    struct shmemd_cpu_thread *threads; /* of the block that runs              */
    struct shmemd_cpu_thread *current; /* NULL: the scheduler                 */
    struct shmemd_cpu_thread *head, *tail;
    size_t                    not_begun; /* index of the first that has not begun */
    size_t                    live, at_block;
    size_t                    hold, hold_last; /* those whose predicate holds: so far, and at the last barrier */
    size_t                    live_last;
    size_t                    idle;    /* turns in a row in which somebody only waited */
    size_t                    rests;   /* times in a row that the whole block did      */
    unsigned                  breaths; /* shmemx_cpu_breathe */
    struct shmemd_cpu_stack  *free_stacks;
    void                     *shared; /* dynamic shared memory, or NULL */
};

/* The worker whose thread this is; NULL on any other. */
extern _Thread_local struct shmemd_cpu_worker *shmemd_cpu_worker;

/* Run one block from its first thread to its last. */
void shmemd_cpu_block_run(struct shmemd_cpu_worker *worker, size_t number);
void shmemd_cpu_block_free_stacks(struct shmemd_cpu_worker *worker);

/* Messages (report.c). stuck and fail: with the place of the calling thread where there is one, then abort. */
void shmemd_cpu_report_stuck(const struct shmemd_cpu_worker *worker) __attribute__((noreturn));
void shmemd_cpu_report(const char *format, ...) __attribute__((format(printf, 1, 2)));
void shmemd_cpu_report_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
