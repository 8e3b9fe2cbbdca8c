/* SPDX-License-Identifier: Apache-2.0
 *
 * The symmetric heap: the same size on every PE.
 *
 * Invariant: a block has the same offset on every PE. All PEs make the same calls in the same order on equal allocators, so
 * agreeing on an address takes no message. Each call is noted in the PE's control block before the barrier that the standard demands
 * anyway; after it each PE compares its note with its right neighbour's, and a difference ends the job naming both
 * calls. Two notes per PE, because the neighbour may already have begun its next call (not the one after: that needs us).
 * Pages are given when a block is allocated, by its owner. Where one PE cannot have them, it says so to all before the barrier,
 * and the call fails on every PE. The old names (shmalloc and so on) are the same calls, and may be mixed with the new ones.
 * Spec: OpenSHMEM 1.6 §9.3 Memory Management Routines.  Tests: tests/api/heap/.
 */
#include "runtime/heap.h"

#include "runtime/alloc.h"
#include "runtime/base/log.h"
#include "runtime/base/num.h"
#include "runtime/coll/coll.h"
#include "runtime/post.h"
#include "runtime/route.h"
#include "runtime/service.h"
#include "runtime/sync.h"

#include <errno.h>
#include <shmem.h>
#include <stdio.h>
#include <string.h>

enum heap_call_kind { CALL_MALLOC, CALL_ALIGN, CALL_CALLOC, CALL_HINTS, CALL_REALLOC, CALL_FREE };
static const char *const call_names[] = {
    "shmem_malloc(%s%llu)",
    "shmem_align(%s%llu, %llu)",
    "shmem_calloc(%s%llu, %llu)",
    "shmem_malloc_with_hints(%s%llu, %llu)",
    "shmem_realloc(heap+%s%llu, %llu)",
    "shmem_free(heap+%s%llu)",
};

static struct shmemi_alloc *allocator;
static uint64_t             sequence, history; /* number and hash of the calls so far */

int shmemi_heap_init(void)
{
    shmemi_pages_forget();
    sequence = history = 0;
    allocator          = shmemi_alloc_create(shmemi_state.all_heap_bytes);
    if (allocator) return 0;
    shmemi_error("could not make the records of the symmetric heap" WHY "malloc gave no memory" FIX
                 "raise `ulimit -v`, or start fewer PEs");
    return -ENOMEM;
}

void shmemi_heap_finish(void)
{
    shmemi_alloc_destroy(allocator);
    allocator = NULL;
}

/* ---- agreement ---- */

static void note_call(enum heap_call_kind kind, uint64_t first, uint64_t second)
{
    struct shmemi_heap_call *note     = &shmemi_state.ctrl->heap_call[++sequence % 2];
    const uint64_t           fields[] = {(uint64_t)kind, first, second};
    history                           = shmemi_hash(history, fields, sizeof fields);
    /* Relaxed: the barrier that follows publishes them. */
    atomic_store_explicit(&note->kind, (uint32_t)kind, memory_order_relaxed);
    atomic_store_explicit(&note->first, first, memory_order_relaxed);
    atomic_store_explicit(&note->second, second, memory_order_relaxed);
    atomic_store_explicit(&note->hash, history, memory_order_relaxed);
    atomic_store_explicit(&note->sequence, sequence, memory_order_relaxed);
}

static struct shmemi_place ctrl_place(int pe, size_t offset)
{
    const struct shmemi_peer *peer  = &shmemi_state.peers[pe];
    struct shmemi_place       place = {.transport = peer->posted, .pe = pe, .segment = SHMEMT_SEGMENT_CTRL, .offset = offset};
    if (peer->mapped != SHMEMI_NOT_MAPPED) {
        place.local  = (unsigned)peer->local;
        place.mapped = (char *)shmemi_state_ctrl(place.local) + offset;
    }
    return place;
}

