/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages of a peer that is lost have taken receives, which all peers share. They are posted again, so that others can send. Three PEs in one
 * process, on a device with 16 receives (SIMVERBS=srq_wr=16); PE 1 takes them all, and PE 0 loses it without having looked.
 */
#include "tests/simverbs/module.h"
#include "transports/transport.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PES = 3, RECEIVES = 16, GUARD_S = 20 };

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
static _Alignas(64) uint64_t heaps[PES][512];

#define EXPECT(condition)                                          \
    do {                                                           \
        if (!(condition)) {                                        \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                               \
        }                                                          \
    } while (0)

static void open_pes(void)
{
    struct shmemt_traits traits;
    for (int i = 0; i < PES; i++) {
        struct pe           *p      = &pes[i];
        struct shmemt_region region = {.segment = SHMEMT_SEGMENT_HEAP, .base = heaps[i], .bytes = sizeof heaps[i], .fd = -1};
        for (int j = 0; j < PES; j++) p->local_of[j] = j == i ? 0 : -1;
        p->job = (struct shmemt_job){.my_pe = i, .npes = PES, .secret = 7, .local_of = p->local_of, .local_pes = 1};
        EXPECT(ops->probe(&p->job, &traits) == 0);
        EXPECT(ops->open(&p->job, &p->tp) == 0);
        EXPECT(ops->address(p->tp, &p->address) == 0);
        EXPECT(ops->export_region(p->tp, &region, &p->key) == 0);
        EXPECT(ops->ctx_open(p->tp, 0, &p->ctx) == 0);
    }
    for (int i = 0; i < PES * PES; i++) {
        EXPECT(ops->add_peer(pes[i / PES].tp, i % PES, &pes[i % PES].address) == 0);
        EXPECT(ops->import_region(pes[i / PES].tp, i % PES, SHMEMT_SEGMENT_HEAP, &pes[i % PES].key) == 0);
    }
}

/* Of these PEs. A guard, so that a test that hangs fails. */
static void move_on(unsigned who)
{
    static time_t end;
    if (end == 0) end = time(NULL) + GUARD_S;
    EXPECT(time(NULL) < end);
    for (int i = 0; i < PES; i++)
        if (who >> i & 1) ops->progress(pes[i].ctx);
}

static void add_one(int from, unsigned who)
{
    const struct shmemt_amo add = {.segment = SHMEMT_SEGMENT_HEAP, .op = SHMEMT_AMO_ADD, .bytes = 8, .value = 1};
    int                     err;
    while ((err = ops->amo(pes[from].ctx, 0, &add)) == -EAGAIN) move_on(who);
    EXPECT(err == 0);
}

static void quiet(int from, unsigned who)
{
    while (ops->quiet(pes[from].ctx, SHMEMT_ALL_PES) == -EAGAIN) move_on(who);
}

int main(int argc, char **argv)
{
    ops = module_ops(argc, argv);
    open_pes();
    for (int from = 1; from < PES; from++) { /* all is connected */
        add_one(from, 7);
        quiet(from, 7);
    }
    EXPECT(heaps[0][0] == 2);

    for (int i = 0; i < RECEIVES; i++) add_one(1, 1u << 1);
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL); /* the device has taken them: if not, less is tested */
    ops->lose_peer(pes[0].tp, 1);
    ops->lose_peer(pes[1].tp, 0);
    for (int i = 0; i < RECEIVES + 1; i++) add_one(2, 5);
    quiet(2, 5);
    EXPECT(heaps[0][0] == 2 + RECEIVES + 1); /* nothing of a lost PE is applied */

    for (int i = 0; i < PES; i++) {
        ops->ctx_close(pes[i].ctx);
        ops->unexport_region(pes[i].tp, SHMEMT_SEGMENT_HEAP);
    }
    for (int i = 0; i < PES; i++) ops->close(pes[i].tp);
    return 0;
}
