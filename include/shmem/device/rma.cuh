/* SPDX-License-Identifier: Apache-2.0
 *
 * put and get in kernels: typed, sized and mem, _nbi, strided; p and g; and the forms in which a warp or a block makes one
 * call together.  Spec: OpenSHMEM 1.6 §9.6.
 *
 * A mapped PE is reached by stores and loads of the calling thread; any other by the ring.  As on the host, a put returns when its source
 * may be used again, and is complete after quiet.  All threads of a warp or block make the _warp or _block call with the same
 * arguments; when it returns to one of them, the source may be used again by all.
 */
#ifndef SHMEMD_RMA_CUH
#define SHMEMD_RMA_CUH

#include "copy.cuh"
#include "ctx.cuh"

enum shmemd_completion { SHMEMD_BLOCKING, SHMEMD_NBI };

/* ---- through the ring ---- */

/* A blocking operation asks for a reply: its memory of this PE is free only then. */
SHMEMD_FN int shmemd_op(int op, enum shmemd_completion completion)
{
    return completion == SHMEMD_BLOCKING ? op | SHMEMD_OP_REPLY : op;
}

/* A put of few bytes goes in the descriptor, so its source is free at once, and may be where the proxy cannot read: a stack. */
SHMEMD_SLOW void shmemd_post_inline(const struct shmemd_place *place, const void *source, size_t bytes, int ctx, const char *call)
{
    struct shmemd_descriptor d = shmemd_describe(SHMEMD_OP_PUT_INLINE, ctx, place, bytes);

    memcpy(&d.local, source, bytes);
    shmemd_post(&d, call);
}

SHMEMD_SLOW void shmemd_post_put(struct shmemd_place place, const char *source, size_t bytes, int ctx,
                                 enum shmemd_completion completion, const char *call)
{
    if (bytes > SHMEMD_INLINE_MAX && shmemd_is_global(source)) {
        int                      op = shmemd_op(SHMEMD_OP_PUT, completion);
        struct shmemd_descriptor d  = shmemd_describe(op, ctx, &place, bytes);

        d.local = (uint64_t)(uintptr_t)source;
        shmemd_post(&d, call);
        return;
    }
    while (bytes > 0) {
        size_t part = bytes < SHMEMD_INLINE_MAX ? bytes : (size_t)SHMEMD_INLINE_MAX;

        shmemd_post_inline(&place, source, part, ctx, call);
        place.offset += part;
        source += part;
        bytes -= part;
    }
}

/* Up to 8 bytes that do not cross a multiple of 8: the reply brings them, so they may go where the proxy cannot write. */
SHMEMD_SLOW uint64_t shmemd_post_g(const struct shmemd_place *place, unsigned bytes, int ctx, const char *call)
{
    unsigned                 skip = (unsigned)(place->offset & 7u);
    struct shmemd_descriptor d    = shmemd_describe(SHMEMD_OP_AMO | SHMEMD_OP_REPLY, ctx, place, 8);
    uint64_t                 word, value = 0;

    d.remote -= skip;
    d.detail = SHMEMD_ATOMIC_FETCH;
    word     = shmemd_post(&d, call);
    memcpy(&value, (const char *)&word + skip, bytes);
    return value;
}

SHMEMD_SLOW void shmemd_post_get(struct shmemd_place place, char *dest, size_t bytes, int ctx, enum shmemd_completion completion,
                                 const char *call)
{
    if (shmemd_is_global(dest)) {
        int                      op = shmemd_op(SHMEMD_OP_GET, completion);
        struct shmemd_descriptor d  = shmemd_describe(op, ctx, &place, bytes);

        d.local = (uint64_t)(uintptr_t)dest;
        shmemd_post(&d, call);
        return;
    }
    while (bytes > 0) {
        size_t   part = 8u - (size_t)(place.offset & 7u);
        uint64_t value;

        if (part > bytes) part = bytes;
        value = shmemd_post_g(&place, (unsigned)part, ctx, call);
        memcpy(dest, &value, part);
        place.offset += part;
        dest += part;
        bytes -= part;
    }
}

