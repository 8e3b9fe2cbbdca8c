/* SPDX-License-Identifier: Apache-2.0
 *
 * Part 3: throughput against the number of queue pairs.
 *
 * A queue pair has only so many bytes under way: `depth` writes of `bytes` each. It can post the next one when the oldest is
 * acknowledged, a round trip (and the time that the write itself takes on the line) after it left. So n queue pairs move
 *
 *     n * depth * bytes / (round trip + bytes / line rate)
 *
 * until the line is full. Here is this formula beside the clock.
 */
#include "anatomy.h"

#include <inttypes.h>
#include <stdio.h>

enum { WARM_UP = 4, ROUNDS = 16, REAL_NS = 100000000 };

/* In bytes per nanosecond, which is GB/s. */
struct line {
    double rtt_ns;
    double rate;
};

/* Post the next write of a queue pair. All of its writes go to one place. */
static void post_next(struct end *a, const struct end *b, unsigned queue_pair, size_t bytes)
{
    struct ibv_sge     piece;
    struct ibv_send_wr request;

    write_request(&request, &piece, a, b, queue_pair * bytes, bytes);
    request.wr_id = queue_pair;
    post(a->queue_pairs[queue_pair], &request);
}

/* Long enough? On the simulated clock a few rounds are exact. */
static bool is_enough(unsigned rounds, uint64_t time_ns)
{
    return simulated() ? rounds >= ROUNDS : time_ns >= REAL_NS;
}

/* Keep `depth` writes under way on each queue pair, and time the completions from the end of a round to that of another. */
static double keep_busy(struct end *a, struct end *b, size_t bytes, unsigned depth)
{
    unsigned      under_way = a->queue_pair_count * depth, completed = 0, rounds = 0;
    uint64_t      from_ns = 0, time_ns = 0;
    struct ibv_wc completion;

    for (unsigned d = 0; d < depth; d++)
        for (unsigned q = 0; q < a->queue_pair_count; q++) post_next(a, b, q, bytes);
    while (rounds < WARM_UP || !is_enough(rounds - WARM_UP, time_ns)) {
        if (!next_completion(a, &completion)) continue;
        post_next(a, b, (unsigned)completion.wr_id, bytes);
        if (++completed % under_way != 0) continue;
        rounds++;
        if (rounds == WARM_UP) from_ns = now_ns();
        time_ns = now_ns() - from_ns;
    }
    wait_completions(a, under_way);
    return (double)(rounds - WARM_UP) * under_way * (double)bytes / (double)time_ns;
}

static double measure(const struct settings *s, unsigned queue_pairs)
{
    const struct shape shape = {.bytes = s->bytes * queue_pairs, .queue_pairs = queue_pairs, .depth = s->depth};
    struct end         a, b;
    char               conditions[100];

    snprintf(conditions, sizeof conditions, "packet=4096,rate=%u,wire=%u", s->rate_mbits, s->rtt_ns / 2);
    simulate(conditions, 0);
    ends_open(&a, &b, s->device, &shape);
    double rate = keep_busy(&a, &b, s->bytes, s->depth);
    ends_close(&a, &b);
    simulate_end();
    return rate;
}

/* What the port says of its rate: lanes, and Gbit/s of each. */
static double port_rate(const struct ibv_port_attr *port)
{
    static const struct {
        int    code;
        double value;
    } lanes[]    = {{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}},
      speeds[]   = {{1, 2.5}, {2, 5}, {4, 10}, {8, 10}, {16, 14}, {32, 25}, {64, 50}, {128, 100}};
    double gbits = 1;

    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++)
        if (lanes[i].code == port->active_width) gbits *= lanes[i].value;
    for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
        if (speeds[i].code == port->active_speed) gbits *= speeds[i].value;
    return gbits / 8;
}

/* The simulated line is as ordered. A real one: the rate that the port tells, and the time of one write alone. */
static struct line find_line(const struct settings *s)
{
    const struct shape shape = {.bytes = 8, .queue_pairs = 1, .depth = 1};
    struct end         a, b;

    if (simulated()) return (struct line){.rtt_ns = s->rtt_ns & ~1u, .rate = s->rate_mbits / 8000.0}; /* twice one way */
    ends_open(&a, &b, s->device, &shape);
    struct line line = {.rtt_ns = 8 / keep_busy(&a, &b, 8, 1), .rate = port_rate(&a.port)};
    ends_close(&a, &b);
    return line;
}

static double formula(const struct settings *s, struct line line, unsigned queue_pairs)
{
    double rate = queue_pairs * s->depth * (double)s->bytes / (line.rtt_ns + s->bytes / line.rate);

    return rate < line.rate ? rate : line.rate;
}

static void print_head(const struct settings *s, struct line line)
{
    if (s->data) {
        printf("rtt_ns\tline_GBps\tdepth\tbytes\tqueue_pairs\tmeasured_GBps\tformula_GBps\n");
        return;
    }
    printf("Part 3. Throughput against the number of queue pairs\n\n");
    printf("  Round trip %.0f ns, line rate %.1f GB/s (%s). On each queue pair %u writes of %u bytes are under way.\n\n",
           line.rtt_ns, line.rate, simulated() ? "simulated" : "measured with one small write; as the port says", s->depth,
           s->bytes);
    printf("  queue pairs  measured GB/s  formula GB/s\n");
}

static void print_row(const struct settings *s, struct line line, unsigned queue_pairs, double measured)
{
    double expected = formula(s, line, queue_pairs);

    if (s->data) {
        printf("%.0f\t%.2f\t%u\t%u\t%u\t%.3f\t%.3f\n", line.rtt_ns, line.rate, s->depth, s->bytes, queue_pairs, measured, expected);
        return;
    }
    printf("  %11u  %13.2f  %12.2f  ", queue_pairs, measured, expected);
    for (int i = 0; i < (int)(measured / line.rate * 40 + 0.5); i++) putchar('#');
    putchar('\n');
}

bool throughput(const struct settings *settings)
{
    struct line line = find_line(settings);
    bool        good = true;

    print_head(settings, line);
    for (unsigned n = 1; n <= QUEUE_PAIRS_MAX; n++) {
        double measured = measure(settings, n), expected = formula(settings, line, n);
        print_row(settings, line, n, measured);
        if (simulated() && (measured < 0.98 * expected || measured > 1.02 * expected)) good = false;
    }
    if (!settings->data) putchar('\n');
    if (!good) printf("  NOT AS IT SHOULD BE: measured and formula differ by more than 2 %%\n\n");
    return good;
}
