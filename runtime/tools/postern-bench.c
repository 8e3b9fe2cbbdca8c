/* SPDX-License-Identifier: Apache-2.0
 *
 * postern-bench: options, memory, and the order of the groups. bench.h tells how it measures.
 */
#include "runtime/tools/bench.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct bench bench;

/* clang-format off */
static const char help[] =
    "NAME\n"
    "    postern-bench - measure the calls of OpenSHMEM beside what the machine itself takes\n"
    "\n"
    "SYNOPSIS\n"
    "    oshrun -n N postern-bench [GROUP ...] [--sizes A:B] [--samples N] [--only TEXT]\n"
    "           [--json FILE] [--csv FILE] [--plot FILE.svg|FILE.png] [--help]\n"
    "\n"
    "DESCRIPTION\n"
    "    Prints one row for each operation and size: the median of many samples, the 5th, 95th and 99th\n"
    "    percentile, and the raw limit: the same work done by a loop without any library, between the same\n"
    "    two processes, measured in turn with it. A ratio of 1.0 means that the library costs nothing.\n"
    "    PE 0 calls and PE 1 is its peer; collectives are called by all PEs. On a noisy machine only the\n"
    "    ratios mean anything.\n"
    "\n"
    "GROUPS\n"
    "    latency     p, g, put + quiet, get, quiet, fence, p + wait_until; heap and static variables\n"
    "    bandwidth   put_nbi and get_nbi, 16 at a time\n"
    "    rate        put_nbi of 8 bytes, 1000 at a time\n"
    "    atomic      fetch_add, add, compare_swap, fetch; all PEs on one word\n"
    "    signal      put_signal from one PE to the other, and round a ring of all PEs\n"
    "    collective  barrier_all, sync_all, broadcast, reduce, collect, fcollect, alltoall\n"
    "    heap        malloc + free, first touch\n"
    "    startup     whole jobs of 1, 2 and 8 PEs that do nothing\n"
    "    all         all of these: the default\n"
    "\n"
    "OPTIONS\n"
    "    --sizes A:B      from A to B bytes (K and M are meant as 1024 and 1024 x 1024); default 8:4M\n"
    "    --samples N      samples of each row, 1 to 10001; default 101\n"
    "    --sample-us N    length of a sample in microseconds; default 100\n"
    "    --only TEXT      rows whose operation contains TEXT\n"
    "    --launcher PATH  what starts the jobs of startup; default the oshrun beside this\n"
    "    --json FILE      the head and all rows as JSON\n"
    "    --csv FILE       all rows as CSV, times in nanoseconds\n"
    "    --plot FILE      the sweeps over sizes as a picture, by gnuplot\n"
    "    --help           show this text\n"
    "\n"
    "EXIT STATUS\n"
    "    0  measured\n"
    "    1  something could not be measured or written; the message says why\n"
    "    2  wrong option\n"
    "\n"
    "EXAMPLES\n"
    "    oshrun -n 2 postern-bench\n"
    "    oshrun -n 2 postern-bench latency signal --sizes 8:64K --plot latency.svg\n"
    "    POSTERN_NODE=a,b oshrun -n 2 postern-bench bandwidth\n";
/* clang-format on */

enum { WRONG_OPTION = 2 };
#define BYTES_LIMIT ((size_t)1 << 30)

/* All PEs parse alike; PE 0 speaks. */
static int wrong(const char *format, const char *text)
{
    if (bench.me == 0) {
        fprintf(stderr, "postern-bench: ");
        fprintf(stderr, format, text);
        fprintf(stderr, FIX "postern-bench --help lists groups and options\n");
    }
    return WRONG_OPTION;
}

static bool parse_bytes(const char *text, char **end_out, size_t *bytes_out)
{
    errno                    = 0;
    unsigned long long value = strtoull(text, end_out, 10);
    if (*end_out == text || errno || *text == '-') return false;
    unsigned shift = 0;
    switch (**end_out) {
    case 'k':
    case 'K': shift = 10; break;
    case 'm':
    case 'M': shift = 20; break;
    case 'g':
    case 'G': shift = 30; break;
    default: break;
    }
    if (shift) ++*end_out;
    if (value == 0 || value > BYTES_LIMIT >> shift) return false;
    *bytes_out = (size_t)value << shift;
    return true;
}

static bool parse_sizes(const char *text)
{
    char *end;
    if (!parse_bytes(text, &end, &bench.bytes_min)) return false;
    bench.bytes_max = bench.bytes_min;
    if (*end == ':' && !parse_bytes(end + 1, &end, &bench.bytes_max)) return false;
    return *end == '\0' && bench.bytes_min <= bench.bytes_max;
}

static bool parse_count(const char *text, long most, long *count_out)
{
    char *end;
    errno      = 0;
    *count_out = strtol(text, &end, 10);
    return end != text && *end == '\0' && errno == 0 && *count_out >= 1 && *count_out <= most;
}

static bool add_group(const char *name)
{
    if (strcmp(name, "all") == 0) bench.groups |= BENCH_ALL;
    for (unsigned bit = 1; bit < BENCH_ALL; bit <<= 1)
        if (strcmp(name, bench_group_name((enum bench_group)bit)) == 0) bench.groups |= bit;
    return bench.groups != 0;
}

/* The launcher that was built with this program, if it lies beside it. */
static const char *default_launcher(void)
{
    static char path[sizeof bench.self + 8];
    const char *slash = strrchr(bench.self, '/');
    snprintf(path, sizeof path, "%.*s/oshrun", slash ? (int)(slash - bench.self) : 0, bench.self);
    return slash && access(path, X_OK) == 0 ? path : "oshrun";
}

