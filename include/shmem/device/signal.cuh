/* SPDX-License-Identifier: Apache-2.0
 *
 * Signals in kernels: put_signal and its forms, signal_set, signal_add, signal_fetch.  Spec: OpenSHMEM 1.6 §9.8.
 *
 * Where data and signal are mapped, the data are plain stores and the signal is a store or an addition with release order at system scope: who
 * acquires it (wait_until, test, signal_fetch, on any GPU or CPU) sees the data.
 */
#ifndef SHMEMD_SIGNAL_CUH
#define SHMEMD_SIGNAL_CUH

#include "order.cuh"
#include "rma.cuh"

struct shmemd_signal_update {
    uint64_t *word; /* symmetric address */
    uint64_t  value;
    int       op; /* SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD */
};

SHMEMD_FN struct shmemd_signal_update shmemd_update(uint64_t *word, uint64_t value, int op)
{
    struct shmemd_signal_update update;

    update.word  = word;
    update.value = value;
    update.op    = op;
    return update;
}

/* May a kernel update this word itself?  GPU atomics on host memory are not atomic with the CPU's on every machine. */
SHMEMD_FN int shmemd_atomic_by_kernel(const struct shmemd_place *place)
{
    return place->at != NULL && (place->segment == SHMEMD_SEGMENT_GPU || (shmemd_self()->flags & SHMEMD_FLAG_AMO_RING) == 0);
}

SHMEMD_FN struct shmemd_place shmemd_find_word(const void *word, int pe, const char *call)
{
    struct shmemd_place place;

    shmemd_find_slow(word, pe, call, &place); /* the short way does not tell the segment */
    return place;
}

/* Update a signal word.  release: it vouches for what this thread did before. */
SHMEMD_SLOW void shmemd_signal_world(struct shmemd_signal_update update, int pe, int ctx, int release, const char *call)
{
    struct shmemd_place place = shmemd_find_word(update.word, pe, call);
    int                 add   = update.op == SHMEM_SIGNAL_ADD;

    if (!add && update.op != SHMEM_SIGNAL_SET) {
        shmemd_refuse(call, SHMEMD_REPORT_ARGUMENT, pe, update.word, (uint64_t)(int64_t)update.op);
    }
    if (place.at != NULL && !add) {
        if (release) shmemd_store_release(place.at, update.value, 8);
        else shmemd_store_relaxed(place.at, update.value, 8);
    } else if (shmemd_atomic_by_kernel(&place)) {
        if (release) shmemd_add_release(place.at, update.value);
        else shmemd_atomic(place.at, SHMEMD_ATOMIC_ADD, update.value, 0, 8);
    } else {
        struct shmemd_descriptor d = shmemd_describe(SHMEMD_OP_PUT_SIGNAL, ctx, &place, 0);

        d.detail      = (uint8_t)(add ? SHMEMD_SIGNAL_ADD : SHMEMD_SIGNAL_SET);
        d.segments    = (uint8_t)(place.segment | place.segment << 4);
        d.argument[0] = place.offset;
        d.argument[1] = update.value;
        shmemd_post(&d, call); /* publishes with release at system scope: the mapped stores before it come first */
    }
}

/* Both data and signal go through the ring, as one operation.  Called by one thread. */
SHMEMD_SLOW void shmemd_post_put_signal(const struct shmemd_place *data, const void *source, size_t bytes,
                                        struct shmemd_signal_update update, const struct shmemd_place *word, int ctx,
                                        enum shmemd_completion completion, const char *call)
{
    int                      op = shmemd_op(SHMEMD_OP_PUT_SIGNAL, completion);
    struct shmemd_descriptor d  = shmemd_describe(op, ctx, data, bytes);

    d.detail      = (uint8_t)(update.op == SHMEM_SIGNAL_ADD ? SHMEMD_SIGNAL_ADD : SHMEMD_SIGNAL_SET);
    d.segments    = (uint8_t)(data->segment | word->segment << 4);
    d.local       = (uint64_t)(uintptr_t)source;
    d.argument[0] = word->offset;
    d.argument[1] = update.value;
    shmemd_post(&d, call);
}

