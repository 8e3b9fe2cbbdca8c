/* SPDX-License-Identifier: Apache-2.0
 *
 * Part 2: data before flag.
 *
 * A writes data into B's memory, and then something that says "the data is there". B waits for this and looks at the data at
 * once. That is right only if nothing can put the flag before the data. Five ways to send the flag: two are wrong, three are cures.
 */
#include "anatomy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { DATA = 4096, FLAG = 8, FRESH = 0xa5, READY = 1 };

enum way { OTHER_QUEUE_PAIR, LAST_WORD, SAME_QUEUE_PAIR, IMMEDIATE, WAIT_FIRST, WAYS };

static const char *const way_names[WAYS] = {
    [OTHER_QUEUE_PAIR] = "wrong:  the flag goes over another queue pair",
    [LAST_WORD]        = "wrong:  the flag is the last word of the same write",
    [SAME_QUEUE_PAIR]  = "cure 1: the flag goes behind the data on its queue pair",
    [IMMEDIATE]        = "cure 2: write with immediate, B waits for a completion",
    [WAIT_FIRST]       = "cure 3: A waits for the data's completion, then flag",
};

/*
 * Circumstances. Relaxed memory is registered with IBV_ACCESS_RELAXED_ORDERING: writes may pass each other on their way from B's
 * device to B's memory. On an unordered network (adaptive routing, say) messages of one queue pair may pass each other.
 */
enum circumstance { ORDINARY, RELAXED, UNORDERED, CIRCUMSTANCES };

static const struct {
    const char *name;
    const char *simulator;
    unsigned    access;
    bool        may_pass; /* two writes of one queue pair */
} circumstances[CIRCUMSTANCES] = {
    [ORDINARY]  = {"ordinary", "chaos=1,packet=512", 0, false},
    [RELAXED]   = {"relaxed memory", "chaos=1,packet=512", IBV_ACCESS_RELAXED_ORDERING, true},
    [UNORDERED] = {"unordered network", "chaos=1,packet=512,unordered=1", 0, true},
};

/* ---- A: data, then the flag ---- */

static void put_data_then_flag(enum way way, struct end *a, struct end *b)
{
    struct ibv_sge     data_piece, flag_piece;
    struct ibv_send_wr data, flag;

    write_request(&data, &data_piece, a, b, 0, DATA);
    write_request(&flag, &flag_piece, a, b, DATA, FLAG);
    switch (way) {
    case OTHER_QUEUE_PAIR: /* each queue pair keeps its order; between two there is none */
        post(a->queue_pairs[0], &data);
        post(a->queue_pairs[1], &flag);
        break;
    case LAST_WORD: /* one write; but the order in which its bytes reach memory is nowhere promised */
        data_piece.length = DATA + FLAG;
        post(a->queue_pairs[0], &data);
        break;
    case SAME_QUEUE_PAIR: /* a write is done at B's device before the next one of this queue pair begins */
        post(a->queue_pairs[0], &data);
        post(a->queue_pairs[0], &flag);
        break;
    case IMMEDIATE: /* 32 bits travel with the data's end, and become a completion at B: after all of it */
        data.opcode   = IBV_WR_RDMA_WRITE_WITH_IMM;
        data.imm_data = htobe32(READY);
        post(a->queue_pairs[0], &data);
        break;
    case WAIT_FIRST: /* a completion says that the data is at B. It costs a round trip */
        post(a->queue_pairs[0], &data);
        wait_completions(a, 1);
        post(a->queue_pairs[1], &flag);
        break;
    case WAYS: break;
    }
}

static unsigned requests_left(enum way way)
{
    return way == OTHER_QUEUE_PAIR || way == SAME_QUEUE_PAIR ? 2 : 1;
}

/* ---- B: wait for the flag, and look at the data ---- */

/* A write with immediate needs a receive at B. It has no buffer: the data goes where the write says. */
static void prepare_receive(struct end *b)
{
    struct ibv_recv_wr receive = {.wr_id = READY}, *refused = NULL;

    if (ibv_post_recv(b->queue_pairs[0], &receive, &refused)) die("could not post a receive", "the queue refuses it", "see dmesg");
}

static bool announced(enum way way, struct end *b)
{
    struct ibv_wc completion;

    /* The NIC moves in every call of verbs, so a B that waits for the flag alone calls one too. */
    bool completed = next_completion(b, &completion);
    if (way == IMMEDIATE)
        return completed && completion.opcode == IBV_WC_RECV_RDMA_WITH_IMM && completion.imm_data == htobe32(READY);
    /* Acquire: this CPU shall not load the data before the flag. The network's order is another matter. */
    return __atomic_load_n((uint64_t *)(void *)(b->memory + DATA), __ATOMIC_ACQUIRE) != 0;
}

static unsigned old_bytes(const struct end *b)
{
    unsigned old = 0;

    for (size_t i = 0; i < DATA; i++) old += b->memory[i] != FRESH;
    return old;
}

/* ---- one round ---- */

static const struct end *watched; /* B, while a seed is replayed step by step */

