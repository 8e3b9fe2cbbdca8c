/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies, fills, and words that streams write and wait for. Everything here goes through a stream: the calls without one take the legacy
 * stream and wait. Two are stricter than most machines are, because a program must not count on more than is promised: a copy between device
 * memories does not wait, whatever its name, and an asynchronous copy reads pageable memory late.
 */
#include "sim.h"

#include <sched.h>
#include <string.h>
#include <time.h>

static bool is_reserved(uintptr_t address)
{
    for (const struct sim_reservation *it = sim.reservations; it; it = it->next)
        if (address - it->base < it->bytes) return true;
    return false;
}

/* Ends in front of the next range that the driver knows. */
static size_t pageable_bytes(uintptr_t address, size_t bytes)
{
    for (const struct sim_range *range = sim.ranges; range; range = range->next)
        if (range->base > address && range->base - address < bytes) bytes = range->base - address;
    return bytes;
}

char *sim_touch(const char *name, const struct CUctx_st *context, uintptr_t address, size_t *bytes_inout,
                struct sim_range **range_out)
{
    const char *why  = NULL;
    char       *here = (char *)address;
    pthread_mutex_lock(&sim.lock);
    struct sim_range *range = sim_range_of(address);
    if (range) {
        size_t left = range->bytes - (address - range->base);
        if (*bytes_inout > left) *bytes_inout = left;
        here = range->alias + (address - range->base);
        if (range->kind == SIM_MAPPED && !(range->access & 1u << context->device))
            why = "cuMemSetAccess has not given this device access";
        if (!why) range->busy++;
    } else if (is_reserved(address)) why = "reserved, and nothing is mapped there";
    else {
        *bytes_inout = pageable_bytes(address, *bytes_inout);
        if (!sim_is_mapped(address, *bytes_inout)) why = "no memory of this process";
    }
    pthread_mutex_unlock(&sim.lock);
    *range_out = range;
    if (!why) return here;
    sim_misuse(SHMEMI_CU_ILLEGAL_ADDRESS, name, "%#zx, %zu bytes: %s", address, *bytes_inout, why);
    return NULL;
}

void sim_done(struct sim_range *range)
{
    if (!range) return;
    pthread_mutex_lock(&sim.lock);
    range->busy--;
    pthread_mutex_unlock(&sim.lock);
}

/*
 * Every piece of the range may be touched, and all are of one sort: one allocation, mappings side by side, or host memory.
 */
static unsigned check(const char *name, const struct CUctx_st *context, uintptr_t address, size_t bytes)
{
    uintptr_t start = address;
    bool      begun = false, device = false;
    for (size_t piece = bytes; bytes; address += piece, bytes -= piece, piece = bytes) {
        struct sim_range *range;
        if (!sim_touch(name, context, address, &piece, &range)) return SHMEMI_CU_INVALID_VALUE;
        bool goes_on = range && range->kind == SIM_MAPPED, is_memory = range && range->memory;
        sim_done(range);
        if (begun && (is_memory != device || (device && !goes_on)))
            return sim_misuse(SHMEMI_CU_INVALID_VALUE, name, "%#zx, %zu bytes: beyond the allocation's end at %#zx", start,
                              address + bytes - start, address);
        begun  = true;
        device = is_memory;
    }
    return SHMEMI_CU_SUCCESS;
}

/* Words of 8 and 4 bytes are never torn. */
static void move(char *to, const char *from, size_t bytes)
{
    if (bytes == 8 && ((uintptr_t)to | (uintptr_t)from) % 8 == 0)
        __atomic_store_n((uint64_t *)(void *)to, __atomic_load_n((const uint64_t *)(const void *)from, __ATOMIC_RELAXED),
                         __ATOMIC_RELAXED);
    else if (bytes == 4 && ((uintptr_t)to | (uintptr_t)from) % 4 == 0)
        __atomic_store_n((uint32_t *)(void *)to, __atomic_load_n((const uint32_t *)(const void *)from, __ATOMIC_RELAXED),
                         __ATOMIC_RELAXED);
    else memmove(to, from, bytes);
}

