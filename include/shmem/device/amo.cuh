/* SPDX-License-Identifier: Apache-2.0
 *
 * Atomics in kernels: standard, extended, bitwise, and _nbi.  Spec: OpenSHMEM 1.6 §9.7.
 *
 * On a mapped word an atomic is one instruction at system scope, relaxed: order comes from fence.  Where the device's atomics are not atomic
 * with the CPU's on host memory, those words go through the ring, whoever maps them.  A _nbi form on a mapped word is done when it
 * returns, which is allowed.
 */
#ifndef SHMEMD_AMO_CUH
#define SHMEMD_AMO_CUH

#include "signal.cuh"

/* An atomic that does not go the short way.  reply: the old value is wanted. */
SHMEMD_SLOW uint64_t shmemd_post_amo(const struct shmemd_place *place, int op, uint64_t value, uint64_t cond, unsigned bytes,
                                     int ctx, int reply, const char *call)
{
    struct shmemd_descriptor d = shmemd_describe(SHMEMD_OP_AMO | (reply ? SHMEMD_OP_REPLY : 0), ctx, place, bytes);

    d.detail      = (uint8_t)op;
    d.argument[0] = value;
    d.argument[1] = cond;
    return shmemd_post(&d, call);
}

/* The word's mapped address where it is found the short way, and kernels may update it; or NULL. */
SHMEMD_FN char *shmemd_amo_mapped(shmem_ctx_t ctx, const void *word, int pe)
{
#if !defined(__CUDACC__)
    if (shmemd_self()->flags & SHMEMD_FLAG_AMO_RING) return NULL; /* on a GPU the short way leads to its own memory only */
#endif
    return ctx == SHMEM_CTX_DEFAULT ? shmemd_find_mapped(word, pe) : NULL;
}

SHMEMD_SLOW uint64_t shmemd_amo_slow(shmem_ctx_t ctx, const void *word, int op, uint64_t value, uint64_t cond, unsigned bytes,
                                     int pe, int reply, const char *call)
{
    int                 ring_ctx, world_pe = shmemd_ctx_pe(ctx, pe, &ring_ctx, call);
    struct shmemd_place place = shmemd_find_word(word, world_pe, call);

    if (shmemd_atomic_by_kernel(&place)) return shmemd_atomic(place.at, op, value, cond, bytes);
    return shmemd_post_amo(&place, op, value, cond, bytes, ring_ctx, reply, call);
}

SHMEMD_FN uint64_t shmemd_amo(shmem_ctx_t ctx, const void *word, int op, uint64_t value, uint64_t cond, unsigned bytes, int pe,
                              int reply, const char *call)
{
    char *at = shmemd_amo_mapped(ctx, word, pe);

    if (at != NULL) return shmemd_atomic(at, op, value, cond, bytes);
    return shmemd_amo_slow(ctx, word, op, value, cond, bytes, pe, reply, call);
}

/* clang-format off */

/* A result is made of bits: one helper for each type. */
#define SHMEMD_AMO_VALUE(NAME, T, OP)                                                                                  \
    SHMEMD_FN T shmemd_amo_value_##NAME(uint64_t bits)                                                                 \
    {                                                                                                                  \
        T value;                                                                                                       \
        memcpy(&value, &bits, sizeof value);                                                                           \
        return value;                                                                                                  \
    }
SHMEMI_AMO_EXT_TYPES(SHMEMD_AMO_VALUE, value)

/*
 * Forms: FETCHING gives the old value, PLAIN none, NBI writes it to *fetch.  TYPED and NAMED are the argument list and its names,
 * WORD the symmetric address, VALUE and COND the operands.  shmem_ and shmem_ctx_ differ in the context.
 */
#define SHMEMD_AMO_CALL(CTX, NAME, T, CODE, WORD, VALUE, COND, REPLY, CALL)                                            \
    shmemd_amo(CTX, WORD, CODE, VALUE, COND, sizeof(T), pe, REPLY, CALL)
