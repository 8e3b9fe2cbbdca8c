/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations on a stream: copies, signals, waits and meetings.
 *
 * Where the driver reaches both sides, a copy is one copy of the driver on the caller's stream, a signal that is set is a word that the stream
 * writes, and a wait for a signal is a wait of the stream: the host is not asked. All else goes by the agent (agent.h): a thread of ours makes
 * the ordinary call, and the stream waits for it. Either way what is on a stream happens in its order.
 *
 * A word that a stream writes comes after its copies: the driver promises a fence before the write.
 * Design: docs/gpu.md "Operations on a stream".  Tests: tests/gpu/stream_*.c.
 */
#include "runtime/gpu/stream.h"
#include "runtime/base/log.h"
#include "runtime/base/num.h"
#include "runtime/gpu/gpu.h"
#include "runtime/service.h"

#include <shmemx.h>

#include <string.h>

/* ---- what all calls share ---- */

void shmemi_gpu_stream_begin(const char *call)
{
    shmemi_route_ctx(SHMEM_CTX_DEFAULT, call); /* the library runs, or the job ends here */
    if (SHMEMI_LIKELY(shmemi_gpu.cuda != NULL)) return;
    shmemi_service_fatal(call, "there is no stream" WHY
                               "this PE uses no GPU: the report (POSTERN_REPORT=1) has the reason in its line cuda" FIX
                               "use the call without _on_stream, or start the program where there is a GPU");
}

static size_t bytes_of(const char *call, size_t nelems, size_t elem_bytes)
{
    size_t bytes = 0;
    if (!shmemi_mul_size(nelems, elem_bytes, &bytes))
        shmemi_service_fatal(
            call, "%zu elements of %zu bytes" WHY "that is more than an address can count" FIX "look at the number of elements",
            nelems, elem_bytes);
    return bytes;
}

/* May the driver touch these bytes in a stream's own time: memory of a GPU, or host memory that it has pinned? Our context is current. */
static bool is_driver_memory(const void *address, size_t bytes)
{
    unsigned kind = 0;
    if (shmemi_gpu_is_heap(address)) return true;
    shmemi_cu_pointer first = (shmemi_cu_pointer)(uintptr_t)address;
    return shmemi_gpu.cuda->pointer_get_attribute(&kind, SHMEMI_CU_POINTER_KIND, first) == SHMEMI_CU_SUCCESS &&
           shmemi_gpu.cuda->pointer_get_attribute(&kind, SHMEMI_CU_POINTER_KIND, first + bytes - 1) == SHMEMI_CU_SUCCESS;
}

/* Copy on the stream, if the driver can. */
static bool copied(const char *call, void *dest, const void *source, size_t bytes, void *stream)
{
    shmemi_gpu_enter();
    bool can = is_driver_memory(dest, bytes) && is_driver_memory(source, bytes);
    if (can)
        shmemi_gpu_require(
            shmemi_gpu.cuda->memcpy_async((shmemi_cu_pointer)(uintptr_t)dest, (shmemi_cu_pointer)(uintptr_t)source, bytes, stream),
            call, "copy on the stream (cuMemcpyAsync)");
    shmemi_gpu_leave();
    return can;
}

/* ---- put and get ---- */

static void run_put(const struct shmemi_gpu_agent_op *op)
{
    pshmem_putmem(op->dest, op->source, op->nelems, op->pe);
}

static void run_get(const struct shmemi_gpu_agent_op *op)
{
    pshmem_getmem(op->dest, op->source, op->nelems, op->pe);
}