static unsigned copy_row(const struct sim_op *op, uintptr_t dest, uintptr_t source, size_t bytes)
{
    const struct CUctx_st *context = op->stream->context;
    while (bytes) {
        struct sim_range *to_range, *from_range;
        size_t            piece = bytes;
        char             *from  = sim_touch(op->name, context, source, &piece, &from_range);
        if (!from) return SHMEMI_CU_ILLEGAL_ADDRESS;
        char *to = sim_touch(op->name, context, dest, &piece, &to_range);
        if (to) move(to, from, piece);
        sim_done(from_range);
        if (!to) return SHMEMI_CU_ILLEGAL_ADDRESS;
        sim_done(to_range);
        dest += piece;
        source += piece;
        bytes -= piece;
    }
    return SHMEMI_CU_SUCCESS;
}

static unsigned run_copy(struct sim_op *op)
{
    unsigned result = SHMEMI_CU_SUCCESS;
    for (size_t row = 0; row < op->rows && !result; row++)
        result = copy_row(op, op->dest + row * op->dest_pitch, op->source + row * op->source_pitch, op->bytes);
    return result;
}

static bool is_device(uintptr_t address)
{
    pthread_mutex_lock(&sim.lock);
    const struct sim_range *range = sim_range_of(address);
    bool                    yes   = range && range->memory;
    pthread_mutex_unlock(&sim.lock);
    return yes;
}

static unsigned copy(const char *name, uintptr_t dest, uintptr_t source, size_t bytes, shmemi_cu_stream stream, bool wait)
{
    unsigned         result  = 0;
    struct CUctx_st *context = sim_context(name, &result);
    if (!result && context) result = check(name, context, source, bytes);
    if (!result) result = check(name, context, dest, bytes);
    if (result || !bytes) return result;
    if (is_device(dest) && is_device(source)) wait = false;
    const struct sim_op op = {.run = run_copy, .name = name, .dest = dest, .source = source, .bytes = bytes, .rows = 1};
    return sim_submit(&op, stream, wait);
}

unsigned cuMemcpy(shmemi_cu_pointer dest, shmemi_cu_pointer source, size_t bytes)
{
    SIM_ENTER();
    return copy(__func__, dest, source, bytes, NULL, true);
}

unsigned cuMemcpyAsync(shmemi_cu_pointer dest, shmemi_cu_pointer source, size_t bytes, shmemi_cu_stream stream)
{
    SIM_ENTER();
    return copy(__func__, dest, source, bytes, stream, false);
}

static unsigned wants_device(const char *name, shmemi_cu_pointer pointer)
{
    return is_device(pointer) ? SHMEMI_CU_SUCCESS : sim_misuse(SHMEMI_CU_INVALID_VALUE, name, "%#llx is no device memory", pointer);
}

unsigned cuMemcpyHtoD_v2(shmemi_cu_pointer dest, const void *source, size_t bytes)
{
    SIM_ENTER();
    unsigned result = wants_device(__func__, dest);
    return result ? result : copy(__func__, dest, (uintptr_t)source, bytes, NULL, true);
}

unsigned cuMemcpyDtoH_v2(void *dest, shmemi_cu_pointer source, size_t bytes)
{
    SIM_ENTER();
    unsigned result = wants_device(__func__, source);
    return result ? result : copy(__func__, (uintptr_t)dest, source, bytes, NULL, true);
}

unsigned cuMemcpyDtoD_v2(shmemi_cu_pointer dest, shmemi_cu_pointer source, size_t bytes)
{
    SIM_ENTER();
    unsigned result = wants_device(__func__, dest);
    if (!result) result = wants_device(__func__, source);
    return result ? result : copy(__func__, dest, source, bytes, NULL, true);
}

unsigned cuMemcpyHtoDAsync_v2(shmemi_cu_pointer dest, const void *source, size_t bytes, shmemi_cu_stream stream)
{
    SIM_ENTER();
    unsigned result = wants_device(__func__, dest);
    return result ? result : copy(__func__, dest, (uintptr_t)source, bytes, stream, false);
}

unsigned cuMemcpyDtoHAsync_v2(void *dest, shmemi_cu_pointer source, size_t bytes, shmemi_cu_stream stream)
{
    SIM_ENTER();
    unsigned result = wants_device(__func__, source);
    return result ? result : copy(__func__, (uintptr_t)dest, source, bytes, stream, false);
}

unsigned cuMemcpyDtoDAsync_v2(shmemi_cu_pointer dest, shmemi_cu_pointer source, size_t bytes, shmemi_cu_stream stream)
{
    SIM_ENTER();
    unsigned result = wants_device(__func__, dest);
    if (!result) result = wants_device(__func__, source);
    return result ? result : copy(__func__, dest, source, bytes, stream, false);
}

