/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests that the target's CPU carries out, and their answers.
 *
 * The messages of a PE to a peer arrive in order (FI_ORDER_SAS, without which a provider is not taken) and are applied in order by whoever runs
 * progress() there. They are numbered on both sides without saying so, at most WINDOW of them are unanswered, and so an answer always finds room. After each
 * round of work the target acknowledges by a count, which covers all messages before it. A value goes back with such a count too.
 *
 * Answers never wait for room: they are owed (struct peer), in bounded memory, and sent as soon as there is some. So two PEs that
 * fill each other's queues both go on.
 */
#include "transports/libfabric/fabric.h"
#include "transports/mapped.h"

#include <assert.h>
#include <stdlib.h>

enum { SMALL_BYTES = 256, WANTS_VALUE = 0x80 };

/* ---- sending ---- */

/* A message under construction: on the stack where the provider copies it, else in a buffer that is its until it is sent. */
struct outgoing {
    unsigned char *data;
    size_t         bytes, used;
    struct buffer *buffer;
    unsigned char  small[SMALL_BYTES];
};

static int begin(struct fabric *fabric, struct outgoing *out, size_t bytes)
{
    assert(bytes <= MESSAGE_BYTES);
    out->bytes  = bytes;
    out->used   = 0;
    out->buffer = NULL;
    out->data   = out->small;
    if (bytes <= SMALL_BYTES && bytes <= fabric->inject_bytes) return 0;
    out->buffer = shmemt_libfabric_endpoint_take_send(fabric);
    if (!out->buffer) return -EAGAIN;
    out->data = out->buffer->data;
    return 0;
}

static void append(struct outgoing *out, const void *data, size_t bytes)
{
    assert(out->used + bytes <= out->bytes);
    memcpy(out->data + out->used, data, bytes);
    out->used += bytes;
}

static void append_header(struct fabric *fabric, struct outgoing *out, struct message message)
{
    message.from = (uint32_t)fabric->job->my_pe ^ fabric->cookie;
    append(out, &message, sizeof message);
}

static int send_to(struct fabric *fabric, int pe, struct outgoing *out)
{
    fi_addr_t address = fabric->peers[pe].address;
    ssize_t   answer;
    if (!out->buffer) {
        answer = fi_inject(fabric->ep, out->data, out->used, address);
    } else {
        void *descriptor       = fabric->sends_mr ? fi_mr_desc(fabric->sends_mr) : NULL;
        out->buffer->op.pe     = pe;
        out->buffer->op.bytes  = out->used;
        out->buffer->op.bounce = NULL;
        answer                 = fi_send(fabric->ep, out->data, out->used, descriptor, address, &out->buffer->op.context);
    }
    int err = shmemt_libfabric_failure_answer(fabric, pe, answer, "message");
    if (err && out->buffer) shmemt_libfabric_endpoint_free_send(fabric, out->buffer);
    return err;
}

/* Room for one more numbered message? */
static int open_window(struct peer *peer)
{
    if (!peer->traffic) peer->traffic = calloc(1, sizeof *peer->traffic);
    if (!peer->traffic || peer->next - peer->acknowledged >= WINDOW) return -EAGAIN;
    return 0;
}

/* Note a message that has gone out. sent: what its answer is for. */
static void note_sent(struct fabric_ctx *ctx, int pe, struct sent sent)
{
    struct peer      *peer      = &ctx->fabric->peers[pe];
    struct under_way *under_way = &ctx->peers[pe];
    if (peer->next == peer->acknowledged) peer->traffic->heard_ns = shmemt_libfabric_failure_now();
    sent.ctx                                   = ctx;
    peer->traffic->sent[peer->next++ % WINDOW] = sent;
    under_way->messages++;
    ctx->messages++;
    /* It is behind this context's writes, so its acknowledgement is theirs. */
    if (under_way->unflushed) under_way->unflushed = false, ctx->unflushed--;
}

static struct message_signal signal_part(const struct shmemt_amo *signal)
{
    return (struct message_signal){.offset = signal->remote_offset, .value = signal->value, .segment = (uint64_t)signal->segment};
}

