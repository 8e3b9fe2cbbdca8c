/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches: a worker, which is a thread of the system, for each block that may run at a time. Each takes the next block when its
 * own has ended, in the order of their numbers, as GPUs do more or less. So with one worker a block that waits for a later one waits for
 * ever, as it would on a GPU that has no room for both.
 */
#include "device/cpu/block.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_PER_BLOCK_MAX = 1024, THREADS_AT_ONCE = 32768, SHARED_ALIGNMENT = 128 };

/* Launches that have begun and that nobody has waited for. */
static pthread_mutex_t           lock = PTHREAD_MUTEX_INITIALIZER;
static struct shmemd_cpu_launch *launches;

/* ---- workers --------------------------------------------------------------------------------------------------------- */

static void *allocate_shared(size_t bytes)
{
    void *shared = NULL;
    if (bytes > 0 && posix_memalign(&shared, SHARED_ALIGNMENT, bytes) != 0)
        shmemd_cpu_report_fail("no memory for %zu bytes of shared memory", bytes);
    return shared;
}

static void *worker_main(void *argument)
{
    struct shmemd_cpu_launch *launch = argument;
    struct shmemd_cpu_worker  worker = {.launch = launch, .shared = allocate_shared(launch->how.shared_bytes)};
    worker.threads                   = calloc(launch->threads_per_block, sizeof *worker.threads);
    if (!worker.threads) shmemd_cpu_report_fail("no memory for the threads of a block");
    shmemd_cpu_worker = &worker;
    shmemd_cpu_fiber_adopt(&worker.scheduler);
    for (;;) {
        size_t number = atomic_fetch_add_explicit(&launch->claimed, 1, memory_order_relaxed);
        if (number >= launch->blocks) break;
        shmemd_cpu_block_run(&worker, number);
        atomic_fetch_add_explicit(&launch->ended, 1, memory_order_relaxed);
    }
    shmemd_cpu_worker = NULL;
    shmemd_cpu_block_free_stacks(&worker);
    free(worker.threads);
    free(worker.shared);
    return NULL;
}

/* One is enough to go on. */
static int start_workers(struct shmemd_cpu_launch *launch)
{
    size_t wanted      = launch->workers;
    launch->workers    = 0;
    launch->worker_ids = calloc(wanted, sizeof *launch->worker_ids);
    if (!launch->worker_ids) return -ENOMEM;
    while (launch->workers < wanted) {
        int err = pthread_create(&launch->worker_ids[launch->workers], NULL, worker_main, launch);
        if (err && launch->workers == 0) return -err;
        if (err) break;
        launch->workers++;
    }
    return 0;
}

static void destroy_launch(struct shmemd_cpu_launch *launch)
{
    free(launch->worker_ids);
    free(launch);
}

/* ---- waiting --------------------------------------------------------------------------------------------------------- */

/* Take a launch of this stream out of the list (any: of all streams), or NULL. */
static struct shmemd_cpu_launch *take(void *stream, bool any)
{
    pthread_mutex_lock(&lock);
    struct shmemd_cpu_launch **at = &launches;
    while (*at && !any && (*at)->how.stream != stream && (*at)->how.stream != NULL) at = &(*at)->next;
    struct shmemd_cpu_launch *launch = *at;
    if (launch) *at = launch->next;
    pthread_mutex_unlock(&lock);
    return launch;
}

void shmemx_cpu_synchronize(void *stream)
{
    struct shmemd_cpu_launch *launch;
    while ((launch = take(stream, stream == NULL)) != NULL) {
        for (size_t i = 0; i < launch->workers; i++) pthread_join(launch->worker_ids[i], NULL);
        if (launch->done) launch->done(launch->argument);
        destroy_launch(launch);
    }
}

/* ---- launching ------------------------------------------------------------------------------------------------------- */

static struct shmemx_cpu_index at_least_one(struct shmemx_cpu_index size)
{
    if (size.x == 0) size.x = 1;
    if (size.y == 0) size.y = 1;
    if (size.z == 0) size.z = 1;
    return size;
}

static size_t product(struct shmemx_cpu_index size)
{
    return (size_t)size.x * size.y * size.z;
}

/* What the variable says, else as many as memory and threads allow with ease. */
long shmemx_cpu_blocks_at_once(size_t threads_per_block)
{
    const char *text   = getenv("POSTERN_CPU_BLOCKS");
    long        blocks = 0;
    if (text && *text) {
        char *end;
        blocks = strtol(text, &end, 10);
        if (*end || blocks < 0 || blocks > 4096) {
            shmemd_cpu_report(
                "POSTERN_CPU_BLOCKS is \"%s\", which is not a number from 0 to 4096\n    fix: unset it, or give such a number",
                text);
            return 0;
        }
    }
    if (blocks > 0 || threads_per_block == 0) return blocks;
    return threads_per_block < THREADS_AT_ONCE ? (long)(THREADS_AT_ONCE / threads_per_block) : 1;
}

static int blocks_at_once(const struct shmemd_cpu_launch *launch, size_t *blocks_out)
{
    size_t blocks = launch->how.blocks_max;
    if (blocks == 0) blocks = (size_t)shmemx_cpu_blocks_at_once(launch->threads_per_block);
    if (blocks == 0) return -EINVAL;
    *blocks_out = blocks < launch->blocks ? blocks : launch->blocks;
    return 0;
}

int shmemx_cpu_launch(const shmemx_cpu_launch_t *how, void (*kernel)(void *argument), void *argument, void (*done)(void *argument))
{
    struct shmemd_cpu_launch *launch = calloc(1, sizeof *launch);
    if (!launch) return -ENOMEM;
    *launch                   = (struct shmemd_cpu_launch){.how = *how, .kernel = kernel, .argument = argument, .done = done};
    launch->how.name          = how->name ? how->name : "kernel";
    launch->how.grid          = at_least_one(how->grid);
    launch->how.block         = at_least_one(how->block);
    launch->blocks            = product(launch->how.grid);
    launch->threads_per_block = product(launch->how.block);
    int err                   = -EINVAL;
    if (launch->threads_per_block > THREADS_PER_BLOCK_MAX) {
        shmemd_cpu_report("kernel %s: a block of %zu threads is too large\n    why: a block has at most %d threads, as on a GPU"
                          "\n    fix: use smaller blocks, and more of them",
                          launch->how.name, launch->threads_per_block, THREADS_PER_BLOCK_MAX);
        goto free_launch;
    }
    err = blocks_at_once(launch, &launch->workers);
    if (err) goto free_launch;
    shmemx_cpu_synchronize(how->stream);
    err = start_workers(launch);
    if (err) {
        shmemd_cpu_report("kernel %s: could not start a thread: %s", launch->how.name, strerror(-err));
        goto free_launch;
    }
    pthread_mutex_lock(&lock);
    launch->next = launches;
    launches     = launch;
    pthread_mutex_unlock(&lock);
    return 0;
free_launch:
    destroy_launch(launch);
    return err;
}