static uintptr_t side(unsigned kind, const void *host, shmemi_cu_pointer device, size_t x, size_t y, size_t pitch)
{
    uintptr_t base = kind == SHMEMI_CU_KIND_HOST ? (uintptr_t)host : device;
    return base + y * pitch + x;
}

unsigned cuMemcpy2DAsync_v2(const struct shmemi_cu_copy2d *copy2d, shmemi_cu_stream stream)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    size_t    source_pitch = copy2d->source_pitch ? copy2d->source_pitch : copy2d->width_bytes;
    size_t    dest_pitch   = copy2d->dest_pitch ? copy2d->dest_pitch : copy2d->width_bytes;
    uintptr_t source       = side(copy2d->source_kind, copy2d->source_host, copy2d->source_device, copy2d->source_x_bytes,
                                  copy2d->source_y, source_pitch);
    uintptr_t dest =
        side(copy2d->dest_kind, copy2d->dest_host, copy2d->dest_device, copy2d->dest_x_bytes, copy2d->dest_y, dest_pitch);
    if (copy2d->source_kind == 3 || copy2d->dest_kind == 3) return SIM_MISUSE(SHMEMI_CU_NOT_SUPPORTED, "arrays are not simulated");
    if (source_pitch < copy2d->width_bytes || dest_pitch < copy2d->width_bytes)
        return SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "rows of %zu bytes overlap", copy2d->width_bytes);
    if (!copy2d->width_bytes || !copy2d->height) return SHMEMI_CU_SUCCESS;
    unsigned result = check(__func__, context, source, source_pitch * (copy2d->height - 1) + copy2d->width_bytes);
    if (!result) result = check(__func__, context, dest, dest_pitch * (copy2d->height - 1) + copy2d->width_bytes);
    if (result) return result;
    const struct sim_op op = {.run          = run_copy,
                              .name         = __func__,
                              .dest         = dest,
                              .source       = source,
                              .bytes        = copy2d->width_bytes,
                              .rows         = copy2d->height,
                              .dest_pitch   = dest_pitch,
                              .source_pitch = source_pitch};
    return sim_submit(&op, stream, false);
}

/* ---- fills ---- */

static unsigned run_fill(struct sim_op *op)
{
    uintptr_t dest = op->dest;
    for (size_t bytes = op->bytes, piece = bytes; bytes; dest += piece, bytes -= piece, piece = bytes) {
        struct sim_range *range;
        char             *to = sim_touch(op->name, op->stream->context, dest, &piece, &range);
        if (!to) return SHMEMI_CU_ILLEGAL_ADDRESS;
        const char *value = (const char *)&op->value;
        for (size_t i = 0; i < piece; i++) to[i] = value[(dest + i - op->dest) % op->width];
        sim_done(range);
    }
    return SHMEMI_CU_SUCCESS;
}

static unsigned fill(const char *name, uintptr_t dest, uint64_t value, unsigned width, size_t count, shmemi_cu_stream stream)
{
    unsigned         result  = 0;
    struct CUctx_st *context = sim_context(name, &result);
    if (!result && context) result = check(name, context, dest, count * width);
    if (!result && dest % width) result = sim_misuse(SHMEMI_CU_INVALID_VALUE, name, "%#zx is not aligned", dest);
    if (result || !count) return result;
    const struct sim_op op = {.run = run_fill, .name = name, .dest = dest, .bytes = count * width, .value = value, .width = width};
    return sim_submit(&op, stream, false); /* none of them waits */
}

unsigned cuMemsetD8_v2(shmemi_cu_pointer dest, unsigned char value, size_t count)
{
    SIM_ENTER();
    return fill(__func__, dest, value, 1, count, NULL);
}

unsigned cuMemsetD8Async(shmemi_cu_pointer dest, unsigned char value, size_t count, shmemi_cu_stream stream)
{
    SIM_ENTER();
    return fill(__func__, dest, value, 1, count, stream);
}

unsigned cuMemsetD32Async(shmemi_cu_pointer dest, unsigned value, size_t count, shmemi_cu_stream stream)
{
    SIM_ENTER();
    return fill(__func__, dest, value, 4, count, stream);
}

/* ---- words ---- */