static void put(const char *call, void *dest, const void *source, size_t nelems, size_t elem_bytes, int pe, void *stream)
{
    struct shmemi_place to;
    size_t              bytes = bytes_of(call, nelems, elem_bytes);
    shmemi_gpu_stream_begin(call);
    if (bytes == 0) return;
    shmemi_route_find(&shmemi_state.ctx_default, call, dest, bytes, pe, &to);
    if (to.mapped && copied(call, to.mapped, source, bytes, stream)) {
        shmemi_state_count(to.pe, SHMEMI_COUNT_PUT, true, bytes);
        return;
    }
    const struct shmemi_gpu_agent_op op = {.run = run_put, .call = call, .dest = dest, .source = source, .nelems = bytes, .pe = pe};
    shmemi_gpu_agent_submit(&op, stream);
}

static void get(const char *call, void *dest, const void *source, size_t nelems, size_t elem_bytes, int pe, void *stream)
{
    struct shmemi_place from;
    size_t              bytes = bytes_of(call, nelems, elem_bytes);
    shmemi_gpu_stream_begin(call);
    if (bytes == 0) return;
    shmemi_route_find(&shmemi_state.ctx_default, call, source, bytes, pe, &from);
    if (from.mapped && copied(call, dest, from.mapped, bytes, stream)) {
        shmemi_state_count(from.pe, SHMEMI_COUNT_GET, true, bytes);
        return;
    }
    const struct shmemi_gpu_agent_op op = {.run = run_get, .call = call, .dest = dest, .source = source, .nelems = bytes, .pe = pe};
    shmemi_gpu_agent_submit(&op, stream);
}

static void run_p(const struct shmemi_gpu_agent_op *op)
{
    pshmem_putmem(op->dest, op->small, op->nelems, op->pe);
}

/* The value is the caller's variable: words go into the stream by value, others by the agent. */
static void p(const char *call, void *dest, const void *value, size_t bytes, int pe, void *stream)
{
    struct shmemi_place        to;
    struct shmemi_gpu_agent_op op = {.run = run_p, .call = call, .dest = dest, .nelems = bytes, .pe = pe};
    shmemi_gpu_stream_begin(call);
    shmemi_route_find(&shmemi_state.ctx_default, call, dest, bytes, pe, &to);
    memcpy(op.small, value, bytes);
    if (bytes == 8 && to.mapped && (uintptr_t)dest % 8 == 0) {
        uint64_t word;
        memcpy(&word, value, sizeof word);
        if (shmemi_gpu_stream_wrote(call, to.mapped, word, stream)) return;
    }
    shmemi_gpu_agent_submit(&op, stream);
}

/* ---- signals ---- */

bool shmemi_gpu_stream_wrote(const char *call, void *mapped, uint64_t value, void *stream)
{
    shmemi_gpu_enter();
    bool can = is_driver_memory(mapped, sizeof value);
    if (can)
        shmemi_gpu_require(
            shmemi_gpu.cuda->stream_write_value64(stream, (shmemi_cu_pointer)(uintptr_t)mapped, value, SHMEMI_CU_WRITE_DEFAULT),
            call, "let the stream write a word (cuStreamWriteValue64)");
    shmemi_gpu_leave();
    return can;
}

static void run_put_signal(const struct shmemi_gpu_agent_op *op)
{
    pshmem_putmem_signal(op->dest, op->source, op->nelems, op->sig_addr, op->value, op->what, op->pe);
}

static void run_signal(const struct shmemi_gpu_agent_op *op)
{
    if (op->what == SHMEM_SIGNAL_ADD) pshmem_signal_add(op->sig_addr, op->value, op->pe);
    else pshmem_signal_set(op->sig_addr, op->value, op->pe);
}

static SHMEMI_COLD void bad_signal(const char *call, const uint64_t *sig_addr, int sig_op)
{
    if ((uintptr_t)sig_addr % sizeof *sig_addr != 0)
        shmemi_service_fatal(
            call, "signal word at %p is not a multiple of 8" WHY "it is a uint64_t" FIX "look at how the address is made",
            (const void *)sig_addr);
    shmemi_service_fatal(call,
                         "signal operator %d" WHY "it is SHMEM_SIGNAL_SET (%d) or SHMEM_SIGNAL_ADD (%d)" FIX "pass one of the two",
                         sig_op, SHMEM_SIGNAL_SET, SHMEM_SIGNAL_ADD);
}

