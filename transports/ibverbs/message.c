/* SPDX-License-Identifier: Apache-2.0
 *
 * What the target's CPU does for others: signals beside a write, atomics, and the count that acknowledges them.
 *
 * An immediate has 32 bits: what it is, and two numbers.
 *
 *     SET, ADD   index of a signal word (6 bits), value (24 bits)
 *     COUNT      so many numbered messages of the link have been applied (30 bits)
 *     PART       one part of the data of a counted signal is there: number of that signal (30 bits)
 *
 * A word gets its index on first use, by a message ahead of the write; the table is as large as an index can tell, and a new word takes
 * the place of an old one. A signal whose value does not fit follows the write as a message on the same queue pair.
 *
 * Messages and signals are numbered from 0, round 2^32. The target answers once after each turn of progress(), with the count of what it has
 * applied: an empty write with an immediate, or the value that a message asked for. Answers have room kept in the send queue.
 *
 * Without order (POSTERN_IB_UNORDERED) a count says how many have been applied, not which; a word keeps its index, and is used once the target has answered
 * that it knows it.
 */
#include "transports/ibverbs/verbs.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

enum immediate_kind { IMMEDIATE_SET, IMMEDIATE_ADD, IMMEDIATE_COUNT, IMMEDIATE_PART };
enum { KIND_SHIFT = 30, INDEX_SHIFT = 24, INDEX_MASK = WORDS - 1, VALUE_BITS = 24 };
#define REST_MASK ((1u << KIND_SHIFT) - 1)

/* ---- sending ---- */

static void add_send(struct batch *batch, const struct message *message, enum record_kind kind)
{
    struct record      *record;
    struct ibv_send_wr *wr = batch_add(batch, IBV_WR_SEND, IBV_SEND_INLINE, kind, &record);
    record->segment        = message->segment;
    record->offset         = message->offset;
    record->bytes          = sizeof *message;
    batch_source(batch, wr, message, sizeof *message, 0); /* inline: read when the batch is posted, or before */
}

void shmemt_ibverbs_message_count(struct link *link)
{
    link->sent[link->next % WINDOW] = (struct sent){.number = link->next};
    link->next++;
}

void shmemt_ibverbs_message_add(struct batch *batch, struct message *message, void *fetch, unsigned bytes, _Atomic uint32_t *done)
{
    struct link *link = batch->link;
    message->number   = link->next;
    add_send(batch, message, RECORD_MESSAGE);
    link->sent[link->next % WINDOW] = (struct sent){.number = link->next, .fetch = fetch, .done = done, .bytes = (uint8_t)bytes};
    link->next++;
    if (fetch) link->fetching++;
}

void shmemt_ibverbs_message_signal(struct batch *batch, const struct shmemt_amo *signal, unsigned parts, uint32_t number,
                                   struct message *message_out)
{
    *message_out = (struct message){
        .kind    = MESSAGE_SIGNAL,
        .segment = (uint8_t)signal->segment,
        .op      = (uint8_t)signal->op,
        .small   = (uint8_t)parts,
        .offset  = signal->remote_offset,
        .value   = signal->value,
        .compare = number & REST_MASK,
    };
    shmemt_ibverbs_message_add(batch, message_out, NULL, 0, NULL);
}

uint32_t shmemt_ibverbs_message_part(uint32_t number)
{
    return htonl((uint32_t)IMMEDIATE_PART << KIND_SHIFT | (number & REST_MASK));
}

/* ---- signals by an immediate ---- */

static unsigned index_of(const struct shmemt_amo *signal)
{
    uint64_t number = signal->remote_offset / 8;
    return (unsigned)(number ^ number >> 6 ^ number >> 12 ^ (unsigned)signal->segment * 7) & INDEX_MASK;
}

static bool is_word(const struct word *word, const struct shmemt_amo *signal)
{
    return word->segment == signal->segment && word->offset == signal->remote_offset;
}

