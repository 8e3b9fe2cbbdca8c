/* SPDX-License-Identifier: Apache-2.0
 *
 * iput and iget of all types and sizes, with and without a context: strides count elements on both sides, dst comes before sst,
 * and the elements between stay.
 * Spec: OpenSHMEM 1.6 §9.6.1.3 shmem_iput, §9.6.1.7 shmem_iget
 */
#include "../ring.h"

enum { COUNT = 6, FAR = 3, NEAR = 2, LENGTH = COUNT * FAR + 1, GUARD = 99 };

static struct ring ring;

/* Element i of a call sits at i * stride; salt 1 is the element that sits at i * near of the source. */
#define STRIDED(T, array, stride, sender, source_stride)                                                       \
    for (int i_ = 0; i_ < LENGTH; i_++) {                                                                      \
        bool moved_ = i_ % (stride) == 0 && i_ / (stride) < COUNT;                                             \
        CHECK((array)[i_] == (moved_ ? RING_VALUE(T, sender, i_ / (stride) * (source_stride), 1) : (T)GUARD)); \
    }

#define STAMP(NAME, T, PUT, CTX_PUT, GET, CTX_GET)                                 \
    static T    NAME##_source[LENGTH], NAME##_dest[3][LENGTH];                     \
    static void test_##NAME(void)                                                  \
    {                                                                              \
        T *source = NAME##_source, (*dest)[LENGTH] = NAME##_dest, got[3][LENGTH];  \
        for (int i = 0; i < LENGTH; i++) source[i] = RING_VALUE(T, ring.me, i, 1); \
        for (int k = 0; k < 3; k++)                                                \
            for (int i = 0; i < LENGTH; i++) dest[k][i] = got[k][i] = (T)GUARD;    \
        shmem_barrier_all();                                                       \
        PUT(dest[0], source, FAR, NEAR, COUNT, ring.next);                         \
        CTX_PUT(ring.ctx, dest[1], source, FAR, NEAR, COUNT, ring.ctx_next);       \
        PUT(dest[2], source, 1, FAR, COUNT, ring.next);                            \
        ring_complete(&ring);                                                      \
        STRIDED(T, dest[0], FAR, ring.before, NEAR)                                \
        STRIDED(T, dest[1], FAR, ring.ctx_before_world, NEAR)                      \
        STRIDED(T, dest[2], 1, ring.before, FAR)                                   \
        GET(got[0], source, FAR, NEAR, COUNT, ring.next);                          \
        CTX_GET(ring.ctx, got[1], source, FAR, NEAR, COUNT, ring.ctx_next);        \
        GET(got[2], source, 1, FAR, COUNT, ring.next);                             \
        STRIDED(T, got[0], FAR, ring.next, NEAR)                                   \
        STRIDED(T, got[1], FAR, ring.ctx_next_world, NEAR)                         \
        STRIDED(T, got[2], 1, ring.next, FAR)                                      \
        shmem_barrier_all();                                                       \
    }

/* Elements of the sized calls. __int128 has no literals but it has arithmetic. */
__extension__ typedef unsigned __int128 __attribute__((aligned(16))) word128;
typedef uint8_t  word8;
typedef uint16_t word16;
typedef uint32_t word32;
typedef uint64_t word64;

/* clang-format off */
#define STAMP_TYPE(NAME, T, ...) STAMP(NAME, T, shmem_##NAME##_iput, shmem_ctx_##NAME##_iput, shmem_##NAME##_iget, shmem_ctx_##NAME##_iget)
#define STAMP_SIZE(BITS, BYTES, ...) STAMP(size##BITS, word##BITS, shmem_iput##BITS, shmem_ctx_iput##BITS, shmem_iget##BITS, shmem_ctx_iget##BITS)
#define CALL(NAME, T, ...) test_##NAME();
#define CALL_SIZE(BITS, BYTES, ...) test_size##BITS();
SHMEMI_RMA_TYPES(STAMP_TYPE, )
SHMEMI_RMA_SIZES(STAMP_SIZE, )
/* clang-format on */

int main(void)
{
    shmem_init();
    ring = ring_open();
    SHMEMI_RMA_TYPES(CALL, )
    SHMEMI_RMA_SIZES(CALL_SIZE, )
    ring_close(&ring);
    shmem_finalize();
    return api_result();
}
