/* SPDX-License-Identifier: Apache-2.0
 *
 * A job whose PEs exchange by a function of the program: MPI_Allgather, a store of a serving system, anything.
 *
 * Such a function is all that there is. It cannot be given a limit of time, and nobody tells when a PE dies: what remains is the program's own
 * supervision, POSTERN_WAIT_TIMEOUT, and an abort function that the program may pass too. What a function can do wrong, such as
 * parts in another order, is checked where it costs nothing.
 */
#include "runtime/bootstrap/attr.h"

#include "runtime/base/log.h"
#include "runtime/base/num.h"
#include "runtime/base/options.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HELLO_MAGIC = 0x50415454 };

/* The first part that each PE gives: do they mean the same job? */
struct hello {
    uint32_t magic;
    int32_t  pe, npes;
};

/* The one job of this process. Static, so that a service thread which asks once more after close() meets valid memory. */
struct own {
    struct shmemb      head;
    struct shmemi_attr given;
    pid_t              owner;
    pthread_mutex_t    lock;
    pthread_cond_t     closed;
    bool               is_open;
};
static struct own only = {.lock = PTHREAD_MUTEX_INITIALIZER, .closed = PTHREAD_COND_INITIALIZER};

static bool been_here; /* written under the lock of start-up */

void shmemi_attr_note(void)
{
    been_here = true;
}

int shmemi_attr_refuse_plain(void)
{
    if (!been_here || shmemi_options.bootstrap != SHMEMI_BOOTSTRAP_AUTO) return 0;
    shmemi_error("cannot start again by shmem_init" WHY
                 "this process has been in a job of shmemx_init_attr, which only the program knows how to join" FIX
                 "call shmemx_init_attr again, with a new unique id or with the allgather function; or set POSTERN_BOOTSTRAP");
    return -EINVAL;
}

/* ---- the exchange ---- */

/* One call of the program's function, and what can be seen of its work. */
static int call_allgather(const void *mine, size_t bytes, void *all_out)
{
    const struct shmemi_attr *given  = &only.given;
    int                       status = given->allgather(given->user, mine, bytes, all_out);
    if (status != 0) {
        shmemi_error("could not exchange with the other PEs" WHY
                     "the allgather function that was passed to shmemx_init_attr returned %d" FIX
                     "look at what it uses; it returns 0 where all went well",
                     status);
        return -EIO;
    }
    if (memcmp((const char *)all_out + (size_t)given->pe * bytes, mine, bytes) == 0) return 0;
    shmemi_error("cannot use what the allgather function of shmemx_init_attr gave" WHY
                 "place %d of %d does not hold what this PE gave (%zu bytes)" FIX
                 "let it put the part of rank i at all + i * bytes, for the rank that was passed to shmemx_init_attr",
                 given->pe, given->npes, bytes);
    return -EPROTO;
}

static int gather_attr(struct shmemb *b, const void *mine, size_t bytes, void *all_out, int64_t timeout_ns)
{
    size_t all_bytes;
    assert(b == &only.head && only.is_open);
    (void)timeout_ns; /* the program's function has its own */
    if (getpid() != only.owner) {
        shmemi_error("cannot exchange with the other PEs" WHY "this process is a fork of PE %d" FIX
                     "call SHMEM routines in the process that called shmemx_init_attr",
                     b->pe);
        return -EPERM;
    }
    if (bytes > 0) return shmemi_mul_size(bytes, (size_t)b->npes, &all_bytes) ? call_allgather(mine, bytes, all_out) : -EOVERFLOW;

    /* A barrier. An allgather of nothing need not wait for anybody: let each PE give its number. */
    SHMEMI_AUTO_FREE int32_t *numbers = calloc((size_t)b->npes, sizeof *numbers);
    if (!numbers) return -ENOMEM;
    return call_allgather(&(int32_t){b->pe}, sizeof *numbers, numbers);
}