enum { OPT_SIZES = 256, OPT_SAMPLES, OPT_SAMPLE_US, OPT_ONLY, OPT_LAUNCHER, OPT_JSON, OPT_CSV, OPT_PLOT, OPT_EMPTY };

/* 0 or WRONG_OPTION. --help has been seen before there was a job. */
static int parse(int argc, char **argv)
{
    static const struct option options[] = {
        {"sizes", required_argument, NULL, OPT_SIZES},
        {"samples", required_argument, NULL, OPT_SAMPLES},
        {"sample-us", required_argument, NULL, OPT_SAMPLE_US},
        {"only", required_argument, NULL, OPT_ONLY},
        {"launcher", required_argument, NULL, OPT_LAUNCHER},
        {"json", required_argument, NULL, OPT_JSON},
        {"csv", required_argument, NULL, OPT_CSV},
        {"plot", required_argument, NULL, OPT_PLOT},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    long count;
    bench.bytes_min = 8, bench.bytes_max = 4 << 20, bench.samples = 101, bench.sample_ns = 1e5, bench.launcher = default_launcher();
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        switch (option) {
        case OPT_SIZES:
            if (!parse_sizes(optarg)) return wrong("--sizes wants A:B, such as 8:4M, and not %s", optarg);
            break;
        case OPT_SAMPLES:
            if (!parse_count(optarg, BENCH_SAMPLES_MAX, &count))
                return wrong("--samples wants a number from 1 to 10001, and not %s", optarg);
            bench.samples = (int)count;
            break;
        case OPT_SAMPLE_US:
            if (!parse_count(optarg, 10000000, &count))
                return wrong("--sample-us wants microseconds, 1 to 10000000, and not %s", optarg);
            bench.sample_ns = (double)count * 1e3;
            break;
        case OPT_ONLY: bench.only = optarg; break;
        case OPT_LAUNCHER: bench.launcher = optarg; break;
        case OPT_JSON: bench.json_path = optarg; break;
        case OPT_CSV: bench.csv_path = optarg; break;
        case OPT_PLOT: bench.plot_path = optarg; break;
        default: return wrong("unknown option, or one without its value: %s", argv[optind - 1]);
        }
    }
    for (; optind < argc; optind++) {
        unsigned before = bench.groups;
        bench.groups    = 0;
        if (!add_group(argv[optind])) return wrong("unknown group: %s", argv[optind]);
        bench.groups |= before;
    }
    if (bench.groups == 0) bench.groups = BENCH_ALL;
    return 0;
}

/* Room for the largest message from or to each PE. 0, or 1 after a message. */
static int get_memory(void)
{
    size_t each        = bench.bytes_max < 4096 ? 4096 : bench.bytes_max;
    bool   all         = bench.groups & BENCH_COLLECTIVE;
    bench.heap_bytes   = all && (size_t)bench.npes * each < (64 << 20) ? (size_t)bench.npes * each : each;
    bench.source_bytes = bench.heap_bytes;
    bench.heap         = shmem_align(BENCH_PAGE, bench.heap_bytes);
    bench.source       = shmem_align(BENCH_PAGE, bench.source_bytes);
    if (bench.heap && bench.source) return 0;
    if (bench.me == 0)
        fprintf(stderr,
                "postern-bench: could not get 2 x %zu bytes of symmetric memory" WHY "the heap is smaller" FIX
                "set SHMEM_SYMMETRIC_SIZE to more, or end --sizes earlier\n",
                bench.heap_bytes);
    return 1;
}

static int write_files(void)
{
    int bad = 0;
    if (bench.me != 0) return 0;
    if (bench.csv_path) bad |= bench_csv_close(bench.csv_path);
    if (bench.json_path) bad |= bench_write_json(bench.json_path);
    if (bench.plot_path) bad |= bench_write_plot(bench.plot_path);
    return bad ? 1 : 0;
}

static int measure(void)
{
    if (get_memory() != 0) return 1;
    bool no_csv = bench.me == 0 && bench.csv_path && bench_csv_open(bench.csv_path) != 0;
    if (bench_largest(no_csv) > 0) return 1;
    bench_raw_open(bench.bytes_max < BENCH_PAGE ? BENCH_PAGE : bench.bytes_max);
    if (bench.me == 0) bench_print_head(stdout);
    bench_run_pt2pt();
    bench_run_ring();
    bench_run_collective();
    bench_run_heap();
    bench_run_startup();
    shmem_barrier_all();
    bench_raw_close();
    int status = write_files();
    if (bench.me == 0 && bench.rows == 0) {
        fprintf(stderr, "postern-bench: nothing was measured" WHY "no row fits the groups, --only and the number of PEs" FIX
                        "oshrun -n 2 postern-bench measures everything\n");
        status = 1;
    }
    return status;
}

/* What start-up is measured with: a program that does nothing, and a job of such programs. */
static int be_empty(const char *how)
{
    if (strcmp(how, "--empty-job") == 0) {
        shmem_init();
        shmem_finalize();
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strncmp(argv[1], "--empty-", 8) == 0) return be_empty(argv[1]);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") != 0 && strcmp(argv[i], "-h") != 0) continue;
        fputs(help, stdout);
        return 0;
    }
    if (readlink("/proc/self/exe", bench.self, sizeof bench.self - 1) < 0) snprintf(bench.self, sizeof bench.self, "%s", argv[0]);
    shmem_init();
    bench.me   = shmem_my_pe();
    bench.npes = shmem_n_pes();
    bench.peer = bench.npes > 1 ? 1 - bench.me : 0;
    if (bench.me > 1) bench.peer = 0;
    int status = parse(argc, argv);
    if (status == 0) status = measure();
    shmem_finalize();
    return status;
}
