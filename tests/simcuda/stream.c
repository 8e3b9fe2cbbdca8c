/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams: each has a thread, so work really happens later and elsewhere; with SIMCUDA_SEED it also happens after delays. Events are a place in
 * a stream.
 */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static _Thread_local struct CUstream_st *mine[SIM_DEVICES_MAX]; /* SHMEMI_CU_STREAM_PER_THREAD */

/* ---- the worker; sim.lock is held but while an operation runs ---- */

static void delay(struct CUstream_st *stream)
{
    if (!sim.seed) return;
    stream->random ^= stream->random << 13;
    stream->random ^= stream->random >> 7;
    stream->random ^= stream->random << 17;
    if (stream->random & 1) nanosleep(&(struct timespec){.tv_nsec = (long)(stream->random >> 1) % 200000}, NULL);
}

static bool may_begin(const struct sim_op *op)
{
    for (size_t i = 0; i < op->waits_count; i++)
        if (op->waits[i].stream->completed < op->waits[i].number) return false;
    return true;
}

static void op_free(struct sim_op *op)
{
    for (size_t i = 0; op->arguments && op->arguments[i]; i++) free(op->arguments[i]);
    free(op->arguments);
    free(op->waits);
    free(op);
}

static void *work(void *argument)
{
    struct CUstream_st *stream = argument;
    pthread_mutex_lock(&sim.lock);
    for (;;) {
        if (!stream->first && stream->is_destroyed) break;
        if (!stream->first || !may_begin(stream->first)) {
            pthread_cond_wait(&sim.completed, &sim.lock);
            continue;
        }
        struct sim_op *op = stream->first;
        pthread_mutex_unlock(&sim.lock);
        delay(stream);
        /* What a broken context still has queued is not done. */
        unsigned result = stream->context->broken ? 0 : op->run(op);
        pthread_mutex_lock(&sim.lock);
        if (result && !stream->context->broken) stream->context->broken = result;
        stream->first = op->next;
        if (!stream->first) stream->last = &stream->first;
        stream->completed = op->number;
        op_free(op);
        pthread_cond_broadcast(&sim.completed);
    }
    stream->has_thread = false;
    pthread_mutex_unlock(&sim.lock);
    return NULL;
}

/* ---- streams ---- */

static struct CUstream_st *stream_create(struct CUctx_st *context, unsigned flags)
{
    struct CUstream_st *stream = calloc(1, sizeof *stream);
    if (!stream) abort();
    *stream            = (struct CUstream_st){.next = sim.streams, .context = context, .flags = flags, .last = NULL};
    stream->last       = &stream->first;
    stream->random     = (sim.seed + ++sim.ids) * 0x9e3779b97f4a7c15ull + (unsigned)getpid();
    return sim.streams = stream;
}

static struct CUstream_st *legacy_of(struct CUctx_st *context)
{
    for (struct CUstream_st *stream = sim.streams; stream; stream = stream->next)
        if (stream->is_legacy && stream->context == context) return stream;
    struct CUstream_st *stream = stream_create(context, 0);
    stream->is_legacy = stream->is_hidden = true;
    return stream;
}

struct CUstream_st *sim_stream(const char *name, shmemi_cu_stream handle, struct CUctx_st *context)
{
    if (!handle || handle == SHMEMI_CU_STREAM_LEGACY) return legacy_of(context);
    if (handle == SHMEMI_CU_STREAM_PER_THREAD) {
        struct CUstream_st **own = &mine[context->device];
        if (!*own) (*own = stream_create(context, 0))->is_hidden = true;
        return *own;
    }
    for (struct CUstream_st *stream = sim.streams; stream; stream = stream->next) {
        if (stream != handle) continue;
        if (!stream->is_destroyed) return stream;
        sim_misuse(SHMEMI_CU_INVALID_HANDLE, name, "the stream has been destroyed");
        return NULL;
    }
    sim_misuse(SHMEMI_CU_INVALID_HANDLE, name, "no stream");
    return NULL;
}

static void wait_for(struct sim_op *op, struct CUstream_st *stream, uint64_t number)
{
    if (stream == op->stream || stream->completed >= number) return;
    op->waits = realloc(op->waits, (op->waits_count + 1) * sizeof *op->waits);
    if (!op->waits) abort();
    op->waits[op->waits_count++] = (struct sim_wait){stream, number};
}

/* The legacy stream and the blocking streams of its context wait for each other. */
static void order_with_legacy(struct sim_op *op)
{
    for (struct CUstream_st *other = sim.streams; other; other = other->next) {
        if (other->context != op->stream->context || other->flags & SHMEMI_CU_STREAM_NON_BLOCKING) continue;
        if (other->is_legacy || op->stream->is_legacy) wait_for(op, other, other->submitted);
    }
}

static void await(const struct CUstream_st *stream, uint64_t number)
{
    while (stream->completed < number) pthread_cond_wait(&sim.completed, &sim.lock);
}