/* ---- contiguous ---- */

/* The copy of a put, without the group's meeting behind it.  pe is a world number. */
SHMEMD_SLOW void shmemd_put_world(struct shmemd_group group, void *dest, const void *source, size_t bytes, int pe, int ctx,
                                  enum shmemd_completion completion, const char *call)
{
    struct shmemd_place place;

    if (bytes == 0) return;
    place = shmemd_find(dest, pe, call);
    if (place.at != NULL) shmemd_copy_out(group, place.at, (const char *)source, bytes);
    else if (group.rank == 0) shmemd_post_put(place, (const char *)source, bytes, ctx, completion, call);
}

SHMEMD_SLOW void shmemd_get_world(struct shmemd_group group, void *dest, const void *source, size_t bytes, int pe, int ctx,
                                  enum shmemd_completion completion, const char *call)
{
    struct shmemd_place place;

    if (bytes == 0) return;
    place = shmemd_find(source, pe, call);
    if (place.at != NULL) shmemd_copy_in(group, (char *)dest, place.at, bytes);
    else if (group.rank == 0) shmemd_post_get(place, (char *)dest, bytes, ctx, completion, call);
}

/*
 * What other threads of the group have stored at the source must be seen by the thread that posts or copies: so the group meets before, and
 * again behind, where the source is free for all.
 */
SHMEMD_FN void shmemd_put(struct shmemd_group group, shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, int pe,
                          enum shmemd_completion completion, const char *call)
{
    int ring_ctx, world_pe = shmemd_ctx_pe(ctx, pe, &ring_ctx, call);

    shmemd_group_sync(group);
    shmemd_put_world(group, dest, source, bytes, world_pe, ring_ctx, completion, call);
    shmemd_group_sync(group);
}

SHMEMD_FN void shmemd_get(struct shmemd_group group, shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, int pe,
                          enum shmemd_completion completion, const char *call)
{
    int ring_ctx, world_pe = shmemd_ctx_pe(ctx, pe, &ring_ctx, call);

    shmemd_group_sync(group);
    shmemd_get_world(group, dest, source, bytes, world_pe, ring_ctx, completion, call);
    shmemd_group_sync(group);
}

/* ---- one element ---- */

SHMEMD_SLOW void shmemd_p_slow(shmem_ctx_t ctx, void *dest, uint64_t value, unsigned bytes, int pe, const char *call)
{
    int                 ring_ctx, world_pe = shmemd_ctx_pe(ctx, pe, &ring_ctx, call);
    struct shmemd_place place = shmemd_find(dest, world_pe, call);

    if (place.at != NULL) shmemd_store_relaxed(place.at, value, bytes);
    else shmemd_post_inline(&place, &value, bytes, ring_ctx, call);
}

SHMEMD_SLOW uint64_t shmemd_g_slow(shmem_ctx_t ctx, const void *source, unsigned bytes, int pe, const char *call)
{
    int                 ring_ctx, world_pe = shmemd_ctx_pe(ctx, pe, &ring_ctx, call);
    struct shmemd_place place = shmemd_find(source, world_pe, call);

    if (place.at != NULL) return shmemd_load_relaxed(place.at, bytes);
    return shmemd_post_g(&place, bytes, ring_ctx, call);
}

/* One store, where the PE is mapped. */
SHMEMD_FN void shmemd_p(shmem_ctx_t ctx, void *dest, uint64_t value, unsigned bytes, int pe, const char *call)
{
    char *at = ctx == SHMEM_CTX_DEFAULT ? shmemd_find_mapped(dest, pe) : NULL;

    if (at != NULL) shmemd_store_relaxed(at, value, bytes);
    else shmemd_p_slow(ctx, dest, value, bytes, pe, call);
}

