/* SPDX-License-Identifier: Apache-2.0
 *
 * What a PE keeps of others that it never talks to: 16 bytes of each, and once for each port its address. Measured in a job of 10,000 PEs on 1,250
 * nodes, of which two are there. Their keys come with the first word, so those two then talk, and what is to be refused is refused.
 */
#include "tests/simverbs/module.h"
#include "transports/ibverbs/peer.h"
#include "transports/transport.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PES = 10000, PER_NODE = 8, CONTEXTS = 3, BYTES = 4096, REAL = 2, KEY_PE_AT = 28 };
enum { EACH = 16, EACH_PORT = 2 * sizeof(struct ib_endpoint) + 4 * sizeof(uint32_t), ROUNDING = 4096 };

struct pe {
    struct shmemt_job     job;
    struct shmemt        *tp;
    struct shmemt_ctx    *ctx[CONTEXTS];
    struct shmemt_address address;
    struct shmemt_key     key[SHMEMT_SEGMENT_USER + 1];
};

static const struct shmemt_ops *ops;
static struct pe                pes[REAL]; /* the first of the job, and the last */
static _Alignas(64) unsigned char memory[REAL][SHMEMT_SEGMENT_USER + 1][BYTES];
static int local_of[PES];

#define EXPECT(condition)                                          \
    do {                                                           \
        if (!(condition)) {                                        \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                               \
        }                                                          \
    } while (0)

static bool is_there(int segment)
{
    return segment != SHMEMT_SEGMENT_GPU;
}

static void open_pe(int i, int npes)
{
    struct pe           *p = &pes[i];
    struct shmemt_traits traits;
    *p     = (struct pe){.tp = NULL};
    p->job = (struct shmemt_job){.my_pe = i ? npes - 1 : 0, .npes = npes, .secret = 7, .local_of = local_of, .local_pes = 1};
    EXPECT(ops->probe(&p->job, &traits) == 0);
    EXPECT(ops->open(&p->job, &p->tp) == 0);
    EXPECT(ops->address(p->tp, &p->address) == 0);
    for (int segment = 0; segment <= SHMEMT_SEGMENT_USER; segment++) {
        const struct shmemt_region region = {.segment = segment, .base = memory[i][segment], .bytes = BYTES, .fd = -1};
        if (is_there(segment)) EXPECT(ops->export_region(p->tp, &region, &p->key[segment]) == 0);
    }
}

/* Of PEs that are not there: the address of another port, and keys that name another PE. */
static void import(struct pe *p, int pe, int npes)
{
    const struct pe      *like    = &pes[pe != 0];
    struct shmemt_address address = like->address;
    struct ib_address     changed;
    bool                  real = pe == 0 || pe == npes - 1;
    memcpy(&changed, address.data, sizeof changed);
    if (!real)
        changed.endpoint.gid.raw[13] ^= (uint8_t)(0x80 + (pe / PER_NODE >> 8)),
            changed.endpoint.gid.raw[14] ^= (uint8_t)(pe / PER_NODE);
    if (!real) changed.ud_qpn = 0x800000 + (uint32_t)pe;
    memcpy(address.data, &changed, sizeof changed);
    EXPECT(ops->add_peer(p->tp, pe, &address) == 0);
    for (int segment = 0; segment < SHMEMT_SEGMENT_USER; segment++) {
        struct shmemt_key key = like->key[segment];
        if (!is_there(segment)) continue;
        memcpy(key.data + KEY_PE_AT, &pe, sizeof pe);
        EXPECT(ops->import_region(p->tp, pe, segment, &key) == 0);
    }
}

