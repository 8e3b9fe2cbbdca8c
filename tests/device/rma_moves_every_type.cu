/* SPDX-License-Identifier: Apache-2.0
 *
 * put, get, p, g, strided and with a signal; blocking and not; with and without a context; by a thread, a warp and a block: for every type
 * and size each moves what it should, to where it should, and nothing beside.
 *
 * PES: 1 2 3
 * NODES: a,b a:2,b
 * TSAN: yes
 */
#include "tests/device/device.h"

/* Each type has a slot of regions, which are larger than ELEMENTS of any type; each call has a region of its own. */
enum { ELEMENTS = 5, REGION = 96, REGIONS = 64, SLOT = REGION * REGIONS };
enum {
    SOURCE,
    PUT, /* 12 forms: nbi * 6 + ctx * 3 + (thread, warp, block) */
    GET    = PUT + 12,
    SIGNAL = GET + 12,
    IPUT   = SIGNAL + 12, /* 6 forms: ctx * 3 + (thread, warp, block) */
    IGET   = IPUT + 6,
    P      = IGET + 6, /* 2 forms: ctx */
    G      = P + 2,
    WORDS  = G + 2, /* signals of 12 forms: two regions */
};

template <class T> __device__ T value(int pe, int i)
{
    T v;
    memset(&v, 0, sizeof v);
    v = (T)(pe * 40 + i * 7 + 1);
    return v;
}

/* 16 bytes that are no type. */
struct wide {
    uint64_t a, b;
};
template <> __device__ wide value<wide>(int pe, int i)
{
    return wide{(uint64_t)(pe * 40 + i), ~(uint64_t)i};
}

template <class T> __device__ T *region(char *slot, int number)
{
    return (T *)(slot + number * REGION);
}

template <class T> __global__ void fill(char *slot)
{
    if (threadIdx.x < ELEMENTS) region<T>(slot, SOURCE)[threadIdx.x] = value<T>(shmem_my_pe(), (int)threadIdx.x);
}

/* Is element i of a region that of the source of `pe`, or 0 where i is not in the source? */
template <class T> __device__ bool is_from(char *slot, int number, int i, int pe, int source)
{
    T wanted;
    memset(&wanted, 0, sizeof wanted);
    if (source >= 0) wanted = value<T>(pe, source);
    return memcmp(region<T>(slot, number) + i, &wanted, sizeof wanted) == 0;
}

template <class T> __global__ void look(char *slot, int strided, int single, const char *name)
{
    int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n, before = (me + n - 1) % n;
    if (threadIdx.x > ELEMENTS) return; /* one more than there are: it sees that nothing lies behind */
    int i = (int)threadIdx.x, whole = i < ELEMENTS ? i : -1;
    for (int form = 0; form < 12; form++) {
        CHECK_AND(is_from<T>(slot, PUT + form, i, before, whole), name);
        CHECK_AND(is_from<T>(slot, GET + form, i, next, whole), name);
        CHECK_AND(is_from<T>(slot, SIGNAL + form, i, before, whole), name);
        if (i == 0) CHECK_AND(region<uint64_t>(slot, WORDS)[form] == (uint64_t)(form % 2 ? 2 * before + 10 : before + 5), name);
    }
    for (int form = 0; form < 6 && strided; form++) {
        CHECK_AND(is_from<T>(slot, IPUT + form, i, before, i < ELEMENTS && i % 2 == 0 ? i / 2 : -1), name);
        CHECK_AND(is_from<T>(slot, IGET + form, i, next, i < 3 ? i * 2 : -1), name);
    }
    for (int form = 0; form < 2 && single; form++) {
        CHECK_AND(is_from<T>(slot, P + form, i, before, whole), name);
        CHECK_AND(is_from<T>(slot, G + form, i, next, whole), name);
    }
}

/* How names are put together: those with a type, and those with a size. */
#define TYPED(PREFIX, NAME, OP, TAIL) PREFIX##NAME##_##OP##TAIL
#define SIZED(PREFIX, NAME, OP, TAIL) PREFIX##OP##NAME##TAIL