/* The data of a put_signal are not mapped. Called by one thread. */
SHMEMD_SLOW void shmemd_put_signal_posted(const struct shmemd_place *data, const void *source, size_t bytes,
                                          struct shmemd_signal_update update, int pe, int ctx, enum shmemd_completion completion,
                                          const char *call)
{
    struct shmemd_place word = shmemd_find_word(update.word, pe, call);

    if (word.at == NULL && shmemd_is_global(source)) {
        shmemd_post_put_signal(data, source, bytes, update, &word, ctx, completion, call);
        return;
    }
    /* Two steps. The ring keeps the order of its own; a mapped signal must wait until the data have arrived. */
    shmemd_post_put(*data, (const char *)source, bytes, ctx, completion, call);
    shmemd_post_order(word.at != NULL ? (int)SHMEMD_OP_QUIET | SHMEMD_OP_REPLY : (int)SHMEMD_OP_FENCE, ctx, call);
    shmemd_signal_world(update, pe, ctx, 1, call);
}

SHMEMD_SLOW void shmemd_put_signal(struct shmemd_group group, shmem_ctx_t ctx, void *dest, const void *source, size_t bytes,
                                   struct shmemd_signal_update update, int pe, enum shmemd_completion completion, const char *call)
{
    int                 ring_ctx, world_pe = shmemd_ctx_pe(ctx, pe, &ring_ctx, call);
    struct shmemd_place place;

    shmemd_group_sync(group);
    if (bytes > 0) place = shmemd_find(dest, world_pe, call);
    if (bytes == 0 || place.at != NULL) {
        if (bytes > 0) shmemd_copy_out(group, place.at, (const char *)source, bytes);
        /* All pieces are stored before one thread releases: the barrier makes them its own. */
        shmemd_group_sync(group);
        if (group.rank == 0) shmemd_signal_world(update, world_pe, ring_ctx, 1, call);
    } else {
        if (group.rank == 0) shmemd_put_signal_posted(&place, source, bytes, update, world_pe, ring_ctx, completion, call);
        shmemd_group_sync(group);
    }
}

/* A thread's signal without data: no more order than other operations, until a fence. */
SHMEMD_FN void shmemd_signal(shmem_ctx_t ctx, uint64_t *word, uint64_t value, int op, int pe, const char *call)
{
    int ring_ctx, world_pe = shmemd_ctx_pe(ctx, pe, &ring_ctx, call);

    shmemd_signal_world(shmemd_update(word, value, op), world_pe, ring_ctx, 0, call);
}

/* clang-format off */

