/* SPDX-License-Identifier: Apache-2.0
 *
 * What the transport has done, in numbers, for POSTERN_STATS and shmemx_counter("ibverbs.NAME").
 *
 * Those with port_ in front are the device's own and count what went over its port since this PE opened it, of all processes. They tell of trouble in the
 * network: what was sent again, came out of order, or found no receive. Which there are depends on the driver.
 */
#include "transports/ibverbs/verbs.h"

/* As the kernel names them, below hw_counters. mlx5 and others; the last three Soft-RoCE. */
static const struct {
    const char *file, *name;
} port_rows[] = {
    {"local_ack_timeout_err", "port_ack_timeouts"},  {"packet_seq_err", "port_sequence_errors"},
    {"out_of_sequence", "port_out_of_sequence"},     {"rnr_nak_retry_err", "port_receiver_not_ready"},
    {"roce_adp_retrans", "port_adaptive_retries"},   {"rx_icrc_encapsulated", "port_checksum_errors"},
    {"completer_retry_err", "port_retries"},         {"retry_exceeded_err", "port_retries_exceeded"},
    {"retry_rnr_exceeded_err", "port_rnr_exceeded"},
};
enum { PORT_ROWS = sizeof port_rows / sizeof *port_rows };
static_assert((int)PORT_ROWS == (int)PORT_COUNTERS, "a place for each");

static bool read_port(const struct verbs *verbs, int row, uint64_t *value_out)
{
    const struct ib_port *port = &verbs->device.port;
    return shmemt_ibverbs_topology_hw_counter("", port->device, port->number, port_rows[row].file, value_out);
}

void shmemt_ibverbs_counters_open(struct verbs *verbs)
{
    for (int row = 0; row < PORT_ROWS; row++)
        if (!read_port(verbs, row, &verbs->port_counters[row])) verbs->port_counters[row] = UINT64_MAX;
}

struct list {
    struct shmemt_counter *counters;
    size_t                 count, room;
};

static void add(struct list *list, const char *name, uint64_t value)
{
    if (list->count < list->room) list->counters[list->count++] = (struct shmemt_counter){.name = name, .value = value};
}

static void add_links(struct list *list, const struct verbs *verbs)
{
    uint64_t partners = 0, links = 0, queue_pairs = 1;
    for (const struct partner *partner = verbs->partners; partner; partner = partner->next) {
        partners++;
        for (unsigned i = 0; i < LANES_MAX; i++) {
            const struct link *link = partner->links[i];
            if (link && link->state != LINK_DEAD) links++, queue_pairs += verbs->queues;
        }
    }
    add(list, "partners", partners);
    add(list, "connections", links);
    add(list, "queue_pairs", queue_pairs);
}

static void add_lanes(struct list *list, struct verbs *verbs)
{
    uint64_t requests = 0, doorbells = 0, completions = 0;
    for (unsigned i = 0; i < LANES_MAX; i++) {
        struct lane *lane = verbs->lanes[i];
        if (!lane) continue;
        shmemi_latch_take(&lane->lock);
        requests += lane->requests;
        doorbells += lane->doorbells;
        completions += lane->polled;
        shmemi_latch_give(&lane->lock);
    }
    add(list, "work_requests", requests);
    add(list, "doorbells", doorbells);
    add(list, "completions", completions);
}

static void add_memory(struct list *list, struct ib_memory *memory)
{
    struct ib_memory_counts counts = shmemt_ibverbs_memory_counts(memory);
    add(list, "registrations", counts.registrations);
    add(list, "registration_hits", counts.hits);
    add(list, "registration_evictions", counts.evictions);
    add(list, "pinned_bytes", counts.pinned_bytes);
}

static void add_port(struct list *list, const struct verbs *verbs)
{
    for (int row = 0; row < PORT_ROWS; row++) {
        uint64_t value;
        if (verbs->port_counters[row] == UINT64_MAX || !read_port(verbs, row, &value)) continue;
        add(list, port_rows[row].name, value - verbs->port_counters[row]);
    }
}

size_t shmemt_ibverbs_counters_list(struct shmemt *tp, struct shmemt_counter *counters_out, size_t room)
{
    struct verbs *verbs = verbs_of(tp);
    struct list   list  = {.counters = counters_out, .room = room};
    shmemi_latch_take(&verbs->lock);
    add_lanes(&list, verbs);
    add(&list, "received", verbs->received);
    add(&list, "answers", verbs->answered);
    add(&list, "handshakes", verbs->said);
    add_links(&list, verbs);
    shmemi_latch_give(&verbs->lock);
    add_memory(&list, verbs->memory);
    add_port(&list, verbs);
    return list.count;
}
