/* SPDX-License-Identifier: Apache-2.0
 *
 * The sweeps over sizes as a picture, by gnuplot: times and bandwidth over bytes, both axes logarithmic, the raw limits dashed.
 */
#include "runtime/tools/bench.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Values are microseconds; each power of ten is named by the unit that it is read in. */
#define TIME_TICKS                                                                                                               \
    "('0.1 ns' 0.0001, '1 ns' 0.001, '10 ns' 0.01, '100 ns' 0.1, '1 us' 1, '10 us' 10, '100 us' 100, '1 ms' 1000, '10 ms' 1e4, " \
    "'100 ms' 1e5)"

/* Okabe and Ito's colours, which colour-blind readers tell apart, each with a mark of its own; the raw loop of a line is dashed in its colour. */
static const char line_styles[] = "set linetype 1 lc rgb '#0072b2' lw 1.5 pt 7\nset linetype 2 lc rgb '#d55e00' lw 1.5 pt 5\n"
                                  "set linetype 3 lc rgb '#009e73' lw 1.5 pt 9\nset linetype 4 lc rgb '#cc79a7' lw 1.5 pt 13\n"
                                  "set linetype 5 lc rgb '#e69f00' lw 1.5 pt 11\nset linetype 6 lc rgb '#56b4e9' lw 1.5 pt 4\n";

struct panel {
    enum bench_group groups;
    const char      *title, *axis;
    bool             speed; /* GB/s instead of microseconds */
};

static bool shown(const struct bench_row *row, const struct panel *panel)
{
    return (row->what.group & panel->groups) && row->what.bytes > 0 && strcmp(row->what.memory, "heap") == 0;
}

static bool same_line(const struct bench_row *a, const struct bench_row *b)
{
    return a->what.group == b->what.group && strcmp(a->what.name, b->what.name) == 0;
}

static double shown_value(const struct panel *panel, const struct bench_row *row, double ns)
{
    return panel->speed ? (double)row->what.bytes / ns : ns / 1e3;
}

/* The rows of one operation; at least two sizes make a line. Counts what it wrote when out is NULL. */
static size_t put_points(FILE *out, const struct panel *panel, size_t first, bool raw)
{
    size_t points = 0;
    for (size_t i = first; i < bench.rows; i++) {
        const struct bench_row *row = &bench.row[i];
        double                  ns  = raw ? row->raw_p50 : row->p50;
        if (!shown(row, panel) || !same_line(row, &bench.row[first]) || ns <= 0) continue;
        points++;
        if (out) fprintf(out, "%zu %.6g\n", row->what.bytes, shown_value(panel, row, ns));
    }
    if (out) fprintf(out, "e\n");
    return points;
}

/* Is this row the first of its line? */
static bool starts_line(const struct panel *panel, size_t i)
{
    if (!shown(&bench.row[i], panel)) return false;
    for (size_t k = 0; k < i; k++)
        if (shown(&bench.row[k], panel) && same_line(&bench.row[k], &bench.row[i])) return false;
    return put_points(NULL, panel, i, false) > 1;
}

static int lines_of(const struct panel *panel)
{
    int lines = 0;
    for (size_t i = 0; i < bench.rows; i++) lines += starts_line(panel, i);
    return lines;
}

static double smallest(const struct panel *panel)
{
    size_t bytes = SIZE_MAX;
    for (size_t i = 0; i < bench.rows; i++)
        if (shown(&bench.row[i], panel) && bench.row[i].what.bytes < bytes) bytes = bench.row[i].what.bytes;
    return (double)bytes;
}

static double largest(const struct panel *panel)
{
    size_t bytes = 0;
    for (size_t i = 0; i < bench.rows; i++)
        if (shown(&bench.row[i], panel) && bench.row[i].what.bytes > bytes) bytes = bench.row[i].what.bytes;
    return (double)bytes;
}

static void put_panel(FILE *out, const struct panel *panel)
{
    fprintf(out, "set title '%s, %d PEs'\nset ylabel '%s'\nset ytics %s\nset xrange [%g:%g]\nplot ", panel->title, bench.npes,
            panel->axis, panel->speed ? "autofreq" : TIME_TICKS, smallest(panel) / 1.3, largest(panel) * 1.3);
    int line = 0;
    for (size_t i = 0; i < bench.rows; i++) {
        if (!starts_line(panel, i)) continue;
        line++;
        fprintf(out, "%s'-' with linespoints lt %d ps 0.6 title '%s'", line > 1 ? ", " : "", line, bench.row[i].what.name);
        if (put_points(NULL, panel, i, true) > 1)
            fprintf(out, ", '-' with lines lt %d dt 2 title 'raw: %s'", line, bench.row[i].what.raw_name);
    }
    fprintf(out, "\n");
    for (size_t i = 0; i < bench.rows; i++) {
        if (!starts_line(panel, i)) continue;
        put_points(out, panel, i, false);
        if (put_points(NULL, panel, i, true) > 1) put_points(out, panel, i, true);
    }
}

int bench_write_plot(const char *path)
{
    static const struct panel panels[] = {
        {BENCH_LATENCY | BENCH_SIGNAL, "Time of one call", "time", false},
        {BENCH_BANDWIDTH, "Bandwidth, 16 calls and quiet", "GB/s", true},
        {BENCH_COLLECTIVE, "Time of one collective", "time", false},
    };
    enum { PANELS = sizeof panels / sizeof panels[0] };
    int count = 0;
    for (int i = 0; i < PANELS; i++) count += lines_of(&panels[i]) > 0;
    if (count == 0) {
        fprintf(stderr, "postern-bench: no plot" WHY "no operation was measured at two sizes" FIX
                        "pick latency, bandwidth, signal or collective, and more --sizes\n");
        return -1;
    }
    const char *dot = strrchr(path, '.');
    bool        png = dot && strcmp(dot, ".png") == 0;
    signal(SIGPIPE, SIG_IGN); /* where there is no gnuplot; its status tells */
    FILE *out = popen("gnuplot", "w");
    if (!out) {
        fprintf(stderr, "postern-bench: no plot" WHY "%s\n", strerror(errno));
        return -1;
    }
    fprintf(out, "set terminal %s noenhanced size %d,%d font ',11'\nset output '%s'\n", png ? "pngcairo" : "svg background 'white'",
            1000, 420 * count, path);
    fprintf(
        out,
        "%sset logscale xy\nset grid lc rgb '#dddddd' lt 1\nset key outside right top Left reverse samplen 2\nset xlabel 'bytes'\n"
        "set xtics ('8' 8, '64' 64, '512' 512, '4K' 4096, '16K' 16384, '64K' 65536, '256K' 262144, '1M' 1048576, '4M' 4194304, "
        "'16M' 16777216, '64M' 67108864, '256M' 268435456)\nset multiplot layout %d,1\n",
        line_styles, count);
    for (int i = 0; i < PANELS; i++)
        if (lines_of(&panels[i]) > 0) put_panel(out, &panels[i]);
    fprintf(out, "unset multiplot\n");
    int status = pclose(out);
    if (status == 0 && access(path, R_OK) == 0) return 0;
    fprintf(stderr, "postern-bench: no plot in %s" WHY "%s" FIX "%s\n", path,
            WIFEXITED(status) && WEXITSTATUS(status) == 127 ? "gnuplot is not installed" : "gnuplot failed; its message is above",
            WIFEXITED(status) && WEXITSTATUS(status) == 127 ? "install the package gnuplot-nox"
                                                            : "name a file that you may write, .svg or .png");
    return -1;
}
