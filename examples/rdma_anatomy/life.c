/* SPDX-License-Identifier: Apache-2.0
 *
 * Part 1: the life of one put, from registered memory to the completion.
 *
 * The program itself sees three moments: it posts, B's memory changes, the completion is there. What the devices do in between
 * only the simulated one tells.
 */
#include "anatomy.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { BYTES = 1000, PACKET = 256, TICKET = 7 };

/* Packets of 256 bytes on a wire of 100 Gbit/s that takes 1,000 ns each way. */
static const char conditions[] = "mtu=1,packet=256,rate=100000,wire=1000";

static const struct end *receiver;

/* What has happened is noted, and printed at the end: to print takes longer than all that is shown. */
static struct {
    uint64_t    at_ns;
    const char *who;
    char        text[120];
} notes[40];
static size_t note_count;

__attribute__((format(printf, 2, 3))) static void note(const char *who, const char *format, ...)
{
    va_list values;

    if (note_count == sizeof notes / sizeof *notes) return;
    notes[note_count].at_ns = now_ns();
    notes[note_count].who   = who;
    va_start(values, format);
    vsnprintf(notes[note_count++].text, sizeof notes->text, format, values);
    va_end(values);
}

static void print_notes(void)
{
    for (size_t i = 0; i < note_count; i++)
        printf("  %6" PRIu64 " ns  %-9s  %s\n", notes[i].at_ns - notes[0].at_ns, notes[i].who, notes[i].text);
}

/* What the simulated device tells. */
static void tell(const char *what, uint32_t qpn, uint32_t message, uint64_t where, uint64_t bytes)
{
    uint64_t packet = where / PACKET + 1;

    (void)qpn;
    (void)message;
    if (strcmp(what, "leaves") == 0) {
        note("A device", "reads bytes %" PRIu64 " to %" PRIu64 " from A's memory; packet %" PRIu64 " leaves%s", where,
             where + bytes - 1, packet, packet == 1 ? ", with remote address and key" : "");
    } else if (strcmp(what, "arrives") == 0) {
        note("B device", "packet %" PRIu64 " arrives%s", packet,
             packet == 1 ? ": the key is known, the range lies in its region, writing is allowed" : "");
    } else if (strcmp(what, "lands") == 0) {
        uint64_t offset = where - (uintptr_t)receiver->memory;
        note("B memory", "bytes %" PRIu64 " to %" PRIu64 " change", offset, offset + bytes - 1);
    } else if (strcmp(what, "answers") == 0) {
        note("B device", "all of it is written: an acknowledgement leaves");
    } else if (strcmp(what, "answered") == 0) {
        note("A device", "the acknowledgement arrives");
    } else if (strcmp(what, "completes") == 0) {
        note("A device", "writes a completion into A's completion queue");
    }
}

static void print_region(const struct end *end)
{
    printf("    %s registers %zu bytes at %p: local key 0x%08" PRIx32 ", remote key 0x%08" PRIx32 "\n", end->name, end->bytes,
           (void *)end->memory, end->region->lkey, end->region->rkey);
}

static void print_beforehand(const struct end *a, const struct end *b)
{
    printf("  Once, beforehand:\n");
    print_region(a);
    print_region(b);
    printf("    A and B tell each other, by other means (a socket, a file), the port's address and the queue pair's number, and B\n"
           "    its memory's address and remote key. Queue pair %" PRIu32 " of A and %" PRIu32 " of B are connected.\n\n",
           a->queue_pairs[0]->qp_num, b->queue_pairs[0]->qp_num);
}

static void print_request(const struct ibv_send_wr *r)
{
    printf("  The work request: RDMA WRITE, number %" PRIu64 ", signalled\n", r->wr_id);
    printf("    from  address 0x%012" PRIx64 "  local key  0x%08" PRIx32 "  %" PRIu32 " bytes\n", r->sg_list->addr,
           r->sg_list->lkey, r->sg_list->length);
    printf("    to    address 0x%012" PRIx64 "  remote key 0x%08" PRIx32 "\n\n", r->wr.rdma.remote_addr, r->wr.rdma.rkey);
}

/* Post the request, and look until it is done: at B's memory as B's program would, and at A's completion queue. */
static bool put(struct end *a, struct end *b, struct ibv_send_wr *request)
{
    const volatile unsigned char *last = &b->memory[BYTES - 1];
    struct ibv_wc                 completion;
    bool                          done = false, seen = false;

    post(a->queue_pairs[0], request);
    note("A program", "ibv_post_send: the request is in the send queue, the doorbell has rung");
    while (!done || !seen) {
        if (!seen && *last != 0) {
            note("B program", "sees the last byte change, because it looks. Nobody told it");
            seen = true;
        }
        if (!done && next_completion(a, &completion)) {
            note("A program", "ibv_poll_cq: number %" PRIu64 ", %s. The bytes are at B, the buffer is free", completion.wr_id,
                 ibv_wc_status_str(completion.status));
            done = true;
        }
    }
    bool told = next_completion(b, &completion);
    note("B program",
         told ? "ibv_poll_cq: a completion, which should not be" : "ibv_poll_cq: nothing. A plain write leaves no trace here");
    return !told && memcmp(a->memory, b->memory, BYTES) == 0;
}

bool life(const struct settings *settings)
{
    const struct shape shape = {.bytes = 4096, .queue_pairs = 1, .depth = 4, .mtu = IBV_MTU_256};
    struct end         a, b;
    struct ibv_sge     piece;
    struct ibv_send_wr request;

    simulate(conditions, 0);
    ends_open(&a, &b, settings->device, &shape);
    receiver = &b;
    printf("Part 1. The life of one put\n\n");
    printf("  Device %s%s\n\n", ibv_get_device_name(a.context->device),
           simulated() ? ", simulated: packets of 256 bytes, 100 Gbit/s, a wire of 1,000 ns each way. The programs take no time"
                       : ": what it does between posting and completion cannot be seen from here");
    memset(a.memory, 0xa5, BYTES);
    print_beforehand(&a, &b);

    write_request(&request, &piece, &a, &b, 0, BYTES);
    request.wr_id = TICKET;
    print_request(&request);
    watch(tell);
    bool good = put(&a, &b, &request);
    watch(NULL);
    print_notes();
    printf("\n  %s\n\n", good ? "All 1,000 bytes are right." : "WRONG: B's bytes are not A's, or B was told of them.");
    ends_close(&a, &b);
    simulate_end();
    return good;
}
