/* SPDX-License-Identifier: Apache-2.0
 *
 * The symmetric heap: the same size on every PE.
 *
 * Invariant: a block has the same offset on every PE. All PEs make the same calls in the same order on equal allocators, so
 * agreeing on an address takes no message. Each call is noted in the PE's control block before the barrier that the standard demands
 * anyway, and a hash of all calls so far goes with the barrier's own notification to the PE after. Each PE compares it with its own, and
 * only a difference makes it read the other's notes: it ends the job naming both calls. Where a barrier carries nothing (more PEs than cores, several
 * nodes), each PE reads the note of the PE after it. Two notes per PE, because the neighbour may already have begun its next call (not the
 * one after: that needs us). The allocator's records are private, so they are brought up to date while the barrier's messages are on their way.
 * Pages are given when a block is allocated, by its owner. Where one PE cannot have them, it says so to all before the barrier,
 * and the call fails on every PE. The GPU heap (runtime/gpu/) is a second heap with an allocator of its own, whose records lie in host
 * memory as well, and all its memory is there from the start. The old names (shmalloc and so on) are the same calls, and may be mixed with the new ones.
 * Spec: OpenSHMEM 1.6 §9.3 Memory Management Routines.  Tests: tests/api/heap/.
 */
#include "runtime/heap.h"

#include "runtime/alloc.h"
#include "runtime/base/log.h"
#include "runtime/base/num.h"
#include "runtime/coll/coll.h"
#include "runtime/gpu/gpu.h"
#include "runtime/post.h"
#include "runtime/route.h"
#include "runtime/service.h"
#include "runtime/sync.h"

#include <errno.h>
#include <shmemx.h>
#include <stdio.h>
#include <string.h>

enum heap_call_kind { CALL_MALLOC, CALL_ALIGN, CALL_CALLOC, CALL_HINTS, CALL_REALLOC, CALL_FREE };
enum { CALL_ON_GPU = 16 }; /* added to a kind: the offset is one of the GPU heap */
static const char *const call_names[] = {
    "shmem_malloc(%s%llu)",
    "shmem_align(%s%llu, %llu)",
    "shmem_calloc(%s%llu, %llu)",
    "shmem_malloc_with_hints(%s%llu, %llu)",
    "shmem_realloc(%sheap+%llu, %llu)",
    "shmem_free(%sheap+%llu)",
};

/* One kind of memory. */
struct heap {
    struct shmemi_alloc *allocator;
    uintptr_t            base;
    size_t               bytes;
    size_t               alignment; /* of base: the most that shmem_align can give */
    bool                 gpu;
};
static struct heap host_heap, gpu_heap = {.gpu = true};

static uint64_t sequence, history; /* number and hash of the calls so far */

static void describe_heap(struct heap *heap, uintptr_t base, size_t bytes, size_t alignment)
{
    heap->allocator = shmemi_alloc_create(bytes);
    heap->base      = base;
    heap->bytes     = bytes;
    heap->alignment = alignment;
}

int shmemi_heap_init(void)
{
    const struct shmemi_state *state = &shmemi_state;
    shmemi_pages_forget();
    sequence = history = 0;
    describe_heap(&host_heap, state->all_heap_base, state->all_heap_bytes, state->node.heap_alignment);
    describe_heap(&gpu_heap, state->gpu_base, shmemi_gpu.bytes, shmemi_gpu.unit);
    if (host_heap.allocator && gpu_heap.allocator) return 0;
    shmemi_error("could not make the records of the symmetric heap" WHY "malloc gave no memory" FIX
                 "raise `ulimit -v`, or start fewer PEs");
    return -ENOMEM;
}

void shmemi_heap_finish(void)
{
    shmemi_alloc_destroy(host_heap.allocator);
    shmemi_alloc_destroy(gpu_heap.allocator);
    host_heap.allocator = gpu_heap.allocator = NULL;
}

/* ---- agreement ---- */

