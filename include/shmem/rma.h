/* SPDX-License-Identifier: Apache-2.0
 *
 * Remote memory access: put writes to another PE, get reads from it.
 *
 * Each operation comes for the 24 types of the RMA table (shmem_NAME_put), for elements of a fixed
 * number of bits (shmem_put32) and, where not strided, for bytes (shmem_putmem); each of these also
 * on a context (shmem_ctx_...), where pe counts in the context's team.  In C11, shmem_put and so
 * on pick by argument type.
 *
 *   dest     put: symmetric address, as seen here; get: any memory of this PE
 *   source   put: any memory of this PE; get: symmetric address, as seen here
 *   nelems   elements (mem: bytes); 0 is valid and does nothing
 *   pe       0 <= pe < size of the team
 *
 * Typed and sized calls need natural alignment, mem calls none.  A put returns when source may be
 * used again; it is complete at the target after quiet, and ordered with later ones by fence.  A get
 * returns with the data.  The _nbi forms return at once, and both buffers are in use until quiet.
 * An address that is not symmetric, or a bad pe, is undefined by the standard; checked builds report it.
 * Spec: OpenSHMEM 1.6 §9.6.
 */
#ifndef SHMEMI_RMA_H
#define SHMEMI_RMA_H

#include "constants.h"
#include "types.h"

/* clang-format off */

/* Argument lists, one for each shape.  T is the element type, or void. */
#define SHMEMI_PUT_ARGS(T)  T *dest, const T *source, size_t nelems, int pe
#define SHMEMI_P_ARGS(T)    T *dest, T value, int pe
#define SHMEMI_G_ARGS(T)    const T *source, int pe
#define SHMEMI_IPUT_ARGS(T) T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe
#define SHMEMI_IBPUT_ARGS(T) \
    T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe

/* One row of a table: the function, its form with a context, and the profiling twins of both. */
#define SHMEMI_DECLARE_PUT(NAME, T, OP)                             \
    SHMEMI_DECLARE(void, shmem_##NAME##_##OP, (SHMEMI_PUT_ARGS(T))) \
    SHMEMI_DECLARE(void, shmem_ctx_##NAME##_##OP, (shmem_ctx_t ctx, SHMEMI_PUT_ARGS(T)))
#define SHMEMI_DECLARE_PUT_SIZED(BITS, BYTES, OP, TAIL)                   \
    SHMEMI_DECLARE(void, shmem_##OP##BITS##TAIL, (SHMEMI_PUT_ARGS(void))) \
    SHMEMI_DECLARE(void, shmem_ctx_##OP##BITS##TAIL, (shmem_ctx_t ctx, SHMEMI_PUT_ARGS(void)))
#define SHMEMI_DECLARE_P(NAME, T, OP)                          \
    SHMEMI_DECLARE(void, shmem_##NAME##_p, (SHMEMI_P_ARGS(T))) \
    SHMEMI_DECLARE(void, shmem_ctx_##NAME##_p, (shmem_ctx_t ctx, SHMEMI_P_ARGS(T)))
#define SHMEMI_DECLARE_G(NAME, T, OP)                       \
    SHMEMI_DECLARE(T, shmem_##NAME##_g, (SHMEMI_G_ARGS(T))) \
    SHMEMI_DECLARE(T, shmem_ctx_##NAME##_g, (shmem_ctx_t ctx, SHMEMI_G_ARGS(T)))
#define SHMEMI_DECLARE_IPUT(NAME, T, OP)                             \
    SHMEMI_DECLARE(void, shmem_##NAME##_##OP, (SHMEMI_IPUT_ARGS(T))) \
    SHMEMI_DECLARE(void, shmem_ctx_##NAME##_##OP, (shmem_ctx_t ctx, SHMEMI_IPUT_ARGS(T)))
#define SHMEMI_DECLARE_IPUT_SIZED(BITS, BYTES, OP)                   \
    SHMEMI_DECLARE(void, shmem_##OP##BITS, (SHMEMI_IPUT_ARGS(void))) \
    SHMEMI_DECLARE(void, shmem_ctx_##OP##BITS, (shmem_ctx_t ctx, SHMEMI_IPUT_ARGS(void)))
#define SHMEMI_DECLARE_IBPUT(NAME, T, OP)                             \
    SHMEMI_DECLARE(void, shmem_##NAME##_##OP, (SHMEMI_IBPUT_ARGS(T))) \
    SHMEMI_DECLARE(void, shmem_ctx_##NAME##_##OP, (shmem_ctx_t ctx, SHMEMI_IBPUT_ARGS(T)))
#define SHMEMI_DECLARE_IBPUT_SIZED(BITS, BYTES, OP)                   \
    SHMEMI_DECLARE(void, shmem_##OP##BITS, (SHMEMI_IBPUT_ARGS(void))) \
    SHMEMI_DECLARE(void, shmem_ctx_##OP##BITS, (shmem_ctx_t ctx, SHMEMI_IBPUT_ARGS(void)))

SHMEMI_BEGIN

/* Copy nelems elements to, or from, consecutive memory of one PE.  Spec: §9.6.1.1, §9.6.1.5. */
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_PUT, put)
SHMEMI_RMA_SIZES(SHMEMI_DECLARE_PUT_SIZED, put, )
SHMEMI_DECLARE_PUT_SIZED(mem, 1, put, )
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_PUT, get)
SHMEMI_RMA_SIZES(SHMEMI_DECLARE_PUT_SIZED, get, )
SHMEMI_DECLARE_PUT_SIZED(mem, 1, get, )

/* The same, without waiting: both buffers are in use until quiet.  Spec: §9.6.2.1, §9.6.2.2. */
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_PUT, put_nbi)
SHMEMI_RMA_SIZES(SHMEMI_DECLARE_PUT_SIZED, put, _nbi)
SHMEMI_DECLARE_PUT_SIZED(mem, 1, put, _nbi)
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_PUT, get_nbi)
SHMEMI_RMA_SIZES(SHMEMI_DECLARE_PUT_SIZED, get, _nbi)
SHMEMI_DECLARE_PUT_SIZED(mem, 1, get, _nbi)

/* Write value to, or return, one element of another PE.  Spec: §9.6.1.2, §9.6.1.6. */
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_P, p)
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_G, g)

/*
 * Strided: element i is read at source[i * sst] and written at dest[i * dst].  Strides are counted
 * in elements and are at least 1.  Spec: §9.6.1.3, §9.6.1.7.
 */
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_IPUT, iput)
SHMEMI_RMA_SIZES(SHMEMI_DECLARE_IPUT_SIZED, iput)
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_IPUT, iget)
SHMEMI_RMA_SIZES(SHMEMI_DECLARE_IPUT_SIZED, iget)

/*
 * Strided blocks: nblocks blocks of bsize elements; block i begins at source[i * sst] and
 * dest[i * dst].  Strides are at least bsize.  Spec: §9.6.1.4, §9.6.1.8.
 */
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_IBPUT, ibput)
SHMEMI_RMA_SIZES(SHMEMI_DECLARE_IBPUT_SIZED, ibput)
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_IBPUT, ibget)
SHMEMI_RMA_SIZES(SHMEMI_DECLARE_IBPUT_SIZED, ibget)

SHMEMI_END

#undef SHMEMI_DECLARE_PUT
#undef SHMEMI_DECLARE_PUT_SIZED
#undef SHMEMI_DECLARE_P
#undef SHMEMI_DECLARE_G
#undef SHMEMI_DECLARE_IPUT
#undef SHMEMI_DECLARE_IPUT_SIZED
#undef SHMEMI_DECLARE_IBPUT
#undef SHMEMI_DECLARE_IBPUT_SIZED

#if SHMEMI_GENERICS && !defined(SHMEMI_TWINS_ONLY)
#define SHMEMI_SELECT_RMA(OP, ...) \
    SHMEMI_SELECT_CTX(SHMEMI_RMA_BASE_TYPES, OP, shmemi_error_not_an_rma_type, __VA_ARGS__)
#define shmem_put(...)     SHMEMI_SELECT_RMA(put, __VA_ARGS__)
#define shmem_get(...)     SHMEMI_SELECT_RMA(get, __VA_ARGS__)
#define shmem_put_nbi(...) SHMEMI_SELECT_RMA(put_nbi, __VA_ARGS__)
#define shmem_get_nbi(...) SHMEMI_SELECT_RMA(get_nbi, __VA_ARGS__)
#define shmem_p(...)       SHMEMI_SELECT_RMA(p, __VA_ARGS__)
#define shmem_g(...)       SHMEMI_SELECT_RMA(g, __VA_ARGS__)
#define shmem_iput(...)    SHMEMI_SELECT_RMA(iput, __VA_ARGS__)
#define shmem_iget(...)    SHMEMI_SELECT_RMA(iget, __VA_ARGS__)
#define shmem_ibput(...)   SHMEMI_SELECT_RMA(ibput, __VA_ARGS__)
#define shmem_ibget(...)   SHMEMI_SELECT_RMA(ibget, __VA_ARGS__)
#endif

/* clang-format on */

#endif