static void put_signal(const char *call, void *dest, const void *source, size_t nelems, size_t elem_bytes, uint64_t *sig_addr,
                       uint64_t signal, int sig_op, int pe, void *stream)
{
    struct shmemi_place        to, word;
    struct shmemi_gpu_agent_op op = {.run      = run_put_signal,
                                     .call     = call,
                                     .dest     = dest,
                                     .source   = source,
                                     .sig_addr = sig_addr,
                                     .value    = signal,
                                     .what     = sig_op,
                                     .pe       = pe};
    op.nelems                     = bytes_of(call, nelems, elem_bytes);
    shmemi_gpu_stream_begin(call);
    if ((uintptr_t)sig_addr % sizeof *sig_addr != 0 || (sig_op != SHMEM_SIGNAL_SET && sig_op != SHMEM_SIGNAL_ADD))
        bad_signal(call, sig_addr, sig_op);
    shmemi_route_find(&shmemi_state.ctx_default, call, sig_addr, sizeof *sig_addr, pe, &word);
    shmemi_route_by_agent(&word);
    if (op.nelems > 0) {
        shmemi_route_find(&shmemi_state.ctx_default, call, dest, op.nelems, pe, &to);
        /* A copy on the stream is over before the agent is told, so a signal by the agent comes after it. */
        if (to.mapped && copied(call, to.mapped, source, op.nelems, stream)) op.nelems = 0;
    }
    if (op.nelems == 0) {
        op.run = run_signal;
        if (sig_op == SHMEM_SIGNAL_SET && word.mapped && shmemi_gpu_stream_wrote(call, word.mapped, signal, stream)) {
            shmemi_state_count(word.pe, SHMEMI_COUNT_SIGNAL, true, 0);
            return;
        }
    }
    shmemi_gpu_agent_submit(&op, stream);
}

/* ---- waits ---- */

static void run_wait(const struct shmemi_gpu_agent_op *op)
{
    pshmem_signal_wait_until(op->sig_addr, op->what, op->value);
}

/*
 * The comparison of the stream, where it has one. Its "at least" counts in a circle: a word that is ahead by 2^63 or more is behind. Signals that
 * count, or that are set to numbers, do not come there; a wanted value that large does.
 */
static bool stream_comparison(int cmp, uint64_t value, unsigned *flags_out, uint64_t *value_out)
{
    *value_out = value;
    *flags_out = cmp == SHMEM_CMP_EQ ? SHMEMI_CU_WAIT_EQ : SHMEMI_CU_WAIT_GEQ;
    if (cmp == SHMEM_CMP_GT) *value_out = value + 1;
    return cmp == SHMEM_CMP_EQ || ((cmp == SHMEM_CMP_GE || cmp == SHMEM_CMP_GT) && value < INT64_MAX);
}

void pshmemx_signal_wait_until_on_stream(uint64_t *sig_addr, int cmp, uint64_t cmp_value, void *stream)
{
    static const char   call[] = "shmemx_signal_wait_until_on_stream";
    struct shmemi_place mine;
    unsigned            flags = 0;
    uint64_t            value = 0;
    shmemi_gpu_stream_begin(call);
    shmemi_route_find(&shmemi_state.ctx_default, call, sig_addr, sizeof *sig_addr, shmemi_state.my_pe, &mine);
    if ((uintptr_t)sig_addr % sizeof *sig_addr != 0) bad_signal(call, sig_addr, SHMEM_SIGNAL_SET);
    shmemi_gpu_enter();
    bool can = stream_comparison(cmp, cmp_value, &flags, &value) && is_driver_memory(sig_addr, sizeof *sig_addr);
    if (can)
        shmemi_gpu_require(shmemi_gpu.cuda->stream_wait_value64(stream, (shmemi_cu_pointer)(uintptr_t)sig_addr, value,
                                                                flags | shmemi_gpu_agent_flush(call)),
                           call, "let the stream wait (cuStreamWaitValue64)");
    shmemi_gpu_leave();
    if (can) return;
    const struct shmemi_gpu_agent_op op = {.run = run_wait, .call = call, .sig_addr = sig_addr, .what = cmp, .value = cmp_value};
    shmemi_gpu_agent_submit(&op, stream);
}
SHMEMI_EXPORT(shmemx_signal_wait_until_on_stream)