static void describe_call(char *buffer, size_t bytes, const struct shmemi_heap_call *note)
{
    uint32_t kind = atomic_load_explicit(&note->kind, memory_order_relaxed);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(buffer, bytes, call_names[kind % (sizeof call_names / sizeof call_names[0])], "",
             (unsigned long long)atomic_load_explicit(&note->first, memory_order_relaxed),
             (unsigned long long)atomic_load_explicit(&note->second, memory_order_relaxed));
#pragma GCC diagnostic pop
}

/* The neighbour's barrier was that of another routine. */
static SHMEMI_COLD void neighbour_made_fewer(const char *call, int neighbour, uint64_t count)
{
    char here[96];
    describe_call(here, sizeof here, &shmemi_state.ctrl->heap_call[sequence % 2]);
    shmemi_service_fatal(
        call,
        "PEs %d and %d do not make the same heap calls" WHY
        "call number %llu of PE %d is %s; PE %d has made only %llu, and is in a barrier or another collective call" FIX
        "call the memory routines on all PEs, in the same order, with the same arguments",
        shmemi_state.my_pe, neighbour, (unsigned long long)sequence, shmemi_state.my_pe, here, neighbour,
        (unsigned long long)count);
}

static SHMEMI_COLD void differ(const char *call, int neighbour, const struct shmemi_heap_call *theirs)
{
    char here[96], there[96];
    describe_call(here, sizeof here, &shmemi_state.ctrl->heap_call[sequence % 2]);
    describe_call(there, sizeof there, theirs);
    shmemi_service_fatal(call,
                         "PEs %d and %d do not make the same heap calls" WHY "call number %llu is %s on PE %d and %s on PE %d%s" FIX
                         "call the memory routines on all PEs, in the same order, with the same arguments",
                         shmemi_state.my_pe, neighbour, (unsigned long long)sequence, here, shmemi_state.my_pe, there, neighbour,
                         strcmp(here, there) == 0 ? "; an earlier call differs" : "");
}

/* After the barrier: the neighbour's note of this call must equal mine. */
static void compare_with_neighbour(const char *call)
{
    struct shmemi_state *state = &shmemi_state;
    if (state->npes == 1) return;
    int                     neighbour = (state->my_pe + 1) % state->npes;
    struct shmemi_heap_call theirs;
    struct shmemi_place     from =
        ctrl_place(neighbour, offsetof(struct shmemi_ctrl, heap_call) + (size_t)(sequence % 2) * sizeof theirs);
    if (from.mapped) memcpy(&theirs, from.mapped, sizeof theirs);
    else shmemi_post_get(&state->ctx_default, &from, &theirs, sizeof theirs, SHMEMI_POST_LOCAL);
    uint64_t count = atomic_load_explicit(&theirs.sequence, memory_order_relaxed);
    /* Of the two notes this one has the parity of ours: it is ours, the one two calls back, or 0 for none. */
    if (count < sequence) neighbour_made_fewer(call, neighbour, sequence - 1);
    if (atomic_load_explicit(&theirs.hash, memory_order_relaxed) != history) differ(call, neighbour, &theirs);
}

/* No pages here: tell every PE before the barrier. */
static SHMEMI_COLD void tell_failure(void)
{
    for (int pe = 0; pe < shmemi_state.npes; pe++) {
        struct shmemi_place at =
            ctrl_place(pe, offsetof(struct shmemi_ctrl, heap_failed) + (size_t)(sequence % 2) * sizeof(uint64_t));
        struct shmemt_amo amo = {.op = SHMEMT_AMO_SET, .bytes = sizeof(uint64_t), .value = sequence};
        if (at.mapped) atomic_store_explicit((_Atomic uint64_t *)at.mapped, sequence, memory_order_relaxed);
        else shmemi_post_amo(&shmemi_state.ctx_default, &at, &amo, SHMEMI_POST_LOCAL);
    }
}

static bool somebody_failed(void)
{
    return atomic_load_explicit(&shmemi_state.ctrl->heap_failed[sequence % 2], memory_order_relaxed) == sequence;
}

static void barrier_and_compare(const char *call)
{
    shmemi_sync_barrier(call, SHMEMI_COLL_HEAP);
    compare_with_neighbour(call);
}