static size_t allocated(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* What the second PE has allocated once all is imported. */
static size_t open_job(int npes)
{
    open_pe(0, npes);
    size_t before = allocated();
    open_pe(1, npes);
    for (int pe = 0; pe < npes; pe++) import(&pes[1], pe, npes);
    for (int i = 0; i < CONTEXTS; i++) EXPECT(ops->ctx_open(pes[1].tp, 0, &pes[1].ctx[i]) == 0);
    size_t grown = allocated() - before;
    for (int pe = 0; pe < npes; pe += npes - 1) import(&pes[0], pe, npes);
    for (int i = 0; i < CONTEXTS; i++) EXPECT(ops->ctx_open(pes[0].tp, 0, &pes[0].ctx[i]) == 0);
    return grown;
}

static void close_job(void)
{
    for (int i = 0; i < REAL * CONTEXTS; i++) ops->ctx_close(pes[i / CONTEXTS].ctx[i % CONTEXTS]);
    for (int i = 0; i < REAL; i++) {
        for (int segment = 0; segment <= SHMEMT_SEGMENT_USER; segment++) ops->unexport_region(pes[i].tp, segment);
        ops->close(pes[i].tp);
    }
}

static void move_on(void)
{
    for (int i = 0; i < REAL * CONTEXTS; i++) EXPECT(ops->progress(pes[i / CONTEXTS].ctx[i % CONTEXTS]) >= 0);
}

/* By the last PE, until it is taken or refused. */
static int put(int context, int pe, int segment, uint64_t offset, uint64_t value)
{
    const struct shmemt_xfer xfer = {.segment       = segment,
                                     .flags         = SHMEMT_XFER_COPY,
                                     .local         = &value,
                                     .remote_offset = offset,
                                     .bytes         = sizeof value,
                                     .blocks        = 1};
    int                      err;
    while ((err = ops->put(pes[1].ctx[context], pe, &xfer)) == -EAGAIN) move_on();
    return err;
}

static uint64_t word(int segment, size_t offset)
{
    uint64_t value;
    while (ops->quiet(pes[1].ctx[0], SHMEMT_ALL_PES) == -EAGAIN) move_on();
    memcpy(&value, memory[0][segment] + offset, sizeof value);
    return value;
}

/* Before the first word with PE 0, and after it. */
static void talk(void)
{
    const struct shmemt_key none = {.bytes = 0};
    EXPECT(put(0, 0, SHMEMT_SEGMENT_GPU, 0, 1) == -ENXIO);
    EXPECT(put(0, 0, SHMEMT_SEGMENT_USER, 0, 1) == -ENXIO);
    EXPECT(ops->import_region(pes[1].tp, 0, SHMEMT_SEGMENT_DATA, &none) == 0);
    EXPECT(put(0, 0, SHMEMT_SEGMENT_DATA, 0, 1) == -ENXIO);
    EXPECT(ops->import_region(pes[1].tp, 0, SHMEMT_SEGMENT_USER, &pes[0].key[SHMEMT_SEGMENT_USER]) == 0);
    ops->lose_peer(pes[1].tp, 17);
    EXPECT(put(0, 17, SHMEMT_SEGMENT_HEAP, 0, 1) == -EHOSTDOWN);
    EXPECT(ops->quiet(pes[1].ctx[0], 17) == -EHOSTDOWN);

    EXPECT(put(0, 0, SHMEMT_SEGMENT_HEAP, 64, 11) == 0);
    EXPECT(word(SHMEMT_SEGMENT_HEAP, 64) == 11);
    EXPECT(put(0, 0, SHMEMT_SEGMENT_CTRL, BYTES - 8, 12) == 0);
    EXPECT(word(SHMEMT_SEGMENT_CTRL, BYTES - 8) == 12);
    EXPECT(put(0, 0, SHMEMT_SEGMENT_USER, 8, 13) == 0);
    EXPECT(word(SHMEMT_SEGMENT_USER, 8) == 13);
    EXPECT(put(0, 0, SHMEMT_SEGMENT_HEAP, BYTES - 7, 1) == -ERANGE);
    EXPECT(put(0, 0, SHMEMT_SEGMENT_DATA, 0, 1) == -ENXIO);
    EXPECT(ops->import_region(pes[1].tp, 0, SHMEMT_SEGMENT_DATA, &pes[0].key[SHMEMT_SEGMENT_DATA]) == 0);
    EXPECT(put(0, 0, SHMEMT_SEGMENT_DATA, 0, 14) == 0);
    EXPECT(word(SHMEMT_SEGMENT_DATA, 0) == 14);
    EXPECT(ops->import_region(pes[1].tp, 0, SHMEMT_SEGMENT_HEAP, &none) == 0);
    EXPECT(put(1, 0, SHMEMT_SEGMENT_HEAP, 64, 15) == -ENXIO);
}

int main(int argc, char **argv)
{
    ops = module_ops(argc, argv);
    for (int i = 0; i < PES; i++) local_of[i] = -1;

    open_job(REAL); /* what a first job leaves behind for ever, in the library and in the device */
    close_job();
    size_t small = open_job(REAL);
    close_job();
    size_t large = open_job(PES);
    size_t more = large - small, bound = (size_t)PES * EACH + (size_t)PES / PER_NODE * EACH_PORT * 2 + ROUNDING;
    printf("%d PEs on %d nodes: %zu bytes more than for %d PEs, %.1f for each\n", PES, PES / PER_NODE, more, REAL,
           (double)more / (PES - REAL));
    EXPECT(more <= bound);
    talk();
    close_job();
    return 0;
}