static void add_word(struct batch *batch, const struct shmemt_amo *signal, struct message *word_out)
{
    unsigned     index = index_of(signal);
    struct word *word  = &batch->link->words_out[index];
    bool         asks  = batch->link->lane->verbs->unordered;
    *word              = (struct word){.segment = signal->segment, .offset = signal->remote_offset};
    *word_out          = (struct message){.kind    = MESSAGE_WORD,
                                          .segment = (uint8_t)signal->segment,
                                          .small   = (uint8_t)(index | (asks ? MESSAGE_WANTS_VALUE : 0)),
                                          .offset  = signal->remote_offset};
    shmemt_ibverbs_message_add(batch, word_out, asks ? &word->known : NULL, sizeof word->known, NULL);
}

static uint32_t immediate_of(const struct shmemt_amo *signal)
{
    enum immediate_kind kind = signal->op == SHMEMT_AMO_ADD ? IMMEDIATE_ADD : IMMEDIATE_SET;
    return htonl((uint32_t)kind << KIND_SHIFT | index_of(signal) << INDEX_SHIFT | (uint32_t)signal->value);
}

bool shmemt_ibverbs_message_immediate(struct batch *batch, const struct shmemt_amo *signal, struct message *word_out,
                                      uint32_t *immediate_out)
{
    if (signal->value >> VALUE_BITS) return false;
    if (!is_word(&batch->link->words_out[index_of(signal)], signal)) add_word(batch, signal, word_out);
    *immediate_out = immediate_of(signal);
    return true;
}

bool shmemt_ibverbs_message_known(struct link *link, const struct shmemt_amo *signal, uint32_t *immediate_out)
{
    const struct word *word = &link->words_out[index_of(signal)];
    if (signal->value >> VALUE_BITS || !is_word(word, signal) || !word->known) return false;
    *immediate_out = immediate_of(signal);
    return true;
}

/* A word keeps its place: an immediate that names it may still be under way when the next message has arrived. */
void shmemt_ibverbs_message_teach(struct batch *batch, const struct shmemt_amo *signal, struct message *word_out)
{
    if (batch->link->words_out[index_of(signal)].segment < 0) add_word(batch, signal, word_out);
}

/* ---- serving ---- */

static void owe(struct link *link)
{
    struct verbs *verbs = link->lane->verbs;
    if (link->owes) return;
    link->owes          = true;
    link->next_debtor   = NULL;
    *verbs->debtors_end = link;
    verbs->debtors_end  = &link->next_debtor;
}

/* Address in a region of this PE, or NULL: what others say is looked at before it is believed. */
static char *place(const struct verbs *verbs, unsigned segment, uint64_t offset, size_t bytes)
{
    if (segment >= SHMEMT_SEGMENTS_MAX || offset % bytes != 0) return NULL;
    if (!verbs->mine[segment].host || bytes > verbs->mine[segment].bytes || offset > verbs->mine[segment].bytes - bytes)
        return NULL;
    return verbs->mine[segment].base + offset;
}

static uint64_t update(struct verbs *verbs, const struct shmemt_amo *amo)
{
    char *word = place(verbs, (unsigned)amo->segment, amo->remote_offset, amo->bytes);
    if (!word) return 0;
    /* The update releases. What it vouches for was written by the device before it told us of this message. */
    return shmemt_mapped_update(verbs->job, word, amo);
}

static void answer(struct link *link, const struct message *message, uint64_t value)
{
    if (link->answers_end - link->answers_begin >= WINDOW) return; /* more than a peer may ask */
    link->answers[link->answers_end % WINDOW].value  = value;
    link->answers[link->answers_end % WINDOW].number = message->number + 1;
    link->answers_end++;
}

static void serve_amo(struct link *link, const struct message *message)
{
    uint64_t                unused = 0;
    const struct shmemt_amo amo    = {
           .segment       = message->segment,
           .remote_offset = message->offset,
           .op            = (enum shmemt_amo_op)message->op,
           .bytes         = message->small & 0x0f,
           .value         = message->value,
           .compare       = message->compare,
           .fetch         = message->small & MESSAGE_WANTS_VALUE ? &unused : NULL, /* makes SET a swap */
    };
    if (amo.bytes != 4 && amo.bytes != 8) return;
    uint64_t old = update(link->lane->verbs, &amo);
    if (amo.fetch) answer(link, message, old);
}

static void serve_signal(struct link *link, int segment, uint64_t offset, enum shmemt_amo_op op, uint64_t value)
{
    const struct shmemt_amo signal = {.segment = segment, .remote_offset = offset, .op = op, .bytes = 8, .value = value};
    update(link->lane->verbs, &signal);
}

