/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations that nobody but the target can do: on a GPU heap that this GPU does not map and no transport has registered, and atomics on one that
 * lies on another node. Each PE has a box behind the team slots of its segment CTRL, and a thread that serves it with the PE's own driver. Who
 * wants something takes the box by its lock, leaves the bytes and what to do, counts up a word, and waits until the thread has done it.
 *
 * The box is host memory that is reached as any other, mapped or posted, so nothing here knows which. One request is under way at a time and each
 * is done at the target when its call returns. That is slow, and meant to be: it is the degradation that the report names.
 *
 * The thread sleeps on a futex, the word itself. A near PE wakes it by a system call. For a far one the transport stores the word, most often in this
 * process, and tells job->wake. Where a device stores it nobody tells, so with posted routes the thread looks now and then.
 */
#include "runtime/gpu/inside.h"

#include "runtime/base/log.h"
#include "runtime/base/num.h"
#include "runtime/order.h"
#include "runtime/service.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BOX_BYTES = 256 << 10, YIELDS = 50, SHORT_NAPS = 100, SHORT_NAP_NS = 500000, LONG_NAP_NS = 4000000 };

enum request_kind { REQUEST_PUT, REQUEST_GET, REQUEST_AMO };

struct request {
    uint32_t kind; /* enum request_kind */
    uint32_t op;   /* enum shmemt_amo_op */
    uint64_t offset, bytes;
    uint64_t value, compare;
};

struct answer {
    uint64_t old;
    int64_t  error;
};

struct box {
    SHMEMI_LINE _Atomic uint64_t owner;  /* 1 + number of the PE whose turn it is; 0: free */
    SHMEMI_LINE _Atomic uint64_t asked;  /* requests so far: futex word                    */
    SHMEMI_LINE _Atomic uint64_t served; /* of these, done                                 */
    struct answer                answer;
    SHMEMI_LINE struct request   request;
    SHMEMI_LINE char             bytes[BOX_BYTES];
};

static size_t box_offset; /* in segment CTRL, the same on all PEs */

static struct {
    pthread_t   thread;
    bool        running;
    atomic_bool ends;
} server;

size_t shmemi_gpu_stage_bytes(void)
{
    return sizeof(struct box);
}

void shmemi_gpu_stage_plan(size_t offset)
{
    box_offset = offset;
}

static struct box *own_box(void)
{
    return (struct box *)(void *)((char *)shmemi_state.ctrl + box_offset);
}

static uint32_t *futex_of(struct box *box)
{
    char *word = (char *)&box->asked;
    return (uint32_t *)(void *)(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? word : word + 4);
}