int shmemt_libfabric_message_put(struct fabric_ctx *ctx, int pe, int segment, const struct shmemt_piece *pieces, size_t count,
                                 const struct shmemt_amo *signal)
{
    struct fabric  *fabric = ctx->fabric;
    struct outgoing out;
    size_t          bytes   = sizeof(struct message) + (signal ? sizeof(struct message_signal) : 0);
    struct message  message = {.kind = MESSAGE_PIECES, .segment = (uint8_t)segment, .op = signal ? (uint8_t)(signal->op + 1) : 0};
    for (size_t i = 0; i < count; i++) bytes += pieces[i].bytes + (count > 1 ? sizeof(struct message_piece) : 0);
    message.small = (uint8_t)count;
    if (count == 1) message.kind = MESSAGE_PUT, message.offset = pieces[0].remote_offset;
    int err = open_window(&fabric->peers[pe]);
    if (!err) err = begin(fabric, &out, bytes);
    if (err) return err;
    append_header(fabric, &out, message);
    if (signal) {
        struct message_signal part = signal_part(signal);
        append(&out, &part, sizeof part);
    }
    for (size_t i = 0; count > 1 && i < count; i++) {
        struct message_piece part = {.offset = pieces[i].remote_offset, .bytes = pieces[i].bytes};
        append(&out, &part, sizeof part);
    }
    for (size_t i = 0; i < count; i++) append(&out, pieces[i].local, pieces[i].bytes);
    err = send_to(fabric, pe, &out);
    if (!err) note_sent(ctx, pe, (struct sent){0});
    return err;
}

int shmemt_libfabric_message_load(struct fabric_ctx *ctx, int pe, int segment, const struct shmemt_piece *piece,
                                  _Atomic uint32_t *done, struct op *group)
{
    struct fabric       *fabric = ctx->fabric;
    struct outgoing      out;
    const struct message message = {
        .kind    = MESSAGE_LOAD,
        .segment = (uint8_t)segment,
        .small   = (uint8_t)(piece->bytes | WANTS_VALUE),
        .offset  = piece->remote_offset,
    };
    int err = open_window(&fabric->peers[pe]);
    if (!err) err = begin(fabric, &out, sizeof message);
    if (err) return err;
    append_header(fabric, &out, message);
    err = send_to(fabric, pe, &out);
    if (!err)
        note_sent(ctx, pe,
                  (struct sent){.done = done, .group = group, .fetch = piece->local, .fetch_bytes = (unsigned)piece->bytes});
    return err;
}

int shmemt_libfabric_message_amo(struct fabric_ctx *ctx, int pe, const struct shmemt_amo *amo)
{
    struct fabric                *fabric   = ctx->fabric;
    const struct message_operands operands = {.value = amo->value, .compare = amo->compare};
    struct outgoing               out;
    const struct message          message = {
                 .kind    = MESSAGE_AMO,
                 .segment = (uint8_t)amo->segment,
                 .op      = (uint8_t)amo->op,
                 .small   = (uint8_t)(amo->bytes | (amo->fetch ? WANTS_VALUE : 0)),
                 .offset  = amo->remote_offset,
    };
    int err = open_window(&fabric->peers[pe]);
    if (!err) err = begin(fabric, &out, sizeof message + sizeof operands);
    if (err) return err;
    append_header(fabric, &out, message);
    append(&out, &operands, sizeof operands);
    err = send_to(fabric, pe, &out);
    if (err) return err;
    if (amo->fetch) note_sent(ctx, pe, (struct sent){.done = amo->done, .fetch = amo->fetch, .fetch_bytes = amo->bytes});
    else note_sent(ctx, pe, (struct sent){0}), shmemt_mapped_done(amo->done);
    return 0;
}

int shmemt_libfabric_message_flush(struct fabric_ctx *ctx, int pe)
{
    struct fabric  *fabric = ctx->fabric;
    struct outgoing out;
    int             err = open_window(&fabric->peers[pe]);
    if (!err) err = begin(fabric, &out, sizeof(struct message));
    if (err) return err;
    append_header(fabric, &out, (struct message){.kind = MESSAGE_FLUSH});
    err = send_to(fabric, pe, &out);
    if (!err) note_sent(ctx, pe, (struct sent){0});
    return err;
}

/* A header that is not numbered. */
static int send_plain(struct fabric *fabric, int pe, enum message_kind kind, uint64_t offset, const uint64_t *value)
{
    struct outgoing out;
    int             err = begin(fabric, &out, sizeof(struct message) + (value ? sizeof *value : 0));
    if (err) return err;
    append_header(fabric, &out, (struct message){.kind = (uint8_t)kind, .offset = offset});
    if (value) append(&out, value, sizeof *value);
    return send_to(fabric, pe, &out);
}

