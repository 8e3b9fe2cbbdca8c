/* SPDX-License-Identifier: Apache-2.0
 *
 * put, get, their nonblocking forms, p and g, of all 24 types, with and without a context, on static objects: the right elements
 * arrive at the right PE, and the elements beside them stay.
 * Spec: OpenSHMEM 1.6 §9.6 Remote Memory Access Routines, §9.6.1.1 to §9.6.1.2, §9.6.1.5 to §9.6.1.6, §9.6.2.1 to §9.6.2.2
 */
#include "../ring.h"

enum { COUNT = 5, LENGTH = COUNT + 2, GUARD = 99 };

static struct ring ring;

#define GUARDED(T, array, sender, salt)                                                               \
    do {                                                                                              \
        CHECK((array)[0] == (T)GUARD && (array)[COUNT + 1] == (T)GUARD);                              \
        for (int i_ = 0; i_ < COUNT; i_++) CHECK((array)[i_ + 1] == RING_VALUE(T, sender, i_, salt)); \
    } while (0)

/* Symmetric arrays of one type, one for each call. */
#define STAMP(NAME, T, ...)                                                                                               \
    static T    NAME##_source[COUNT], NAME##_dest[6][LENGTH];                                                             \
    static void test_##NAME(void)                                                                                         \
    {                                                                                                                     \
        T *source = NAME##_source, (*dest)[LENGTH] = NAME##_dest, got[6][LENGTH];                                         \
        for (int i = 0; i < COUNT; i++) source[i] = RING_VALUE(T, ring.me, i, 1);                                         \
        for (int k = 0; k < 6; k++)                                                                                       \
            for (int i = 0; i < LENGTH; i++) dest[k][i] = got[k][i] = (T)GUARD;                                           \
        shmem_barrier_all();                                                                                              \
                                                                                                                          \
        shmem_##NAME##_put(dest[0] + 1, source, COUNT, ring.next);                                                        \
        shmem_##NAME##_put_nbi(dest[1] + 1, source, COUNT, ring.next);                                                    \
        shmem_ctx_##NAME##_put(ring.ctx, dest[2] + 1, source, COUNT, ring.ctx_next);                                      \
        shmem_ctx_##NAME##_put_nbi(ring.ctx, dest[3] + 1, source, COUNT, ring.ctx_next);                                  \
        for (int i = 0; i < COUNT; i++) {                                                                                 \
            shmem_##NAME##_p(dest[4] + 1 + i, RING_VALUE(T, ring.me, i, 2), ring.next);                                   \
            shmem_ctx_##NAME##_p(ring.ctx, dest[5] + 1 + i, RING_VALUE(T, ring.me, i, 3), ring.ctx_next);                 \
        }                                                                                                                 \
        ring_complete(&ring);                                                                                             \
        GUARDED(T, dest[0], ring.before, 1);                                                                              \
        GUARDED(T, dest[1], ring.before, 1);                                                                              \
        GUARDED(T, dest[2], ring.ctx_before_world, 1);                                                                    \
        GUARDED(T, dest[3], ring.ctx_before_world, 1);                                                                    \
        GUARDED(T, dest[4], ring.before, 2);                                                                              \
        GUARDED(T, dest[5], ring.ctx_before_world, 3);                                                                    \
                                                                                                                          \
        shmem_##NAME##_get(got[0] + 1, source, COUNT, ring.next);                                                         \
        GUARDED(T, got[0], ring.next, 1);                                                                                 \
        shmem_ctx_##NAME##_get(ring.ctx, got[1] + 1, source, COUNT, ring.ctx_next);                                       \
        GUARDED(T, got[1], ring.ctx_next_world, 1);                                                                       \
        shmem_##NAME##_get_nbi(got[2] + 1, source, COUNT, ring.next);                                                     \
        shmem_ctx_##NAME##_get_nbi(ring.ctx, got[3] + 1, source, COUNT, ring.ctx_next);                                   \
        shmem_quiet();                                                                                                    \
        GUARDED(T, got[2], ring.next, 1);                                                                                 \
        shmem_ctx_quiet(ring.ctx);                                                                                        \
        GUARDED(T, got[3], ring.ctx_next_world, 1);                                                                       \
        for (int i = 0; i < COUNT; i++) {                                                                                 \
            CHECK(shmem_##NAME##_g(source + i, ring.next) == RING_VALUE(T, ring.next, i, 1));                             \
            CHECK(shmem_ctx_##NAME##_g(ring.ctx, source + i, ring.ctx_next) == RING_VALUE(T, ring.ctx_next_world, i, 1)); \
        }                                                                                                                 \
        shmem_barrier_all();                                                                                              \
    }

/* clang-format off */
SHMEMI_RMA_TYPES(STAMP, )
#define CALL(NAME, T, ...) test_##NAME();
/* clang-format on */

int main(void)
{
    shmem_init();
    ring = ring_open();
    SHMEMI_RMA_TYPES(CALL, )
    ring_close(&ring);
    shmem_finalize();
    return api_result();
}