/* ---- counted signals ---- */

/* The place of a counted signal, made by the first that is heard of it. NULL: more than a peer may have under way. */
static struct gathered *gathered_of(struct link *link, uint32_t number)
{
    struct gathered *free = NULL;
    for (unsigned i = 0; i < STRIPED; i++) {
        struct gathered *gathered = &link->gathered[(number + i) % STRIPED];
        bool             used     = gathered->seen > 0 || gathered->wanted > 0;
        if (used && gathered->number == number) return gathered;
        if (!used && !free) free = gathered;
    }
    if (free) *free = (struct gathered){.number = number};
    return free;
}

static void gather(struct link *link, struct gathered *gathered)
{
    if (gathered->wanted == 0 || (gathered->seen != gathered->wanted && IBVERBS_BREAK != BREAK_COUNT)) return;
    update(link->lane->verbs, &gathered->signal);
    link->held--;
    *gathered = (struct gathered){.seen = 0};
    owe(link);
}

static void serve_striped(struct link *link, const struct message *message)
{
    struct gathered *gathered = gathered_of(link, (uint32_t)message->compare & REST_MASK);
    if (!gathered) return;
    gathered->wanted   = message->small;
    gathered->position = link->applied;
    gathered->signal   = (struct shmemt_amo){.segment       = message->segment,
                                             .remote_offset = message->offset,
                                             .op            = (enum shmemt_amo_op)message->op,
                                             .bytes         = 8,
                                             .value         = message->value};
    link->held++;
    gather(link, gathered);
}

/* What may be acknowledged: all before the first message that waits for parts. Without order: how many, whichever. */
static uint32_t settled_count(const struct link *link)
{
    uint32_t count = link->applied;
    if (link->lane->verbs->unordered) return count - link->held;
    for (int i = 0; link->held > 0 && i < STRIPED; i++)
        if (link->gathered[i].wanted > 0 && (int32_t)(link->gathered[i].position - count) < 0) count = link->gathered[i].position;
    return count;
}

/* ---- answers that come back ---- */

/* An older count than what is known seems to be far ahead, beyond what was sent. */
static void take_count(struct link *link, uint32_t number)
{
    if (number - link->acknowledged <= link->next - link->acknowledged) link->acknowledged = number;
}

static void take_value(struct link *link, uint32_t number, uint64_t value, uint32_t count)
{
    struct sent *sent = &link->sent[(number - 1) % WINDOW];
    if (sent->fetch && sent->number == number - 1) {
        shmemt_ibverbs_atomic_result(sent->fetch, sent->bytes, value);
        sent->fetch = NULL;
        link->fetching--;
        shmemt_mapped_done(sent->done);
    }
    take_count(link, count);
}

/* All 32 bits of a count of which 30 have come: it is not far from what is known. */
static uint32_t widen(uint32_t known, uint32_t low)
{
    return known + ((low - known) & REST_MASK);
}

void shmemt_ibverbs_message_serve(struct link *link, const void *data, size_t bytes)
{
    struct message message;
    if (bytes < sizeof message) return;
    memcpy(&message, data, sizeof message);
    switch (message.kind) {
    case MESSAGE_VALUE:
        shmemi_latch_take(&link->lane->lock);
        take_value(link, message.number, message.value, (uint32_t)message.compare);
        shmemi_latch_give(&link->lane->lock);
        return;
    case MESSAGE_AMO: serve_amo(link, &message); break;
    case MESSAGE_SIGNAL:
        if (message.small > 0) serve_striped(link, &message);
        else serve_signal(link, message.segment, message.offset, (enum shmemt_amo_op)message.op, message.value);
        break;
    case MESSAGE_WORD:
        link->words_in[message.small & INDEX_MASK] = (struct word){.segment = message.segment, .offset = message.offset};
        if (message.small & MESSAGE_WANTS_VALUE) answer(link, &message, 1);
        break;
    default: break; /* of nothing that is known here */
    }
    link->applied++;
    owe(link);
}

static void serve_part(struct link *link, uint32_t number)
{
    struct gathered *gathered = gathered_of(link, number);
    if (!gathered) return;
    gathered->seen++;
    gather(link, gathered);
}