unsigned sim_submit(const struct sim_op *op, shmemi_cu_stream handle, bool wait)
{
    unsigned         result  = 0;
    struct CUctx_st *context = sim_context(op->name, &result);
    struct sim_op   *queued  = malloc(sizeof *queued);
    if (!queued) abort();
    *queued = *op;
    pthread_mutex_lock(&sim.lock);
    queued->stream = result ? NULL : sim_stream(op->name, handle, context);
    if (!queued->stream) {
        pthread_mutex_unlock(&sim.lock);
        op_free(queued);
        return result ? result : SHMEMI_CU_INVALID_HANDLE;
    }
    struct CUstream_st *stream = queued->stream;
    if (stream->context != context) {
        pthread_mutex_unlock(&sim.lock);
        op_free(queued);
        return sim_misuse(SHMEMI_CU_INVALID_HANDLE, op->name, "the stream belongs to another context than this thread's");
    }
    queued->number = ++stream->submitted;
    if (!(stream->flags & SHMEMI_CU_STREAM_NON_BLOCKING)) order_with_legacy(queued);
    *stream->last = queued;
    stream->last  = &queued->next;
    if (!stream->has_thread) {
        stream->has_thread = true;
        if (pthread_create(&stream->thread, NULL, work, stream) != 0) abort();
        pthread_detach(stream->thread);
    }
    pthread_cond_broadcast(&sim.completed);
    if (wait) await(stream, stream->submitted);
    if (wait) result = context->broken;
    pthread_mutex_unlock(&sim.lock);
    return result;
}

bool sim_is_queued(uintptr_t base, size_t bytes)
{
    for (const struct CUstream_st *stream = sim.streams; stream; stream = stream->next)
        for (const struct sim_op *op = stream->first; op; op = op->next)
            if (op->dest - base < bytes || op->source - base < bytes) return true;
    return false;
}

void sim_streams_report(void)
{
    for (const struct CUstream_st *stream = sim.streams; stream; stream = stream->next) {
        char text[120];
        int  length = snprintf(text, sizeof text, "simcuda: leak: a stream\n");
        if (stream->completed != stream->submitted)
            length = snprintf(text, sizeof text, "simcuda: work on a stream is not done at the end: %llu of %llu (%s)\n",
                              (unsigned long long)stream->completed, (unsigned long long)stream->submitted, stream->first->name);
        else if (stream->is_hidden || stream->is_destroyed) continue;
        if (write(STDERR_FILENO, text, (size_t)length) < 0) return;
    }
}

unsigned cuStreamCreateWithPriority(shmemi_cu_stream *stream, unsigned flags, int priority)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    (void)priority; /* out of range is brought into it, says CUDA */
    if (flags > SHMEMI_CU_STREAM_NON_BLOCKING) return SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "flags %u", flags);
    pthread_mutex_lock(&sim.lock);
    *stream = stream_create(context, flags);
    pthread_mutex_unlock(&sim.lock);
    return SHMEMI_CU_SUCCESS;
}

unsigned cuStreamCreate(shmemi_cu_stream *stream, unsigned flags)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    if (flags > SHMEMI_CU_STREAM_NON_BLOCKING) return SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "flags %u", flags);
    pthread_mutex_lock(&sim.lock);
    *stream = stream_create(context, flags);
    pthread_mutex_unlock(&sim.lock);
    return SHMEMI_CU_SUCCESS;
}

/* Returns at once; what is queued is still done. */
unsigned cuStreamDestroy_v2(shmemi_cu_stream handle)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    pthread_mutex_lock(&sim.lock);
    struct CUstream_st *stream = sim_stream(__func__, handle, context);
    bool                ok     = stream && !stream->is_hidden;
    if (ok) stream->is_destroyed = true;
    pthread_cond_broadcast(&sim.completed);
    pthread_mutex_unlock(&sim.lock);
    return ok ? SHMEMI_CU_SUCCESS : SHMEMI_CU_INVALID_HANDLE;
}

unsigned cuStreamSynchronize(shmemi_cu_stream handle)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    pthread_mutex_lock(&sim.lock);
    struct CUstream_st *stream = sim_stream(__func__, handle, context);
    if (stream) await(stream, stream->submitted);
    unsigned result = !stream ? SHMEMI_CU_INVALID_HANDLE : stream->context->broken;
    pthread_mutex_unlock(&sim.lock);
    return result;
}

unsigned cuStreamQuery(shmemi_cu_stream handle)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    pthread_mutex_lock(&sim.lock);
    const struct CUstream_st *stream = sim_stream(__func__, handle, context);
    unsigned                  result = SHMEMI_CU_INVALID_HANDLE;
    if (stream) result = stream->completed < stream->submitted ? SHMEMI_CU_NOT_READY : stream->context->broken;
    pthread_mutex_unlock(&sim.lock);
    return result;
}

unsigned cuStreamGetCtx(shmemi_cu_stream handle, shmemi_cu_context *context_out)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    pthread_mutex_lock(&sim.lock);
    const struct CUstream_st *stream = sim_stream(__func__, handle, context);
    if (stream) *context_out = stream->context;
    pthread_mutex_unlock(&sim.lock);
    return stream ? SHMEMI_CU_SUCCESS : SHMEMI_CU_INVALID_HANDLE;
}