int shmemt_libfabric_message_ping(struct fabric *fabric, int pe)
{
    return send_plain(fabric, pe, MESSAGE_PING, fabric->peers[pe].next, NULL);
}

/* ---- serving ---- */

static void owe(struct fabric *fabric, struct peer *peer)
{
    if (peer->listed) return;
    peer->listed         = true;
    peer->next_debtor    = NULL;
    *fabric->debtors_end = peer;
    fabric->debtors_end  = &peer->next_debtor;
}

/* Address in a region of this PE, or NULL: what others say is looked at before it is believed. */
static char *place(const struct fabric *fabric, unsigned segment, uint64_t offset, size_t bytes)
{
    if (segment >= SHMEMT_SEGMENTS_MAX) return NULL;
    const struct registered *mine = &fabric->mine[segment];
    if (!mine->host || bytes > mine->bytes || offset > mine->bytes - bytes) return NULL;
    return mine->base + offset;
}

static void apply_signal(struct fabric *fabric, const struct shmemt_amo *signal)
{
    char *word = place(fabric, (unsigned)signal->segment, signal->remote_offset, 8);
    if (!word || signal->remote_offset % 8 != 0) return;
    /*
     * The update releases. What it vouches for was stored by this thread just before, or by the provider: in this thread, in another one that has
     * since given us the lock, or by a device, whose completion the provider has seen with the order that needs.
     */
    shmemt_mapped_amo(word, signal);
    shmemt_mapped_wake(fabric->job, word, 8);
}

static void apply_piece(struct fabric *fabric, unsigned segment, uint64_t offset, const unsigned char *data, size_t bytes)
{
    char *to = place(fabric, segment, offset, bytes);
    if (!to) return;
    shmemt_mapped_store(to, data, bytes);
    atomic_thread_fence(memory_order_release); /* before what this PE applies later; pairs with the waiter's acquire */
    shmemt_mapped_wake(fabric->job, to, bytes);
}

static void apply_put(struct fabric *fabric, const struct message *message, const unsigned char *data, size_t bytes)
{
    struct message_signal part  = {0};
    size_t                count = message->kind == MESSAGE_PIECES ? message->small : 0;
    if (message->op) {
        if (bytes < sizeof part) return;
        memcpy(&part, data, sizeof part);
        data += sizeof part, bytes -= sizeof part;
    }
    if (message->kind == MESSAGE_PUT) {
        apply_piece(fabric, message->segment, message->offset, data, bytes);
    } else if (count > 0) {
        const unsigned char *list = data;
        if (bytes < count * sizeof(struct message_piece)) return;
        data += count * sizeof(struct message_piece), bytes -= count * sizeof(struct message_piece);
        for (size_t i = 0; i < count; i++) {
            struct message_piece piece;
            memcpy(&piece, list + i * sizeof piece, sizeof piece);
            if (piece.bytes > bytes) return;
            apply_piece(fabric, message->segment, piece.offset, data, piece.bytes);
            data += piece.bytes, bytes -= piece.bytes;
        }
    }
    if (!message->op) return;
    const struct shmemt_amo signal = {
        .segment       = (int)part.segment,
        .remote_offset = part.offset,
        .op            = (enum shmemt_amo_op)(message->op - 1),
        .bytes         = 8,
        .value         = part.value,
    };
    apply_signal(fabric, &signal);
}

static uint64_t load(struct fabric *fabric, const struct message *message)
{
    size_t      bytes = message->small & 0x0f;
    const char *from  = place(fabric, message->segment, message->offset, bytes);
    uint64_t    value = 0;
    uint32_t    half;
    uint16_t    quarter;
    if (!from) return 0;
    switch (bytes) {
    case 8: shmemt_mapped_load(&value, from, 8); return value;
    case 4: shmemt_mapped_load(&half, from, 4); return half;
    case 2: shmemt_mapped_load(&quarter, from, 2); return quarter;
    default: return 0; /* only words are asked for */
    }
}

