/* SPDX-License-Identifier: Apache-2.0
 *
 * The threads that carry out what a stream waits for (agent.h).
 *
 * A word counts up, once for each operation that used it, and its stream waits for "this number or more". So a word is free for the next operation
 * as soon as it is written, though the stream that waits for it may look later.
 */
#include "runtime/gpu/agent.h"
#include "runtime/base/log.h"
#include "runtime/gpu/gpu.h"
#include "runtime/service.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 64 /* made at a time */ };

struct shmemi_gpu_agent_word {
    struct shmemi_gpu_agent_word *next;
    _Atomic uint64_t             *host;
    shmemi_cu_pointer             device;
    uint64_t                      last; /* what its latest operation writes */
};

/* Pinned memory with a line for each word. */
struct chunk {
    struct chunk                *next;
    char                        *lines;
    struct shmemi_gpu_agent_word words[WORDS];
};

static struct {
    pthread_mutex_t               lock;
    pthread_cond_t                work, done;
    struct shmemi_gpu_agent_op   *first, **last; /* handed over by their streams, not begun */
    size_t                        waiting;       /* of these                                */
    size_t                        idle;          /* threads that have no operation          */
    size_t                        pending;       /* operations submitted and not over       */
    pthread_t                    *threads;
    size_t                        threads_count;
    struct shmemi_gpu_agent_word *free;
    struct chunk                 *chunks;
    bool                          ends, ready;
    unsigned                      flush;
} agent = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER, .last = &agent.first};

/* As realloc, or the job ends. */
static void *memory(const char *call, void *old, size_t bytes)
{
    void *new = realloc(old, bytes);
    if (!new)
        shmemi_service_fatal(call,
                             "could not start an operation on a stream" WHY "out of memory" FIX "use less memory on this machine");
    return new;
}

/* ---- the threads ---- */

/* With the lock, and this thread counted as idle: the stream's next operation may be handed over as soon as the word is written. */
static void finish(struct shmemi_gpu_agent_op *op)
{
    /* Release: all that the operation wrote is visible to what the stream does next. */
    atomic_store_explicit(op->word->host, op->word_value, memory_order_release);
    op->word->next = agent.free;
    agent.free     = op->word;
    if (--agent.pending == 0) pthread_cond_broadcast(&agent.done);
    free(op);
}

static void *work(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&agent.lock);
    for (;;) {
        while (!agent.first && !agent.ends) pthread_cond_wait(&agent.work, &agent.lock);
        struct shmemi_gpu_agent_op *op = agent.first;
        if (!op) break;
        agent.first = op->next;
        if (!agent.first) agent.last = &agent.first;
        agent.waiting--;
        agent.idle--;
        pthread_mutex_unlock(&agent.lock);
        op->run(op);
        pthread_mutex_lock(&agent.lock);
        agent.idle++;
        finish(op);
    }
    pthread_mutex_unlock(&agent.lock);
    return NULL;
}

/* With the lock. Each operation that waits must have a thread, or two streams of which one waits for the other would both wait for ever. */
static void add_thread(const char *call)
{
    pthread_t *threads = memory(call, agent.threads, (agent.threads_count + 1) * sizeof *threads);
    agent.threads      = threads;
    int err            = shmemi_service_thread(&threads[agent.threads_count], work, NULL);
    if (err)
        shmemi_service_fatal(call,
                             "could not start a thread for an operation on a stream: %s" WHY
                             "%zu streams wait for this PE's host already" FIX "use fewer streams at once, or raise ulimit -u",
                             strerror(err), agent.threads_count);
    agent.threads_count++;
    agent.idle++;
}

/* The stream has come to the operation. Called by the driver, in a thread of its own: no call of the driver here, and no wait. */
static void hand_over(void *argument)
{
    struct shmemi_gpu_agent_op *op = argument;
    pthread_mutex_lock(&agent.lock);
    *agent.last = op;
    agent.last  = &op->next;
    /* A thread that was woken and does not run yet counts as idle, and what it was woken for as waiting: so each has a thread. */
    if (++agent.waiting > agent.idle) add_thread(op->call);
    pthread_cond_signal(&agent.work);
    pthread_mutex_unlock(&agent.lock);
}

/* ---- submission ---- */

static void get_ready(const char *call)
{
    int                       can = 0, flush = 0;
    const struct shmemi_cuda *cuda = shmemi_gpu.cuda;
    shmemi_gpu_require(cuda->device_get_attribute(&can, SHMEMI_CU_DEVICE_STREAM_MEM_OPS_64, shmemi_gpu.device), call,
                       "ask what the GPU can (cuDeviceGetAttribute)");
    shmemi_gpu_require(cuda->device_get_attribute(&flush, SHMEMI_CU_DEVICE_CAN_FLUSH_REMOTE_WRITES, shmemi_gpu.device), call,
                       "ask what the GPU can (cuDeviceGetAttribute)");
    if (!can)
        shmemi_service_fatal(call,
                             "cannot wait on a stream" WHY "GPU %d (%s) has no stream operations on words of 8 bytes" FIX
                             "synchronise the stream, and use the call without _on_stream",
                             shmemi_gpu.ordinal, shmemi_gpu.name);
    agent.flush = flush ? SHMEMI_CU_WAIT_FLUSH : 0u; /* what a network device has written is visible to what comes next */
    /* These threads use the default context beside the program's, whatever thread level the program has asked for. */
    shmemi_state.ctx_default.locked = true;
    agent.ready                     = true;
}