static void wake_server(struct box *box)
{
    syscall(SYS_futex, futex_of(box), FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* ---- who asks ---- */

static struct shmemi_place box_place(int pe, size_t offset)
{
    const struct shmemi_peer *peer  = &shmemi_state.peers[pe];
    struct shmemi_place       place = {
              .transport = peer->posted, .pe = pe, .segment = SHMEMT_SEGMENT_CTRL, .offset = box_offset + offset};
    if (peer->mapped != SHMEMI_NOT_MAPPED) {
        place.local  = (unsigned)peer->local;
        place.mapped = (char *)shmemi_state_ctrl(place.local) + place.offset;
    }
    return place;
}

/* Words of the box are atomics of the job's agent, as all. */
static uint64_t update(struct shmemi_ctx *ctx, int pe, size_t offset, enum shmemt_amo_op op, uint64_t value, uint64_t compare)
{
    struct shmemi_place at  = box_place(pe, offset);
    uint64_t            old = 0;
    shmemi_route_by_agent(&at);
    shmemi_gpu_amo(ctx, &at,
                   &(struct shmemt_amo){.op = op, .bytes = sizeof old, .value = value, .compare = compare, .fetch = &old});
    return old;
}

struct turn {
    struct shmemi_ctx *ctx;
    int                pe;
    uint64_t           number;
    bool               mine; /* a wait may ask again after it was told yes */
};

static bool box_taken(void *argument)
{
    struct turn *turn = argument;
    if (!turn->mine)
        turn->mine =
            update(turn->ctx, turn->pe, offsetof(struct box, owner), SHMEMT_AMO_CSWAP, (uint64_t)shmemi_state.my_pe + 1, 0) == 0;
    return turn->mine;
}

static void read_box(const struct turn *turn, size_t offset, void *dest, size_t bytes)
{
    struct shmemi_place from = box_place(turn->pe, offset);
    shmemi_gpu_get(turn->ctx, &from, dest, bytes, SHMEMI_POST_LOCAL);
}

static bool box_served(void *argument)
{
    const struct turn *turn = argument;
    uint64_t           served;
    read_box(turn, offsetof(struct box, served), &served, sizeof served); /* with acquire: the answer may be read next */
    return served >= turn->number;
}

static struct turn begin(struct shmemi_ctx *ctx, int pe)
{
    struct turn              turn        = {.ctx = ctx, .pe = pe};
    const struct shmemi_wait description = {.call = "operation on GPU memory (for its turn at the target)", .pe = pe};
    shmemi_wait_for(&description, box_taken, &turn);
    return turn;
}

static SHMEMI_COLD void failed_there(int pe, int64_t err)
{
    shmemi_service_fatal("operation on GPU memory",
                         "PE %d could not do it: %s" WHY "the range is not in its GPU heap, or its driver refused" FIX
                         "look at the messages of that PE",
                         pe, strerror((int)-err));
}

static struct answer ask(struct turn *turn, const struct request *request)
{
    const struct shmemi_wait description = {.call = "operation on GPU memory (done by the target)", .pe = turn->pe};
    struct shmemi_place      at          = box_place(turn->pe, offsetof(struct box, request));
    struct answer            answer;
    shmemi_gpu_put(turn->ctx, &at, request, sizeof *request, SHMEMI_POST_LOCAL);
    shmemi_order_quiet(turn->ctx); /* not a fence: the word may go another way than the bytes */
    turn->number = update(turn->ctx, turn->pe, offsetof(struct box, asked), SHMEMT_AMO_ADD, 1, 0) + 1;
    if (at.mapped) wake_server((struct box *)(void *)((char *)shmemi_state_ctrl(at.local) + box_offset));
    shmemi_wait_for(&description, box_served, turn);
    read_box(turn, offsetof(struct box, answer), &answer, sizeof answer);
    if (answer.error) failed_there(turn->pe, answer.error);
    return answer;
}

static void end(const struct turn *turn)
{
    update(turn->ctx, turn->pe, offsetof(struct box, owner), SHMEMT_AMO_SET, 0, 0);
}

void shmemi_gpu_stage_put(struct shmemi_ctx *ctx, const struct shmemi_place *to, const void *source, size_t bytes)
{
    struct turn         turn = begin(ctx, to->pe);
    struct shmemi_place room = box_place(to->pe, offsetof(struct box, bytes));
    for (size_t at = 0; at < bytes;) {
        size_t piece = bytes - at < BOX_BYTES ? bytes - at : BOX_BYTES;
        shmemi_gpu_put(ctx, &room, (const char *)source + at, piece, SHMEMI_POST_LOCAL);
        ask(&turn, &(struct request){.kind = REQUEST_PUT, .offset = to->offset + at, .bytes = piece});
        at += piece;
    }
    end(&turn);
}

void shmemi_gpu_stage_get(struct shmemi_ctx *ctx, const struct shmemi_place *from, void *dest, size_t bytes)
{
    struct turn turn = begin(ctx, from->pe);
    for (size_t at = 0; at < bytes;) {
        size_t piece = bytes - at < BOX_BYTES ? bytes - at : BOX_BYTES;
        ask(&turn, &(struct request){.kind = REQUEST_GET, .offset = from->offset + at, .bytes = piece});
        read_box(&turn, offsetof(struct box, bytes), (char *)dest + at, piece);
        at += piece;
    }
    end(&turn);
}

uint64_t shmemi_gpu_stage_amo(struct shmemi_ctx *ctx, const struct shmemi_place *at, const struct shmemt_amo *amo)
{
    struct turn          turn    = begin(ctx, at->pe);
    const struct request request = {.kind    = REQUEST_AMO,
                                    .op      = amo->op,
                                    .offset  = at->offset,
                                    .bytes   = amo->bytes,
                                    .value   = amo->value,
                                    .compare = amo->compare};
    struct answer        answer  = ask(&turn, &request);
    end(&turn);
    return answer.old;
}

/* ---- who serves ---- */

static struct answer serve(struct box *box)
{
    const struct request request = box->request;
    char                *at      = (char *)shmemi_state.gpu_base + request.offset;
    size_t               limit   = request.kind == REQUEST_AMO ? sizeof(uint64_t) : BOX_BYTES;
    if (request.bytes > limit || request.offset > shmemi_gpu.bytes || request.bytes > shmemi_gpu.bytes - request.offset)
        return (struct answer){.error = -ERANGE};
    struct answer answer = {.error = 0};
    switch (request.kind) {
    case REQUEST_PUT: shmemi_gpu_copy(at, box->bytes, request.bytes); break;
    case REQUEST_GET: shmemi_gpu_copy(box->bytes, at, request.bytes); return answer;
    case REQUEST_AMO: {
        const struct shmemt_amo amo = {.op      = (enum shmemt_amo_op)request.op,
                                       .bytes   = (unsigned)request.bytes,
                                       .value   = request.value,
                                       .compare = request.compare};
        answer.old                  = shmemi_gpu_amo_do(at, &amo);
        break;
    }
    default: return (struct answer){.error = -EINVAL};
    }
    shmemi_wait_stored(shmemi_state.node.me, at, request.bytes);
    return answer;
}

/* Until the word changes: with more PEs than cores the next request is often one change of process away. */
static void sleep_on(struct box *box, uint64_t seen, unsigned naps)
{
    const struct timespec nap = {.tv_nsec = naps < SHORT_NAPS ? SHORT_NAP_NS : LONG_NAP_NS};
    for (int i = 0; i < YIELDS && naps == 0; i++) {
        sched_yield();
        if (atomic_load_explicit(&box->asked, memory_order_relaxed) != seen) return;
    }
    syscall(SYS_futex, futex_of(box), FUTEX_WAIT, (uint32_t)seen, shmemi_state.posted ? &nap : NULL, NULL, 0);
}

static void *serve_all(void *unused)
{
    struct box *box    = own_box();
    uint64_t    served = 0;
    unsigned    naps   = 0;
    while (!atomic_load_explicit(&server.ends, memory_order_relaxed)) {
        /* Acquire: the request is there; pairs with the release of the agent that counted it. */
        uint64_t asked = atomic_load_explicit(&box->asked, memory_order_acquire);
        if (asked == served) {
            sleep_on(box, asked, naps++);
            continue;
        }
        naps = 0;
        if (atomic_load_explicit(&server.ends, memory_order_relaxed)) break;
        box->answer = serve(box);
        served      = asked;
        atomic_store_explicit(&box->served, served, memory_order_release); /* pairs with box_served() */
    }
    return unused;
}

/* In place of shmemi_wait_stored() as the transports' word that they have stored something here. */
static void stored_by_transport(int local, const void *address, size_t bytes)
{
    struct box *box = own_box();
    if (local == shmemi_state.node.me && address == (const void *)&box->asked) wake_server(box);
    shmemi_wait_stored(local, address, bytes);
}

int shmemi_gpu_stage_start(void)
{
    sigset_t all, before;
    if (shmemi_state.npes == 1) return 0;
    shmemi_state.job.wake = stored_by_transport;
    atomic_store_explicit(&server.ends, false, memory_order_relaxed);
    sigfillset(&all); /* signals are the program's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int err = pthread_create(&server.thread, NULL, serve_all, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    server.running = err == 0;
    if (err)
        shmemi_error("could not start the thread that serves GPU memory: %s" WHY "a limit on processes or memory is reached" FIX
                     "raise `ulimit -u`, or start fewer PEs",
                     strerror(err));
    return -err;
}

/* Nobody asks any more: the word is ours to change. */
void shmemi_gpu_stage_stop(void)
{
    if (!server.running) return;
    atomic_store_explicit(&server.ends, true, memory_order_relaxed);
    atomic_fetch_add_explicit(&own_box()->asked, 1, memory_order_release); /* the thread's next look sees that it ends */
    wake_server(own_box());
    pthread_join(server.thread, NULL);
    server.running = false;
}