static uint64_t apply_amo(struct fabric *fabric, const struct message *message, const unsigned char *data, size_t bytes)
{
    struct message_operands operands;
    uint64_t                unused = 0;
    if (bytes < sizeof operands) return 0;
    memcpy(&operands, data, sizeof operands);
    const struct shmemt_amo amo = {
        .remote_offset = message->offset,
        .op            = (enum shmemt_amo_op)message->op,
        .bytes         = message->small & 0x0f,
        .value         = operands.value,
        .compare       = operands.compare,
        .fetch         = message->small & WANTS_VALUE ? &unused : NULL, /* makes SET a swap */
    };
    char *word = place(fabric, message->segment, message->offset, amo.bytes);
    if (!word || (amo.bytes != 4 && amo.bytes != 8) || message->offset % amo.bytes != 0) return 0;
    return shmemt_mapped_update(fabric->job, word, &amo);
}

static void serve_numbered(struct fabric *fabric, struct peer *peer, const struct message *message, const unsigned char *data,
                           size_t bytes)
{
    uint64_t value = 0;
    shmemt_libfabric_progress_linger(fabric);
    switch (message->kind) {
    case MESSAGE_PUT:
    case MESSAGE_PIECES: apply_put(fabric, message, data, bytes); break;
    case MESSAGE_LOAD: value = load(fabric, message); break;
    case MESSAGE_AMO: value = apply_amo(fabric, message, data, bytes); break;
    default: shmemt_mapped_wake(fabric->job, NULL, 0); /* FLUSH: writes are there that nobody was told of */
    }
    peer->applied++;
    peer->owes_ack = true;
    owe(fabric, peer);
    bool wants = (message->kind == MESSAGE_LOAD || message->kind == MESSAGE_AMO) && (message->small & WANTS_VALUE);
    if (!wants) return;
    if (!peer->traffic) peer->traffic = calloc(1, sizeof *peer->traffic);
    if (peer->traffic && peer->answers_end - peer->answers_begin < WINDOW)
        peer->traffic->answers[peer->answers_end++ % WINDOW] = (struct answer){.value = value, .number = peer->applied};
}

/* ---- answers that come back ---- */

static void take_acknowledgement(struct fabric *fabric, struct peer *peer, uint32_t number)
{
    if (!peer->traffic || number - peer->acknowledged > peer->next - peer->acknowledged) return;
    int pe = (int)(peer - fabric->peers);
    for (; peer->acknowledged != number; peer->acknowledged++) {
        struct sent *sent = &peer->traffic->sent[peer->acknowledged % WINDOW];
        if (sent->ctx) sent->ctx->messages--, sent->ctx->peers[pe].messages--;
        *sent = (struct sent){0};
    }
}

static void take_value(struct fabric *fabric, struct peer *peer, uint32_t number, const unsigned char *data, size_t bytes)
{
    if (!peer->traffic || bytes < sizeof(uint64_t) || number - peer->acknowledged > peer->next - peer->acknowledged) return;
    struct sent *sent = &peer->traffic->sent[(number - 1) % WINDOW];
    if (sent->ctx && sent->fetch) {
        uint64_t value;
        uint32_t half;
        uint16_t quarter;
        memcpy(&value, data, sizeof value);
        half = (uint32_t)value, quarter = (uint16_t)value; /* the low bytes, whatever the byte order here */
        if (sent->fetch_bytes == 8) memcpy(sent->fetch, &value, 8);
        else if (sent->fetch_bytes == 4) memcpy(sent->fetch, &half, 4);
        else memcpy(sent->fetch, &quarter, 2);
        shmemt_libfabric_operation_end(fabric, sent->done, sent->group);
        sent->fetch = NULL;
    }
    take_acknowledgement(fabric, peer, number);
}

static void take_pong(struct fabric *fabric, struct peer *peer, uint64_t both)
{
    uint32_t applied = (uint32_t)both, echo = (uint32_t)(both >> 32);
    take_acknowledgement(fabric, peer, applied);
    /* The ping came after all messages before number echo. What has not been applied by then never arrived. */
    if ((int32_t)(applied - echo) < 0)
        shmemt_libfabric_failure_note(fabric, (int)(peer - fabric->peers), -ECONNRESET,
                                      "the connection broke, and %u messages were lost with it", echo - applied);
}

