/* SPDX-License-Identifier: Apache-2.0
 *
 * The variable SIMVERBS: KEY=VALUE pairs with commas between. A wrong one ends the process, with what would be right: a
 * test that asks for a fault and does not get it would prove nothing.
 */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sim_options sim_options;

struct row {
    const char *key;
    unsigned    smallest;
    unsigned    largest;
    size_t      offset;
};

#define ROW(key, smallest, largest, field)                          \
    {                                                               \
        key, smallest, largest, offsetof(struct sim_options, field) \
    }
static const struct row rows[] = {
    ROW("devices", 0, SIM_DEVICES_MAX, devices),
    ROW("host", 0, 250, host),
    ROW("atomic", IBV_ATOMIC_NONE, IBV_ATOMIC_GLOB, atomic),
    ROW("mtu", IBV_MTU_256, IBV_MTU_4096, mtu),
    ROW("packet", 8, SIM_PACKET_MAX, packet_bytes),
    ROW("inline", 0, 4096, inline_bytes_max),
    ROW("sge", 1, 64, sge_max),
    ROW("qp_wr", 1, 1 << 15, qp_wr_max),
    ROW("srq_wr", 1, 1 << 15, srq_wr_max),
    ROW("cqe", 1, 1 << 22, cqe_max),
    ROW("reads", 1, 128, read_max),
    ROW("message", 1, 1u << 31, message_bytes_max),
    ROW("seed", 0, UINT32_MAX, seed),
    ROW("delay", 0, 1000000000, delay_ns_max),
    ROW("wire", 0, 1000000000, wire_ns),
    ROW("rate", 0, 10000000, rate_mbits),
    ROW("rnr", 0, 1000, rnr_chance),
    ROW("ud_loss", 0, 1000, ud_loss_chance),
    ROW("register", 0, 1000, register_chance),
    ROW("link", 0, 1000, link_chance),
    ROW("access", 0, 1000, access_chance),
};

struct flag {
    const char *key;
    size_t      offset;
};

#define FLAG(key, field)                         \
    {                                            \
        key, offsetof(struct sim_options, field) \
    }
static const struct flag flags[] = {
    FLAG("infiniband", infiniband),
    FLAG("chaos", chaos),
    FLAG("unordered", unordered),
};

static _Noreturn void refuse(const char *word)
{
    fprintf(stderr,
            "simverbs: cannot use '%s' in SIMVERBS\n"
            "    why: it is no known KEY=VALUE in its range\n"
            "    fix: one of these, with commas between:",
            word);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        fprintf(stderr, " %s=%u..%u", rows[i].key, rows[i].smallest, rows[i].largest);
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) fprintf(stderr, " %s=0..1", flags[i].key);
    fputc('\n', stderr);
    _Exit(2);
}

static void set(char *word)
{
    char *value = strchr(word, '=');
    char *end   = NULL;

    if (!value || !value[1]) refuse(word);
    unsigned long long number = strtoull(value + 1, &end, 0);
    if (*end) refuse(word);
    size_t length = (size_t)(value - word);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strlen(rows[i].key) != length || strncmp(rows[i].key, word, length) != 0) continue;
        if (number < rows[i].smallest || number > rows[i].largest) refuse(word);
        *(unsigned *)((char *)&sim_options + rows[i].offset) = (unsigned)number;
        return;
    }
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (strlen(flags[i].key) != length || strncmp(flags[i].key, word, length) != 0) continue;
        if (number > 1) refuse(word);
        *(bool *)((char *)&sim_options + flags[i].offset) = number;
        return;
    }
    refuse(word);
}

void sim_options_read(void)
{
    const char *text = getenv("SIMVERBS");

    sim_options = (struct sim_options){
        .devices           = 1,
        .atomic            = IBV_ATOMIC_HCA,
        .mtu               = IBV_MTU_4096,
        .packet_bytes      = SIM_PACKET_MAX,
        .inline_bytes_max  = 256,
        .sge_max           = 16,
        .qp_wr_max         = 4096,
        .srq_wr_max        = 4096,
        .cqe_max           = 1 << 16,
        .read_max          = 16,
        .message_bytes_max = 1u << 30,
        .delay_ns_max      = 20000,
    };
    if (!text || !*text) return;
    char *copy = strdup(text);
    if (!copy) abort();
    char *rest = NULL;
    for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) set(word);
    free(copy);
}
