/* SPDX-License-Identifier: Apache-2.0
 *
 * put8 to put128 and putmem, the gets, the nonblocking and the context forms, on the heap: an element has the size's bits, so
 * that put8 moves bytes, not 8-byte words, and put128 moves 16 bytes.
 * Spec: OpenSHMEM 1.6 §3.1 Pointers to Symmetric Objects, §9.6.1.1 shmem_put, §9.6.1.5 shmem_get, §9.6.2.1 to §9.6.2.2
 */
#include "../ring.h"

enum { COUNT = 7, BYTES_MAX = COUNT * 16, LENGTH = BYTES_MAX + 64, GUARD = 0xA5 };

static struct ring ring;

static unsigned char byte_of(int pe, size_t i, int salt)
{
    return (unsigned char)(pe * 31 + (int)i * 7 + salt);
}

/* The first bytes are the sender's, all others still the guard. */
static void check_bytes(const unsigned char *at, size_t bytes, int sender, const char *call)
{
    for (size_t i = 0; i < LENGTH; i++) {
        unsigned char wanted = i < bytes ? byte_of(sender, i, 1) : GUARD;
        if (at[i] == wanted) continue;
        fprintf(stderr, "PE %d: %s: byte %zu is %d, expected %d\n", ring.me, call, i, at[i], wanted);
        CHECK(!"bytes are right");
        return;
    }
}

#define STAMP(BITS, BYTES, PUT, PUT_NBI, CTX_PUT, CTX_PUT_NBI, GET, GET_NBI, CTX_GET, CTX_GET_NBI) \
    static void test_##BITS(const unsigned char *source, unsigned char(*dest)[LENGTH])             \
    {                                                                                              \
        static unsigned char got[4][LENGTH];                                                       \
        const size_t         bytes = (size_t)COUNT * (BYTES);                                      \
        memset(dest, GUARD, (size_t)4 * LENGTH);                                                   \
        memset(got, GUARD, sizeof got);                                                            \
        shmem_barrier_all();                                                                       \
        PUT(dest[0], source, COUNT, ring.next);                                                    \
        PUT_NBI(dest[1], source, COUNT, ring.next);                                                \
        CTX_PUT(ring.ctx, dest[2], source, COUNT, ring.ctx_next);                                  \
        CTX_PUT_NBI(ring.ctx, dest[3], source, COUNT, ring.ctx_next);                              \
        ring_complete(&ring);                                                                      \
        check_bytes(dest[0], bytes, ring.before, #PUT);                                            \
        check_bytes(dest[1], bytes, ring.before, #PUT_NBI);                                        \
        check_bytes(dest[2], bytes, ring.ctx_before_world, #CTX_PUT);                              \
        check_bytes(dest[3], bytes, ring.ctx_before_world, #CTX_PUT_NBI);                          \
        GET(got[0], source, COUNT, ring.next);                                                     \
        check_bytes(got[0], bytes, ring.next, #GET);                                               \
        CTX_GET(ring.ctx, got[1], source, COUNT, ring.ctx_next);                                   \
        check_bytes(got[1], bytes, ring.ctx_next_world, #CTX_GET);                                 \
        GET_NBI(got[2], source, COUNT, ring.next);                                                 \
        CTX_GET_NBI(ring.ctx, got[3], source, COUNT, ring.ctx_next);                               \
        shmem_quiet();                                                                             \
        check_bytes(got[2], bytes, ring.next, #GET_NBI);                                           \
        shmem_ctx_quiet(ring.ctx);                                                                 \
        check_bytes(got[3], bytes, ring.ctx_next_world, #CTX_GET_NBI);                             \
        shmem_barrier_all();                                                                       \
    }

/* clang-format off */
#define STAMP_SIZE(BITS, BYTES, ...)                                                                       \
    STAMP(BITS, BYTES, shmem_put##BITS, shmem_put##BITS##_nbi, shmem_ctx_put##BITS, shmem_ctx_put##BITS##_nbi, \
          shmem_get##BITS, shmem_get##BITS##_nbi, shmem_ctx_get##BITS, shmem_ctx_get##BITS##_nbi)
SHMEMI_RMA_SIZES(STAMP_SIZE, )
STAMP_SIZE(mem, 1)
#define CALL(BITS, BYTES, ...) test_##BITS(source, dest);
/* clang-format on */

int main(void)
{
    shmem_init();
    ring                         = ring_open();
    unsigned char *source        = shmem_malloc(LENGTH);
    unsigned char(*dest)[LENGTH] = shmem_malloc((size_t)4 * LENGTH);
    if (CHECK(source && dest)) {
        for (size_t i = 0; i < LENGTH; i++) source[i] = byte_of(ring.me, i, 1);
        SHMEMI_RMA_SIZES(CALL, )
        CALL(mem, 1)
    }
    ring_close(&ring);
    shmem_finalize();
    return api_result();
}