/* ---- blocks ---- */

static void require_running(const char *call)
{
    if (SHMEMI_UNLIKELY(!shmemi_state_running())) shmemi_service_outside(call);
}

static void *block_address(size_t offset)
{
    return (void *)(shmemi_state.all_heap_base + offset);
}

static SHMEMI_COLD void foreign_pointer(const char *call, const void *pointer)
{
    char text[80];
    shmemi_service_fatal(call,
                         "%s is not the start of a block of the symmetric heap" WHY
                         "it was not returned by shmem_malloc and its kin, or it was freed before" FIX
                         "look at where the pointer comes from",
                         shmemi_route_describe(pointer, text, sizeof text));
}

/* Offset of a live block; ends the job on any other pointer. */
static size_t block_of(const char *call, const void *pointer)
{
    size_t offset = (uintptr_t)pointer - shmemi_state.all_heap_base;
    require_running(call);
    if (offset >= shmemi_state.all_heap_bytes || shmemi_alloc_size(allocator, offset) == SHMEMI_ALLOC_NONE)
        foreign_pointer(call, pointer);
    return offset;
}

/* Programs that do not look at the result crash far from here. The same on all PEs, so one says it, and once. */
static SHMEMI_COLD void does_not_fit(const char *call, size_t bytes)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    if (shmemi_state.my_pe != 0 || atomic_flag_test_and_set(&told)) return;
    shmemi_warn("%s: %zu bytes do not fit into what is free of the symmetric heap (%zu MiB)" WHY "every PE gets NULL" FIX
                "raise SHMEM_SYMMETRIC_SIZE, or check for NULL",
                call, bytes, shmemi_state.all_heap_bytes >> 20);
}

/* The common part: bytes > 0. NULL on every PE where it does not fit, or where some PE cannot have the pages. */
static void *allocate(const char *call, enum heap_call_kind kind, uint64_t first, uint64_t second, size_t bytes, size_t alignment,
                      bool zero)
{
    require_running(call);
    note_call(kind, first, second);
    /* Each heap begins at a multiple of heap_alignment, so an aligned offset is an aligned address up to that. */
    size_t offset =
        alignment <= shmemi_state.node.heap_alignment ? shmemi_alloc_get(allocator, bytes, alignment) : SHMEMI_ALLOC_NONE;
    if (offset == SHMEMI_ALLOC_NONE) does_not_fit(call, bytes);
    /* It fits on all PEs or on none; but one alone may have no memory for its records, or no pages. */
    if (offset == SHMEMI_ALLOC_NONE || shmemi_pages_populate(block_address(offset), bytes) != 0) tell_failure();
    else if (zero) memset(block_address(offset), 0, bytes);
    barrier_and_compare(call);
    if (!somebody_failed()) return block_address(offset);
    if (offset != SHMEMI_ALLOC_NONE) shmemi_alloc_free(allocator, offset);
    return NULL;
}

static void *allocate_plain(const char *call, size_t size)
{
    if (size == 0) return NULL; /* no barrier: spec shmem_malloc */
    return allocate(call, CALL_MALLOC, size, 0, size, 1, false);
}

void *pshmem_malloc(size_t size)
{
    return allocate_plain("shmem_malloc", size);
}
SHMEMI_EXPORT(shmem_malloc)

void *pshmalloc(size_t size)
{
    return allocate_plain("shmalloc", size);
}
SHMEMI_EXPORT(shmalloc)

void *pshmem_malloc_with_hints(size_t size, long hints)
{
    if (size == 0) return NULL;
    return allocate("shmem_malloc_with_hints", CALL_HINTS, size, (uint64_t)hints, size, 1, false);
}
SHMEMI_EXPORT(shmem_malloc_with_hints)