unsigned shmemi_gpu_agent_flush(const char *call)
{
    pthread_mutex_lock(&agent.lock);
    if (!agent.ready) get_ready(call);
    pthread_mutex_unlock(&agent.lock);
    return agent.flush;
}

/* With the lock. */
static void add_words(const char *call)
{
    struct chunk *chunk = memory(call, NULL, sizeof *chunk);
    void         *lines = NULL;
    shmemi_gpu_require(shmemi_gpu.cuda->mem_host_alloc(&lines, (size_t)WORDS * SHMEMI_LINE_BYTES,
                                                       SHMEMI_CU_HOST_ALLOC_PORTABLE | SHMEMI_CU_HOST_ALLOC_DEVICEMAP),
                       call, "allocate pinned memory of the host (cuMemHostAlloc)");
    chunk->lines = lines;
    memset(lines, 0, (size_t)WORDS * SHMEMI_LINE_BYTES);
    shmemi_cu_pointer device = 0;
    shmemi_gpu_require(shmemi_gpu.cuda->mem_host_get_device_pointer(&device, lines, 0), call,
                       "reach pinned memory of the host (cuMemHostGetDevicePointer)");
    for (size_t i = 0; i < WORDS; i++) {
        chunk->words[i] = (struct shmemi_gpu_agent_word){
            .next   = agent.free,
            .host   = (_Atomic uint64_t *)(void *)(chunk->lines + i * SHMEMI_LINE_BYTES),
            .device = device + i * SHMEMI_LINE_BYTES,
        };
        agent.free = &chunk->words[i];
    }
    chunk->next  = agent.chunks;
    agent.chunks = chunk;
}

static struct shmemi_gpu_agent_op *prepare(const struct shmemi_gpu_agent_op *op)
{
    struct shmemi_gpu_agent_op *copy = memory(op->call, NULL, sizeof *copy);
    *copy                            = *op;
    copy->next                       = NULL;
    pthread_mutex_lock(&agent.lock);
    if (!agent.ready) get_ready(op->call);
    if (!agent.free) add_words(op->call);
    copy->word       = agent.free;
    agent.free       = copy->word->next;
    copy->word_value = ++copy->word->last;
    agent.pending++;
    pthread_mutex_unlock(&agent.lock);
    return copy;
}

static SHMEMI_NORETURN SHMEMI_COLD void is_captured(const char *call)
{
    shmemi_service_fatal(call, "cannot be recorded in a CUDA graph" WHY
                               "it needs this PE's host each time, and the graph would repeat the first time only" FIX
                               "call it outside of cudaStreamBeginCapture ... EndCapture");
}

void shmemi_gpu_agent_submit(const struct shmemi_gpu_agent_op *op, shmemi_cu_stream stream)
{
    const struct shmemi_cuda *cuda     = shmemi_gpu.cuda;
    unsigned                  captures = 0;
    shmemi_gpu_enter();
    shmemi_gpu_require(cuda->stream_is_capturing(stream, &captures), op->call, "ask what the stream does (cuStreamIsCapturing)");
    if (captures) is_captured(op->call);
    struct shmemi_gpu_agent_op  *copy = prepare(op);
    struct shmemi_gpu_agent_word word = *copy->word; /* copy is over as soon as its stream hands it over */
    shmemi_gpu_require(cuda->launch_host_func(stream, hand_over, copy), op->call,
                       "put an operation on the stream (cuLaunchHostFunc)");
    shmemi_gpu_require(cuda->stream_wait_value64(stream, word.device, word.last, SHMEMI_CU_WAIT_GEQ | agent.flush), op->call,
                       "let the stream wait (cuStreamWaitValue64)");
    shmemi_gpu_leave();
}

/* ---- the end ---- */

static void end_threads(void)
{
    pthread_mutex_lock(&agent.lock);
    while (agent.pending) pthread_cond_wait(&agent.done, &agent.lock);
    agent.ends = true;
    pthread_cond_broadcast(&agent.work);
    pthread_mutex_unlock(&agent.lock);
    for (size_t i = 0; i < agent.threads_count; i++) pthread_join(agent.threads[i], NULL);
    free(agent.threads);
    agent.threads       = NULL;
    agent.threads_count = 0;
    agent.idle          = 0;
    agent.ends          = false;
    agent.ready         = false;
}

void shmemi_gpu_agent_stop(void)
{
    if (!agent.ready) return;
    end_threads();
    /* Streams may still have to look at their words. */
    shmemi_gpu_enter();
    shmemi_gpu_require(shmemi_gpu.cuda->ctx_synchronize(), "shmem_finalize", "wait for the streams (cuCtxSynchronize)");
    for (struct chunk *chunk = agent.chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        shmemi_gpu_require(shmemi_gpu.cuda->mem_free_host(chunk->lines), "shmem_finalize",
                           "free pinned memory of the host (cuMemFreeHost)");
        free(chunk);
    }
    shmemi_gpu_leave();
    agent.chunks = NULL;
    agent.free   = NULL;
}