/* ---- completion and meeting ---- */

static void run_quiet(const struct shmemi_gpu_agent_op *op)
{
    (void)op;
    pshmem_quiet();
}

static void run_barrier_all(const struct shmemi_gpu_agent_op *op)
{
    (void)op;
    pshmem_barrier_all();
}

static void run_sync_all(const struct shmemi_gpu_agent_op *op)
{
    (void)op;
    pshmem_sync_all();
}

static void run_barrier(const struct shmemi_gpu_agent_op *op)
{
    pshmem_quiet();
    pshmem_team_sync(op->team);
}

static void run_team_sync(const struct shmemi_gpu_agent_op *op)
{
    pshmem_team_sync(op->team);
}

static void meet(const char *call, void (*run)(const struct shmemi_gpu_agent_op *), shmem_team_t team, void *stream)
{
    const struct shmemi_gpu_agent_op op = {.run = run, .call = call, .team = team};
    shmemi_gpu_stream_begin(call);
    shmemi_gpu_agent_submit(&op, stream);
}

void pshmemx_quiet_on_stream(void *stream)
{
    meet("shmemx_quiet_on_stream", run_quiet, SHMEM_TEAM_WORLD, stream);
}
SHMEMI_EXPORT(shmemx_quiet_on_stream)

void pshmemx_barrier_all_on_stream(void *stream)
{
    meet("shmemx_barrier_all_on_stream", run_barrier_all, SHMEM_TEAM_WORLD, stream);
}
SHMEMI_EXPORT(shmemx_barrier_all_on_stream)

void pshmemx_sync_all_on_stream(void *stream)
{
    meet("shmemx_sync_all_on_stream", run_sync_all, SHMEM_TEAM_WORLD, stream);
}
SHMEMI_EXPORT(shmemx_sync_all_on_stream)

int pshmemx_barrier_on_stream(shmem_team_t team, void *stream)
{
    if (team == SHMEM_TEAM_INVALID) return -1;
    meet("shmemx_barrier_on_stream", run_barrier, team, stream);
    return 0;
}
SHMEMI_EXPORT(shmemx_barrier_on_stream)

int pshmemx_team_sync_on_stream(shmem_team_t team, void *stream)
{
    if (team == SHMEM_TEAM_INVALID) return -1;
    meet("shmemx_team_sync_on_stream", run_team_sync, team, stream);
    return 0;
}
SHMEMI_EXPORT(shmemx_team_sync_on_stream)

/* ---- the names ---- */