unsigned cuStreamIsCapturing(shmemi_cu_stream handle, unsigned *status)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    pthread_mutex_lock(&sim.lock);
    const struct CUstream_st *stream = sim_stream(__func__, handle, context);
    pthread_mutex_unlock(&sim.lock);
    *status = 0; /* nothing is ever captured */
    return stream ? SHMEMI_CU_SUCCESS : SHMEMI_CU_INVALID_HANDLE;
}

unsigned cuCtxSynchronize(void)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    pthread_mutex_lock(&sim.lock);
    for (struct CUstream_st *stream = sim.streams; stream; stream = stream->next)
        if (stream->context == context) await(stream, stream->submitted);
    unsigned result = context->broken;
    pthread_mutex_unlock(&sim.lock);
    return result;
}

/* ---- functions of the host ---- */

static unsigned run_function(struct sim_op *op)
{
    sim_in_host_function = true;
    op->function(op->argument);
    sim_in_host_function = false;
    return SHMEMI_CU_SUCCESS;
}

unsigned cuLaunchHostFunc(shmemi_cu_stream stream, void (*function)(void *), void *argument)
{
    SIM_ENTER();
    if (!function) return SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "no function");
    const struct sim_op op = {.run = run_function, .name = __func__, .function = function, .argument = argument};
    return sim_submit(&op, stream, false);
}

/* ---- events ---- */

static struct CUevent_st *event_of(const char *name, shmemi_cu_event handle)
{
    for (struct CUevent_st *event = sim.events; event; event = event->next)
        if (event == handle) return event;
    sim_misuse(SHMEMI_CU_INVALID_HANDLE, name, "no event");
    return NULL;
}

unsigned cuEventCreate(shmemi_cu_event *event, unsigned flags)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    if (flags > 7) return SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "flags %u", flags);
    struct CUevent_st *made = calloc(1, sizeof *made);
    if (!made) abort();
    pthread_mutex_lock(&sim.lock);
    *made      = (struct CUevent_st){.next = sim.events, .context = context};
    sim.events = *event = made;
    pthread_mutex_unlock(&sim.lock);
    return SHMEMI_CU_SUCCESS;
}

unsigned cuEventRecord(shmemi_cu_event handle, shmemi_cu_stream stream_handle)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    pthread_mutex_lock(&sim.lock);
    struct CUevent_st  *event  = event_of(__func__, handle);
    struct CUstream_st *stream = event ? sim_stream(__func__, stream_handle, context) : NULL;
    bool                same   = stream && stream->context == event->context;
    if (same) {
        event->stream = stream;
        event->number = stream->submitted;
    }
    pthread_mutex_unlock(&sim.lock);
    if (stream && !same) return SIM_MISUSE(SHMEMI_CU_INVALID_HANDLE, "event and stream are of two contexts");
    return same ? SHMEMI_CU_SUCCESS : SHMEMI_CU_INVALID_HANDLE;
}

unsigned cuEventQuery(shmemi_cu_event handle)
{
    SIM_ENTER();
    pthread_mutex_lock(&sim.lock);
    const struct CUevent_st *event  = event_of(__func__, handle);
    unsigned                 result = SHMEMI_CU_INVALID_HANDLE;
    if (event) result = event->stream && event->stream->completed < event->number ? SHMEMI_CU_NOT_READY : event->context->broken;
    pthread_mutex_unlock(&sim.lock);
    return result;
}

unsigned cuEventSynchronize(shmemi_cu_event handle)
{
    SIM_ENTER();
    pthread_mutex_lock(&sim.lock);
    const struct CUevent_st *event = event_of(__func__, handle);
    if (event && event->stream) await(event->stream, event->number);
    unsigned result = event ? event->context->broken : SHMEMI_CU_INVALID_HANDLE;
    pthread_mutex_unlock(&sim.lock);
    return result;
}

unsigned cuEventDestroy_v2(shmemi_cu_event handle)
{
    SIM_ENTER();
    pthread_mutex_lock(&sim.lock);
    struct CUevent_st *event = event_of(__func__, handle), **at = &sim.events;
    while (event && *at != event) at = &(*at)->next;
    if (event) *at = event->next;
    free(event);
    pthread_mutex_unlock(&sim.lock);
    return event ? SHMEMI_CU_SUCCESS : SHMEMI_CU_INVALID_HANDLE;
}

static unsigned run_nothing(struct sim_op *op)
{
    (void)op;
    return SHMEMI_CU_SUCCESS;
}

unsigned cuStreamWaitEvent(shmemi_cu_stream stream, shmemi_cu_event handle, unsigned flags)
{
    SIM_ENTER();
    if (flags) return SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "flags %u", flags);
    pthread_mutex_lock(&sim.lock);
    const struct CUevent_st *event = event_of(__func__, handle);
    struct sim_op            op    = {.run = run_nothing, .name = __func__};
    /* op.stream is not set yet, so a wait for the own stream is kept: it holds at once. */
    if (event && event->stream) wait_for(&op, event->stream, event->number);
    pthread_mutex_unlock(&sim.lock);
    return event ? sim_submit(&op, stream, false) : SHMEMI_CU_INVALID_HANDLE;
}
