/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows as a table, CSV and JSON, and the head that says where they were measured.
 */
#include "runtime/base/json.h"
#include "runtime/tools/bench.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#ifdef BENCH_OF_POSTERN
#include <shmemx.h>
#endif

#ifndef BENCH_COMMIT
#define BENCH_COMMIT "unknown"
#endif

const char *bench_group_name(enum bench_group group)
{
    static const char *const names[] = {"latency", "bandwidth", "rate", "atomic", "signal", "collective", "heap", "startup"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if ((unsigned)group == 1u << i) return names[i];
    return "all";
}

const char *bench_bytes_text(size_t bytes, char *buffer, size_t buffer_bytes)
{
    if (bytes == 0) snprintf(buffer, buffer_bytes, "-");
    else if (bytes % (1 << 20) == 0) snprintf(buffer, buffer_bytes, "%zu MiB", bytes >> 20);
    else if (bytes % 1024 == 0) snprintf(buffer, buffer_bytes, "%zu KiB", bytes >> 10);
    else snprintf(buffer, buffer_bytes, "%zu B", bytes);
    return buffer;
}

/* ---- the head ---- */

static void read_value(const char *path, const char *key, char *value, size_t value_bytes)
{
    char  line[512];
    FILE *in = fopen(path, "r");
    snprintf(value, value_bytes, "unknown");
    if (!in) return;
    while (fgets(line, sizeof line, in)) {
        if (strncmp(line, key, strlen(key)) != 0) continue;
        char *at = line + strlen(key);
        at += strspn(at, "\t :");
        at[strcspn(at, "\n")] = '\0';
        snprintf(value, value_bytes, "%.*s", (int)value_bytes - 1, at);
        break;
    }
    fclose(in);
}

static int usable_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 0;
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

#ifdef BENCH_OF_POSTERN
/* The lines of the report that say how bytes travel and who executes atomics. */
static void read_report(char *text, size_t text_bytes)
{
    static const char *const wanted[] = {"transport ", "routes ", "atomics ", "signals ", "huge "};
    char                     line[512];
    FILE                    *file = tmpfile();
    text[0]                       = '\0';
    if (!file) return;
    if (shmemx_info(fileno(file), SHMEMX_INFO_TEXT) == 0) {
        rewind(file);
        while (fgets(line, sizeof line, file)) {
            const char *at = line + strspn(line, " ");
            for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
                size_t used = strlen(text);
                if (strncmp(at, wanted[i], strlen(wanted[i])) == 0) snprintf(text + used, text_bytes - used, "%s", at);
            }
        }
    }
    fclose(file);
}
#else
static void read_report(char *text, size_t text_bytes)
{
    (void)text_bytes;
    text[0] = '\0';
}
#endif

enum { HEAD_ITEMS = 10, HEAD_TEXT = 2048 };
static struct head_item {
    const char *name;
    char        value[HEAD_TEXT];
} head[HEAD_ITEMS];
static size_t head_items;

static char *add_item(const char *name)
{
    head[head_items].name = name;
    return head[head_items++].value;
}

static void fill_head(void)
{
    if (head_items) return;
    struct utsname machine;
    char           date[32] = "";
    time_t         now      = time(NULL);
    uname(&machine);
    strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S UTC", gmtime(&now));
    shmem_info_get_name(add_item("library"));
    snprintf(add_item("API"), HEAD_TEXT, "OpenSHMEM %d.%d", SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION);
    snprintf(add_item("commit"), HEAD_TEXT, "%s", BENCH_COMMIT);
    snprintf(add_item("compiler"), HEAD_TEXT, "%s", __VERSION__);
    snprintf(add_item("host"), HEAD_TEXT, "%s", machine.nodename);
    snprintf(add_item("kernel"), HEAD_TEXT, "%s %s", machine.sysname, machine.release);
    read_value("/proc/cpuinfo", "model name", add_item("CPU"), HEAD_TEXT);
    snprintf(add_item("cores"), HEAD_TEXT, "%d", usable_cores());
    snprintf(add_item("job"), HEAD_TEXT, "%d PE%s, %s", bench.npes, bench.npes == 1 ? "" : "s", date);
    read_report(add_item("routes"), HEAD_TEXT);
}

void bench_print_head(FILE *out)
{
    fill_head();
    for (size_t i = 0; i < head_items; i++) {
        const char *rest = head[i].value;
        for (bool first = true; *rest; first = false) {
            size_t length = strcspn(rest, "\n");
            fprintf(out, "# %-10s %.*s\n", first ? head[i].name : "", (int)length, rest);
            rest += length + (rest[length] == '\n');
        }
    }
    fprintf(out, "#\n%-40s %-6s %8s %11s %11s %11s %11s %11s %7s  %s\n", "# operation", "where", "bytes", "median", "5 %", "95 %",
            "99 %", "raw", "ratio", "");
}

/* ---- rows ---- */

/* Nanoseconds in a unit that a person reads. Returns buffer. */
static const char *time_text(double ns, char *buffer, size_t buffer_bytes)
{
    if (ns < 1000) snprintf(buffer, buffer_bytes, "%.1f ns", ns);
    else if (ns < 1e6) snprintf(buffer, buffer_bytes, "%.2f us", ns / 1e3);
    else snprintf(buffer, buffer_bytes, "%.2f ms", ns / 1e6);
    return buffer;
}

