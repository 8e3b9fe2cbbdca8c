/* SPDX-License-Identifier: Apache-2.0
 *
 * Several streams of a GPU wait for operations of the host, over the stand-in for the driver: each stream's operations run one after the other, in
 * its order and with what the stream itself writes between them; an operation may wait for one of another stream; and there are never more
 * threads than streams that wait. The seed (first argument) chooses delays; with a thread sanitizer the plain counters show every missing order.
 */
#include "runtime/gpu/agent.c" /* under test, with its statics */

#include "tests/simcuda/sim.h"
#include "tests/unit/unit.h"

#include <sched.h>
#include <stdarg.h>

enum { STREAMS = 5, ROUNDS = 60 };

/* ---- what the agent needs of the library ---- */

static struct shmemi_cuda table = {
#define SHMEMI_CUDA(SLOT, SYMBOL, PARAMETERS) .SLOT = SYMBOL,
#include "runtime/base/cuda.def"
#undef SHMEMI_CUDA
};
struct shmemi_gpu   shmemi_gpu = {.cuda = &table};
struct shmemi_state shmemi_state;

void shmemi_gpu_enter(void)
{
    table.ctx_push_current(shmemi_gpu.context);
}

void shmemi_gpu_leave(void)
{
    table.ctx_pop_current(NULL);
}

void shmemi_gpu_require(unsigned result, const char *call, const char *what)
{
    if (result == SHMEMI_CU_SUCCESS) return;
    printf("%s: could not %s: %u\n", call, what, result);
    exit(1);
}

void shmemi_service_fatal(const char *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("%s: ", call);
    vprintf(format, args);
    va_end(args);
    exit(1);
}

int shmemi_service_thread(pthread_t *thread_out, void *(*run)(void *), void *argument)
{
    return pthread_create(thread_out, NULL, run, argument);
}

/* ---- the operations ---- */

static struct lane {
    shmemi_cu_stream stream;
    uint64_t         done;    /* plain: only the order of the stream guards it */
    uint64_t        *written; /* pinned: the stream writes it between operations */
} lanes[STREAMS];
static atomic_int opened[ROUNDS]; /* by an operation of the second stream, awaited by the first */

static void run_next(const struct shmemi_gpu_agent_op *op)
{
    struct lane *lane = op->dest;
    for (int i = 0; i < op->what; i++) sched_yield();
    CHECK_EQ_U64(lane->done, op->value);
    CHECK_EQ_U64(*lane->written, op->value);
    lane->done++;
}

static void run_open(const struct shmemi_gpu_agent_op *op)
{
    atomic_store(&opened[op->pe], 1);
}

static void run_await(const struct shmemi_gpu_agent_op *op)
{
    while (!atomic_load(&opened[op->pe])) sched_yield();
}

static void submit_next(struct lane *lane, uint64_t number, unsigned *random)
{
    *random                             = *random * 1103515245u + 12345u;
    const struct shmemi_gpu_agent_op op = {
        .run = run_next, .call = "test", .dest = lane, .value = number, .what = (int)(*random >> 16) % 4};
    shmemi_gpu_agent_submit(&op, lane->stream);
    CHECK_EQ_U64(table.stream_write_value64(lane->stream, (shmemi_cu_pointer)(uintptr_t)lane->written, number + 1, 0), 0);
}

int main(int argc, char **argv)
{
    unsigned random = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    void    *pinned;
    if (table.init(0) != SHMEMI_CU_SUCCESS) return 1;
    CHECK_EQ_U64(table.primary_ctx_retain(&shmemi_gpu.context, 0), 0);
    shmemi_gpu_enter();
    CHECK_EQ_U64(table.mem_host_alloc(&pinned, 4096, 0), 0);
    for (int i = 0; i < STREAMS; i++) {
        lanes[i].written = (uint64_t *)pinned + i * 8;
        CHECK_EQ_U64(table.stream_create(&lanes[i].stream, SHMEMI_CU_STREAM_NON_BLOCKING), 0);
    }
    for (int round = 0; round < ROUNDS; round++) {
        const struct shmemi_gpu_agent_op await = {.run = run_await, .call = "test", .pe = round},
                                         open  = {.run = run_open, .call = "test", .pe = round};
        shmemi_gpu_agent_submit(&await, lanes[0].stream);
        for (int i = 0; i < STREAMS; i++) submit_next(&lanes[i], (uint64_t)round, &random);
        shmemi_gpu_agent_submit(&open, lanes[1].stream);
    }
    shmemi_gpu_agent_flush("test");
    for (int i = 0; i < STREAMS; i++) CHECK_EQ_U64(table.stream_synchronize(lanes[i].stream), 0);
    for (int i = 0; i < STREAMS; i++) CHECK_EQ_U64(lanes[i].done, ROUNDS);
    CHECK(agent.threads_count <= STREAMS);
    shmemi_gpu_agent_stop();
    CHECK(!agent.chunks && !agent.threads_count);
    for (int i = 0; i < STREAMS; i++) CHECK_EQ_U64(table.stream_destroy(lanes[i].stream), 0);
    CHECK_EQ_U64(table.mem_free_host(pinned), 0);
    shmemi_gpu_leave();
    CHECK_EQ_U64(table.primary_ctx_release(0), 0);
    return unit_result();
}