/* clang-format off */
#define DEFINE_MOVE(NAME, T, OP, DO)                                                                                        \
    void pshmemx_##NAME##_##OP##_on_stream(T *dest, const T *source, size_t nelems, int pe, void *stream)                   \
    {                                                                                                                       \
        DO("shmemx_" #NAME "_" #OP "_on_stream", dest, source, nelems, sizeof(T), pe, stream);                              \
    }                                                                                                                       \
    SHMEMI_EXPORT(shmemx_##NAME##_##OP##_on_stream)
#define DEFINE_MOVE_BYTES(WORD, ELEM_BYTES, DO)                                                                             \
    void pshmemx_##WORD##_on_stream(void *dest, const void *source, size_t nelems, int pe, void *stream)                    \
    {                                                                                                                       \
        DO("shmemx_" #WORD "_on_stream", dest, source, nelems, ELEM_BYTES, pe, stream);                                     \
    }                                                                                                                       \
    SHMEMI_EXPORT(shmemx_##WORD##_on_stream)
#define DEFINE_SIZED(BITS, BYTES, WORD, SUFFIX, DO) DEFINE_MOVE_BYTES(WORD##BITS##SUFFIX, BYTES, DO)
#define DEFINE_P(NAME, T, OP)                                                                                               \
    void pshmemx_##NAME##_##OP##_on_stream(T *dest, T value, int pe, void *stream)                                          \
    {                                                                                                                       \
        p("shmemx_" #NAME "_" #OP "_on_stream", dest, &value, sizeof value, pe, stream);                                    \
    }                                                                                                                       \
    SHMEMI_EXPORT(shmemx_##NAME##_##OP##_on_stream)
#define DEFINE_SIGNAL_BYTES(TYPE, WORD, ELEM_BYTES)                                                                         \
    void pshmemx_##WORD##_on_stream(TYPE *dest, const TYPE *source, size_t nelems, uint64_t *sig_addr, uint64_t signal,     \
                                    int sig_op, int pe, void *stream)                                                       \
    {                                                                                                                       \
        put_signal("shmemx_" #WORD "_on_stream", dest, source, nelems, ELEM_BYTES, sig_addr, signal, sig_op, pe, stream);   \
    }                                                                                                                       \
    SHMEMI_EXPORT(shmemx_##WORD##_on_stream)
#define DEFINE_SIGNAL(NAME, T, OP)             DEFINE_SIGNAL_BYTES(T, NAME##_##OP, sizeof(T))
#define DEFINE_SIGNAL_SIZED(BITS, BYTES, SUFFIX) DEFINE_SIGNAL_BYTES(void, put##BITS##SUFFIX, BYTES)

SHMEMI_RMA_TYPES(DEFINE_MOVE, put, put)
SHMEMI_RMA_TYPES(DEFINE_MOVE, put_nbi, put)
SHMEMI_RMA_TYPES(DEFINE_MOVE, get, get)
SHMEMI_RMA_TYPES(DEFINE_MOVE, get_nbi, get)
SHMEMI_RMA_TYPES(DEFINE_P, p)
SHMEMI_RMA_SIZES(DEFINE_SIZED, put, , put)
SHMEMI_RMA_SIZES(DEFINE_SIZED, put, _nbi, put)
SHMEMI_RMA_SIZES(DEFINE_SIZED, get, , get)
SHMEMI_RMA_SIZES(DEFINE_SIZED, get, _nbi, get)
DEFINE_MOVE_BYTES(putmem, 1, put)
DEFINE_MOVE_BYTES(putmem_nbi, 1, put)
DEFINE_MOVE_BYTES(getmem, 1, get)
DEFINE_MOVE_BYTES(getmem_nbi, 1, get)
SHMEMI_RMA_TYPES(DEFINE_SIGNAL, put_signal)
SHMEMI_RMA_TYPES(DEFINE_SIGNAL, put_signal_nbi)
SHMEMI_RMA_SIZES(DEFINE_SIGNAL_SIZED, _signal)
SHMEMI_RMA_SIZES(DEFINE_SIGNAL_SIZED, _signal_nbi)
DEFINE_SIGNAL_BYTES(void, putmem_signal, 1)
DEFINE_SIGNAL_BYTES(void, putmem_signal_nbi, 1)
/* clang-format on */

void pshmemx_signal_op_on_stream(uint64_t *sig_addr, uint64_t signal, int sig_op, int pe, void *stream)
{
    put_signal("shmemx_signal_op_on_stream", NULL, NULL, 0, 1, sig_addr, signal, sig_op, pe, stream);
}
SHMEMI_EXPORT(shmemx_signal_op_on_stream)