#define SHMEMD_PUT_SIGNAL(NAME, T, OP, COMPLETION)                                                                     \
    SHMEMD_PUT_SIGNAL_NAMES(shmem_##NAME##_##OP, shmem_ctx_##NAME##_##OP, shmemx_##NAME##_##OP,                        \
                            shmemx_ctx_##NAME##_##OP, T, sizeof(T), COMPLETION)
#define SHMEMD_PUT_SIGNAL_SIZED(BITS, BYTES, TAIL, COMPLETION)                                                         \
    SHMEMD_PUT_SIGNAL_NAMES(shmem_put##BITS##TAIL, shmem_ctx_put##BITS##TAIL, shmemx_put##BITS##TAIL,                  \
                            shmemx_ctx_put##BITS##TAIL, void, BYTES, COMPLETION)
#define SHMEMD_PUT_SIGNAL_NAMES(FUNCTION, CTX_FUNCTION, GROUP_FUNCTION, GROUP_CTX_FUNCTION, T, BYTES, COMPLETION)      \
    SHMEMD_API void (FUNCTION)(SHMEMI_PUT_SIGNAL_ARGS(T))                                                              \
    SHMEMD_DO(shmemd_put_signal(shmemd_group_thread(), SHMEM_CTX_DEFAULT, dest, source, nelems * BYTES,                \
                                shmemd_update(sig_addr, signal, sig_op), pe, COMPLETION, #FUNCTION),                   \
              p##FUNCTION(dest, source, nelems, sig_addr, signal, sig_op, pe))                                         \
    SHMEMD_API void (CTX_FUNCTION)(shmem_ctx_t ctx, SHMEMI_PUT_SIGNAL_ARGS(T))                                         \
    SHMEMD_DO(shmemd_put_signal(shmemd_group_thread(), ctx, dest, source, nelems * BYTES,                              \
                                shmemd_update(sig_addr, signal, sig_op), pe, COMPLETION, #CTX_FUNCTION),               \
              p##CTX_FUNCTION(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe))                                \
    SHMEMD_PUT_SIGNAL_GROUP(GROUP_FUNCTION, GROUP_CTX_FUNCTION, T, BYTES, COMPLETION, warp)                            \
    SHMEMD_PUT_SIGNAL_GROUP(GROUP_FUNCTION, GROUP_CTX_FUNCTION, T, BYTES, COMPLETION, block)
#define SHMEMD_PUT_SIGNAL_GROUP(FUNCTION, CTX_FUNCTION, T, BYTES, COMPLETION, GROUP)                                   \
    SHMEMD_GROUP void FUNCTION##_##GROUP(SHMEMI_PUT_SIGNAL_ARGS(T))                                                    \
    {                                                                                                                  \
        shmemd_put_signal(shmemd_group_##GROUP(), SHMEM_CTX_DEFAULT, dest, source, nelems * BYTES,                     \
                          shmemd_update(sig_addr, signal, sig_op), pe, COMPLETION, #FUNCTION "_" #GROUP);              \
    }                                                                                                                  \
    SHMEMD_GROUP void CTX_FUNCTION##_##GROUP(shmem_ctx_t ctx, SHMEMI_PUT_SIGNAL_ARGS(T))                               \
    {                                                                                                                  \
        shmemd_put_signal(shmemd_group_##GROUP(), ctx, dest, source, nelems * BYTES,                                   \
                          shmemd_update(sig_addr, signal, sig_op), pe, COMPLETION, #CTX_FUNCTION "_" #GROUP);          \
    }

SHMEMD_BEGIN

SHMEMI_RMA_DEVICE_TYPES(SHMEMD_PUT_SIGNAL, put_signal, SHMEMD_BLOCKING)
SHMEMI_RMA_DEVICE_TYPES(SHMEMD_PUT_SIGNAL, put_signal_nbi, SHMEMD_NBI)
SHMEMI_RMA_SIZES(SHMEMD_PUT_SIGNAL_SIZED, _signal, SHMEMD_BLOCKING)
SHMEMI_RMA_SIZES(SHMEMD_PUT_SIGNAL_SIZED, _signal_nbi, SHMEMD_NBI)
SHMEMD_PUT_SIGNAL_SIZED(mem, 1, _signal, SHMEMD_BLOCKING)
SHMEMD_PUT_SIGNAL_SIZED(mem, 1, _signal_nbi, SHMEMD_NBI)

SHMEMD_API void (shmem_signal_set)(SHMEMI_SIGNAL_ARGS)
    SHMEMD_DO(shmemd_signal(SHMEM_CTX_DEFAULT, sig_addr, signal, SHMEM_SIGNAL_SET, pe, "shmem_signal_set"),
              pshmem_signal_set(sig_addr, signal, pe))
SHMEMD_API void (shmem_ctx_signal_set)(shmem_ctx_t ctx, SHMEMI_SIGNAL_ARGS)
    SHMEMD_DO(shmemd_signal(ctx, sig_addr, signal, SHMEM_SIGNAL_SET, pe, "shmem_ctx_signal_set"),
              pshmem_ctx_signal_set(ctx, sig_addr, signal, pe))
SHMEMD_API void (shmem_signal_add)(SHMEMI_SIGNAL_ARGS)
    SHMEMD_DO(shmemd_signal(SHMEM_CTX_DEFAULT, sig_addr, signal, SHMEM_SIGNAL_ADD, pe, "shmem_signal_add"),
              pshmem_signal_add(sig_addr, signal, pe))
SHMEMD_API void (shmem_ctx_signal_add)(shmem_ctx_t ctx, SHMEMI_SIGNAL_ARGS)
    SHMEMD_DO(shmemd_signal(ctx, sig_addr, signal, SHMEM_SIGNAL_ADD, pe, "shmem_ctx_signal_add"),
              pshmem_ctx_signal_add(ctx, sig_addr, signal, pe))
SHMEMD_API uint64_t (shmem_signal_fetch)(const uint64_t *sig_addr)
    SHMEMD_RETURN(shmemd_load_acquire(sig_addr, 8), pshmem_signal_fetch(sig_addr))

SHMEMD_END

#undef SHMEMD_PUT_SIGNAL
#undef SHMEMD_PUT_SIGNAL_SIZED
#undef SHMEMD_PUT_SIGNAL_NAMES
#undef SHMEMD_PUT_SIGNAL_GROUP
/* clang-format on */

#endif