SHMEMD_FN uint64_t shmemd_g(shmem_ctx_t ctx, const void *source, unsigned bytes, int pe, const char *call)
{
    char *at = ctx == SHMEM_CTX_DEFAULT ? shmemd_find_mapped(source, pe) : NULL;

    return at != NULL ? shmemd_load_relaxed(at, bytes) : shmemd_g_slow(ctx, source, bytes, pe, call);
}

/* ---- strided ---- */

struct shmemd_strided {
    void       *dest;
    const void *source;
    ptrdiff_t   dst, sst; /* strides in elements */
    size_t      nelems;
    unsigned    bytes; /* of an element: 1, 2, 4, 8 or 16 */
};

SHMEMD_SLOW void shmemd_post_strided(int op, const struct shmemd_strided *s, const struct shmemd_place *place, int ctx,
                                     enum shmemd_completion completion, const char *call)
{
    struct shmemd_descriptor d = shmemd_describe(shmemd_op(op, completion), ctx, place, s->bytes);

    d.local       = (uint64_t)(uintptr_t)(op == SHMEMD_OP_IPUT ? s->source : s->dest);
    d.argument[0] = s->nelems;
    d.argument[1] = (uint64_t)(int64_t)(op == SHMEMD_OP_IPUT ? s->sst : s->dst);
    d.argument[2] = (uint64_t)(int64_t)(op == SHMEMD_OP_IPUT ? s->dst : s->sst);
    shmemd_post(&d, call);
}

SHMEMD_SLOW void shmemd_iput(struct shmemd_group group, shmem_ctx_t ctx, struct shmemd_strided s, int pe, const char *call)
{
    int                 ring_ctx, world_pe = shmemd_ctx_pe(ctx, pe, &ring_ctx, call);
    struct shmemd_place place;
    size_t              i;

    shmemd_group_sync(group);
    if (s.nelems > 0) {
        place = shmemd_find(s.dest, world_pe, call);
        for (i = group.rank; place.at != NULL && i < s.nelems; i += group.size) {
            shmemd_copy_few_out(place.at + (ptrdiff_t)i * s.dst * (ptrdiff_t)s.bytes,
                                (const char *)s.source + (ptrdiff_t)i * s.sst * (ptrdiff_t)s.bytes, s.bytes);
        }
        if (place.at == NULL && group.rank == 0) {
            shmemd_post_strided(SHMEMD_OP_IPUT, &s, &place, ring_ctx, SHMEMD_BLOCKING, call);
        }
    }
    shmemd_group_sync(group);
}

SHMEMD_SLOW void shmemd_iget(struct shmemd_group group, shmem_ctx_t ctx, struct shmemd_strided s, int pe, const char *call)
{
    int                 ring_ctx, world_pe = shmemd_ctx_pe(ctx, pe, &ring_ctx, call);
    struct shmemd_place place;
    size_t              i;

    shmemd_group_sync(group);
    if (s.nelems > 0) {
        place = shmemd_find(s.source, world_pe, call);
        for (i = group.rank; place.at != NULL && i < s.nelems; i += group.size) {
            shmemd_copy_few_in((char *)s.dest + (ptrdiff_t)i * s.dst * (ptrdiff_t)s.bytes,
                               place.at + (ptrdiff_t)i * s.sst * (ptrdiff_t)s.bytes, s.bytes);
        }
        if (place.at == NULL && group.rank == 0) {
            shmemd_post_strided(SHMEMD_OP_IGET, &s, &place, ring_ctx, SHMEMD_BLOCKING, call);
        }
    }
    shmemd_group_sync(group);
}

SHMEMD_FN struct shmemd_strided shmemd_strides(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,
                                               unsigned bytes)
{
    struct shmemd_strided s;

    s.dest   = dest;
    s.source = source;
    s.dst    = dst;
    s.sst    = sst;
    s.nelems = nelems;
    s.bytes  = bytes;
    return s;
}

/* The bits of a value as the low bytes of a word. */
SHMEMD_FN uint64_t shmemd_bits(const void *value, unsigned bytes)
{
    uint64_t bits = 0;

    memcpy(&bits, value, bytes);
    return bits;
}

