/* SPDX-License-Identifier: Apache-2.0
 *
 * Atomic memory operations, fetching or not, blocking or not.
 *
 * On mapped routes they are this CPU's atomic instructions, so all of one width exclude each other whatever the type's name.
 * Orders: updates release and reads acquire, which is more than the standard asks and free on x86.
 * Spec: OpenSHMEM 1.6 §3.2 Atomicity Guarantees, §9.7 Atomic Memory Operations.  Tests: tests/api/amo/.
 */
#include "runtime/gpu/gpu.h"
#include "runtime/operands.h"
#include "runtime/post.h"
#include "runtime/route.h"
#include "runtime/service.h"
#include "transports/mapped.h"

#include <shmem.h>
#include <string.h>

/* An operand of 4 or 8 bytes as bits in the low end, and back. */
SHMEMI_INLINE uint64_t to_bits(const void *value, size_t bytes)
{
    uint32_t word4;
    uint64_t word8;
    if (bytes == 4) {
        memcpy(&word4, value, 4);
        return word4;
    }
    memcpy(&word8, value, 8);
    return word8;
}

SHMEMI_INLINE void from_bits(uint64_t bits, void *value, size_t bytes)
{
    uint32_t word4 = (uint32_t)bits;
    if (bytes == 4) memcpy(value, &word4, 4);
    else memcpy(value, &bits, 8);
}

static SHMEMI_COLD void misaligned(const char *call, const void *address, size_t bytes)
{
    shmemi_service_fatal(call,
                         "address %p is not a multiple of %zu" WHY "an atomic operation needs the natural alignment of its type" FIX
                         "look at how the address is made",
                         address, bytes);
}

/* Checked mode: the old value goes somewhere, and not into the word itself. */
static SHMEMI_COLD void check_fetch(const char *call, const struct shmemi_place *at, const void *address, const void *fetch,
                                    enum shmemt_amo_op op, size_t bytes)
{
    const char                 *name = op == SHMEMT_AMO_FETCH ? "source" : "dest";
    const struct shmemi_operand word = {.name = name, .address = address, .blocks = 1, .bytes = bytes},
                                old  = {.name = "fetch", .address = fetch, .blocks = 1, .bytes = bytes};
    shmemi_operands_check(call, at, &word, &old);
}

/*
 * One operation on the word of `bytes` at address. Its old value goes to fetch (may be NULL), at once (LOCAL) or by the next
 * quiet (NBI).
 */
static SHMEMI_COLD void amo_careful(const char *call, shmem_ctx_t handle, void *fetch, const void *address, enum shmemt_amo_op op,
                                    uint64_t value, uint64_t compare, size_t bytes, int pe, enum shmemi_post_wait wait)
{
    struct shmemi_place at;
    struct shmemi_ctx  *ctx = shmemi_route_ctx(handle, call);
    shmemi_route_find(ctx, call, address, bytes, pe, &at);
    shmemi_route_by_agent(&at);
    if ((uintptr_t)address % bytes != 0) misaligned(call, address, bytes);
    if (SHMEMI_UNLIKELY(shmemi_state.check && wait == SHMEMI_POST_NBI)) check_fetch(call, &at, address, fetch, op, bytes);
    shmemi_state_count(at.pe, SHMEMI_COUNT_AMO, at.mapped, bytes);

    const struct shmemt_amo amo = {.op = op, .bytes = (unsigned)bytes, .value = value, .compare = compare, .fetch = fetch};
    if (shmemi_gpu_concerns(&at, fetch)) {
        shmemi_gpu_amo(ctx, &at, &amo);
        return;
    }
    if (!at.mapped) {
        shmemi_post_amo(ctx, &at, &amo, wait);
        return;
    }
    uint64_t old = shmemt_mapped_amo(at.mapped, &amo);
    if (op != SHMEMT_AMO_FETCH) shmemi_wait_stored((int)at.local, at.mapped, bytes);
    if (fetch) from_bits(old, fetch, bytes);
}

SHMEMI_INLINE bool plain_word(shmem_ctx_t ctx, const void *address, int pe, struct shmemi_spot *word_out)
{
    return SHMEMI_LIKELY(shmemi_route_plain(address, pe, word_out)) &&
           (SHMEMI_LIKELY(ctx == SHMEM_CTX_DEFAULT) || (ctx != SHMEM_CTX_INVALID && ctx->world));
}

/* clang-format off */

#define RETURNED(VALUE) return VALUE
#define DROPPED(VALUE)  (void)(VALUE)

