/* SPDX-License-Identifier: Apache-2.0
 *
 * Put with signal, and the operations on signal words.
 *
 * A signal vouches for its own payload: on mapped routes the update is a release store or a release add after the copy. Both operators are
 * real atomics, so that SET, ADD and atomic operations on one word may be mixed, which is more than the standard asks.
 * Spec: OpenSHMEM 1.6 §9.8 Signaling Operations.  Tests: tests/api/signal/.
 */
#include "runtime/base/num.h"
#include "runtime/gpu/gpu.h"
#include "runtime/operands.h"
#include "runtime/post.h"
#include "runtime/rma.h"
#include "runtime/route.h"
#include "runtime/service.h"
#include "transports/mapped.h"

#include <shmem.h>
#include <string.h>

static SHMEMI_COLD void bad_operator(const char *call, int sig_op)
{
    shmemi_service_fatal(call,
                         "signal operator %d" WHY "it is SHMEM_SIGNAL_SET (%d) or SHMEM_SIGNAL_ADD (%d)" FIX "pass one of the two",
                         sig_op, SHMEM_SIGNAL_SET, SHMEM_SIGNAL_ADD);
}

static SHMEMI_COLD void misaligned_signal(const char *call, const void *address)
{
    shmemi_service_fatal(
        call, "signal word at %p is not a multiple of 8" WHY "it is a uint64_t" FIX "look at how the address is made", address);
}

