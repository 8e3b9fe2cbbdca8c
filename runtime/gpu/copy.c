/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies by the driver, and the question what a pointer is.
 *
 * Blocking copies go on one stream of ours and wait for it. Nonblocking ones, between memory of GPUs only, go on another, and fence and quiet
 * wait for that: copies of one stream are in order, but CPU stores and atomics that come after a fence would overtake them. Neither stream waits
 * for the program's: who fills memory by a kernel waits for it before the call, as with every other library.
 */
#include "runtime/gpu/inside.h"
#include "runtime/rma.h"

#include <pthread.h>
#include <string.h>

/* ---- what a pointer is ---- */

/* The allocation of the last answer "a GPU's": most operations of a thread are on few. Where it is freed since, the driver copies all the same. */
static _Thread_local struct {
    uintptr_t base;
    size_t    bytes;
} last_range __attribute__((tls_model("initial-exec")));

/* The thread's stack is host memory as long as the thread lives: values of p, and most small sources. */
static bool is_on_stack(uintptr_t at)
{
    static _Thread_local struct {
        bool      known;
        uintptr_t base;
        size_t    bytes;
    } stack __attribute__((tls_model("initial-exec")));
    if (SHMEMI_UNLIKELY(!stack.known)) {
        pthread_attr_t attributes;
        void          *base;
        stack.known = true;
        if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
        if (pthread_attr_getstack(&attributes, &base, &stack.bytes) == 0) stack.base = (uintptr_t)base;
        else stack.bytes = 0;
        pthread_attr_destroy(&attributes);
    }
    return at - stack.base < stack.bytes;
}

static bool ask_driver(const void *address)
{
    unsigned kind = 0, attributes[] = {SHMEMI_CU_POINTER_KIND, SHMEMI_CU_POINTER_RANGE_START, SHMEMI_CU_POINTER_RANGE_BYTES};
    shmemi_cu_pointer start     = 0;
    size_t            bytes     = 0;
    void             *answers[] = {&kind, &start, &bytes};
    shmemi_gpu_enter();
    unsigned result = shmemi_gpu.cuda->pointer_get_attributes(3, attributes, answers, (shmemi_cu_pointer)(uintptr_t)address);
    shmemi_gpu_leave();
    if (result || kind != SHMEMI_CU_KIND_DEVICE) return false;
    last_range.base  = (uintptr_t)start;
    last_range.bytes = bytes;
    return true;
}

/* Symmetric memory of the host is known here. Other memory of the host is asked for each time: the answer could change with the next unmapping. */
bool shmemi_gpu_is_foreign(const void *address)
{
    const struct shmemi_state *state = &shmemi_state;
    uintptr_t                  at    = (uintptr_t)address;
    if (!state->gpu || at - (uintptr_t)state->node.heap_reserved < state->node.heap_reserved_bytes ||
        at - (uintptr_t)state->node.node_base < state->node.node_bytes || at - state->own_data_base < state->own_data_bytes)
        return false;
    return at - last_range.base < last_range.bytes || (!is_on_stack(at) && ask_driver(address));
}

/* ---- copies ---- */

static void start_copy(void *dest, const void *source, size_t bytes, shmemi_cu_stream stream)
{
    unsigned result =
        shmemi_gpu.cuda->memcpy_async((shmemi_cu_pointer)(uintptr_t)dest, (shmemi_cu_pointer)(uintptr_t)source, bytes, stream);
    shmemi_gpu_require(result, "copy", "copy memory of a GPU");
}

static void finish_copies(shmemi_cu_stream stream)
{
    shmemi_gpu_require(shmemi_gpu.cuda->stream_synchronize(stream), "copy", "wait for a copy of GPU memory");
}

void shmemi_gpu_copy(void *dest, const void *source, size_t bytes)
{
    if (bytes == 0) return;
    if (!shmemi_gpu_is(dest) && !shmemi_gpu_is(source)) {
        shmemi_rma_copy(dest, source, bytes, shmemi_rma_large_get);
        return;
    }
    shmemi_gpu_enter();
    start_copy(dest, source, bytes, shmemi_gpu.stream);
    finish_copies(shmemi_gpu.stream);
    shmemi_gpu_leave();
}

void shmemi_gpu_copy_strided(void *dest, ptrdiff_t dest_stride, const void *source, ptrdiff_t source_stride, size_t blocks,
                             size_t bytes)
{
    char       *to   = dest;
    const char *from = source;
    if (blocks == 0 || bytes == 0) return;
    shmemi_gpu_enter();
    for (size_t i = 0; i < blocks; i++, to += dest_stride, from += source_stride) start_copy(to, from, bytes, shmemi_gpu.stream);
    finish_copies(shmemi_gpu.stream);
    shmemi_gpu_leave();
}

void shmemi_gpu_copy_nbi(void *dest, const void *source, size_t bytes)
{
    shmemi_gpu_enter();
    start_copy(dest, source, bytes, shmemi_gpu.stream_nbi);
    shmemi_gpu_leave();
    /* Release: who reads the new count and waits for the stream waits for this copy. */
    atomic_fetch_add_explicit(&shmemi_gpu.nbi_made, 1, memory_order_release);
}

void shmemi_gpu_zero(void *dest, size_t bytes)
{
    if (bytes == 0) return;
    shmemi_gpu_enter();
    unsigned result = shmemi_gpu.cuda->memset_d8_async((shmemi_cu_pointer)(uintptr_t)dest, 0, bytes, shmemi_gpu.stream);
    shmemi_gpu_require(result, "copy", "clear memory of a GPU");
    finish_copies(shmemi_gpu.stream);
    shmemi_gpu_leave();
}

/*
 * The count is read before the stream is waited for, so what it counts is over afterwards. It only grows: a thread that began earlier and comes
 * later must not turn it back.
 */
void shmemi_gpu_complete_slow(void)
{
    uint64_t made = atomic_load_explicit(&shmemi_gpu.nbi_made, memory_order_acquire);
    shmemi_gpu_enter();
    finish_copies(shmemi_gpu.stream_nbi);
    shmemi_gpu_leave();
    uint64_t done = atomic_load_explicit(&shmemi_gpu.nbi_done, memory_order_relaxed);
    while (done < made &&
           !atomic_compare_exchange_weak_explicit(&shmemi_gpu.nbi_done, &done, made, memory_order_release, memory_order_relaxed))
        continue;
}