static void *allocate_aligned(const char *call, size_t alignment, size_t size)
{
    if (size == 0) return NULL;
    bool power_of_two = alignment != 0 && (alignment & (alignment - 1)) == 0;
    if (!power_of_two) {
        shmemi_error("%s: alignment %zu" WHY "it must be a power of two" FIX "pass such an alignment; the result is NULL", call,
                     alignment);
        /* All PEs pass the same arguments, so all come here: keep their order of calls. */
        require_running(call);
        note_call(CALL_ALIGN, alignment, size);
        barrier_and_compare(call);
        return NULL;
    }
    /* Less than the standard's least alignment is more than was asked for. */
    return allocate(call, CALL_ALIGN, alignment, size, size, alignment < sizeof(void *) ? sizeof(void *) : alignment, false);
}

void *pshmem_align(size_t alignment, size_t size)
{
    return allocate_aligned("shmem_align", alignment, size);
}
SHMEMI_EXPORT(shmem_align)

void *pshmemalign(size_t alignment, size_t size)
{
    return allocate_aligned("shmemalign", alignment, size);
}
SHMEMI_EXPORT(shmemalign)

void *pshmem_calloc(size_t count, size_t size)
{
    size_t bytes;
    if (count == 0 || size == 0) return NULL;
    if (!shmemi_mul_size(count, size, &bytes)) bytes = SIZE_MAX; /* fits nowhere */
    return allocate("shmem_calloc", CALL_CALLOC, count, size, bytes, 1, true);
}
SHMEMI_EXPORT(shmem_calloc)

static void release(const char *call, void *ptr)
{
    size_t offset = block_of(call, ptr);
    note_call(CALL_FREE, offset, 0);
    barrier_and_compare(call); /* before the block can be given out again: peers may still use it */
    shmemi_alloc_free(allocator, offset);
}

void pshmem_free(void *ptr)
{
    if (ptr) release("shmem_free", ptr);
}
SHMEMI_EXPORT(shmem_free)

void pshfree(void *ptr)
{
    if (ptr) release("shfree", ptr);
}
SHMEMI_EXPORT(shfree)

/* Moves or resizes; the entry barrier is over. SHMEMI_ALLOC_NONE: the old block stays. */
static size_t resize_block(size_t offset, size_t size)
{
    size_t old_bytes = shmemi_alloc_size(allocator, offset);
    if (shmemi_alloc_resize(allocator, offset, size) == 0) {
        if (size > old_bytes && shmemi_pages_populate(block_address(offset), size) != 0) tell_failure();
        return offset;
    }
    size_t moved = shmemi_alloc_get(allocator, size, 1);
    if (moved == SHMEMI_ALLOC_NONE || shmemi_pages_populate(block_address(moved), size) != 0) tell_failure();
    else memcpy(block_address(moved), block_address(offset), old_bytes < size ? old_bytes : size);
    return moved;
}

static void *reallocate(const char *call, void *ptr, size_t size)
{
    if (!ptr) return size == 0 ? NULL : allocate(call, CALL_REALLOC, UINT64_MAX, size, size, 1, false);
    if (size == 0) {
        release(call, ptr);
        return NULL;
    }
    size_t offset    = block_of(call, ptr);
    size_t old_bytes = shmemi_alloc_size(allocator, offset);
    note_call(CALL_REALLOC, offset, size);
    barrier_and_compare(call);
    size_t result = resize_block(offset, size);
    shmemi_sync_barrier(call, SHMEMI_COLL_HEAP);

    if (somebody_failed()) { /* on all PEs alike: the old block comes back as it was */
        if (result == offset) shmemi_alloc_resize(allocator, offset, old_bytes);
        else if (result != SHMEMI_ALLOC_NONE) shmemi_alloc_free(allocator, result);
        return NULL;
    }
    if (result != offset) shmemi_alloc_free(allocator, offset);
    return block_address(result);
}

void *pshmem_realloc(void *ptr, size_t size)
{
    return reallocate("shmem_realloc", ptr, size);
}
SHMEMI_EXPORT(shmem_realloc)

void *pshrealloc(void *ptr, size_t size)
{
    return reallocate("shrealloc", ptr, size);
}
SHMEMI_EXPORT(shrealloc)
