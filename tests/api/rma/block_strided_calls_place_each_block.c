/* SPDX-License-Identifier: Apache-2.0
 *
 * ibput and ibget of all types and sizes, with and without a context: strides go from block start to block start in elements, a
 * stride equal to the block size packs, and what lies between blocks stays.
 * Spec: OpenSHMEM 1.6 §9.6.1.4 shmem_ibput, §9.6.1.8 shmem_ibget
 */
#include "../ring.h"

enum { BLOCKS = 4, BLOCK = 3, FAR = 5, NEAR = 4, LENGTH = BLOCKS * FAR + 1, GUARD = 99 };

static struct ring ring;

#define BLOCKED(T, array, stride, sender, source_stride)                                                      \
    for (int i_ = 0; i_ < LENGTH; i_++) {                                                                     \
        int  block_ = i_ / (stride), in_ = i_ % (stride);                                                     \
        bool moved_ = block_ < BLOCKS && in_ < BLOCK;                                                         \
        CHECK((array)[i_] == (moved_ ? RING_VALUE(T, sender, block_ * (source_stride) + in_, 1) : (T)GUARD)); \
    }

#define STAMP(NAME, T, PUT, CTX_PUT, GET, CTX_GET)                                   \
    static T    NAME##_source[LENGTH], NAME##_dest[3][LENGTH];                       \
    static void test_##NAME(void)                                                    \
    {                                                                                \
        T *source = NAME##_source, (*dest)[LENGTH] = NAME##_dest, got[3][LENGTH];    \
        for (int i = 0; i < LENGTH; i++) source[i] = RING_VALUE(T, ring.me, i, 1);   \
        for (int k = 0; k < 3; k++)                                                  \
            for (int i = 0; i < LENGTH; i++) dest[k][i] = got[k][i] = (T)GUARD;      \
        shmem_barrier_all();                                                         \
        PUT(dest[0], source, FAR, NEAR, BLOCK, BLOCKS, ring.next);                   \
        CTX_PUT(ring.ctx, dest[1], source, FAR, NEAR, BLOCK, BLOCKS, ring.ctx_next); \
        PUT(dest[2], source, BLOCK, FAR, BLOCK, BLOCKS, ring.next);                  \
        ring_complete(&ring);                                                        \
        BLOCKED(T, dest[0], FAR, ring.before, NEAR)                                  \
        BLOCKED(T, dest[1], FAR, ring.ctx_before_world, NEAR)                        \
        BLOCKED(T, dest[2], BLOCK, ring.before, FAR)                                 \
        GET(got[0], source, FAR, NEAR, BLOCK, BLOCKS, ring.next);                    \
        CTX_GET(ring.ctx, got[1], source, FAR, NEAR, BLOCK, BLOCKS, ring.ctx_next);  \
        GET(got[2], source, BLOCK, FAR, BLOCK, BLOCKS, ring.next);                   \
        BLOCKED(T, got[0], FAR, ring.next, NEAR)                                     \
        BLOCKED(T, got[1], FAR, ring.ctx_next_world, NEAR)                           \
        BLOCKED(T, got[2], BLOCK, ring.next, FAR)                                    \
        shmem_barrier_all();                                                         \
    }

__extension__ typedef unsigned __int128 __attribute__((aligned(16))) word128;
typedef uint8_t  word8;
typedef uint16_t word16;
typedef uint32_t word32;
typedef uint64_t word64;

/* clang-format off */
#define STAMP_TYPE(NAME, T, ...) STAMP(NAME, T, shmem_##NAME##_ibput, shmem_ctx_##NAME##_ibput, shmem_##NAME##_ibget, shmem_ctx_##NAME##_ibget)
#define STAMP_SIZE(BITS, BYTES, ...) STAMP(size##BITS, word##BITS, shmem_ibput##BITS, shmem_ctx_ibput##BITS, shmem_ibget##BITS, shmem_ctx_ibget##BITS)
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