void shmemt_ibverbs_message_serve_immediate(struct link *link, uint32_t network)
{
    uint32_t           immediate = ntohl(network);
    const struct word *word      = &link->words_in[immediate >> INDEX_SHIFT & INDEX_MASK];
    uint64_t           value     = immediate & ((1u << VALUE_BITS) - 1);
    switch (immediate >> KIND_SHIFT) {
    case IMMEDIATE_COUNT:
        shmemi_latch_take(&link->lane->lock);
        take_count(link, widen(link->acknowledged, immediate & REST_MASK));
        shmemi_latch_give(&link->lane->lock);
        return;
    case IMMEDIATE_SET: serve_signal(link, word->segment, word->offset, SHMEMT_AMO_SET, value); break;
    case IMMEDIATE_ADD: serve_signal(link, word->segment, word->offset, SHMEMT_AMO_ADD, value); break;
    default: /* PART: not numbered */ serve_part(link, immediate & REST_MASK); return;
    }
    link->applied++;
    owe(link);
}

/* ---- answering ---- */

static bool has_room(const struct link *link)
{
    const struct queue *queue = &link->queues[0];
    /* One place stays for the empty write that quiet may need. */
    return queue->posted - queue->retired + 2 <= queue->mask + 1 && link->lane->in_flight + 2 <= link->lane->completions;
}

/*
 * An answer tells a value, which covers the count up to its message; what was applied since needs a count of its own. Without order values and
 * counts come as they will, and the peer waits for both.
 */
static void send_answer(struct link *link)
{
    struct batch   batch;
    struct message message;
    struct record *record;
    batch_begin(&batch, link, 0);
    if (link->answers_begin != link->answers_end) {
        unsigned at      = link->answers_begin++ % WINDOW;
        uint32_t count   = settled_count(link);
        bool     ordered = !link->lane->verbs->unordered;
        if (ordered && (int32_t)(link->answers[at].number - count) < 0) count = link->answers[at].number;
        message = (struct message){
            .kind = MESSAGE_VALUE, .number = link->answers[at].number, .value = link->answers[at].value, .compare = count};
        add_send(&batch, &message, RECORD_ANSWER);
        link->owes = count != link->applied || link->answers_begin != link->answers_end;
    } else {
        struct ibv_send_wr *wr  = batch_add(&batch, IBV_WR_RDMA_WRITE_WITH_IMM, 0, RECORD_ANSWER, &record);
        record->bytes           = 0;
        wr->wr.rdma.remote_addr = 0; /* of an empty write neither address nor key is looked at */
        wr->wr.rdma.rkey        = 0;
        wr->imm_data            = htonl((uint32_t)IMMEDIATE_COUNT << KIND_SHIFT | (settled_count(link) & REST_MASK));
        link->owes              = false;
    }
    shmemt_ibverbs_queue_post(&batch);
    link->lane->verbs->answered++;
}

/* false: there is no room now. */
static bool settle(struct link *link)
{
    bool settled = true;
    shmemi_latch_take(&link->lane->lock);
    /* A peer that can send to us can receive. */
    if (link->state == LINK_ANSWERED) link->state = LINK_READY;
    while (link->owes && link->state == LINK_READY && !atomic_load_explicit(&link->failing, memory_order_relaxed)) {
        if (!has_room(link)) shmemt_ibverbs_queue_poll(link->lane);
        if (!has_room(link)) {
            settled = false;
            break;
        }
        send_answer(link);
    }
    shmemi_latch_give(&link->lane->lock);
    return settled;
}

void shmemt_ibverbs_message_answer(struct verbs *verbs)
{
    struct link *link  = verbs->debtors;
    verbs->debtors     = NULL;
    verbs->debtors_end = &verbs->debtors;
    while (link) {
        struct link *next    = link->next_debtor;
        bool         settled = settle(link);
        link->owes           = false;
        if (!settled) owe(link);
        link = next;
    }
}

void shmemt_ibverbs_message_end(struct link *link)
{
    for (int i = 0; i < WINDOW; i++) {
        struct sent *sent = &link->sent[i];
        if (sent->fetch) shmemt_mapped_done(sent->done);
        *sent = (struct sent){0};
    }
    link->acknowledged = link->next;
    link->fetching     = 0;
    link->fenced       = false;
}