static unsigned run_write(struct sim_op *op)
{
    struct sim_range *range;
    size_t            bytes = op->width;
    char             *word  = sim_touch(op->name, op->stream->context, op->dest, &bytes, &range);
    if (!word) return SHMEMI_CU_ILLEGAL_ADDRESS;
    /* Release: work before it on the stream is visible to who has seen the word. */
    if (op->width == 8) __atomic_store_n((uint64_t *)(void *)word, op->value, __ATOMIC_RELEASE);
    else __atomic_store_n((uint32_t *)(void *)word, (uint32_t)op->value, __ATOMIC_RELEASE);
    sim_done(range);
    return SHMEMI_CU_SUCCESS;
}

static bool holds(const struct sim_op *op, uint64_t seen)
{
    switch (op->flags & 3) {
    case SHMEMI_CU_WAIT_GEQ: return op->width == 8 ? (int64_t)(seen - op->value) >= 0 : (int32_t)(uint32_t)(seen - op->value) >= 0;
    case SHMEMI_CU_WAIT_EQ: return seen == op->value;
    case SHMEMI_CU_WAIT_AND: return (seen & op->value) != 0;
    default: return (~(seen | op->value) & (op->width == 8 ? UINT64_MAX : UINT32_MAX)) != 0;
    }
}

static unsigned run_wait(struct sim_op *op)
{
    struct sim_range *range;
    size_t            bytes = op->width;
    char             *word  = sim_touch(op->name, op->stream->context, op->dest, &bytes, &range);
    if (!word) return SHMEMI_CU_ILLEGAL_ADDRESS;
    for (unsigned turn = 0;; turn++) {
        uint64_t seen = op->width == 8 ? __atomic_load_n((const uint64_t *)(const void *)word, __ATOMIC_ACQUIRE)
                                       : __atomic_load_n((const uint32_t *)(const void *)word, __ATOMIC_ACQUIRE);
        if (holds(op, seen)) break;
        if (turn < 50) sched_yield();
        else nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
    sim_done(range);
    return SHMEMI_CU_SUCCESS;
}

/* A word of device memory, or of pinned host memory. */
static unsigned word(const char *name, unsigned (*run)(struct sim_op *), shmemi_cu_stream stream, uintptr_t address, uint64_t value,
                     unsigned width, unsigned flags)
{
    unsigned         result  = 0;
    struct CUctx_st *context = sim_context(name, &result);
    if (result || !context) return result;
    if (address % width) return sim_misuse(SHMEMI_CU_INVALID_VALUE, name, "%#zx is not aligned", address);
    pthread_mutex_lock(&sim.lock);
    bool known = sim_range_of(address) != NULL;
    pthread_mutex_unlock(&sim.lock);
    if (!known) return sim_misuse(SHMEMI_CU_INVALID_VALUE, name, "%#zx is neither device memory nor pinned host memory", address);
    result = check(name, context, address, width);
    if (result) return result;
    const struct sim_op op = {
        .run = run, .name = name, .dest = address, .bytes = width, .value = value, .width = width, .flags = flags};
    return sim_submit(&op, stream, false);
}

unsigned cuStreamWriteValue32_v2(shmemi_cu_stream stream, shmemi_cu_pointer at, uint32_t value, unsigned flags)
{
    SIM_ENTER();
    if (flags) return SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "flags %#x", flags);
    return word(__func__, run_write, stream, at, value, 4, flags);
}

unsigned cuStreamWriteValue64_v2(shmemi_cu_stream stream, shmemi_cu_pointer at, shmemi_cu_uint64 value, unsigned flags)
{
    SIM_ENTER();
    if (flags) return SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "flags %#x", flags);
    return word(__func__, run_write, stream, at, value, 8, flags);
}

unsigned cuStreamWaitValue32_v2(shmemi_cu_stream stream, shmemi_cu_pointer at, uint32_t value, unsigned flags)
{
    SIM_ENTER();
    if (flags & ~(3u | SHMEMI_CU_WAIT_FLUSH)) return SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "flags %#x", flags);
    return word(__func__, run_wait, stream, at, value, 4, flags);
}

unsigned cuStreamWaitValue64_v2(shmemi_cu_stream stream, shmemi_cu_pointer at, shmemi_cu_uint64 value, unsigned flags)
{
    SIM_ENTER();
    if (flags & ~(3u | SHMEMI_CU_WAIT_FLUSH)) return SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "flags %#x", flags);
    return word(__func__, run_wait, stream, at, value, 8, flags);
}
