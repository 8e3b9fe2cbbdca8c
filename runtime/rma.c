/* SPDX-License-Identifier: Apache-2.0
 *
 * Remote memory access: put, get, p, g, strided and block-strided, blocking and not.
 *
 * On a mapped route a put is the copy and one look at whether the target sleeps on these bytes; the nonblocking forms are the same,
 * since nothing is left to wait for. Each typed entry has the plain path inlined; the rest is put_careful() and its kin.
 * Spec: OpenSHMEM 1.6 §9.6 Remote Memory Access Routines.  Tests: tests/api/rma/.
 */
#include "runtime/rma.h"

#include "runtime/base/cpu.h"
#include "runtime/base/num.h"
#include "runtime/gpu/gpu.h"
#include "runtime/operands.h"
#include "runtime/post.h"
#include "runtime/route.h"
#include "runtime/service.h"

#include <shmem.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* ---- copies ---- */

#if defined(__x86_64__)

enum { STRING_BYTES = 4096, STREAM_BYTES_MIN = 256, STREAM_BYTES_FALLBACK = 1 << 20, COLD_BYTES = 16 << 10 };
enum { GRANULE_BYTES = 32 << 10, GRANULES_MIN = 64, GRANULES_MAX = 1024 }; /* 2 to 32 MiB */

static size_t stream_from = SIZE_MAX; /* past the cache from here on, whatever the place */
static size_t cold_from   = SIZE_MAX; /* from here on where the place was not put to lately */
static size_t granules    = GRANULES_MIN;

/*
 * What one core may count on: most of the second-level cache, and its share of the third. More than 32 MiB is not believed, as a virtual
 * machine shows the whole cache of a host that others use too.
 */
static size_t cache_share(void)
{
    long second = sysconf(_SC_LEVEL2_CACHE_SIZE), third = sysconf(_SC_LEVEL3_CACHE_SIZE), cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (second <= 0) return STREAM_BYTES_FALLBACK;
    size_t share = (size_t)second / 4 * 3 + (third > 0 && cores > 0 ? (size_t)third / (size_t)cores : 0),
           most  = (size_t)GRANULES_MAX * GRANULE_BYTES;
    return share < most ? share : most;
}

static void (*copy_past_cache)(char *to, const char *from, size_t bytes);
static bool string_copies; /* "fast short rep movs": such a CPU copies a line per cycle by it, whatever the alignment */

static void stream_lines_16(char *to, const char *from, size_t bytes)
{
    for (; bytes >= 64; bytes -= 64, to += 64, from += 64)
        for (int i = 0; i < 64; i += 16)
            _mm_stream_si128((__m128i *)(void *)(to + i), _mm_loadu_si128((const __m128i *)(const void *)(from + i)));
}

__attribute__((target("avx512f"))) static void stream_lines_64(char *to, const char *from, size_t bytes)
{
    for (; bytes >= 64; bytes -= 64, to += 64, from += 64) _mm512_stream_si512((void *)to, _mm512_loadu_si512(from));
}

