/* SPDX-License-Identifier: Apache-2.0
 *
 * postern-bench: how fast the calls of OpenSHMEM are here, beside the least that the machine itself takes.
 *
 * Written against OpenSHMEM alone (1.4 and later), so that the same source measures other libraries: ./dev bench --peers builds it
 * with their oshcc. What it measures is a list of cases; a case is a loop of calls, and a raw loop without any library that does the least that
 * the call must do, between the same two processes. Samples of both are taken in turn, so that a noisy machine disturbs both alike.
 */
#ifndef POSTERN_BENCH_H
#define POSTERN_BENCH_H

#include <shmem.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What the library at hand has. */
#define BENCH_API (SHMEM_MAJOR_VERSION * 100 + SHMEM_MINOR_VERSION)

#define WHY "\n    why: "
#define FIX "\n    fix: "

enum { BENCH_LINE = 64, BENCH_PAGE = 4096, BENCH_SAMPLES_MAX = 10001, BENCH_ROWS_MAX = 1024 };

/* Which group of cases: bits, as the user picks them by name. */
enum bench_group {
    BENCH_LATENCY    = 1 << 0,
    BENCH_BANDWIDTH  = 1 << 1,
    BENCH_RATE       = 1 << 2,
    BENCH_ATOMIC     = 1 << 3,
    BENCH_SIGNAL     = 1 << 4,
    BENCH_COLLECTIVE = 1 << 5,
    BENCH_HEAP       = 1 << 6,
    BENCH_STARTUP    = 1 << 7,
    BENCH_ALL        = (1 << 8) - 1,
};

/* How a case is measured. */
enum bench_by {
    BENCH_BY_ONE,  /* PE 0 calls, the others wait in a barrier       */
    BENCH_BY_PAIR, /* PEs 0 and 1 call; PE 0's time counts           */
    BENCH_BY_EACH, /* all PEs call; that of the slowest counts       */
};

struct bench_case;
typedef void bench_loop(const struct bench_case *what, size_t times);

struct bench_case {
    enum bench_group group;
    const char      *name;   /* as a user would call it: "put + quiet"              */
    const char      *memory; /* "heap" or "static": where the target lies; or ""    */
    size_t           bytes;  /* of one call's message; 0: it has none               */
    enum bench_by    by;
    double           calls;      /* in one turn of the loop: 2 for a ping-pong          */
    bench_loop      *ours, *raw; /* raw NULL: there is no such limit                    */
    const char      *raw_name;
    char            *target, *source; /* symmetric; what lies behind source is private to the case  */
};

struct bench_row {
    struct bench_case what;
    double            p50, p5, p95, p99; /* nanoseconds of one call                        */
    double            raw_p50;           /* 0: none                                        */
};

struct bench {
    int         me, npes, peer; /* peer: whom PE 0 calls; itself where it is alone */
    unsigned    groups;
    size_t      bytes_min, bytes_max;
    int         samples;
    double      sample_ns;
    const char *json_path, *csv_path, *plot_path, *only, *launcher;
    char        self[4096]; /* this program's path, for start-ups */

    char  *heap, *source; /* symmetric: targets and sources of bulk calls */
    size_t heap_bytes, source_bytes;

    size_t           rows;
    struct bench_row row[BENCH_ROWS_MAX];
};
extern struct bench bench;

/* ---- bench_measure.c ---- */

double bench_now_ns(void);
/* Measure one case on all PEs, unless --only leaves it out, and note the row (PE 0). Collective. */
void bench_measure(const struct bench_case *what);
/* Note a row that was measured elsewise, from its samples (sorted in place). PE 0. */
void bench_note(const struct bench_case *what, double *samples, double *raw_samples, int count);
bool bench_wanted(const struct bench_case *what);
/* The largest of all PEs' values, on all PEs. Collective. */
double bench_largest(double value);
/* The next size of a sweep: 8, 64, 512, 4 Ki, 16 Ki, 64 Ki, ... */
size_t bench_next_bytes(size_t bytes);

/* ---- bench_raw.c: memory that PEs 0 and 1 share without the library, and loops on it ---- */

/* Collective. Where the PEs cannot share memory there are no raw limits, and PE 0 says why. */
void       bench_raw_open(size_t bytes);
void       bench_raw_close(void);
bool       bench_raw_here(void);
bench_loop bench_raw_store, bench_raw_load, bench_raw_copy, bench_raw_copy_fence, bench_raw_copy_back, bench_raw_fence,
    bench_raw_add, bench_raw_swap, bench_raw_add_each, bench_raw_ping_pong, bench_raw_copy_ping_pong, bench_raw_meet,
    bench_raw_hand_over;

/* Ways to copy: of the C library, by one string instruction, in blocks from the last to the first, past the cache by 16 and by 64 bytes. */
enum { BENCH_RAW_COPIES = 5 };
typedef void             bench_copy(void *to, const void *from, size_t bytes);
extern bench_copy *const bench_raw_copies[BENCH_RAW_COPIES];
double                   bench_median(double *values, int count); /* sorts them */

/* ---- the cases ---- */

void bench_run_pt2pt(void);      /* latency, bandwidth, rate, atomic, signal */
void bench_run_ring(void);       /* signal, all PEs */
void bench_run_collective(void); /* collective */
void bench_run_heap(void);       /* heap */
void bench_run_startup(void);    /* startup: PE 0, in processes of their own */

/* ---- bench_print.c, bench_plot.c: PE 0 ---- */

void bench_print_head(FILE *out);
void bench_print_row(FILE *out, const struct bench_row *row);
void bench_progress(const char *name, size_t bytes); /* one line, on a terminal only; NULL: clear it */
/* 0, or -1 after a message. CSV gets each row as it is measured: what a crash leaves is there. */
int  bench_csv_open(const char *path);
int  bench_csv_close(const char *path);
void bench_csv_row(const struct bench_row *row);
int  bench_write_json(const char *path);
int  bench_write_plot(const char *path);

const char *bench_group_name(enum bench_group group);
/* "8 B", "64 KiB": returns buffer. */
const char *bench_bytes_text(size_t bytes, char *buffer, size_t buffer_bytes);

#endif