/* One to one for each word; the shift brings high bits down, which a product alone never does. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0xd6e8feb86659fd93u;
    return hash ^ (hash >> 32);
}

static void note_call(uint32_t kind, uint64_t first, uint64_t second)
{
    struct shmemi_heap_call *note = &shmemi_state.ctrl->heap_call[++sequence % 2];
    history                       = mix(mix(mix(history + 1, kind), first), second);
    /* Relaxed: the barrier that follows publishes them. */
    atomic_store_explicit(&note->kind, kind, memory_order_relaxed);
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
    snprintf(buffer, bytes, call_names[kind % CALL_ON_GPU % (sizeof call_names / sizeof call_names[0])],
             kind % CALL_ON_GPU >= CALL_REALLOC && kind >= CALL_ON_GPU ? "GPU " : "",
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

static void read_note(int neighbour, struct shmemi_heap_call *note_out)
{
    struct shmemi_place from =
        ctrl_place(neighbour, offsetof(struct shmemi_ctrl, heap_call) + (size_t)(sequence % 2) * sizeof *note_out);
    if (from.mapped) memcpy(note_out, from.mapped, sizeof *note_out);
    else shmemi_post_get(&shmemi_state.ctx_default, &from, note_out, sizeof *note_out, SHMEMI_POST_LOCAL);
}

/* After the barrier: the neighbour's note of this call must equal mine. */
static void compare_notes(const char *call, int neighbour)
{
    struct shmemi_heap_call theirs;
    read_note(neighbour, &theirs);
    uint64_t count = atomic_load_explicit(&theirs.sequence, memory_order_relaxed);
    /* Of the two notes this one has the parity of ours: it is ours, the one two calls back, or 0 for none. */
    if (count < sequence) neighbour_made_fewer(call, neighbour, sequence - 1);
    if (atomic_load_explicit(&theirs.hash, memory_order_relaxed) != history) differ(call, neighbour, &theirs);
}

/* What the PE before showed at the barrier was not my hash. */
static SHMEMI_COLD void shown_differs(const char *call)
{
    int neighbour = (shmemi_state.my_pe + shmemi_state.npes - 1) % shmemi_state.npes;
    compare_notes(call, neighbour);
    neighbour_made_fewer(call, neighbour, sequence - 1); /* it has made the same call since, but was in another barrier */
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

/* work(argument), or NULL: what is private to this PE, and done while the others are on their way. */
static void barrier_and_compare(const char *call, shmemi_sync_work *work, void *argument)
{
    struct shmemi_sync_meeting meeting = {.mine = history, .work = work, .argument = argument};
    shmemi_sync_barrier_with(call, SHMEMI_COLL_HEAP, &meeting);
    if (SHMEMI_LIKELY(meeting.compared)) {
        if (SHMEMI_UNLIKELY(meeting.theirs != history)) shown_differs(call);
    } else if (shmemi_state.npes > 1) {
        compare_notes(call, (shmemi_state.my_pe + 1) % shmemi_state.npes);
    }
}

/* ---- blocks ---- */

static void require_running(const char *call)
{
    if (SHMEMI_UNLIKELY(!shmemi_state_running())) shmemi_service_outside(call);
}

static void *block_address(const struct heap *heap, size_t offset)
{
    return (void *)(heap->base + offset);
}

/* Memory for a block; 0 or a negative errno. Of a GPU it is there from the start. */
static int populate(const struct heap *heap, size_t offset, size_t bytes)
{
    return heap->gpu ? 0 : shmemi_pages_populate(block_address(heap, offset), bytes);
}

static void clear(const struct heap *heap, size_t offset, size_t bytes)
{
    if (heap->gpu) shmemi_gpu_zero(block_address(heap, offset), bytes);
    else memset(block_address(heap, offset), 0, bytes);
}

static void move(const struct heap *heap, size_t to, size_t from, size_t bytes)
{
    if (heap->gpu) shmemi_gpu_copy(block_address(heap, to), block_address(heap, from), bytes);
    else memcpy(block_address(heap, to), block_address(heap, from), bytes);
}

static uint32_t kind_in(const struct heap *heap, enum heap_call_kind kind)
{
    return heap->gpu ? (uint32_t)kind + CALL_ON_GPU : (uint32_t)kind;
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

/* Heap and offset of a live block; ends the job on any other pointer. */
static const struct heap *heap_of(const char *call, const void *pointer, size_t *offset_out)
{
    const struct heap *heap = shmemi_gpu_is_heap(pointer) ? &gpu_heap : &host_heap;
    require_running(call);
    *offset_out = (uintptr_t)pointer - heap->base;
    if (*offset_out >= heap->bytes || shmemi_alloc_size(heap->allocator, *offset_out) == SHMEMI_ALLOC_NONE)
        foreign_pointer(call, pointer);
    return heap;
}

/* Programs that do not look at the result crash far from here. The same on all PEs, so one says it, and once. */
static SHMEMI_COLD void does_not_fit(const char *call, const struct heap *heap, size_t bytes)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    if (shmemi_state.my_pe != 0 || atomic_flag_test_and_set(&told)) return;
    if (heap->gpu && heap->bytes == 0)
        shmemi_warn("%s: there is no symmetric GPU heap" WHY "every PE gets NULL; the report tells why (POSTERN_REPORT=1)" FIX
                    "set POSTERN_CUDA_HEAP to a size, or do not ask for GPU memory",
                    call);
    else
        shmemi_warn("%s: %zu bytes do not fit into what is free of the symmetric %sheap (%zu MiB)" WHY "every PE gets NULL" FIX
                    "raise %s, or check for NULL",
                    call, bytes, heap->gpu ? "GPU " : "", heap->bytes >> 20,
                    heap->gpu ? "POSTERN_CUDA_HEAP" : "SHMEM_SYMMETRIC_SIZE");
}

struct taking {
    const struct heap       *heap;
    struct shmemi_alloc_plan plan;
};

static void take(void *argument)
{
    const struct taking *taking = argument;
    shmemi_alloc_take(taking->heap->allocator, &taking->plan);
}

/* The common part: bytes > 0. NULL on every PE where it does not fit, or where some PE cannot have the pages. */
static void *allocate_in(const struct heap *heap, const char *call, enum heap_call_kind kind, uint64_t first, uint64_t second,
                         size_t bytes, size_t alignment, bool zero)
{
    require_running(call);
    note_call(kind_in(heap, kind), first, second);
    struct taking taking = {.heap = heap, .plan = {.offset = SHMEMI_ALLOC_NONE}};
    /* Each heap begins at a multiple of its alignment, so an aligned offset is an aligned address up to that. */
    if (alignment <= heap->alignment) taking.plan = shmemi_alloc_find(heap->allocator, bytes, alignment);
    size_t offset = taking.plan.offset;
    if (offset == SHMEMI_ALLOC_NONE) does_not_fit(call, heap, bytes);
    /* It fits on all PEs or on none; but one alone may have no memory for its records, or no pages. */
    if (offset == SHMEMI_ALLOC_NONE || populate(heap, offset, bytes) != 0) tell_failure();
    else if (zero) clear(heap, offset, bytes);
    barrier_and_compare(call, take, &taking);
    if (!somebody_failed()) return block_address(heap, offset);
    if (offset != SHMEMI_ALLOC_NONE) shmemi_alloc_free(heap->allocator, offset);
    return NULL;
}

/* Without a word about where: in GPU memory with POSTERN_HEAP=cuda. */
static const struct heap *usual_heap(void)
{
    return SHMEMI_UNLIKELY(shmemi_state.gpu) && shmemi_options.heap == SHMEMI_HEAP_CUDA ? &gpu_heap : &host_heap;
}

static void *allocate(const char *call, enum heap_call_kind kind, uint64_t first, uint64_t second, size_t bytes, size_t alignment,
                      bool zero)
{
    return allocate_in(usual_heap(), call, kind, first, second, bytes, alignment, zero);
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
    const struct heap *heap = hints & SHMEMX_MEM_CUDA ? &gpu_heap : hints & SHMEMX_MEM_HOST ? &host_heap : usual_heap();
    return allocate_in(heap, "shmem_malloc_with_hints", CALL_HINTS, size, (uint64_t)hints, size, 1, false);
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
        barrier_and_compare(call, NULL, NULL);
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

struct giving {
    const struct heap *heap;
    size_t             offset;
};

static void give(void *argument)
{
    const struct giving *giving = argument;
    shmemi_alloc_free(giving->heap->allocator, giving->offset);
}

static void release(const char *call, void *ptr)
{
    struct giving giving;
    giving.heap = heap_of(call, ptr, &giving.offset);
    note_call(kind_in(giving.heap, CALL_FREE), giving.offset, 0);
    /* The barrier comes before the block can be given out again: peers may still use it. Until it is over, only the records say that it is free. */
    barrier_and_compare(call, give, &giving);
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
static size_t resize_block(const struct heap *heap, size_t offset, size_t size)
{
    size_t old_bytes = shmemi_alloc_size(heap->allocator, offset);
    if (shmemi_alloc_resize(heap->allocator, offset, size) == 0) {
        if (size > old_bytes && populate(heap, offset, size) != 0) tell_failure();
        return offset;
    }
    size_t moved = shmemi_alloc_get(heap->allocator, size, 1);
    if (moved == SHMEMI_ALLOC_NONE || populate(heap, moved, size) != 0) tell_failure();
    else move(heap, moved, offset, old_bytes < size ? old_bytes : size);
    return moved;
}

static void *reallocate(const char *call, void *ptr, size_t size)
{
    if (!ptr) return size == 0 ? NULL : allocate(call, CALL_REALLOC, UINT64_MAX, size, size, 1, false);
    if (size == 0) {
        release(call, ptr);
        return NULL;
    }
    size_t             offset;
    const struct heap *heap      = heap_of(call, ptr, &offset);
    size_t             old_bytes = shmemi_alloc_size(heap->allocator, offset);
    note_call(kind_in(heap, CALL_REALLOC), offset, size);
    barrier_and_compare(call, NULL, NULL);
    size_t result = resize_block(heap, offset, size);
    shmemi_sync_barrier(call, SHMEMI_COLL_HEAP);

    if (somebody_failed()) { /* on all PEs alike: the old block comes back as it was */
        if (result == offset) shmemi_alloc_resize(heap->allocator, offset, old_bytes);
        else if (result != SHMEMI_ALLOC_NONE) shmemi_alloc_free(heap->allocator, result);
        return NULL;
    }
    if (result != offset) shmemi_alloc_free(heap->allocator, offset);
    return block_address(heap, result);
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
