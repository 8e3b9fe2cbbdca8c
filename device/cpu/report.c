/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages of the runner, each by one write, in the form of the library's. A kernel that cannot go on ends the process by abort, so
 * that a debugger stops there; the launcher ends the other PEs.
 */
#include "device/cpu/block.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The library's, where the program is linked with it. */
#pragma weak pshmem_my_pe
#pragma weak pshmem_query_initialized
int          pshmem_my_pe(void);
void         pshmem_query_initialized(int *initialized);

struct text {
    char   bytes[2048];
    size_t used;
};

__attribute__((format(printf, 2, 0))) static void append_v(struct text *text, const char *format, va_list args)
{
    size_t room = sizeof text->bytes - text->used;
    int    more = vsnprintf(text->bytes + text->used, room, format, args);
    if (more > 0) text->used += (size_t)more < room ? (size_t)more : room - 1;
}

__attribute__((format(printf, 2, 3))) static void append(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    append_v(text, format, args);
    va_end(args);
}

static void begin(struct text *text)
{
    int initialized = 0;
    if (pshmem_query_initialized) pshmem_query_initialized(&initialized);
    append(text, "postern: ");
    if (initialized && pshmem_my_pe) append(text, "PE %d: ", pshmem_my_pe());
}

static void end(struct text *text)
{
    if (text->used > sizeof text->bytes - 2) text->used = sizeof text->bytes - 2;
    text->bytes[text->used++] = '\n';
    ssize_t written           = write(STDERR_FILENO, text->bytes, text->used);
    (void)written;
}

static void append_place(struct text *text, const struct shmemd_cpu_worker *worker)
{
    if (!worker) return;
    append(text, "kernel %s, ", worker->launch->how.name);
    const struct shmemd_cpu_thread *thread = worker->current;
    if (!thread) return;
    struct shmemx_cpu_index b = thread->self.block_index, t = thread->self.thread_index;
    append(text, "block (%u,%u,%u), thread (%u,%u,%u): ", b.x, b.y, b.z, t.x, t.y, t.z);
}

/* Blocks that have not begun are what a wait that never ends often waits for. */
static void append_residency(struct text *text, const struct shmemd_cpu_worker *worker)
{
    if (!worker) return;
    const struct shmemd_cpu_launch *launch  = worker->launch;
    size_t                          claimed = atomic_load_explicit(&launch->claimed, memory_order_relaxed);
    size_t                          ended   = atomic_load_explicit(&launch->ended, memory_order_relaxed);
    if (claimed >= launch->blocks) return;
    append(text,
           "\n    why: %zu of the %zu blocks have not begun: %zu have ended, and at most %zu run at a time"
           "\n    fix: blocks that wait for each other must all run at once: use at most %zu of them, or raise POSTERN_CPU_BLOCKS",
           launch->blocks - claimed, launch->blocks, ended, launch->workers, launch->workers);
}

void shmemd_cpu_report(const char *format, ...)
{
    struct text text = {.used = 0};
    begin(&text);
    va_list args;
    va_start(args, format);
    append_v(&text, format, args);
    va_end(args);
    end(&text);
}

static void begin_failure(struct text *text)
{
    begin(text);
    append_place(text, shmemd_cpu_worker);
}

static _Noreturn void fail(struct text *text)
{
    append_residency(text, shmemd_cpu_worker);
    end(text);
    fflush(NULL);
    abort();
}

void shmemd_cpu_report_fail(const char *format, ...)
{
    struct text text = {.used = 0};
    begin_failure(&text);
    va_list args;
    va_start(args, format);
    append_v(&text, format, args);
    va_end(args);
    fail(&text);
}

void shmemx_cpu_trap(const char *format, ...)
{
    struct text text = {.used = 0};
    begin_failure(&text);
    va_list args;
    va_start(args, format);
    append_v(&text, format, args);
    va_end(args);
    fail(&text);
}

/* Nobody in the block can go on: its threads are at different barriers. Name the first at each. */
void shmemd_cpu_report_stuck(const struct shmemd_cpu_worker *worker)
{
    struct text text = {.used = 0};
    begin(&text);
    struct shmemx_cpu_index b = worker->threads[0].self.block_index;
    append(&text, "kernel %s, block (%u,%u,%u): its threads wait at different barriers", worker->launch->how.name, b.x, b.y, b.z);
    size_t at_block = 0, at_warp = 0, first_at_warp = 0, first_at_block = 0;
    for (size_t i = worker->launch->threads_per_block; i-- > 0;) {
        if (worker->threads[i].state == SHMEMD_CPU_AT_BLOCK) first_at_block = i, at_block++;
        if (worker->threads[i].state == SHMEMD_CPU_AT_WARP) first_at_warp = i, at_warp++;
    }
    append(&text, "\n    why: ");
    if (at_block) append(&text, "%zu at __syncthreads, thread %zu the first of them; ", at_block, first_at_block);
    if (at_warp) {
        const struct shmemd_cpu_thread *thread = &worker->threads[first_at_warp];
        append(&text, "%zu at a barrier of their warp, lane %u of warp %zu the first of them, for the lanes 0x%08x; ", at_warp,
               thread->self.lane, first_at_warp / SHMEMD_CPU_WARP, thread->mask);
    }
    append(&text, "%zu have ended\n    fix: let all threads of the block (lanes of the mask) come to the same barrier",
           worker->launch->threads_per_block - worker->live);
    end(&text);
    fflush(NULL);
    abort();
}