static void copy_string(char *to, const char *from, size_t bytes)
{
    __asm__ __volatile__("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

void shmemi_rma_choose_copy(size_t stream_bytes)
{
    string_copies   = shmemi_cpu_has_fsrm();
    copy_past_cache = shmemi_cpu_has_avx512f() ? stream_lines_64 : stream_lines_16;
    stream_from     = stream_bytes == SIZE_MAX ? cache_share() : stream_bytes;
    cold_from       = stream_bytes == SIZE_MAX ? COLD_BYTES : SIZE_MAX;
    if (stream_from < STREAM_BYTES_MIN) stream_from = STREAM_BYTES_MIN;
    granules = GRANULES_MIN;
    while (granules < GRANULES_MAX && granules * GRANULE_BYTES < stream_from) granules *= 2;
    size_t smallest               = stream_from < cold_from ? stream_from : cold_from;
    shmemi_state.copy_large_bytes = string_copies && STRING_BYTES < smallest ? STRING_BYTES : smallest;
}

/*
 * Was this place put to lately? A table of tags of the granules of the last puts, as large as the share of the cache: a hit means that the lines are
 * probably still there and a cached copy is quick; a miss, that it would fetch each line from memory only to overwrite it. Threads may race on
 * it: a wrong answer costs speed, nothing else.
 */
static bool put_lately(const char *to, size_t bytes)
{
    static _Atomic uint32_t tags[GRANULES_MAX];
    const size_t            mask  = granules - 1;
    uintptr_t               first = (uintptr_t)to / GRANULE_BYTES, last = ((uintptr_t)to + bytes - 1) / GRANULE_BYTES;
    bool                    hit = atomic_load_explicit(&tags[first & mask], memory_order_relaxed) == (uint32_t)first;
    for (uintptr_t granule = first; granule <= last; granule++)
        atomic_store_explicit(&tags[granule & mask], (uint32_t)granule, memory_order_relaxed);
    return hit;
}

/* Of the target, whole lines, as a line in two parts costs twice; its ends by plain copies. */
static void copy_streaming(char *to, const char *from, size_t bytes)
{
    size_t head = (0 - (uintptr_t)to) & 63, lines = (bytes - head) & ~(size_t)63, tail = bytes - head - lines;
    memcpy(to, from, head);
    copy_past_cache(to + head, from + head, lines);
    memcpy(to + head + lines, from + head + lines, tail);
    _mm_sfence(); /* x86 does not order these stores with later ones; signals and fences rely on it */
}

static void copy_block(char *to, const char *from, size_t bytes)
{
    size_t head = (0 - (uintptr_t)to) & 63;
    if (!string_copies || bytes < head) {
        memcpy(to, from, bytes);
        return;
    }
    memcpy(to, from, head);
    copy_string(to + head, from + head, bytes - head);
}

/*
 * Ranges near the size of the second-level cache, in blocks from the last to the first: who wrote the source did it from its start to its end, so the
 * end is what this core's cache still has; and who reads the target next begins at its start, which is then what was written last.
 */
enum { BACKWARD_BYTES = 1 << 20, BLOCK_BYTES = 32 << 10 };

static void copy_cached(char *to, const char *from, size_t bytes)
{
    if (bytes < BACKWARD_BYTES) {
        copy_block(to, from, bytes);
        return;
    }
    for (size_t end = bytes; end > 0;) {
        size_t block = (uintptr_t)(to + end - 1) % BLOCK_BYTES + 1; /* from where a block of the target begins */
        if (block > end) block = end;
        end -= block;
        copy_block(to + end, from + end, block);
    }
}

/* The receiver of a put reads it later, and elsewhere. */
void shmemi_rma_large_put(void *to, const void *from, size_t bytes)
{
    if (bytes >= stream_from || (bytes >= cold_from && !put_lately(to, bytes))) copy_streaming(to, from, bytes);
    else copy_cached(to, from, bytes);
}

/* The caller of a get reads it now: in the cache, if it fits. */
void shmemi_rma_large_get(void *to, const void *from, size_t bytes)
{
    if (bytes >= stream_from) copy_streaming(to, from, bytes);
    else copy_cached(to, from, bytes);
}

#else

void shmemi_rma_choose_copy(size_t stream_bytes)
{
    (void)stream_bytes;
    shmemi_state.copy_large_bytes = SIZE_MAX; /* memcpy knows this machine's ways */
}

void shmemi_rma_large_put(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

void shmemi_rma_large_get(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

#endif

/* One element at a time, at fixed distances in bytes. The size is a constant in each branch, so each loop moves registers. */
#define STRIDED_LOOP(BYTES) \
    for (size_t i = 0; i < blocks; i++, d += to_stride, s += from_stride) memcpy(d, s, BYTES)

void shmemi_rma_copy_strided(void *to, ptrdiff_t to_stride, const void *from, ptrdiff_t from_stride, size_t blocks, size_t bytes)
{
    char       *d = to;
    const char *s = from;
    switch (bytes) {
    case 1: STRIDED_LOOP(1); break;
    case 2: STRIDED_LOOP(2); break;
    case 4: STRIDED_LOOP(4); break;
    case 8: STRIDED_LOOP(8); break;
    case 16: STRIDED_LOOP(16); break;
    default: STRIDED_LOOP(bytes); break;
    }
}
#undef STRIDED_LOOP

/*
 * A get returns with the data: later loads and stores of this PE come after its loads. A loop that polls a flag by get may then read what
 * was ordered before the flag, and a flag that gives a buffer back may not pass the get that empties it. Nothing on x86.
 */
SHMEMI_INLINE void got_data(void)
{
    atomic_thread_fence(memory_order_acquire);
}

/* The sizes are apart from each other, so that none saves registers for calls that it does not make. */
static __attribute__((noinline)) void get_large(void *dest, const void *from, size_t bytes)
{
    shmemi_rma_large_get(dest, from, bytes);
    got_data();
}

static __attribute__((noinline)) void get_by_memcpy(void *dest, const void *from, size_t bytes)
{
    memcpy(dest, from, bytes);
    got_data();
}

static __attribute__((noinline)) void get_above_small(void *dest, const void *from, size_t bytes)
{
    if (bytes > SHMEMI_RMA_MEDIUM) {
        if (bytes >= shmemi_state.copy_large_bytes) get_large(dest, from, bytes);
        else get_by_memcpy(dest, from, bytes);
        return;
    }
    shmemi_rma_copy_medium(dest, from, bytes);
    got_data();
}

SHMEMI_INLINE void get_mapped(void *dest, const void *from, size_t bytes)
{
    if (bytes > SHMEMI_RMA_SMALL) {
        get_above_small(dest, from, bytes);
    } else {
        shmemi_rma_copy_small(dest, from, bytes);
        got_data();
    }
}

/* ---- the careful path ---- */

/* Total size; ends the job where it does not fit in the address space. */
static size_t total_bytes(const char *call, size_t nelems, size_t elem_bytes)
{
    size_t bytes;
    if (SHMEMI_LIKELY(shmemi_mul_size(nelems, elem_bytes, &bytes))) return bytes;
    shmemi_service_fatal(
        call, "%zu elements of %zu bytes" WHY "that is more than an address can count" FIX "look at the number of elements", nelems,
        elem_bytes);
}

/* Checked mode: both operands are one range of as many bytes. */
static SHMEMI_COLD void check_range(const char *call, const struct shmemi_place *place, const char *remote_name, const void *remote,
                                    const char *local_name, const void *local, size_t bytes)
{
    const struct shmemi_operand there = {.name = remote_name, .address = remote, .blocks = 1, .bytes = bytes},
                                here  = {.name = local_name, .address = local, .blocks = 1, .bytes = bytes, .may_be_same = true};
    shmemi_operands_check(call, place, &there, &here);
}

static SHMEMI_COLD void put_careful(const char *call, shmem_ctx_t handle, void *dest, const void *source, size_t nelems,
                                    size_t elem_bytes, int pe, enum shmemi_post_wait wait)
{
    struct shmemi_place to;
    if (nelems == 0) return; /* NULL pointers are legal then */
    size_t             bytes = total_bytes(call, nelems, elem_bytes);
    struct shmemi_ctx *ctx   = shmemi_route_ctx(handle, call);
    shmemi_route_find(ctx, call, dest, bytes, pe, &to);
    if (SHMEMI_UNLIKELY(shmemi_state.check)) check_range(call, &to, "dest", dest, "source", source, bytes);
    shmemi_state_count(to.pe, SHMEMI_COUNT_PUT, to.mapped, bytes);
    if (shmemi_gpu_concerns(&to, source)) {
        shmemi_gpu_put(ctx, &to, source, bytes, wait);
    } else if (to.mapped) {
        shmemi_rma_copy(to.mapped, source, bytes, shmemi_rma_large_put);
        shmemi_wait_stored((int)to.local, to.mapped, bytes);
    } else {
        shmemi_post_put(ctx, &to, source, bytes, wait);
    }
}

static SHMEMI_COLD void get_careful(const char *call, shmem_ctx_t handle, void *dest, const void *source, size_t nelems,
                                    size_t elem_bytes, int pe, enum shmemi_post_wait wait)
{
    struct shmemi_place from;
    if (nelems == 0) return;
    size_t             bytes = total_bytes(call, nelems, elem_bytes);
    struct shmemi_ctx *ctx   = shmemi_route_ctx(handle, call);
    shmemi_route_find(ctx, call, source, bytes, pe, &from);
    if (SHMEMI_UNLIKELY(shmemi_state.check)) check_range(call, &from, "source", source, "dest", dest, bytes);
    shmemi_state_count(from.pe, SHMEMI_COUNT_GET, from.mapped, bytes);
    if (shmemi_gpu_concerns(&from, dest)) shmemi_gpu_get(ctx, &from, dest, bytes, wait);
    else if (from.mapped) get_mapped(dest, from.mapped, bytes);
    else shmemi_post_get(ctx, &from, dest, bytes, wait);
}

/* Bytes from the first to past the last element of a strided operand. Strides in elements. */
static size_t strided_span(const char *call, size_t nblocks, size_t bsize, ptrdiff_t stride, size_t elem_bytes)
{
    size_t distance = 0, elements = 0;
    if (stride < 0 || !shmemi_mul_size(nblocks - 1, (size_t)stride, &distance) || !shmemi_add_size(distance, bsize, &elements))
        shmemi_service_fatal(call,
                             "stride %td with %zu blocks of %zu elements" WHY
                             "strides are at least 1, and the whole must fit in memory" FIX
                             "look at the stride and at the number of elements",
                             stride, nblocks, bsize);
    return total_bytes(call, elements, elem_bytes);
}

struct strided {
    ptrdiff_t dest, source; /* strides, in elements */
    size_t    nblocks, bsize, elem_bytes;
};

/* Checked mode. far and near: strides in bytes. */
static SHMEMI_COLD void check_strided(const char *call, const struct shmemi_place *place, const char *remote_name,
                                      const void *remote, ptrdiff_t far, const char *local_name, const void *local, ptrdiff_t near,
                                      struct strided shape)
{
    size_t block = shape.bsize * shape.elem_bytes; /* put_strided and get_strided know that it fits */
    if (shape.dest < (ptrdiff_t)shape.bsize || shape.source < (ptrdiff_t)shape.bsize)
        shmemi_service_fatal(call,
                             "strides %td for dest and %td for source, with blocks of %zu elements" WHY
                             "a stride is at least the size of a block, from start to start" FIX "look at the strides",
                             shape.dest, shape.source, shape.bsize);
    const struct shmemi_operand there = {remote_name, remote, shape.nblocks, block, far, false},
                                here  = {local_name, local, shape.nblocks, block, near, true};
    shmemi_operands_check(call, place, &there, &here);
}

static void put_strided(const char *call, shmem_ctx_t handle, void *dest, const void *source, struct strided shape, int pe)
{
    struct shmemi_place to;
    if (shape.nblocks == 0 || shape.bsize == 0) return;
    size_t             bytes = total_bytes(call, shape.bsize, shape.elem_bytes);
    size_t             span  = strided_span(call, shape.nblocks, shape.bsize, shape.dest, shape.elem_bytes);
    ptrdiff_t          far = shape.dest * (ptrdiff_t)shape.elem_bytes, near = shape.source * (ptrdiff_t)shape.elem_bytes;
    struct shmemi_ctx *ctx = shmemi_route_ctx(handle, call);
    shmemi_route_find(ctx, call, dest, span, pe, &to);
    if (SHMEMI_UNLIKELY(shmemi_state.check)) check_strided(call, &to, "dest", dest, far, "source", source, near, shape);
    shmemi_state_count(to.pe, SHMEMI_COUNT_PUT, to.mapped, bytes * shape.nblocks);
    if (shmemi_gpu_concerns(&to, source)) {
        shmemi_gpu_put_strided(ctx, &to, source, shape.nblocks, bytes, near, far);
    } else if (to.mapped) {
        shmemi_rma_copy_strided(to.mapped, far, source, near, shape.nblocks, bytes);
        shmemi_wait_stored((int)to.local, to.mapped, span);
    } else {
        shmemi_post_put_strided(ctx, &to, source, shape.nblocks, bytes, near, far);
    }
}

static void get_strided(const char *call, shmem_ctx_t handle, void *dest, const void *source, struct strided shape, int pe)
{
    struct shmemi_place from;
    if (shape.nblocks == 0 || shape.bsize == 0) return;
    size_t             bytes = total_bytes(call, shape.bsize, shape.elem_bytes);
    size_t             span  = strided_span(call, shape.nblocks, shape.bsize, shape.source, shape.elem_bytes);
    ptrdiff_t          near = shape.dest * (ptrdiff_t)shape.elem_bytes, far = shape.source * (ptrdiff_t)shape.elem_bytes;
    struct shmemi_ctx *ctx = shmemi_route_ctx(handle, call);
    shmemi_route_find(ctx, call, source, span, pe, &from);
    if (SHMEMI_UNLIKELY(shmemi_state.check)) check_strided(call, &from, "source", source, far, "dest", dest, near, shape);
    shmemi_state_count(from.pe, SHMEMI_COUNT_GET, from.mapped, bytes * shape.nblocks);
    if (shmemi_gpu_concerns(&from, dest)) {
        shmemi_gpu_get_strided(ctx, &from, dest, shape.nblocks, bytes, near, far);
    } else if (from.mapped) {
        shmemi_rma_copy_strided(dest, near, from.mapped, far, shape.nblocks, bytes);
        got_data();
    } else shmemi_post_get_strided(ctx, &from, dest, shape.nblocks, bytes, near, far);
}

/* ---- the plain path ---- */

enum { POSTED_ELEMENTS_MAX = 256 }; /* far above any small put, far below an overflow */

/* Do PE numbers on this context need no translation? Asked after the route, which fails in checked mode: a bad handle is not read there. */
SHMEMI_INLINE bool world_numbers(shmem_ctx_t ctx)
{
    return SHMEMI_LIKELY(ctx == SHMEM_CTX_DEFAULT) || (ctx != SHMEM_CTX_INVALID && ctx->world);
}

/*
 * What the plain path hands on of a call goes into six registers, so that it needs no frame: PE, size of an element (at most 32) and when to return
 * share one. Not a struct, which compilers take apart again.
 */
SHMEMI_INLINE uint64_t aim_of(int pe, size_t elem_bytes, enum shmemi_post_wait wait)
{
    return (uint32_t)pe | (uint64_t)elem_bytes << 32 | (uint64_t)wait << 48;
}

SHMEMI_INLINE int aim_pe(uint64_t aim)
{
    return (int)(uint32_t)aim;
}

SHMEMI_INLINE size_t aim_elem_bytes(uint64_t aim)
{
    return (aim >> 32) & 0xffff;
}

SHMEMI_INLINE enum shmemi_post_wait aim_wait(uint64_t aim)
{
    return (enum shmemi_post_wait)(aim >> 48);
}

/* As with get: the sizes are apart from each other. */
static __attribute__((noinline)) void put_large(struct shmemi_spot to, const void *source, size_t bytes)
{
    shmemi_rma_large_put(to.at, source, bytes);
    shmemi_route_stored(to, bytes);
}

static __attribute__((noinline)) void put_by_memcpy(struct shmemi_spot to, const void *source, size_t bytes)
{
    memcpy(to.at, source, bytes);
    shmemi_route_stored(to, bytes);
}

static __attribute__((noinline)) void put_above_small(struct shmemi_spot to, const void *source, size_t bytes)
{
    if (bytes > SHMEMI_RMA_MEDIUM) {
        if (bytes >= shmemi_state.copy_large_bytes) put_large(to, source, bytes);
        else put_by_memcpy(to, source, bytes);
        return;
    }
    shmemi_rma_copy_medium(to.at, source, bytes);
    shmemi_route_stored(to, bytes);
}

static __attribute__((noinline)) void put_elsewhere(const char *call, shmem_ctx_t ctx, void *dest, const void *source,
                                                    size_t nelems, uint64_t aim)
{
    if (shmemi_state.post_small_bytes == 0 || nelems > POSTED_ELEMENTS_MAX || !world_numbers(ctx) ||
        !shmemi_post_put_small(ctx, dest, source, nelems * aim_elem_bytes(aim), aim_pe(aim)))
        put_careful(call, ctx, dest, source, nelems, aim_elem_bytes(aim), aim_pe(aim), aim_wait(aim));
}

SHMEMI_INLINE void put(const char *call, shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, size_t elem_bytes, int pe,
                       enum shmemi_post_wait wait)
{
    struct shmemi_spot to;
    if (SHMEMI_LIKELY(shmemi_route_plain(dest, pe, &to)) && world_numbers(ctx)) {
        size_t bytes = nelems * elem_bytes;
        if (bytes > SHMEMI_RMA_SMALL) {
            put_above_small(to, source, bytes);
        } else {
            shmemi_rma_copy_small(to.at, source, bytes);
            shmemi_route_stored(to, bytes);
        }
    } else {
        put_elsewhere(call, ctx, dest, source, nelems, aim_of(pe, elem_bytes, wait));
    }
}

static SHMEMI_COLD void get_elsewhere(const char *call, shmem_ctx_t ctx, void *dest, const void *source, size_t nelems,
                                      uint64_t aim)
{
    get_careful(call, ctx, dest, source, nelems, aim_elem_bytes(aim), aim_pe(aim), aim_wait(aim));
}

SHMEMI_INLINE void get(const char *call, shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, size_t elem_bytes, int pe,
                       enum shmemi_post_wait wait)
{
    struct shmemi_spot from;
    if (SHMEMI_LIKELY(shmemi_route_plain(source, pe, &from)) && world_numbers(ctx)) {
        get_mapped(dest, from.at, nelems * elem_bytes);
    } else {
        get_elsewhere(call, ctx, dest, source, nelems, aim_of(pe, elem_bytes, wait));
    }
}

SHMEMI_INLINE void get_one(const char *call, shmem_ctx_t ctx, void *value, const void *source, size_t bytes, int pe)
{
    struct shmemi_spot from;
    if (SHMEMI_LIKELY(shmemi_route_plain(source, pe, &from)) && world_numbers(ctx)) {
        memcpy(value, from.at, bytes);
        got_data();
    } else {
        get_careful(call, ctx, value, source, 1, bytes, pe, SHMEMI_POST_LOCAL);
    }
}

/* ---- the API ---- */

/* clang-format off */

#define DEFINE_MOVE(FUNCTION, CTX_FUNCTION, T, BYTES, MOVE, WAIT)                                     \
    void p##FUNCTION(T *dest, const T *source, size_t nelems, int pe)                                 \
    {                                                                                                 \
        MOVE(#FUNCTION, SHMEM_CTX_DEFAULT, dest, source, nelems, BYTES, pe, WAIT);                    \
    }                                                                                                 \
    SHMEMI_EXPORT(FUNCTION)                                                                           \
    void p##CTX_FUNCTION(shmem_ctx_t ctx, T *dest, const T *source, size_t nelems, int pe)            \
    {                                                                                                 \
        MOVE(#CTX_FUNCTION, ctx, dest, source, nelems, BYTES, pe, WAIT);                              \
    }                                                                                                 \
    SHMEMI_EXPORT(CTX_FUNCTION)

#define DEFINE_TYPED_MOVE(NAME, T, OP, MOVE, WAIT) \
    DEFINE_MOVE(shmem_##NAME##_##OP, shmem_ctx_##NAME##_##OP, T, sizeof(T), MOVE, WAIT)
#define DEFINE_SIZED_MOVE(BITS, BYTES, OP, MOVE, WAIT) \
    DEFINE_MOVE(shmem_##OP##BITS, shmem_ctx_##OP##BITS, void, BYTES, MOVE, WAIT)
#define DEFINE_SIZED_MOVE_NBI(BITS, BYTES, OP, MOVE, WAIT) \
    DEFINE_MOVE(shmem_##OP##BITS##_nbi, shmem_ctx_##OP##BITS##_nbi, void, BYTES, MOVE, WAIT)

SHMEMI_RMA_TYPES(DEFINE_TYPED_MOVE, put, put, SHMEMI_POST_LOCAL)
SHMEMI_RMA_SIZES(DEFINE_SIZED_MOVE, put, put, SHMEMI_POST_LOCAL)
DEFINE_SIZED_MOVE(mem, 1, put, put, SHMEMI_POST_LOCAL)
SHMEMI_RMA_TYPES(DEFINE_TYPED_MOVE, get, get, SHMEMI_POST_LOCAL)
SHMEMI_RMA_SIZES(DEFINE_SIZED_MOVE, get, get, SHMEMI_POST_LOCAL)
DEFINE_SIZED_MOVE(mem, 1, get, get, SHMEMI_POST_LOCAL)

SHMEMI_RMA_TYPES(DEFINE_TYPED_MOVE, put_nbi, put, SHMEMI_POST_NBI)
SHMEMI_RMA_SIZES(DEFINE_SIZED_MOVE_NBI, put, put, SHMEMI_POST_NBI)
DEFINE_SIZED_MOVE_NBI(mem, 1, put, put, SHMEMI_POST_NBI)
SHMEMI_RMA_TYPES(DEFINE_TYPED_MOVE, get_nbi, get, SHMEMI_POST_NBI)
SHMEMI_RMA_SIZES(DEFINE_SIZED_MOVE_NBI, get, get, SHMEMI_POST_NBI)
DEFINE_SIZED_MOVE_NBI(mem, 1, get, get, SHMEMI_POST_NBI)

/* The plain path never takes the address of value, so that it stays in a register: the put is one store. */
#define DEFINE_P(NAME, T, OP)                                                                         \
    SHMEMI_INLINE void do_##NAME##_p(const char *call, shmem_ctx_t ctx, T *dest, T value, int pe)     \
    {                                                                                                 \
        struct shmemi_spot to;                                                                        \
        if (SHMEMI_LIKELY(shmemi_route_plain(dest, pe, &to)) && world_numbers(ctx)) {                 \
            memcpy(to.at, &value, sizeof value);                                                      \
            shmemi_route_stored(to, sizeof value);                                                    \
        } else {                                                                                      \
            T copy = value;                                                                           \
            put_careful(call, ctx, dest, &copy, 1, sizeof copy, pe, SHMEMI_POST_LOCAL);               \
        }                                                                                             \
    }                                                                                                 \
    void pshmem_##NAME##_p(T *dest, T value, int pe)                                                  \
    {                                                                                                 \
        do_##NAME##_p("shmem_" #NAME "_p", SHMEM_CTX_DEFAULT, dest, value, pe);                       \
    }                                                                                                 \
    SHMEMI_EXPORT(shmem_##NAME##_p)                                                                   \
    void pshmem_ctx_##NAME##_p(shmem_ctx_t ctx, T *dest, T value, int pe)                             \
    {                                                                                                 \
        do_##NAME##_p("shmem_ctx_" #NAME "_p", ctx, dest, value, pe);                                 \
    }                                                                                                 \
    SHMEMI_EXPORT(shmem_ctx_##NAME##_p)
SHMEMI_RMA_TYPES(DEFINE_P, p)

#define DEFINE_G(NAME, T, OP)                                                                         \
    T pshmem_##NAME##_g(const T *source, int pe)                                                      \
    {                                                                                                 \
        T value;                                                                                      \
        get_one("shmem_" #NAME "_g", SHMEM_CTX_DEFAULT, &value, source, sizeof value, pe);            \
        return value;                                                                                 \
    }                                                                                                 \
    SHMEMI_EXPORT(shmem_##NAME##_g)                                                                   \
    T pshmem_ctx_##NAME##_g(shmem_ctx_t ctx, const T *source, int pe)                                 \
    {                                                                                                 \
        T value;                                                                                      \
        get_one("shmem_ctx_" #NAME "_g", ctx, &value, source, sizeof value, pe);                      \
        return value;                                                                                 \
    }                                                                                                 \
    SHMEMI_EXPORT(shmem_ctx_##NAME##_g)
SHMEMI_RMA_TYPES(DEFINE_G, g)

#define STRIDED_ARGS(T)  T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe
#define STRIDED_SHAPE(BYTES) \
    (struct strided) { .dest = dst, .source = sst, .nblocks = nelems, .bsize = 1, .elem_bytes = (BYTES) }
#define BLOCK_ARGS(T)  T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe
#define BLOCK_SHAPE(BYTES) \
    (struct strided) { .dest = dst, .source = sst, .nblocks = nblocks, .bsize = bsize, .elem_bytes = (BYTES) }

#define DEFINE_STRIDED(FUNCTION, CTX_FUNCTION, ARGS, SHAPE, MOVE)                                     \
    void p##FUNCTION(ARGS)                                                                            \
    {                                                                                                 \
        MOVE(#FUNCTION, SHMEM_CTX_DEFAULT, dest, source, SHAPE, pe);                                  \
    }                                                                                                 \
    SHMEMI_EXPORT(FUNCTION)                                                                           \
    void p##CTX_FUNCTION(shmem_ctx_t ctx, ARGS)                                                       \
    {                                                                                                 \
        MOVE(#CTX_FUNCTION, ctx, dest, source, SHAPE, pe);                                            \
    }                                                                                                 \
    SHMEMI_EXPORT(CTX_FUNCTION)

#define DEFINE_TYPED_STRIDED(NAME, T, OP, MOVE) \
    DEFINE_STRIDED(shmem_##NAME##_##OP, shmem_ctx_##NAME##_##OP, STRIDED_ARGS(T), STRIDED_SHAPE(sizeof(T)), MOVE)
#define DEFINE_SIZED_STRIDED(BITS, BYTES, OP, MOVE) \
    DEFINE_STRIDED(shmem_##OP##BITS, shmem_ctx_##OP##BITS, STRIDED_ARGS(void), STRIDED_SHAPE(BYTES), MOVE)
#define DEFINE_TYPED_BLOCK(NAME, T, OP, MOVE) \
    DEFINE_STRIDED(shmem_##NAME##_##OP, shmem_ctx_##NAME##_##OP, BLOCK_ARGS(T), BLOCK_SHAPE(sizeof(T)), MOVE)
#define DEFINE_SIZED_BLOCK(BITS, BYTES, OP, MOVE) \
    DEFINE_STRIDED(shmem_##OP##BITS, shmem_ctx_##OP##BITS, BLOCK_ARGS(void), BLOCK_SHAPE(BYTES), MOVE)

SHMEMI_RMA_TYPES(DEFINE_TYPED_STRIDED, iput, put_strided)
SHMEMI_RMA_SIZES(DEFINE_SIZED_STRIDED, iput, put_strided)
SHMEMI_RMA_TYPES(DEFINE_TYPED_STRIDED, iget, get_strided)
SHMEMI_RMA_SIZES(DEFINE_SIZED_STRIDED, iget, get_strided)
SHMEMI_RMA_TYPES(DEFINE_TYPED_BLOCK, ibput, put_strided)
SHMEMI_RMA_SIZES(DEFINE_SIZED_BLOCK, ibput, put_strided)
SHMEMI_RMA_TYPES(DEFINE_TYPED_BLOCK, ibget, get_strided)
SHMEMI_RMA_SIZES(DEFINE_SIZED_BLOCK, ibget, get_strided)

/* clang-format on */