#define SHMEMD_AMO_FETCHING(NAME, T, OP, CODE, TYPED, NAMED, WORD, VALUE, COND)                                        \
    SHMEMD_API T (shmem_##NAME##_##OP)(TYPED(T))                                                                       \
    SHMEMD_RETURN(shmemd_amo_value_##NAME(SHMEMD_AMO_CALL(SHMEM_CTX_DEFAULT, NAME, T, CODE, WORD, VALUE, COND, 1,      \
                                                          "shmem_" #NAME "_" #OP)),                                    \
                  pshmem_##NAME##_##OP(NAMED))                                                                         \
    SHMEMD_API T (shmem_ctx_##NAME##_##OP)(shmem_ctx_t ctx, TYPED(T))                                                  \
    SHMEMD_RETURN(shmemd_amo_value_##NAME(SHMEMD_AMO_CALL(ctx, NAME, T, CODE, WORD, VALUE, COND, 1,                    \
                                                          "shmem_ctx_" #NAME "_" #OP)),                                \
                  pshmem_ctx_##NAME##_##OP(ctx, NAMED))
#define SHMEMD_AMO_PLAIN(NAME, T, OP, CODE, TYPED, NAMED, WORD, VALUE, COND)                                           \
    SHMEMD_API void (shmem_##NAME##_##OP)(TYPED(T))                                                                    \
    SHMEMD_DO((void)SHMEMD_AMO_CALL(SHMEM_CTX_DEFAULT, NAME, T, CODE, WORD, VALUE, COND, 0, "shmem_" #NAME "_" #OP),   \
              pshmem_##NAME##_##OP(NAMED))                                                                             \
    SHMEMD_API void (shmem_ctx_##NAME##_##OP)(shmem_ctx_t ctx, TYPED(T))                                               \
    SHMEMD_DO((void)SHMEMD_AMO_CALL(ctx, NAME, T, CODE, WORD, VALUE, COND, 0, "shmem_ctx_" #NAME "_" #OP),             \
              pshmem_ctx_##NAME##_##OP(ctx, NAMED))
#define SHMEMD_AMO_NBI(NAME, T, OP, CODE, TYPED, NAMED, WORD, VALUE, COND)                                             \
    SHMEMD_API void (shmem_##NAME##_##OP)(TYPED(T))                                                                    \
    SHMEMD_DO(*fetch = shmemd_amo_value_##NAME(SHMEMD_AMO_CALL(SHMEM_CTX_DEFAULT, NAME, T, CODE, WORD, VALUE, COND, 1, \
                                                               "shmem_" #NAME "_" #OP)),                               \
              pshmem_##NAME##_##OP(fetch, NAMED))                                                                      \
    SHMEMD_API void (shmem_ctx_##NAME##_##OP)(shmem_ctx_t ctx, TYPED(T))                                               \
    SHMEMD_DO(*fetch = shmemd_amo_value_##NAME(SHMEMD_AMO_CALL(ctx, NAME, T, CODE, WORD, VALUE, COND, 1,               \
                                                               "shmem_ctx_" #NAME "_" #OP)),                           \
              pshmem_ctx_##NAME##_##OP(ctx, fetch, NAMED))

/* The argument names of the lists in amo.h, as one argument of a macro. */
#define SHMEMD_NAMED_FETCH source, pe
#define SHMEMD_NAMED_VALUE dest, value, pe
#define SHMEMD_NAMED_CSWAP dest, cond, value, pe
#define SHMEMD_NAMED_INC   dest, pe
#define SHMEMD_BITS_OF(V, T) shmemd_bits(&V, sizeof(T))

#define SHMEMD_FETCH(NAME, T, OP, FORM, ARGS) FORM(NAME, T, OP, SHMEMD_ATOMIC_FETCH, ARGS, SHMEMD_NAMED_FETCH, source, 0, 0)
#define SHMEMD_VALUE(NAME, T, OP, FORM, ARGS, CODE) \
    FORM(NAME, T, OP, CODE, ARGS, SHMEMD_NAMED_VALUE, dest, SHMEMD_BITS_OF(value, T), 0)
#define SHMEMD_CSWAP(NAME, T, OP, FORM, ARGS) \
    FORM(NAME, T, OP, SHMEMD_ATOMIC_CSWAP, ARGS, SHMEMD_NAMED_CSWAP, dest, SHMEMD_BITS_OF(value, T), SHMEMD_BITS_OF(cond, T))
#define SHMEMD_INC(NAME, T, OP, FORM, ARGS) FORM(NAME, T, OP, SHMEMD_ATOMIC_ADD, ARGS, SHMEMD_NAMED_INC, dest, 1, 0)

SHMEMD_BEGIN

SHMEMI_AMO_EXT_TYPES(SHMEMD_FETCH, atomic_fetch, SHMEMD_AMO_FETCHING, SHMEMI_AMO_FETCH_ARGS)
SHMEMI_AMO_EXT_TYPES(SHMEMD_VALUE, atomic_set, SHMEMD_AMO_PLAIN, SHMEMI_AMO_VALUE_ARGS, SHMEMD_ATOMIC_SET)
SHMEMI_AMO_EXT_TYPES(SHMEMD_VALUE, atomic_swap, SHMEMD_AMO_FETCHING, SHMEMI_AMO_VALUE_ARGS, SHMEMD_ATOMIC_SWAP)
SHMEMI_AMO_STD_TYPES(SHMEMD_CSWAP, atomic_compare_swap, SHMEMD_AMO_FETCHING, SHMEMI_AMO_CSWAP_ARGS)
SHMEMI_AMO_STD_TYPES(SHMEMD_INC, atomic_fetch_inc, SHMEMD_AMO_FETCHING, SHMEMI_AMO_INC_ARGS)
SHMEMI_AMO_STD_TYPES(SHMEMD_INC, atomic_inc, SHMEMD_AMO_PLAIN, SHMEMI_AMO_INC_ARGS)
SHMEMI_AMO_STD_TYPES(SHMEMD_VALUE, atomic_fetch_add, SHMEMD_AMO_FETCHING, SHMEMI_AMO_VALUE_ARGS, SHMEMD_ATOMIC_ADD)
SHMEMI_AMO_STD_TYPES(SHMEMD_VALUE, atomic_add, SHMEMD_AMO_PLAIN, SHMEMI_AMO_VALUE_ARGS, SHMEMD_ATOMIC_ADD)
SHMEMI_AMO_BIT_TYPES(SHMEMD_VALUE, atomic_fetch_and, SHMEMD_AMO_FETCHING, SHMEMI_AMO_VALUE_ARGS, SHMEMD_ATOMIC_AND)
SHMEMI_AMO_BIT_TYPES(SHMEMD_VALUE, atomic_and, SHMEMD_AMO_PLAIN, SHMEMI_AMO_VALUE_ARGS, SHMEMD_ATOMIC_AND)
SHMEMI_AMO_BIT_TYPES(SHMEMD_VALUE, atomic_fetch_or, SHMEMD_AMO_FETCHING, SHMEMI_AMO_VALUE_ARGS, SHMEMD_ATOMIC_OR)
SHMEMI_AMO_BIT_TYPES(SHMEMD_VALUE, atomic_or, SHMEMD_AMO_PLAIN, SHMEMI_AMO_VALUE_ARGS, SHMEMD_ATOMIC_OR)
SHMEMI_AMO_BIT_TYPES(SHMEMD_VALUE, atomic_fetch_xor, SHMEMD_AMO_FETCHING, SHMEMI_AMO_VALUE_ARGS, SHMEMD_ATOMIC_XOR)
SHMEMI_AMO_BIT_TYPES(SHMEMD_VALUE, atomic_xor, SHMEMD_AMO_PLAIN, SHMEMI_AMO_VALUE_ARGS, SHMEMD_ATOMIC_XOR)

SHMEMI_AMO_EXT_TYPES(SHMEMD_FETCH, atomic_fetch_nbi, SHMEMD_AMO_NBI, SHMEMI_AMO_FETCH_NBI_ARGS)
SHMEMI_AMO_EXT_TYPES(SHMEMD_VALUE, atomic_swap_nbi, SHMEMD_AMO_NBI, SHMEMI_AMO_VALUE_NBI_ARGS, SHMEMD_ATOMIC_SWAP)
SHMEMI_AMO_STD_TYPES(SHMEMD_CSWAP, atomic_compare_swap_nbi, SHMEMD_AMO_NBI, SHMEMI_AMO_CSWAP_NBI_ARGS)
SHMEMI_AMO_STD_TYPES(SHMEMD_INC, atomic_fetch_inc_nbi, SHMEMD_AMO_NBI, SHMEMI_AMO_INC_NBI_ARGS)
SHMEMI_AMO_STD_TYPES(SHMEMD_VALUE, atomic_fetch_add_nbi, SHMEMD_AMO_NBI, SHMEMI_AMO_VALUE_NBI_ARGS, SHMEMD_ATOMIC_ADD)
SHMEMI_AMO_BIT_TYPES(SHMEMD_VALUE, atomic_fetch_and_nbi, SHMEMD_AMO_NBI, SHMEMI_AMO_VALUE_NBI_ARGS, SHMEMD_ATOMIC_AND)
SHMEMI_AMO_BIT_TYPES(SHMEMD_VALUE, atomic_fetch_or_nbi, SHMEMD_AMO_NBI, SHMEMI_AMO_VALUE_NBI_ARGS, SHMEMD_ATOMIC_OR)
SHMEMI_AMO_BIT_TYPES(SHMEMD_VALUE, atomic_fetch_xor_nbi, SHMEMD_AMO_NBI, SHMEMI_AMO_VALUE_NBI_ARGS, SHMEMD_ATOMIC_XOR)

SHMEMD_END

#undef SHMEMD_AMO_VALUE
#undef SHMEMD_AMO_CALL
#undef SHMEMD_AMO_FETCHING
#undef SHMEMD_AMO_PLAIN
#undef SHMEMD_AMO_NBI
#undef SHMEMD_NAMED_FETCH
#undef SHMEMD_NAMED_VALUE
#undef SHMEMD_NAMED_CSWAP
#undef SHMEMD_NAMED_INC
#undef SHMEMD_BITS_OF
#undef SHMEMD_FETCH
#undef SHMEMD_VALUE
#undef SHMEMD_CSWAP
#undef SHMEMD_INC
/* clang-format on */

#endif