void shmemt_libfabric_message_serve(struct fabric *fabric, const void *data, size_t bytes)
{
    struct message message;
    if (bytes < sizeof message) return;
    memcpy(&message, data, sizeof message);
    const unsigned char *rest = (const unsigned char *)data + sizeof message;
    bytes -= sizeof message;
    uint32_t pe = message.from ^ fabric->cookie;
    if (pe >= (uint32_t)fabric->job->npes || fabric->peers[pe].lost) return;
    struct peer *peer = &fabric->peers[pe];
    if (peer->next != peer->acknowledged) {
        peer->traffic->heard_ns = shmemt_libfabric_failure_now();
        peer->traffic->ping_ns  = 0;
    }
    switch (message.kind) {
    case MESSAGE_ACK: take_acknowledgement(fabric, peer, (uint32_t)message.offset); break;
    case MESSAGE_VALUE: take_value(fabric, peer, (uint32_t)message.offset, rest, bytes); break;
    case MESSAGE_PONG: take_pong(fabric, peer, message.offset); break;
    case MESSAGE_PING:
        peer->owes_pong = true;
        peer->pong_echo = (uint32_t)message.offset;
        owe(fabric, peer);
        break;
    default: serve_numbered(fabric, peer, &message, rest, bytes); break;
    }
}

/* Values before counts: a count ends the messages that it covers. 0: nothing is owed any more. */
static int settle(struct fabric *fabric, struct peer *peer)
{
    int pe = (int)(peer - fabric->peers), err = 0;
    if (peer->lost || !peer->known) return 0;
    while (!err && peer->answers_begin != peer->answers_end) {
        const struct answer *answer = &peer->traffic->answers[peer->answers_begin % WINDOW];
        err                         = send_plain(fabric, pe, MESSAGE_VALUE, answer->number, &answer->value);
        if (err) break;
        if (answer->number == peer->applied) peer->owes_ack = false;
        peer->answers_begin++;
    }
    if (!err && peer->owes_ack) err = send_plain(fabric, pe, MESSAGE_ACK, peer->applied, NULL);
    if (!err) peer->owes_ack = false;
    if (!err && peer->owes_pong) err = send_plain(fabric, pe, MESSAGE_PONG, (uint64_t)peer->pong_echo << 32 | peer->applied, NULL);
    if (!err) peer->owes_pong = false;
    return err;
}

void shmemt_libfabric_message_answer(struct fabric *fabric)
{
    struct peer *peer   = fabric->debtors;
    fabric->debtors     = NULL;
    fabric->debtors_end = &fabric->debtors;
    while (peer) {
        struct peer *next = peer->next_debtor;
        peer->listed      = false;
        if (settle(fabric, peer) == -EAGAIN) owe(fabric, peer);
        peer = next;
    }
}

/* ---- signals that a write carries ---- */

/* Bits for the number of the 8-byte word in its segment, and for the value. What does not fit goes by message. */
static void layout(const struct fabric *fabric, unsigned *segment_bits, unsigned *word_bits, unsigned *value_bits)
{
    bool wide     = fabric->info->domain_attr->cq_data_size >= 8;
    *segment_bits = wide ? 4 : 2;
    *word_bits    = wide ? 31 : 21;
    *value_bits   = wide ? 28 : 8;
}

bool shmemt_libfabric_message_pack_signal(const struct fabric *fabric, const struct shmemt_amo *signal, uint64_t *data_out)
{
    unsigned segment_bits, word_bits, value_bits;
    if (fabric->info->domain_attr->cq_data_size < 4) return false;
    layout(fabric, &segment_bits, &word_bits, &value_bits);
    uint64_t word = signal->remote_offset / 8, segment = (uint64_t)signal->segment;
    if (segment >> segment_bits || word >> word_bits || signal->value >> value_bits) return false;
    *data_out = signal->value | word << value_bits | segment << (value_bits + word_bits) |
                (uint64_t)(signal->op == SHMEMT_AMO_ADD) << (value_bits + word_bits + segment_bits);
    return true;
}

void shmemt_libfabric_message_apply_signal(struct fabric *fabric, uint64_t data)
{
    unsigned segment_bits, word_bits, value_bits;
    layout(fabric, &segment_bits, &word_bits, &value_bits);
    const struct shmemt_amo signal = {
        .bytes         = 8,
        .value         = data & (((uint64_t)1 << value_bits) - 1),
        .remote_offset = (data >> value_bits & (((uint64_t)1 << word_bits) - 1)) * 8,
        .segment       = (int)(data >> (value_bits + word_bits) & (((uint64_t)1 << segment_bits) - 1)),
        .op            = data >> (value_bits + word_bits + segment_bits) & 1 ? SHMEMT_AMO_ADD : SHMEMT_AMO_SET,
    };
    apply_signal(fabric, &signal);
}