/* Bandwidth and rate rows show what is counted; the percentiles of time turn round. */
static const char *row_text(const struct bench_case *what, double ns, char *buffer, size_t buffer_bytes)
{
    if (ns <= 0) snprintf(buffer, buffer_bytes, "-");
    else if (what->group == BENCH_BANDWIDTH) snprintf(buffer, buffer_bytes, "%.2f GB/s", (double)what->bytes / ns);
    else if (what->group == BENCH_RATE) snprintf(buffer, buffer_bytes, "%.1f M/s", 1e3 / ns);
    else return time_text(ns, buffer, buffer_bytes);
    return buffer;
}

void bench_print_row(FILE *out, const struct bench_row *row)
{
    char text[6][24], bytes[16], ratio[16] = "-";
    if (row->raw_p50 > 0) snprintf(ratio, sizeof ratio, "%.2f", row->p50 / row->raw_p50);
    fprintf(out, "%-40s %-6s %8s %11s %11s %11s %11s %11s %7s  %s\n", row->what.name, row->what.memory,
            bench_bytes_text(row->what.bytes, bytes, sizeof bytes), row_text(&row->what, row->p50, text[0], sizeof text[0]),
            row_text(&row->what, row->p5, text[1], sizeof text[1]), row_text(&row->what, row->p95, text[2], sizeof text[2]),
            row_text(&row->what, row->p99, text[3], sizeof text[3]), row_text(&row->what, row->raw_p50, text[4], sizeof text[4]),
            ratio, row->raw_p50 > 0 ? row->what.raw_name : "");
}

void bench_progress(const char *name, size_t bytes)
{
    static int tty = -1;
    char       text[16];
    if (tty < 0) tty = isatty(STDERR_FILENO) && isatty(STDOUT_FILENO);
    if (!tty) return;
    if (name) fprintf(stderr, "\r\033[K%s, %s ...", name, bench_bytes_text(bytes, text, sizeof text));
    else fprintf(stderr, "\r\033[K");
}

/* ---- files ---- */

static FILE *open_file(const char *path)
{
    FILE *out = fopen(path, "w");
    if (!out)
        fprintf(stderr, "postern-bench: could not write %s" WHY "%s" FIX "name a file in a folder that you may write to\n", path,
                strerror(errno));
    return out;
}

static int close_file(FILE *out, const char *path)
{
    bool bad = ferror(out);
    if (fclose(out) == 0 && !bad) return 0;
    fprintf(stderr, "postern-bench: could not write all of %s" WHY "%s\n", path, strerror(errno));
    return -1;
}

static FILE *csv;

int bench_csv_open(const char *path)
{
    csv = open_file(path);
    if (!csv) return -1;
    fprintf(csv, "group,operation,memory,bytes,pes,median_ns,p5_ns,p95_ns,p99_ns,raw_ns,raw\n");
    return 0;
}

void bench_csv_row(const struct bench_row *row)
{
    if (!csv) return;
    fprintf(csv, "%s,\"%s\",%s,%zu,%d,%.3f,%.3f,%.3f,%.3f,", bench_group_name(row->what.group), row->what.name, row->what.memory,
            row->what.bytes, bench.npes, row->p50, row->p5, row->p95, row->p99);
    if (row->raw_p50 > 0) fprintf(csv, "%.3f,\"%s\"\n", row->raw_p50, row->what.raw_name);
    else fprintf(csv, ",\n");
    fflush(csv);
}

int bench_csv_close(const char *path)
{
    return close_file(csv, path);
}

/* Whole picoseconds: JSON's writer knows integers, and nobody measures less. */
static void put_time(struct shmemi_json *json, const char *key, double ns)
{
    shmemi_json_int(json, key, (int64_t)(ns * 1e3 + .5));
}

int bench_write_json(const char *path)
{
    FILE *out = open_file(path);
    if (!out) return -1;
    struct shmemi_json json = {.out = out};
    fill_head();
    shmemi_json_begin(&json, NULL, '{');
    shmemi_json_begin(&json, "head", '{');
    for (size_t i = 0; i < head_items; i++) shmemi_json_text(&json, head[i].name, head[i].value);
    shmemi_json_end(&json, '}');
    shmemi_json_begin(&json, "rows", '[');
    for (size_t i = 0; i < bench.rows; i++) {
        const struct bench_row *row = &bench.row[i];
        shmemi_json_begin(&json, NULL, '{');
        shmemi_json_text(&json, "group", bench_group_name(row->what.group));
        shmemi_json_text(&json, "operation", row->what.name);
        shmemi_json_text(&json, "memory", row->what.memory);
        shmemi_json_int(&json, "bytes", (int64_t)row->what.bytes);
        shmemi_json_int(&json, "pes", bench.npes);
        put_time(&json, "median_ps", row->p50);
        put_time(&json, "p5_ps", row->p5);
        put_time(&json, "p95_ps", row->p95);
        put_time(&json, "p99_ps", row->p99);
        if (row->raw_p50 > 0) {
            put_time(&json, "raw_median_ps", row->raw_p50);
            shmemi_json_text(&json, "raw", row->what.raw_name);
        }
        shmemi_json_end(&json, '}');
    }
    shmemi_json_end(&json, ']');
    shmemi_json_end(&json, '}');
    putc('\n', out);
    return close_file(out, path);
}
