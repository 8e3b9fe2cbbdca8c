/* SPDX-License-Identifier: Apache-2.0
 *
 * put_signal of every type and size, blocking and not, SET and ADD, with and without a context: who sees the signal sees the
 * payload, and what lies around it stays.
 * Spec: OpenSHMEM 1.6 §9.8.3 shmem_put_signal, §9.8.4 shmem_put_signal_nbi
 */
#include "../ring.h"

enum { COUNT = 5, GUARD = 99, FORMS = 4 };

static struct ring ring;
static uint64_t    signals[FORMS];

/* Wait for each form's signal, then the payload of that form must be there. */
#define STAMP(NAME, T, PUT, PUT_NBI, CTX_PUT, CTX_PUT_NBI)                                                      \
    static T    NAME##_source[COUNT], NAME##_dest[FORMS][COUNT + 2];                                            \
    static void test_##NAME(uint64_t round)                                                                     \
    {                                                                                                           \
        T *source = NAME##_source, (*dest)[COUNT + 2] = NAME##_dest;                                            \
        for (int i = 0; i < COUNT; i++) source[i] = RING_VALUE(T, ring.me, i, 1);                               \
        for (int k = 0; k < FORMS; k++)                                                                         \
            for (int i = 0; i < COUNT + 2; i++) dest[k][i] = (T)GUARD;                                          \
        shmem_barrier_all();                                                                                    \
        PUT(dest[0] + 1, source, COUNT, &signals[0], round, SHMEM_SIGNAL_SET, ring.next);                       \
        PUT_NBI(dest[1] + 1, source, COUNT, &signals[1], 3, SHMEM_SIGNAL_ADD, ring.next);                       \
        CTX_PUT(ring.ctx, dest[2] + 1, source, COUNT, &signals[2], 5, SHMEM_SIGNAL_ADD, ring.ctx_next);         \
        CTX_PUT_NBI(ring.ctx, dest[3] + 1, source, COUNT, &signals[3], round, SHMEM_SIGNAL_SET, ring.ctx_next); \
        for (int k = 0; k < FORMS; k++) {                                                                       \
            uint64_t wanted = k == 1 ? 3 * round : k == 2 ? 5 * round : round;                                  \
            CHECK_EQUAL(shmem_signal_wait_until(&signals[k], SHMEM_CMP_EQ, wanted), wanted);                    \
            int sender = k < 2 ? ring.before : ring.ctx_before_world;                                           \
            CHECK(dest[k][0] == (T)GUARD && dest[k][COUNT + 1] == (T)GUARD);                                    \
            for (int i = 0; i < COUNT; i++) CHECK(dest[k][i + 1] == RING_VALUE(T, sender, i, 1));               \
        }                                                                                                       \
        ring_complete(&ring);                                                                                   \
    }

__extension__ typedef unsigned __int128 __attribute__((aligned(16))) word128;
typedef uint8_t  word8;
typedef uint16_t word16;
typedef uint32_t word32;
typedef uint64_t word64;
typedef char     wordmem;

/* clang-format off */
#define STAMP_TYPE(NAME, T, ...) \
    STAMP(NAME, T, shmem_##NAME##_put_signal, shmem_##NAME##_put_signal_nbi, shmem_ctx_##NAME##_put_signal, shmem_ctx_##NAME##_put_signal_nbi)
#define STAMP_SIZE(BITS, BYTES, ...) \
    STAMP(size##BITS, word##BITS, shmem_put##BITS##_signal, shmem_put##BITS##_signal_nbi, shmem_ctx_put##BITS##_signal, shmem_ctx_put##BITS##_signal_nbi)
#define CALL(NAME, T, ...) test_##NAME(++round);
#define CALL_SIZE(BITS, BYTES, ...) test_size##BITS(++round);
SHMEMI_RMA_TYPES(STAMP_TYPE, )
SHMEMI_RMA_SIZES(STAMP_SIZE, )
STAMP_SIZE(mem, 1)
/* clang-format on */

int main(void)
{
    uint64_t round = 0;
    shmem_init();
    ring = ring_open();
    SHMEMI_RMA_TYPES(CALL, )
    SHMEMI_RMA_SIZES(CALL_SIZE, )
    CALL_SIZE(mem, 1)
    ring_close(&ring);
    shmem_finalize();
    return api_result();
}