/* ---- the names ---- */

/* clang-format off */

/* One row of a table: WORK is put or get, COMPLETION of enum shmemd_completion. */
#define SHMEMD_PUT(NAME, T, OP, WORK, COMPLETION)                                                                      \
    SHMEMD_API void (shmem_##NAME##_##OP)(SHMEMI_PUT_ARGS(T))                                                          \
    SHMEMD_DO(shmemd_##WORK(shmemd_group_thread(), SHMEM_CTX_DEFAULT, dest, source, nelems * sizeof(T), pe,            \
                            COMPLETION, "shmem_" #NAME "_" #OP),                                                       \
              pshmem_##NAME##_##OP(dest, source, nelems, pe))                                                          \
    SHMEMD_API void (shmem_ctx_##NAME##_##OP)(shmem_ctx_t ctx, SHMEMI_PUT_ARGS(T))                                     \
    SHMEMD_DO(shmemd_##WORK(shmemd_group_thread(), ctx, dest, source, nelems * sizeof(T), pe, COMPLETION,              \
                            "shmem_ctx_" #NAME "_" #OP),                                                               \
              pshmem_ctx_##NAME##_##OP(ctx, dest, source, nelems, pe))                                                 \
    SHMEMD_PUT_GROUP(shmemx_##NAME##_##OP, shmemx_ctx_##NAME##_##OP, T, sizeof(T), WORK, COMPLETION, warp)             \
    SHMEMD_PUT_GROUP(shmemx_##NAME##_##OP, shmemx_ctx_##NAME##_##OP, T, sizeof(T), WORK, COMPLETION, block)
#define SHMEMD_PUT_SIZED(BITS, BYTES, OP, WORK, COMPLETION, TAIL)                                                      \
    SHMEMD_API void (shmem_##OP##BITS##TAIL)(SHMEMI_PUT_ARGS(void))                                                    \
    SHMEMD_DO(shmemd_##WORK(shmemd_group_thread(), SHMEM_CTX_DEFAULT, dest, source, nelems * BYTES, pe, COMPLETION,    \
                            "shmem_" #OP #BITS #TAIL),                                                                 \
              pshmem_##OP##BITS##TAIL(dest, source, nelems, pe))                                                       \
    SHMEMD_API void (shmem_ctx_##OP##BITS##TAIL)(shmem_ctx_t ctx, SHMEMI_PUT_ARGS(void))                               \
    SHMEMD_DO(shmemd_##WORK(shmemd_group_thread(), ctx, dest, source, nelems * BYTES, pe, COMPLETION,                  \
                            "shmem_ctx_" #OP #BITS #TAIL),                                                             \
              pshmem_ctx_##OP##BITS##TAIL(ctx, dest, source, nelems, pe))                                              \
    SHMEMD_PUT_GROUP(shmemx_##OP##BITS##TAIL, shmemx_ctx_##OP##BITS##TAIL, void, BYTES, WORK, COMPLETION, warp)        \
    SHMEMD_PUT_GROUP(shmemx_##OP##BITS##TAIL, shmemx_ctx_##OP##BITS##TAIL, void, BYTES, WORK, COMPLETION, block)
#define SHMEMD_PUT_GROUP(FUNCTION, CTX_FUNCTION, T, BYTES, WORK, COMPLETION, GROUP)                                    \
    SHMEMD_GROUP void FUNCTION##_##GROUP(SHMEMI_PUT_ARGS(T))                                                           \
    {                                                                                                                  \
        shmemd_##WORK(shmemd_group_##GROUP(), SHMEM_CTX_DEFAULT, dest, source, nelems * BYTES, pe, COMPLETION,         \
                      #FUNCTION "_" #GROUP);                                                                           \
    }                                                                                                                  \
    SHMEMD_GROUP void CTX_FUNCTION##_##GROUP(shmem_ctx_t ctx, SHMEMI_PUT_ARGS(T))                                      \
    {                                                                                                                  \
        shmemd_##WORK(shmemd_group_##GROUP(), ctx, dest, source, nelems * BYTES, pe, COMPLETION, #CTX_FUNCTION "_" #GROUP); \
    }

#define SHMEMD_P(NAME, T, OP)                                                                                          \
    SHMEMD_API void (shmem_##NAME##_p)(SHMEMI_P_ARGS(T))                                                               \
    SHMEMD_DO(shmemd_p(SHMEM_CTX_DEFAULT, dest, shmemd_bits(&value, sizeof(T)), sizeof(T), pe, "shmem_" #NAME "_p"),   \
              pshmem_##NAME##_p(dest, value, pe))                                                                      \
    SHMEMD_API void (shmem_ctx_##NAME##_p)(shmem_ctx_t ctx, SHMEMI_P_ARGS(T))                                          \
    SHMEMD_DO(shmemd_p(ctx, dest, shmemd_bits(&value, sizeof(T)), sizeof(T), pe, "shmem_ctx_" #NAME "_p"),             \
              pshmem_ctx_##NAME##_p(ctx, dest, value, pe))

/* g has to make a value of its type from bits. */
#define SHMEMD_G(NAME, T, OP)                                                                                          \
    SHMEMD_FN T shmemd_g_##NAME(shmem_ctx_t ctx, SHMEMI_G_ARGS(T), const char *call)                                   \
    {                                                                                                                  \
        uint64_t bits = shmemd_g(ctx, source, sizeof(T), pe, call);                                                    \
        T        value;                                                                                                \
        memcpy(&value, &bits, sizeof value);                                                                           \
        return value;                                                                                                  \
    }                                                                                                                  \
    SHMEMD_API T (shmem_##NAME##_g)(SHMEMI_G_ARGS(T))                                                                  \
    SHMEMD_RETURN(shmemd_g_##NAME(SHMEM_CTX_DEFAULT, source, pe, "shmem_" #NAME "_g"), pshmem_##NAME##_g(source, pe))  \
    SHMEMD_API T (shmem_ctx_##NAME##_g)(shmem_ctx_t ctx, SHMEMI_G_ARGS(T))                                             \
    SHMEMD_RETURN(shmemd_g_##NAME(ctx, source, pe, "shmem_ctx_" #NAME "_g"), pshmem_ctx_##NAME##_g(ctx, source, pe))

#define SHMEMD_IPUT(NAME, T, OP)                                                                                       \
    SHMEMD_IPUT_NAMES(shmem_##NAME##_##OP, shmem_ctx_##NAME##_##OP, shmemx_##NAME##_##OP, shmemx_ctx_##NAME##_##OP, T, sizeof(T), OP)
#define SHMEMD_IPUT_SIZED(BITS, BYTES, OP)                                                                             \
    SHMEMD_IPUT_NAMES(shmem_##OP##BITS, shmem_ctx_##OP##BITS, shmemx_##OP##BITS, shmemx_ctx_##OP##BITS, void, BYTES, OP)
#define SHMEMD_IPUT_NAMES(FUNCTION, CTX_FUNCTION, GROUP_FUNCTION, GROUP_CTX_FUNCTION, T, BYTES, OP)                    \
    SHMEMD_API void (FUNCTION)(SHMEMI_IPUT_ARGS(T))                                                                    \
    SHMEMD_DO(shmemd_##OP(shmemd_group_thread(), SHMEM_CTX_DEFAULT,                                                    \
                          shmemd_strides(dest, source, dst, sst, nelems, BYTES), pe, #FUNCTION),                       \
              p##FUNCTION(dest, source, dst, sst, nelems, pe))                                                         \
    SHMEMD_API void (CTX_FUNCTION)(shmem_ctx_t ctx, SHMEMI_IPUT_ARGS(T))                                               \
    SHMEMD_DO(shmemd_##OP(shmemd_group_thread(), ctx, shmemd_strides(dest, source, dst, sst, nelems, BYTES), pe,       \
                          #CTX_FUNCTION),                                                                              \
              p##CTX_FUNCTION(ctx, dest, source, dst, sst, nelems, pe))                                                \
    SHMEMD_IPUT_GROUP(GROUP_FUNCTION, GROUP_CTX_FUNCTION, T, BYTES, OP, warp)                                          \
    SHMEMD_IPUT_GROUP(GROUP_FUNCTION, GROUP_CTX_FUNCTION, T, BYTES, OP, block)
#define SHMEMD_IPUT_GROUP(FUNCTION, CTX_FUNCTION, T, BYTES, OP, GROUP)                                                 \
    SHMEMD_GROUP void FUNCTION##_##GROUP(SHMEMI_IPUT_ARGS(T))                                                          \
    {                                                                                                                  \
        shmemd_##OP(shmemd_group_##GROUP(), SHMEM_CTX_DEFAULT, shmemd_strides(dest, source, dst, sst, nelems, BYTES),  \
                    pe, #FUNCTION "_" #GROUP);                                                                         \
    }                                                                                                                  \
    SHMEMD_GROUP void CTX_FUNCTION##_##GROUP(shmem_ctx_t ctx, SHMEMI_IPUT_ARGS(T))                                     \
    {                                                                                                                  \
        shmemd_##OP(shmemd_group_##GROUP(), ctx, shmemd_strides(dest, source, dst, sst, nelems, BYTES), pe,            \
                    #CTX_FUNCTION "_" #GROUP);                                                                         \
    }

SHMEMD_BEGIN

SHMEMI_RMA_DEVICE_TYPES(SHMEMD_PUT, put, put, SHMEMD_BLOCKING)
SHMEMI_RMA_DEVICE_TYPES(SHMEMD_PUT, get, get, SHMEMD_BLOCKING)
SHMEMI_RMA_DEVICE_TYPES(SHMEMD_PUT, put_nbi, put, SHMEMD_NBI)
SHMEMI_RMA_DEVICE_TYPES(SHMEMD_PUT, get_nbi, get, SHMEMD_NBI)
SHMEMI_RMA_SIZES(SHMEMD_PUT_SIZED, put, put, SHMEMD_BLOCKING, )
SHMEMI_RMA_SIZES(SHMEMD_PUT_SIZED, get, get, SHMEMD_BLOCKING, )
SHMEMI_RMA_SIZES(SHMEMD_PUT_SIZED, put, put, SHMEMD_NBI, _nbi)
SHMEMI_RMA_SIZES(SHMEMD_PUT_SIZED, get, get, SHMEMD_NBI, _nbi)
SHMEMD_PUT_SIZED(mem, 1, put, put, SHMEMD_BLOCKING, )
SHMEMD_PUT_SIZED(mem, 1, get, get, SHMEMD_BLOCKING, )
SHMEMD_PUT_SIZED(mem, 1, put, put, SHMEMD_NBI, _nbi)
SHMEMD_PUT_SIZED(mem, 1, get, get, SHMEMD_NBI, _nbi)
SHMEMI_RMA_DEVICE_TYPES(SHMEMD_P, p)
SHMEMI_RMA_DEVICE_TYPES(SHMEMD_G, g)
SHMEMI_RMA_DEVICE_TYPES(SHMEMD_IPUT, iput)
SHMEMI_RMA_DEVICE_TYPES(SHMEMD_IPUT, iget)
SHMEMI_RMA_SIZES(SHMEMD_IPUT_SIZED, iput)
SHMEMI_RMA_SIZES(SHMEMD_IPUT_SIZED, iget)

SHMEMD_END

#undef SHMEMD_PUT
#undef SHMEMD_PUT_SIZED
#undef SHMEMD_PUT_GROUP
#undef SHMEMD_P
#undef SHMEMD_G
#undef SHMEMD_IPUT
#undef SHMEMD_IPUT_SIZED
#undef SHMEMD_IPUT_NAMES
#undef SHMEMD_IPUT_GROUP
/* clang-format on */

#endif