/* A parenthesised list without its parentheses. */
#define LIST(...) __VA_ARGS__

/*
 * do_NAME_OP() is one operation on one type, with the context as an argument; the two public functions are one call of it each.
 *
 *   BODY      does it on the mapped word `at` (T *) and leaves the old value in `old`
 *   WIRE, VALUE, COMPARE   the same for the careful path
 *   FETCH, WAIT            where the old value goes there, and when
 *   STORED                 whether the word may have changed
 *   GIVE                   RETURNED or DROPPED: whether the function has a result
 */
#define DEFINE_AMO(RET, NAME, T, OP, DECLARED, PASSED, ADDRESS, BODY, WIRE, VALUE, COMPARE, FETCH, WAIT, STORED, GIVE) \
    SHMEMI_INLINE RET do_##NAME##_##OP(const char *call, shmem_ctx_t ctx, LIST DECLARED)              \
    {                                                                                                 \
        struct shmemi_spot word;                                                                      \
        T                  old = 0;                                                                   \
        if (plain_word(ctx, ADDRESS, pe, &word)) {                                                    \
            T *at = word.at;                                                                          \
            BODY;                                                                                     \
            if (STORED) shmemi_route_stored(word, sizeof(T));                                         \
        } else {                                                                                      \
            amo_careful(call, ctx, FETCH, ADDRESS, WIRE, VALUE, COMPARE, sizeof(T), pe, WAIT);        \
        }                                                                                             \
        (void)old;                                                                                    \
        GIVE(old);                                                                                    \
    }                                                                                                 \
    RET pshmem_##NAME##_##OP(LIST DECLARED)                                                           \
    {                                                                                                 \
        GIVE(do_##NAME##_##OP("shmem_" #NAME "_" #OP, SHMEM_CTX_DEFAULT, LIST PASSED));               \
    }                                                                                                 \
    SHMEMI_EXPORT(shmem_##NAME##_##OP)                                                                \
    RET pshmem_ctx_##NAME##_##OP(shmem_ctx_t ctx, LIST DECLARED)                                      \
    {                                                                                                 \
        GIVE(do_##NAME##_##OP("shmem_ctx_" #NAME "_" #OP, ctx, LIST PASSED));                         \
    }                                                                                                 \
    SHMEMI_EXPORT(shmem_ctx_##NAME##_##OP)

/* The builtins with pointers take floating types too. */
#define LOAD       __atomic_load(at, &old, __ATOMIC_ACQUIRE)
#define STORE      __atomic_store(at, &value, __ATOMIC_RELEASE)
#define EXCHANGE   __atomic_exchange(at, &value, &old, __ATOMIC_ACQ_REL)
/* On failure the builtin leaves what it saw in old; on success it saw cond. */
#define EXCHANGE_IF old = cond; __atomic_compare_exchange_n(at, &old, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
#define FETCH_ADD1 old = __atomic_fetch_add(at, 1, __ATOMIC_ACQ_REL)
#define ADD1       (void)__atomic_fetch_add(at, 1, __ATOMIC_RELEASE)
#define BITS(OPERAND) to_bits(&OPERAND, sizeof OPERAND)

/* One shape of arguments each: blocking, then nonblocking. */
#define DEFINE_FETCH(NAME, T, OP) \
    DEFINE_AMO(T, NAME, T, OP, (const T *source, int pe), (source, pe), source, LOAD, \
               SHMEMT_AMO_FETCH, 0, 0, &old, SHMEMI_POST_LOCAL, 0, RETURNED)
#define DEFINE_FETCH_NBI(NAME, T, OP) \
    DEFINE_AMO(void, NAME, T, OP, (T *fetch, const T *source, int pe), (fetch, source, pe), source, LOAD; *fetch = old, \
               SHMEMT_AMO_FETCH, 0, 0, fetch, SHMEMI_POST_NBI, 0, DROPPED)

#define DEFINE_UPDATE(NAME, T, OP, BODY, WIRE) \
    DEFINE_AMO(void, NAME, T, OP, (T *dest, T value, int pe), (dest, value, pe), dest, BODY, \
               WIRE, BITS(value), 0, NULL, SHMEMI_POST_LOCAL, 1, DROPPED)
#define DEFINE_FETCHING(NAME, T, OP, BODY, WIRE) \
    DEFINE_AMO(T, NAME, T, OP, (T *dest, T value, int pe), (dest, value, pe), dest, BODY, \
               WIRE, BITS(value), 0, &old, SHMEMI_POST_LOCAL, 1, RETURNED)
#define DEFINE_FETCHING_NBI(NAME, T, OP, BODY, WIRE) \
    DEFINE_AMO(void, NAME, T, OP, (T *fetch, T *dest, T value, int pe), (fetch, dest, value, pe), dest, BODY; *fetch = old, \
               WIRE, BITS(value), 0, fetch, SHMEMI_POST_NBI, 1, DROPPED)

#define DEFINE_CSWAP(NAME, T, OP) \
    DEFINE_AMO(T, NAME, T, OP, (T *dest, T cond, T value, int pe), (dest, cond, value, pe), dest, EXCHANGE_IF, \
               SHMEMT_AMO_CSWAP, BITS(value), BITS(cond), &old, SHMEMI_POST_LOCAL, 1, RETURNED)
#define DEFINE_CSWAP_NBI(NAME, T, OP) \
    DEFINE_AMO(void, NAME, T, OP, (T *fetch, T *dest, T cond, T value, int pe), (fetch, dest, cond, value, pe), dest, \
               EXCHANGE_IF; *fetch = old, SHMEMT_AMO_CSWAP, BITS(value), BITS(cond), fetch, SHMEMI_POST_NBI, 1, DROPPED)

#define DEFINE_INC(NAME, T, OP) \
    DEFINE_AMO(void, NAME, T, OP, (T *dest, int pe), (dest, pe), dest, ADD1, \
               SHMEMT_AMO_ADD, 1, 0, NULL, SHMEMI_POST_LOCAL, 1, DROPPED)
#define DEFINE_FETCH_INC(NAME, T, OP) \
    DEFINE_AMO(T, NAME, T, OP, (T *dest, int pe), (dest, pe), dest, FETCH_ADD1, \
               SHMEMT_AMO_ADD, 1, 0, &old, SHMEMI_POST_LOCAL, 1, RETURNED)
#define DEFINE_FETCH_INC_NBI(NAME, T, OP) \
    DEFINE_AMO(void, NAME, T, OP, (T *fetch, T *dest, int pe), (fetch, dest, pe), dest, FETCH_ADD1; *fetch = old, \
               SHMEMT_AMO_ADD, 1, 0, fetch, SHMEMI_POST_NBI, 1, DROPPED)

/* An operation whose old value nobody wants releases only, and the compiler picks the cheaper instruction. */
#define KEEP(BUILTIN) old = BUILTIN(at, value, __ATOMIC_ACQ_REL)
#define DROP(BUILTIN) (void)BUILTIN(at, value, __ATOMIC_RELEASE)

SHMEMI_AMO_EXT_TYPES(DEFINE_FETCH, atomic_fetch)
SHMEMI_AMO_EXT_TYPES(DEFINE_UPDATE, atomic_set, STORE, SHMEMT_AMO_SET)
SHMEMI_AMO_EXT_TYPES(DEFINE_FETCHING, atomic_swap, EXCHANGE, SHMEMT_AMO_SET)
SHMEMI_AMO_STD_TYPES(DEFINE_CSWAP, atomic_compare_swap)

SHMEMI_AMO_STD_TYPES(DEFINE_FETCH_INC, atomic_fetch_inc)
SHMEMI_AMO_STD_TYPES(DEFINE_INC, atomic_inc)
SHMEMI_AMO_STD_TYPES(DEFINE_FETCHING, atomic_fetch_add, KEEP(__atomic_fetch_add), SHMEMT_AMO_ADD)
SHMEMI_AMO_STD_TYPES(DEFINE_UPDATE, atomic_add, DROP(__atomic_fetch_add), SHMEMT_AMO_ADD)

SHMEMI_AMO_BIT_TYPES(DEFINE_FETCHING, atomic_fetch_and, KEEP(__atomic_fetch_and), SHMEMT_AMO_AND)
SHMEMI_AMO_BIT_TYPES(DEFINE_UPDATE, atomic_and, DROP(__atomic_fetch_and), SHMEMT_AMO_AND)
SHMEMI_AMO_BIT_TYPES(DEFINE_FETCHING, atomic_fetch_or, KEEP(__atomic_fetch_or), SHMEMT_AMO_OR)
SHMEMI_AMO_BIT_TYPES(DEFINE_UPDATE, atomic_or, DROP(__atomic_fetch_or), SHMEMT_AMO_OR)
SHMEMI_AMO_BIT_TYPES(DEFINE_FETCHING, atomic_fetch_xor, KEEP(__atomic_fetch_xor), SHMEMT_AMO_XOR)
SHMEMI_AMO_BIT_TYPES(DEFINE_UPDATE, atomic_xor, DROP(__atomic_fetch_xor), SHMEMT_AMO_XOR)

SHMEMI_AMO_EXT_TYPES(DEFINE_FETCH_NBI, atomic_fetch_nbi)
SHMEMI_AMO_EXT_TYPES(DEFINE_FETCHING_NBI, atomic_swap_nbi, EXCHANGE, SHMEMT_AMO_SET)
SHMEMI_AMO_STD_TYPES(DEFINE_CSWAP_NBI, atomic_compare_swap_nbi)
SHMEMI_AMO_STD_TYPES(DEFINE_FETCH_INC_NBI, atomic_fetch_inc_nbi)
SHMEMI_AMO_STD_TYPES(DEFINE_FETCHING_NBI, atomic_fetch_add_nbi, KEEP(__atomic_fetch_add), SHMEMT_AMO_ADD)
SHMEMI_AMO_BIT_TYPES(DEFINE_FETCHING_NBI, atomic_fetch_and_nbi, KEEP(__atomic_fetch_and), SHMEMT_AMO_AND)
SHMEMI_AMO_BIT_TYPES(DEFINE_FETCHING_NBI, atomic_fetch_or_nbi, KEEP(__atomic_fetch_or), SHMEMT_AMO_OR)
SHMEMI_AMO_BIT_TYPES(DEFINE_FETCHING_NBI, atomic_fetch_xor_nbi, KEEP(__atomic_fetch_xor), SHMEMT_AMO_XOR)

/*
 * The names from before 1.4, deprecated: the same operations, so that both names may be used on one word. NEW is the name of today. There are no
 * forms with a context. Messages name the call that the program made.
 */
#define DEFINE_OLD(RET, NAME, OP, NEW, DECLARED, PASSED, GIVE)                                        \
    RET pshmem_##NAME##_##OP(LIST DECLARED)                                                           \
    {                                                                                                 \
        GIVE(do_##NAME##_##NEW("shmem_" #NAME "_" #OP, SHMEM_CTX_DEFAULT, LIST PASSED));              \
    }                                                                                                 \
    SHMEMI_EXPORT(shmem_##NAME##_##OP)

#define DEFINE_OLD_FETCH(NAME, T, OP, NEW) \
    DEFINE_OLD(T, NAME, OP, NEW, (const T *source, int pe), (source, pe), RETURNED)
#define DEFINE_OLD_UPDATE(NAME, T, OP, NEW) \
    DEFINE_OLD(void, NAME, OP, NEW, (T *dest, T value, int pe), (dest, value, pe), DROPPED)
#define DEFINE_OLD_FETCHING(NAME, T, OP, NEW) \
    DEFINE_OLD(T, NAME, OP, NEW, (T *dest, T value, int pe), (dest, value, pe), RETURNED)
#define DEFINE_OLD_CSWAP(NAME, T, OP, NEW) \
    DEFINE_OLD(T, NAME, OP, NEW, (T *dest, T cond, T value, int pe), (dest, cond, value, pe), RETURNED)
#define DEFINE_OLD_INC(NAME, T, OP, NEW) \
    DEFINE_OLD(void, NAME, OP, NEW, (T *dest, int pe), (dest, pe), DROPPED)
#define DEFINE_OLD_FETCH_INC(NAME, T, OP, NEW) \
    DEFINE_OLD(T, NAME, OP, NEW, (T *dest, int pe), (dest, pe), RETURNED)

SHMEMI_AMO_OLD_EXT_TYPES(DEFINE_OLD_FETCH, fetch, atomic_fetch)
SHMEMI_AMO_OLD_EXT_TYPES(DEFINE_OLD_UPDATE, set, atomic_set)
SHMEMI_AMO_OLD_EXT_TYPES(DEFINE_OLD_FETCHING, swap, atomic_swap)
SHMEMI_AMO_OLD_STD_TYPES(DEFINE_OLD_CSWAP, cswap, atomic_compare_swap)
SHMEMI_AMO_OLD_STD_TYPES(DEFINE_OLD_FETCH_INC, finc, atomic_fetch_inc)
SHMEMI_AMO_OLD_STD_TYPES(DEFINE_OLD_INC, inc, atomic_inc)
SHMEMI_AMO_OLD_STD_TYPES(DEFINE_OLD_FETCHING, fadd, atomic_fetch_add)
SHMEMI_AMO_OLD_STD_TYPES(DEFINE_OLD_UPDATE, add, atomic_add)

/* clang-format on */