/* Release: what this thread stored before, the payload above all, is visible to whoever sees the new value. */
SHMEMI_INLINE void update_word(uint64_t *word, uint64_t value, bool add)
{
    if (add) __atomic_fetch_add(word, value, __ATOMIC_RELEASE);
    else __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* Checked mode: three arguments, of which two are written. signal lies in the place of the signal word, to in that of dest. */
static SHMEMI_COLD void check_operands(const char *call, const struct shmemi_place *to, const void *dest, const void *source,
                                       size_t bytes, const struct shmemi_place *signal, const uint64_t *sig_addr)
{
    const struct shmemi_operand written = {.name = "dest", .address = dest, .blocks = 1, .bytes = bytes},
                                word    = {.name = "sig_addr", .address = sig_addr, .blocks = 1, .bytes = sizeof *sig_addr};
    struct shmemi_operand read          = {.name = "source", .address = source, .blocks = 1, .bytes = bytes};
    shmemi_operands_check(call, signal, &word, &read);
    read.may_be_same = true;
    shmemi_operands_check(call, to, &written, &read);
    if (signal->segment == to->segment && signal->offset < to->offset + bytes && to->offset < signal->offset + sizeof *sig_addr)
        shmemi_service_fatal(call,
                             "sig_addr %p lies in dest (%zu bytes at %p)" WHY
                             "the payload would overwrite the signal, which must come after it" FIX "use a word outside of dest",
                             (const void *)sig_addr, bytes, dest);
}

static SHMEMI_COLD void put_signal_careful(const char *call, shmem_ctx_t handle, void *dest, const void *source, size_t nelems,
                                           size_t elem_bytes, uint64_t *sig_addr, uint64_t value, int sig_op, int pe,
                                           enum shmemi_post_wait wait)
{
    struct shmemi_ctx  *ctx   = shmemi_route_ctx(handle, call);
    struct shmemi_place to    = {.mapped = NULL}, signal;
    size_t              bytes = 0;
    if (sig_op != SHMEM_SIGNAL_SET && sig_op != SHMEM_SIGNAL_ADD) bad_operator(call, sig_op);
    if (!shmemi_mul_size(nelems, elem_bytes, &bytes))
        shmemi_service_fatal(
            call, "%zu elements of %zu bytes" WHY "that is more than an address can count" FIX "look at the number of elements",
            nelems, elem_bytes);
    shmemi_route_find(ctx, call, sig_addr, sizeof *sig_addr, pe, &signal);
    if ((uintptr_t)sig_addr % sizeof *sig_addr != 0) misaligned_signal(call, sig_addr);
    if (bytes > 0) shmemi_route_find(ctx, call, dest, bytes, pe, &to);
    shmemi_route_by_agent(&signal);
    shmemi_route_by_agent(&to);
    if (bytes > 0 && shmemi_state.check) check_operands(call, &to, dest, source, bytes, &signal, sig_addr);
    shmemi_state_count(signal.pe, SHMEMI_COUNT_SIGNAL, signal.mapped, bytes);

    enum shmemt_amo_op op = sig_op == SHMEM_SIGNAL_ADD ? SHMEMT_AMO_ADD : SHMEMT_AMO_SET;
    if (shmemi_gpu_concerns(&signal, NULL) || (bytes > 0 && shmemi_gpu_concerns(&to, source))) {
        shmemi_gpu_put_signal(ctx, &to, source, bytes, &signal, value, op);
    } else if (signal.mapped && (bytes == 0 || to.mapped)) { /* one PE's segments are reached alike, so both or neither */
        if (bytes > 0) shmemi_rma_copy(to.mapped, source, bytes, shmemi_rma_large_put);
        update_word(signal.mapped, value, sig_op == SHMEM_SIGNAL_ADD);
        if (bytes > 0) shmemi_wait_stored((int)to.local, to.mapped, bytes);
        shmemi_wait_stored((int)signal.local, signal.mapped, sizeof *sig_addr);
    } else {
        shmemi_post_put_signal(ctx, &to, source, bytes, &signal, value, op, wait);
    }
}

/* Somebody may wait for the signal, or for the payload itself. */
static SHMEMI_COLD void wake(struct shmemi_spot to, size_t bytes, struct shmemi_spot word)
{
    shmemi_route_stored(word, sizeof(uint64_t));
    if (bytes > 0) shmemi_route_stored(to, bytes);
}

/* After both are stored: the two lie in one PE's memory, so one look serves both. */
SHMEMI_INLINE void look_for_sleepers(struct shmemi_spot to, size_t bytes, struct shmemi_spot word)
{
    atomic_signal_fence(memory_order_seq_cst); /* the compiler must not look before it stores */
    uint32_t asleep = atomic_load_explicit(&shmemi_state_ctrl(word.local)->asleep, memory_order_relaxed);
    if (SHMEMI_UNLIKELY(asleep & (word.watch | to.watch))) wake(to, bytes, word);
}

static __attribute__((noinline)) void put_signal_plain(struct shmemi_spot to, const void *source, size_t bytes,
                                                       struct shmemi_spot word, uint64_t value, bool add)
{
    shmemi_rma_copy(to.at, source, bytes, shmemi_rma_large_put);
    update_word(word.at, value, add);
    look_for_sleepers(to, bytes, word);
}

SHMEMI_INLINE void put_signal(const char *call, shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, size_t elem_bytes,
                              uint64_t *sig_addr, uint64_t value, int sig_op, int pe, enum shmemi_post_wait wait)
{
    struct shmemi_spot to, word;
    if (SHMEMI_LIKELY(shmemi_route_plain(sig_addr, pe, &word)) && SHMEMI_LIKELY(shmemi_route_plain(dest, pe, &to)) &&
        (SHMEMI_LIKELY(ctx == SHMEM_CTX_DEFAULT) || (ctx != SHMEM_CTX_INVALID && ctx->world)) &&
        SHMEMI_LIKELY(sig_op == SHMEM_SIGNAL_SET || sig_op == SHMEM_SIGNAL_ADD)) {
        size_t bytes = nelems * elem_bytes;
        if (bytes == sizeof(uint64_t) && sig_op == SHMEM_SIGNAL_SET) { /* the most frequent: two stores, and no call */
            memcpy(to.at, source, sizeof(uint64_t));
            update_word(word.at, value, false);
            look_for_sleepers(to, bytes, word);
        } else {
            put_signal_plain(to, source, bytes, word, value, sig_op == SHMEM_SIGNAL_ADD);
        }
    } else {
        put_signal_careful(call, ctx, dest, source, nelems, elem_bytes, sig_addr, value, sig_op, pe, wait);
    }
}

static void signal_update(const char *call, shmem_ctx_t handle, uint64_t *sig_addr, uint64_t value, int sig_op, int pe)
{
    struct shmemi_spot word;
    if (handle == SHMEM_CTX_DEFAULT && SHMEMI_LIKELY(shmemi_route_plain(sig_addr, pe, &word))) {
        update_word(word.at, value, sig_op == SHMEM_SIGNAL_ADD);
        shmemi_route_stored(word, sizeof *sig_addr);
    } else {
        put_signal_careful(call, handle, NULL, NULL, 0, 1, sig_addr, value, sig_op, pe, SHMEMI_POST_LOCAL);
    }
}

void pshmem_signal_set(uint64_t *sig_addr, uint64_t signal, int pe)
{
    signal_update("shmem_signal_set", SHMEM_CTX_DEFAULT, sig_addr, signal, SHMEM_SIGNAL_SET, pe);
}
SHMEMI_EXPORT(shmem_signal_set)

void pshmem_signal_add(uint64_t *sig_addr, uint64_t signal, int pe)
{
    signal_update("shmem_signal_add", SHMEM_CTX_DEFAULT, sig_addr, signal, SHMEM_SIGNAL_ADD, pe);
}
SHMEMI_EXPORT(shmem_signal_add)

void pshmem_ctx_signal_set(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe)
{
    signal_update("shmem_ctx_signal_set", ctx, sig_addr, signal, SHMEM_SIGNAL_SET, pe);
}
SHMEMI_EXPORT(shmem_ctx_signal_set)

void pshmem_ctx_signal_add(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe)
{
    signal_update("shmem_ctx_signal_add", ctx, sig_addr, signal, SHMEM_SIGNAL_ADD, pe);
}
SHMEMI_EXPORT(shmem_ctx_signal_add)

static SHMEMI_COLD void check_word(const char *call, const uint64_t *sig_addr)
{
    struct shmemi_place unused; /* the careful path has the messages */
    shmemi_route_find(&shmemi_state.ctx_default, call, sig_addr, sizeof *sig_addr, shmemi_state.my_pe, &unused);
    if ((uintptr_t)sig_addr % sizeof *sig_addr != 0) misaligned_signal(call, sig_addr);
}

/* Local and atomic. Acquire: the payload that the value vouches for may be read next. */
uint64_t pshmem_signal_fetch(const uint64_t *sig_addr)
{
    if (SHMEMI_UNLIKELY(shmemi_state.check)) check_word("shmem_signal_fetch", sig_addr);
    if (SHMEMI_UNLIKELY(shmemi_state.posted)) shmemi_post_progress();
    if (SHMEMI_UNLIKELY(shmemi_state.gpu) && shmemi_gpu_is_heap(sig_addr)) {
        uint64_t seen;
        shmemi_gpu_copy(&seen, sig_addr, sizeof seen);
        return seen;
    }
    return __atomic_load_n(sig_addr, __ATOMIC_ACQUIRE);
}
SHMEMI_EXPORT(shmem_signal_fetch)

/* clang-format off */

#define SIGNAL_ARGS(T) T *dest, const T *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe
#define DEFINE_PUT_SIGNAL(FUNCTION, CTX_FUNCTION, T, BYTES, WAIT)                                                 \
    void p##FUNCTION(SIGNAL_ARGS(T))                                                                              \
    {                                                                                                             \
        put_signal(#FUNCTION, SHMEM_CTX_DEFAULT, dest, source, nelems, BYTES, sig_addr, signal, sig_op, pe, WAIT); \
    }                                                                                                             \
    SHMEMI_EXPORT(FUNCTION)                                                                                       \
    void p##CTX_FUNCTION(shmem_ctx_t ctx, SIGNAL_ARGS(T))                                                         \
    {                                                                                                             \
        put_signal(#CTX_FUNCTION, ctx, dest, source, nelems, BYTES, sig_addr, signal, sig_op, pe, WAIT);          \
    }                                                                                                             \
    SHMEMI_EXPORT(CTX_FUNCTION)

#define DEFINE_TYPED(NAME, T, TAIL, WAIT) \
    DEFINE_PUT_SIGNAL(shmem_##NAME##_put_signal##TAIL, shmem_ctx_##NAME##_put_signal##TAIL, T, sizeof(T), WAIT)
#define DEFINE_SIZED(BITS, BYTES, TAIL, WAIT) \
    DEFINE_PUT_SIGNAL(shmem_put##BITS##_signal##TAIL, shmem_ctx_put##BITS##_signal##TAIL, void, BYTES, WAIT)

SHMEMI_RMA_TYPES(DEFINE_TYPED, , SHMEMI_POST_LOCAL)
SHMEMI_RMA_SIZES(DEFINE_SIZED, , SHMEMI_POST_LOCAL)
DEFINE_SIZED(mem, 1, , SHMEMI_POST_LOCAL)
SHMEMI_RMA_TYPES(DEFINE_TYPED, _nbi, SHMEMI_POST_NBI)
SHMEMI_RMA_SIZES(DEFINE_SIZED, _nbi, SHMEMI_POST_NBI)
DEFINE_SIZED(mem, 1, _nbi, SHMEMI_POST_NBI)

/* clang-format on */