#define HERE(NUMBER) region<T>(slot, NUMBER)
#define WORD(FORM)   (region<uint64_t>(slot, WORDS) + (FORM))
/* Even forms set the signal, odd ones add to it, twice. */
#define SIGNALS(CALL, FORM, ...)                                                                       \
    CALL(__VA_ARGS__ HERE(SIGNAL + FORM), HERE(SOURCE), ELEMENTS *SCALE, WORD(FORM), (uint64_t)me + 5, \
         FORM % 2 ? SHMEM_SIGNAL_ADD : SHMEM_SIGNAL_SET, next);

/* A form by one thread, the first warp, and the block: FIRST is the number of the first of these. */
#define BULK(N, NAME, TAIL, FIRST, PREFIX, CONTEXT, ...)                                                                     \
    if (threadIdx.x == 0) {                                                                                                  \
        N(shmem_##PREFIX, NAME, put, TAIL)(__VA_ARGS__ HERE(PUT + FIRST), HERE(SOURCE), ELEMENTS * SCALE, next);             \
        N(shmem_##PREFIX, NAME, get, TAIL)(__VA_ARGS__ HERE(GET + FIRST), HERE(SOURCE), ELEMENTS * SCALE, next);             \
        SIGNALS(N(shmem_##PREFIX, NAME, put, CONTEXT), FIRST, __VA_ARGS__)                                                   \
        if (FIRST % 2) SIGNALS(N(shmem_##PREFIX, NAME, put, CONTEXT), FIRST, __VA_ARGS__)                                    \
    }                                                                                                                        \
    if (threadIdx.x < 32) {                                                                                                  \
        N(shmemx_##PREFIX, NAME, put, TAIL##_warp)(__VA_ARGS__ HERE(PUT + FIRST + 1), HERE(SOURCE), ELEMENTS * SCALE, next); \
        N(shmemx_##PREFIX, NAME, get, TAIL##_warp)(__VA_ARGS__ HERE(GET + FIRST + 1), HERE(SOURCE), ELEMENTS * SCALE, next); \
        SIGNALS(N(shmemx_##PREFIX, NAME, put, CONTEXT##_warp), FIRST + 1, __VA_ARGS__)                                       \
        if ((FIRST + 1) % 2) SIGNALS(N(shmemx_##PREFIX, NAME, put, CONTEXT##_warp), FIRST + 1, __VA_ARGS__)                  \
    }                                                                                                                        \
    N(shmemx_##PREFIX, NAME, put, TAIL##_block)(__VA_ARGS__ HERE(PUT + FIRST + 2), HERE(SOURCE), ELEMENTS * SCALE, next);    \
    N(shmemx_##PREFIX, NAME, get, TAIL##_block)(__VA_ARGS__ HERE(GET + FIRST + 2), HERE(SOURCE), ELEMENTS * SCALE, next);    \
    SIGNALS(N(shmemx_##PREFIX, NAME, put, CONTEXT##_block), FIRST + 2, __VA_ARGS__)                                          \
    if (FIRST % 2) SIGNALS(N(shmemx_##PREFIX, NAME, put, CONTEXT##_block), FIRST + 2, __VA_ARGS__)

#define STRIDED(N, NAME, FIRST, PREFIX, ...)                                                                    \
    if (threadIdx.x == 0) {                                                                                     \
        N(shmem_##PREFIX, NAME, iput, )(__VA_ARGS__ HERE(IPUT + FIRST), HERE(SOURCE), 2, 1, 3, next);           \
        N(shmem_##PREFIX, NAME, iget, )(__VA_ARGS__ HERE(IGET + FIRST), HERE(SOURCE), 1, 2, 3, next);           \
    }                                                                                                           \
    if (threadIdx.x < 32) {                                                                                     \
        N(shmemx_##PREFIX, NAME, iput, _warp)(__VA_ARGS__ HERE(IPUT + FIRST + 1), HERE(SOURCE), 2, 1, 3, next); \
        N(shmemx_##PREFIX, NAME, iget, _warp)(__VA_ARGS__ HERE(IGET + FIRST + 1), HERE(SOURCE), 1, 2, 3, next); \
    }                                                                                                           \
    N(shmemx_##PREFIX, NAME, iput, _block)(__VA_ARGS__ HERE(IPUT + FIRST + 2), HERE(SOURCE), 2, 1, 3, next);    \
    N(shmemx_##PREFIX, NAME, iget, _block)(__VA_ARGS__ HERE(IGET + FIRST + 2), HERE(SOURCE), 1, 2, 3, next);

#define COMMA_CTX SHMEM_CTX_DEFAULT,

#define ALL_BULK(N, NAME)                        \
    BULK(N, NAME, , 0, , _signal)                \
    BULK(N, NAME, , 3, ctx_, _signal, COMMA_CTX) \
    BULK(N, NAME, _nbi, 6, , _signal_nbi)        \
    BULK(N, NAME, _nbi, 9, ctx_, _signal_nbi, COMMA_CTX)

/* A kernel that makes all calls of one type or size. */
#define BEGIN_KERNEL(NAME, TYPE, ELEMENT)                                 \
    __global__ void move_##NAME(char *slot)                               \
    {                                                                     \
        typedef TYPE T;                                                   \
        const int    me = shmem_my_pe(), next = (me + 1) % shmem_n_pes(); \
        const size_t SCALE = ELEMENT;
#define END_KERNEL                       \
    if (threadIdx.x == 0) shmem_quiet(); \
    }

#define TYPE_KERNEL(NAME, TYPE, UNUSED)                                          \
    BEGIN_KERNEL(NAME, TYPE, 1)                                                  \
    ALL_BULK(TYPED, NAME)                                                        \
    STRIDED(TYPED, NAME, 0, )                                                    \
    STRIDED(TYPED, NAME, 3, ctx_, COMMA_CTX)                                     \
    if (threadIdx.x < ELEMENTS) {                                                \
        const int i = (int)threadIdx.x;                                          \
        shmem_##NAME##_p(HERE(P) + i, HERE(SOURCE)[i], next);                    \
        shmem_ctx_##NAME##_p(COMMA_CTX HERE(P + 1) + i, HERE(SOURCE)[i], next);  \
        HERE(G)[i]     = shmem_##NAME##_g(HERE(SOURCE) + i, next);               \
        HERE(G + 1)[i] = shmem_ctx_##NAME##_g(COMMA_CTX HERE(SOURCE) + i, next); \
        shmem_quiet();                                                           \
    }                                                                            \
    END_KERNEL
#define SIZE_KERNEL(NAME, BYTES, TYPE)       \
    BEGIN_KERNEL(NAME, TYPE, 1)              \
    ALL_BULK(SIZED, NAME)                    \
    STRIDED(SIZED, NAME, 0, )                \
    STRIDED(SIZED, NAME, 3, ctx_, COMMA_CTX) \
    END_KERNEL

/* ThreadSanitizer is slow to make threads, and the types differ by name only. */
#ifdef __SANITIZE_THREAD__
#define TYPES(X) X(char, char, 0) X(short, short, 0) X(long, long, 0)
#else
#define TYPES(X) SHMEMI_RMA_DEVICE_TYPES(X, 0)
#endif

/* clang-format off */
TYPES(TYPE_KERNEL)
SIZE_KERNEL(8, 1, uint8_t)
SIZE_KERNEL(16, 2, uint16_t)
SIZE_KERNEL(32, 4, uint32_t)
SIZE_KERNEL(64, 8, uint64_t)
SIZE_KERNEL(128, 16, wide)
BEGIN_KERNEL(mem, uint16_t, 2)
ALL_BULK(SIZED, mem)
END_KERNEL
/* clang-format on */

/* 48 threads: a full warp, and half a one, which is in the block's calls only. */
#define RUN(NAME, TYPE, STRIDES, SINGLE)                                 \
    do {                                                                 \
        DEVICE_RUN(pe, fill<TYPE>, 1, 32, slot);                         \
        DEVICE_RUN(pe, move_##NAME, 1, 48, slot);                        \
        DEVICE_RUN(pe, look<TYPE>, 1, 32, slot, STRIDES, SINGLE, #NAME); \
        slot += SLOT;                                                    \
    } while (0);
#define RUN_TYPE(NAME, TYPE, UNUSED) RUN(NAME, TYPE, 1, 1)

static void test(struct device_pe *pe)
{
    char *slot = (char *)device_allocate(pe, 32 * SLOT);
    TYPES(RUN_TYPE)
    RUN(8, uint8_t, 1, 0)
    RUN(16, uint16_t, 1, 0)
    RUN(32, uint32_t, 1, 0)
    RUN(64, uint64_t, 1, 0)
    RUN(128, wide, 1, 0)
    RUN(mem, uint16_t, 0, 0)
}