/* Returns how many bytes were old when B took them for new. */
static unsigned put_and_look(enum way way, struct end *a, struct end *b)
{
    memset(a->memory, FRESH, DATA + FLAG);
    memset(b->memory, 0, DATA + FLAG);
    if (way == IMMEDIATE) prepare_receive(b);
    put_data_then_flag(way, a, b);
    while (!announced(way, b))
        ;
    unsigned old = old_bytes(b);
    if (watched) printf("  B             sees the flag, and looks: %u of %d bytes are old\n", old, DATA);
    wait_completions(a, requests_left(way));
    return old;
}

static struct shape shape_of(enum circumstance c)
{
    return (struct shape){.bytes = DATA + FLAG, .queue_pairs = 2, .depth = 4, .access = circumstances[c].access};
}

/* A seed is a world of its own: its devices are opened in it. On a real device a round is a round. */
static unsigned count_wrong(enum way way, enum circumstance c, const struct settings *settings, unsigned *first_out)
{
    const struct shape shape = shape_of(c);
    struct end         a, b;
    unsigned           wrong = 0;

    if (!simulated()) ends_open(&a, &b, settings->device, &shape);
    for (unsigned seed = 0; seed < settings->seeds; seed++) {
        simulate(circumstances[c].simulator, seed);
        if (simulated()) ends_open(&a, &b, settings->device, &shape);
        if (put_and_look(way, &a, &b) > 0 && wrong++ == 0) *first_out = seed;
        if (simulated()) ends_close(&a, &b);
        simulate_end();
    }
    if (!simulated()) ends_close(&a, &b);
    return wrong;
}

/* ---- one seed, step by step ---- */

static void tell(const char *what, uint32_t qpn, uint32_t message, uint64_t where, uint64_t bytes)
{
    uint64_t offset = where - (uintptr_t)watched->memory;

    (void)message;
    if (strcmp(what, "lands") != 0) return;
    unsigned number = watched->queue_pairs[1]->qp_num == qpn;
    if (offset >= DATA) printf("  queue pair %u  the flag lands\n", number);
    else printf("  queue pair %u  bytes %4" PRIu64 " to %4" PRIu64 " land\n", number, offset, offset + bytes - 1);
}

static bool replay(const struct settings *settings)
{
    const struct shape shape = shape_of(ORDINARY);
    struct end         a, b;

    if (!simulated()) die("cannot replay a seed", "a real device takes none", "use the simulated one");
    simulate(circumstances[ORDINARY].simulator, settings->seed);
    ends_open(&a, &b, settings->device, &shape);
    watched = &b;
    printf("Seed %u: the data goes over queue pair 0, the flag over queue pair 1\n\n", settings->seed);
    watch(tell);
    put_and_look(OTHER_QUEUE_PAIR, &a, &b);
    watch(NULL);
    watched = NULL;
    ends_close(&a, &b);
    simulate_end();
    return true;
}

/* ---- all of it ---- */

/* What a way must show: a cure nothing at all, a wrong one something, if there are seeds enough. */
static bool as_expected(enum way way, enum circumstance c, unsigned wrong, unsigned seeds)
{
    if (way == IMMEDIATE || way == WAIT_FIRST || (way == SAME_QUEUE_PAIR && !circumstances[c].may_pass)) return wrong == 0;
    return wrong > 0 || seeds < 100 || !simulated();
}

bool order(const struct settings *settings)
{
    unsigned columns = simulated() ? CIRCUMSTANCES : UNORDERED; /* a real network is what it is */
    unsigned first   = 0;
    bool     found = false, good = true;

    if (settings->replay) return replay(settings);
    printf("Part 2. Data before flag\n\n"
           "  A writes 4,096 bytes, then a flag. B waits for the flag and looks at the bytes at once.\n"
           "  Of %u %s, in so many it saw old bytes:\n\n",
           settings->seeds, simulated() ? "seeds" : "rounds");
    printf("  %-56s", "");
    for (unsigned c = 0; c < columns; c++) printf("  %17s", circumstances[c].name);
    printf("\n");
    for (enum way way = 0; way < WAYS; way++) {
        printf("  %-56s", way_names[way]);
        for (enum circumstance c = 0; c < columns; c++) {
            unsigned seed  = 0;
            unsigned wrong = count_wrong(way, c, settings, &seed);
            bool     fine  = as_expected(way, c, wrong, settings->seeds);
            if (way == OTHER_QUEUE_PAIR && c == ORDINARY) {
                found = wrong > 0;
                first = seed;
            }
            printf("  %16u%s", wrong, fine ? " " : "!");
            fflush(stdout);
            good &= fine;
        }
        printf("\n");
    }
    printf("\n");
    if (simulated() && found) printf("  The first one of all is seed %u: --replay %u shows it.\n\n", first, first);
    if (!simulated()) printf("  A count of 0 on one device proves nothing about the next one.\n\n");
    if (!good) printf("  NOT AS IT SHOULD BE: see the numbers with '!'\n\n");
    return good;
}