/* Two processes with one rank, or of different sizes of job, would otherwise be seen late and oddly. */
static int compare_hellos(const struct hello *hellos)
{
    for (int pe = 0; pe < only.given.npes; pe++) {
        const struct hello *hello = &hellos[pe];
        if (hello->magic == HELLO_MAGIC && hello->pe == pe && hello->npes == only.given.npes) continue;
        if (hello->magic != HELLO_MAGIC)
            shmemi_error("cannot start" WHY "place %d of what the allgather function gave is not from shmemx_init_attr" FIX
                         "call shmemx_init_attr on all ranks, with the same libpostern",
                         pe);
        else
            shmemi_error("cannot start: the processes do not agree on the job" WHY
                         "place %d of what the allgather function gave is from rank %d of %d; this process is rank %d of %d" FIX
                         "pass the same npes everywhere and each rank once, and let allgather put parts in order of rank",
                         pe, hello->pe, hello->npes, only.given.pe, only.given.npes);
        return -EPROTO;
    }
    return 0;
}

static int greet(void)
{
    SHMEMI_AUTO_FREE struct hello *hellos = calloc((size_t)only.given.npes, sizeof *hellos);
    struct hello                   mine   = {.magic = HELLO_MAGIC, .pe = only.given.pe, .npes = only.given.npes};
    if (!hellos) {
        shmemi_error("could not get memory for start-up" WHY "malloc gave none" FIX "raise `ulimit -v`, or start fewer PEs");
        return -ENOMEM;
    }
    int err = call_allgather(&mine, sizeof mine, hellos);
    return err ? err : compare_hellos(hellos);
}

int shmemi_attr_open(const void *how, struct shmemb **b_out)
{
    const struct shmemi_attr *given = how;
    assert(!only.is_open && given->allgather);
    only.given = *given;
    only.owner = getpid();
    only.head  = (struct shmemb){.ops = &shmemb_attr_ops, .pe = given->pe, .npes = given->npes, .local_size = 1};
    snprintf(only.head.launcher, sizeof only.head.launcher, "the program (its own allgather)");
    shmemi_log_set_pe(given->pe);
    int err = greet();
    if (err) return err;
    pthread_mutex_lock(&only.lock);
    only.is_open = true;
    pthread_mutex_unlock(&only.lock);
    shmemi_attr_note();
    *b_out = &only.head;
    return 0;
}

/* ---- the end ---- */

static void leaving_attr(struct shmemb *b, uint64_t barriers, int exit_status)
{
    (void)b;
    (void)barriers;
    (void)exit_status; /* there is nobody to tell */
}

static void close_attr(struct shmemb *b, bool started)
{
    (void)started;
    if (b == NULL || getpid() != only.owner) return;
    pthread_mutex_lock(&only.lock);
    only.is_open = false;
    pthread_cond_broadcast(&only.closed);
    pthread_mutex_unlock(&only.lock);
}

static void abort_attr(struct shmemb *b, int status, const char *reason)
{
    (void)b;
    if (getpid() != only.owner) return;
    if (only.given.abort) only.given.abort(only.given.user, status, reason);
    else if (only.given.npes > 1)
        shmemi_warn("this PE ends, and cannot tell the others" WHY "shmemx_init_attr was given no abort function" FIX
                    "pass one, or let what started the processes end them");
}

static void wait_for_close(struct shmemb *b, struct shmemb_event *event_out)
{
    (void)b;
    pthread_mutex_lock(&only.lock);
    while (only.is_open) pthread_cond_wait(&only.closed, &only.lock);
    pthread_mutex_unlock(&only.lock);
    *event_out = (struct shmemb_event){.kind = SHMEMB_EVENT_NONE};
}

/* Started by open functions of their own, with what the program has passed. */
static int open_nothing(struct shmemb **b_out)
{
    (void)b_out;
    return -ENOENT;
}

const struct shmemb_ops shmemb_attr_ops = {
    .name       = "attr",
    .open       = open_nothing,
    .leaving    = leaving_attr,
    .close      = close_attr,
    .allgather  = gather_attr,
    .abort      = abort_attr,
    .next_event = wait_for_close,
};
