/* SPDX-License-Identifier: Apache-2.0
 *
 * A length of 0 is legal in every call, with NULL pointers too, and does nothing.
 * Spec: OpenSHMEM 1.6 §C Undefined Behavior
 */
#include "../ring.h"

static struct ring ring;

#define STAMP(NAME, T, ...)                                                    \
    shmem_##NAME##_put(NULL, NULL, 0, ring.next);                              \
    shmem_##NAME##_put_nbi(NULL, NULL, 0, ring.next);                          \
    shmem_##NAME##_get(NULL, NULL, 0, ring.next);                              \
    shmem_##NAME##_get_nbi(NULL, NULL, 0, ring.next);                          \
    shmem_##NAME##_iput(NULL, NULL, 1, 1, 0, ring.next);                       \
    shmem_##NAME##_iget(NULL, NULL, 1, 1, 0, ring.next);                       \
    shmem_##NAME##_ibput(NULL, NULL, 2, 2, 2, 0, ring.next);                   \
    shmem_##NAME##_ibget(NULL, NULL, 2, 2, 2, 0, ring.next);                   \
    shmem_##NAME##_ibput(NULL, NULL, 2, 2, 0, 2, ring.next);                   \
    shmem_ctx_##NAME##_put(ring.ctx, NULL, NULL, 0, ring.ctx_next);            \
    shmem_ctx_##NAME##_put_nbi(ring.ctx, NULL, NULL, 0, ring.ctx_next);        \
    shmem_ctx_##NAME##_get(ring.ctx, NULL, NULL, 0, ring.ctx_next);            \
    shmem_ctx_##NAME##_get_nbi(ring.ctx, NULL, NULL, 0, ring.ctx_next);        \
    shmem_ctx_##NAME##_iput(ring.ctx, NULL, NULL, 1, 1, 0, ring.ctx_next);     \
    shmem_ctx_##NAME##_iget(ring.ctx, NULL, NULL, 1, 1, 0, ring.ctx_next);     \
    shmem_ctx_##NAME##_ibput(ring.ctx, NULL, NULL, 2, 2, 2, 0, ring.ctx_next); \
    shmem_ctx_##NAME##_ibget(ring.ctx, NULL, NULL, 2, 2, 2, 0, ring.ctx_next);

#define STAMP_SIZE(BITS, BYTES, ...)                 \
    shmem_put##BITS(NULL, NULL, 0, ring.next);       \
    shmem_put##BITS##_nbi(NULL, NULL, 0, ring.next); \
    shmem_get##BITS(NULL, NULL, 0, ring.next);       \
    shmem_get##BITS##_nbi(NULL, NULL, 0, ring.next); \
    shmem_put##BITS(word, NULL, 0, ring.next);       \
    shmem_get##BITS(NULL, word, 0, ring.next);

/* clang-format off */
#define STAMP_STRIDED(BITS, BYTES, ...)                                                                    \
    shmem_iput##BITS(NULL, NULL, 1, 1, 0, ring.next);                                                      \
    shmem_iget##BITS(NULL, NULL, 1, 1, 0, ring.next);                                                      \
    shmem_ibput##BITS(NULL, NULL, 1, 1, 1, 0, ring.next);                                                  \
    shmem_ibget##BITS(NULL, NULL, 1, 1, 1, 0, ring.next);
/* clang-format on */

int main(void)
{
    static long word[2] = {5, 6};
    shmem_init();
    ring = ring_open();
    SHMEMI_RMA_TYPES(STAMP, )
    SHMEMI_RMA_SIZES(STAMP_SIZE, )
    SHMEMI_RMA_SIZES(STAMP_STRIDED, )
    STAMP_SIZE(mem, 1)
    ring_complete(&ring);
    CHECK_EQUAL(word[0], 5);
    CHECK_EQUAL(word[1], 6);
    ring_close(&ring);
    shmem_finalize();
    return api_result();
}
