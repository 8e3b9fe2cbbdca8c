/* SPDX-License-Identifier: Apache-2.0
 *
 * RDMA anatomy: how one process writes into another one's memory, and what goes wrong when one expects too much.
 *
 * Plain verbs (libibverbs), no SHMEM. Run it over a real RDMA device, or over the simulated one that comes with Postern's tests:
 *
 *     LD_LIBRARY_PATH=<build>/tests/simverbs/lib ./rdma_anatomy
 *
 * docs/rdma.md explains what it prints. Exit status: 0 all as it should be, 1 not, 2 a bad option.
 */
#include "anatomy.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] = "usage: rdma_anatomy [OPTION]...\n"
                           "Shows how RDMA works, in three parts.\n"
                           "\n"
                           "  --part N        1: the life of one put. 2: a flag that overtakes its data. 3: many queue pairs.\n"
                           "                  Without it: all\n"
                           "  --device NAME   the device to use. Without it: the first\n"
                           "  --seeds N       part 2: how many seeds (rounds, on a real device) for each way: 1000\n"
                           "  --replay SEED   part 2: this seed alone, step by step (simulated device)\n"
                           "  --rtt NS        part 3: round-trip time of the simulated wire: 10000\n"
                           "  --rate MBITS    part 3: its line rate: 400000\n"
                           "  --bytes N       part 3: bytes of one write: 4096\n"
                           "  --depth N       part 3: writes that a queue pair has under way: 8\n"
                           "  --data          part 3 alone, as a table with tabs\n"
                           "  --help\n";

_Noreturn void die(const char *what, const char *why, const char *fix)
{
    fflush(stdout);
    fprintf(stderr, "rdma_anatomy: %s\n    why: %s\n    fix: %s\n", what, why, fix);
    exit(1);
}

static unsigned number(const char *option, const char *text, unsigned smallest, unsigned largest)
{
    char         *end   = NULL;
    unsigned long value = strtoul(text, &end, 10);

    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && value >= smallest && value <= largest) return (unsigned)value;
    fprintf(stderr, "rdma_anatomy: cannot use '%s' for --%s\n    fix: a number from %u to %u\n", text, option, smallest, largest);
    exit(2);
}

enum option_key { PART = 256, DEVICE, SEEDS, REPLAY, RTT, RATE, BYTES, DEPTH, DATA, HELP };

static const struct option options[] = {
    {"part", required_argument, NULL, PART},
    {"device", required_argument, NULL, DEVICE},
    {"seeds", required_argument, NULL, SEEDS},
    {"replay", required_argument, NULL, REPLAY},
    {"rtt", required_argument, NULL, RTT},
    {"rate", required_argument, NULL, RATE},
    {"bytes", required_argument, NULL, BYTES},
    {"depth", required_argument, NULL, DEPTH},
    {"data", no_argument, NULL, DATA},
    {"help", no_argument, NULL, HELP},
    {NULL, 0, NULL, 0},
};

static unsigned read_options(int argc, char **argv, struct settings *s)
{
    unsigned part = 0;
    int      key;

    while ((key = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (key) {
        case PART: part = number("part", optarg, 1, 3); break;
        case DEVICE: s->device = optarg; break;
        case SEEDS: s->seeds = number("seeds", optarg, 1, 1000000); break;
        case REPLAY:
            s->seed   = number("replay", optarg, 0, UINT32_MAX);
            s->replay = true;
            part      = 2;
            break;
        case RTT: s->rtt_ns = number("rtt", optarg, 2, 1000000000); break;
        case RATE: s->rate_mbits = number("rate", optarg, 1000, 10000000); break;
        case BYTES: s->bytes = number("bytes", optarg, 8, 1 << 20); break;
        case DEPTH: s->depth = number("depth", optarg, 1, 512); break;
        case DATA:
            s->data = true;
            part    = 3;
            break;
        case HELP: fputs(help, stdout); exit(0);
        default: fputs("try 'rdma_anatomy --help'\n", stderr); exit(2);
        }
    }
    if (optind == argc) return part;
    fprintf(stderr, "rdma_anatomy: cannot use '%s'\n    fix: options only; see --help\n", argv[optind]);
    exit(2);
}

int main(int argc, char **argv)
{
    struct settings settings = {.seeds = 1000, .rtt_ns = 10000, .rate_mbits = 400000, .bytes = 4096, .depth = 8};
    unsigned        part     = read_options(argc, argv, &settings);
    bool            good     = true;

    if (part == 0 || part == 1) good &= life(&settings);
    if (part == 0 || part == 2) good &= order(&settings);
    if (part == 0 || part == 3) good &= throughput(&settings);
    return good ? 0 : 1;
}
