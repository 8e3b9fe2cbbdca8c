/* SPDX-License-Identifier: Apache-2.0
 *
 * What an operation of the ibverbs transport costs the device, once the connection stands: work requests, and rings of the doorbell. The
 * transport's own counters say the same. Two PEs in one process, each with a transport of its own.
 */
#include "tests/simverbs/module.h"
#include "simverbs.h"

#include "transports/transport.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PES = 2, BYTES = 2 << 20, WORD = 64, DATA = 4096 };

struct pe {
    struct shmemt_job     job;
    int                   local_of[PES];
    struct shmemt        *tp;
    struct shmemt_ctx    *ctx;
    struct shmemt_address address;
    struct shmemt_key     key;
};

static const struct shmemt_ops *ops;
static struct pe                pes[PES];
static _Alignas(64) unsigned char heaps[PES][BYTES];
static int failures;

static _Noreturn void give_up(const char *what, int err)
{
    printf("%s: %s\n", what, strerror(-err));
    exit(2);
}

static void move_on(void)
{
    for (int i = 0; i < PES; i++)
        if (pes[i].ctx && ops->progress(pes[i].ctx) < 0) give_up("progress", -EIO);
}

#define UNTIL_TAKEN(call)                             \
    do {                                              \
        int err_;                                     \
        while ((err_ = (call)) == -EAGAIN) move_on(); \
        if (err_) give_up(#call, err_);               \
    } while (0)

static void open_pes(enum shmemt_agent agent)
{
    struct shmemt_traits traits;
    for (int i = 0; i < PES; i++) {
        struct pe           *p      = &pes[i];
        struct shmemt_region region = {.segment = SHMEMT_SEGMENT_HEAP, .base = heaps[i], .bytes = BYTES, .fd = -1};
        *p                          = (struct pe){.local_of = {-1, -1}};
        p->local_of[i]              = 0;
        p->job = (struct shmemt_job){.my_pe = i, .npes = PES, .secret = 7, .local_of = p->local_of, .local_pes = 1, .agent = agent};
        int err = ops->probe(&p->job, &traits);
        if (!err) err = ops->open(&p->job, &p->tp);
        if (!err) err = ops->address(p->tp, &p->address);
        if (!err) err = ops->export_region(p->tp, &region, &p->key);
        if (err) give_up("open", err);
    }
    for (int i = 0; i < PES; i++) {
        int err = ops->ctx_open(pes[i].tp, 0, &pes[i].ctx);
        for (int j = 0; j < PES && !err; j++) {
            err = ops->add_peer(pes[i].tp, j, &pes[j].address);
            if (!err) err = ops->import_region(pes[i].tp, j, SHMEMT_SEGMENT_HEAP, &pes[j].key);
        }
        if (err) give_up("import", err);
    }
}

static void close_pes(void)
{
    for (int i = 0; i < PES; i++) ops->ctx_close(pes[i].ctx);
    for (int i = 0; i < PES; i++) ops->unexport_region(pes[i].tp, SHMEMT_SEGMENT_HEAP);
    for (int i = 0; i < PES; i++) ops->close(pes[i].tp);
}

static void operation(size_t bytes, bool signal)
{
    struct shmemt_xfer xfer = {
        .segment = SHMEMT_SEGMENT_HEAP, .local = heaps[0] + DATA, .remote_offset = DATA, .bytes = bytes, .blocks = 1};
    struct shmemt_amo add = {.segment = SHMEMT_SEGMENT_HEAP, .remote_offset = WORD, .op = SHMEMT_AMO_ADD, .bytes = 8, .value = 1};
    if (signal) UNTIL_TAKEN(ops->put_signal(pes[0].ctx, 1, &xfer, &add));
    else UNTIL_TAKEN(ops->put(pes[0].ctx, 1, &xfer));
}

static void quiet(void)
{
    UNTIL_TAKEN(ops->quiet(pes[0].ctx, SHMEMT_ALL_PES));
}

/* The transport's own count of one thing. */
static uint64_t counted(const char *name)
{
    struct shmemt_counter list[SHMEMT_COUNTERS_MAX];
    size_t                count = ops->counters(pes[0].tp, list, SHMEMT_COUNTERS_MAX);
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0) return list[i].value;
    give_up(name, -ENOENT);
}

/* The second of its kind: by then all is connected, and the target knows the signal word. */
static void expect(const char *what, size_t bytes, bool signal, uint64_t requests_max)
{
    uint64_t requests, doorbells, requests_before, doorbells_before;
    uint64_t own_requests, own_doorbells;
    operation(bytes, signal);
    quiet();
    for (int i = 0; i < 100; i++) move_on();
    own_requests  = counted("work_requests");
    own_doorbells = counted("doorbells");
    simverbs_posted(&requests_before, &doorbells_before);
    operation(bytes, signal);
    simverbs_posted(&requests, &doorbells);
    own_requests  = counted("work_requests") - own_requests;
    own_doorbells = counted("doorbells") - own_doorbells;
    quiet();
    requests -= requests_before;
    doorbells -= doorbells_before;
    printf("%-48s %2d requests, %d doorbell%s\n", what, (int)requests, (int)doorbells, doorbells == 1 ? "" : "s");
    if (requests < 1 || requests > requests_max || doorbells != 1) failures++;
    if (own_requests == requests && own_doorbells == doorbells) return;
    printf("    the transport counted %d requests, %d doorbells\n", (int)own_requests, (int)own_doorbells);
    failures++;
}

static void expect_connected(void)
{
    if (counted("partners") != 2 || counted("connections") != 1 || counted("queue_pairs") != 2 || counted("handshakes") < 1 ||
        counted("registrations") != 0 || counted("pinned_bytes") < BYTES || counted("completions") < 4) {
        printf("the counts of connections or memory are wrong\n");
        failures++;
    }
}

int main(int argc, char **argv)
{
    ops = module_ops(argc, argv);

    open_pes(SHMEMT_AGENT_CPU);
    expect("put of 8 bytes", 8, false, 1);
    expect("put of 1 MiB", 1 << 20, false, 1);
    expect("put_signal of 8 bytes, by an immediate", 8, true, 1);
    expect("put_signal of 1 MiB, by an immediate", 1 << 20, true, 1);
    expect_connected();
    close_pes();
    open_pes(SHMEMT_AGENT_NIC);
    expect("put_signal of 8 bytes, applied by the device", 8, true, 2);
    expect("put_signal of 1 MiB, applied by the device", 1 << 20, true, 2);
    close_pes();
    return failures ? 1 : 0;
}
