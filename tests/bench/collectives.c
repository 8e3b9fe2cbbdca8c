/* SPDX-License-Identifier: Apache-2.0
 *
 * What a collective costs: standard OpenSHMEM only, so that the same file measures every library. TSV rows on PE 0.
 *
 *   oshrun -n N collectives [key=value...]
 *
 *   sizes=8,64,...     bytes: of the message (broadcast, sums), that a PE gives (collect, fcollect), for each pair (alltoall)
 *   only=A,B  skip=A   operations by name; default: all
 *   samples=20         timed samples of a row, at most; slow rows take fewer, down to 5
 *   sample_us=300      calls are repeated until a sample takes about as long
 *   touch=1            before each call write all of source and read all of dest, as programs do, and meet; only the call is timed. Otherwise the
 *                      calls come back to back, and what they move may stay in the wrong core's cache
 *   realtime=P         measure with real-time priority P (SCHED_RR, as chrt -r P gives), so that other load of the machine does not disturb. Only
 *                      the calling thread, and only while it measures: launchers and start-up would wait for whole slices of time. PE i then stays
 *                      on core i, counted round: nothing else balances real-time threads, and 7 of 8 PEs on one core are twice as slow
 *   progress=1         a line "# now: OPERATION FORM BYTES" before each row, to see where a library crashes
 *
 * A sample starts behind a barrier and is the time of repeated calls, divided by their number, on the PE where that is most. A row has the
 * median and the 99th percentile of its samples. Form "set" is the call over an active set, of which OpenSHMEM 1.4 has one for each operation; form
 * "team" the call on SHMEM_TEAM_WORLD, left out where the library has no teams. "all" has neither, "raw" is no library at all.
 *
 * Repeated calls on an active set use two sets of pSync in turn. That is allowed without a barrier where each PE hears from every other in each call.
 * The root of a broadcast does not, so a broadcast is measured with the synchronization that its callers need, in both forms.
 *
 * Nothing is static memory: static pSync crash one library in position-independent programs. After its samples each row looks at the
 * result of the last call: "ok", or "wrong".
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <shmem.h>

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5
#define HAVE_TEAMS 1
#else
#define HAVE_TEAMS 0
#endif

enum { SIZES_MAX = 32, SAMPLES_MAX = 200, SAMPLES_MIN = 5, WARM_UPS = 3, REPEATS_MAX = 2000, ROW_US = 20000, LINE_BYTES = 128 };

static struct {
    size_t      sizes[SIZES_MAX];
    int         size_count;
    const char *only, *skip;
    int         samples;
    double      sample_us;
    int         realtime; /* 0: no */
    bool        progress, touch;
} options = {
    .sizes = {8, 64, 512, 4096, 32768, 262144, 1048576}, .size_count = 7, .only = "", .skip = "", .samples = 20, .sample_us = 300};

/* What PE 0 decides for a row. */
struct plan {
    long repeats, samples;
};

static int          me, n;
static char        *source, *dest; /* n x the largest size each                                    */
static void        *work;          /* pWrk                                                         */
static long        *sync_words[2]; /* pSync                                                        */
static uint64_t    *line;          /* a cache line, for the raw ping-pong                          */
static double      *times;         /* PE 0's has the samples of all PEs                            */
static int         *results;       /* PE 0's: was the result right on PE i?                        */
static struct plan *plan;
static long        *ready; /* PE 0's: how many have their priority                         */
static long         turns; /* calls so far, to take the two pSync in turn                  */

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static long *next_sync(void)
{
    return sync_words[turns++ & 1];
}

/* ---- the calls; bytes as the file's head says ---- */

/* There and back: PE 0 first. Half of it is the way of one line from core to core. */
static void ping_pong(size_t bytes)
{
    volatile uint64_t *mine = line, *theirs = shmem_ptr(line, 1 - me);
    uint64_t           turn = (uint64_t)++turns;
    (void)bytes;
    if (me == 0) __atomic_store_n(theirs, turn, __ATOMIC_RELEASE);
    while (__atomic_load_n(mine, __ATOMIC_ACQUIRE) != turn) continue;
    if (me == 1) __atomic_store_n(theirs, turn, __ATOMIC_RELEASE);
}

static void barrier_all(size_t bytes)
{
    (void)bytes;
    shmem_barrier_all();
}

static void sync_all(size_t bytes)
{
    (void)bytes;
    shmem_sync_all();
}

static void sync_set(size_t bytes)
{
    (void)bytes;
    shmem_sync(0, 0, n, next_sync());
}

static void broadcast_set(size_t bytes)
{
    shmem_broadcast64(dest, source, bytes / 8, 0, 0, 0, n, next_sync());
    shmem_sync_all();
}

static void collect_set(size_t bytes)
{
    shmem_collect64(dest, source, bytes / 8, 0, 0, n, next_sync());
}

static void fcollect_set(size_t bytes)
{
    shmem_fcollect64(dest, source, bytes / 8, 0, 0, n, next_sync());
}

static void alltoall_set(size_t bytes)
{
    shmem_alltoall64(dest, source, bytes / 8, 0, 0, n, next_sync());
}

static void sum_int_set(size_t bytes)
{
    shmem_int_sum_to_all((int *)(void *)dest, (int *)(void *)source, (int)(bytes / sizeof(int)), 0, 0, n, work, next_sync());
}

static void sum_double_set(size_t bytes)
{
    shmem_double_sum_to_all((double *)(void *)dest, (double *)(void *)source, (int)(bytes / sizeof(double)), 0, 0, n, work,
                            next_sync());
}

#if HAVE_TEAMS
static void sync_team(size_t bytes)
{
    (void)bytes;
    shmem_team_sync(SHMEM_TEAM_WORLD);
}

static void broadcast_team(size_t bytes)
{
    shmem_broadcastmem(SHMEM_TEAM_WORLD, dest, source, bytes, 0);
    shmem_sync_all();
}

static void collect_team(size_t bytes)
{
    shmem_collectmem(SHMEM_TEAM_WORLD, dest, source, bytes);
}

static void fcollect_team(size_t bytes)
{
    shmem_fcollectmem(SHMEM_TEAM_WORLD, dest, source, bytes);
}

static void alltoall_team(size_t bytes)
{
    shmem_alltoallmem(SHMEM_TEAM_WORLD, dest, source, bytes);
}

static void sum_int_team(size_t bytes)
{
    shmem_int_sum_reduce(SHMEM_TEAM_WORLD, (int *)(void *)dest, (int *)(void *)source, bytes / sizeof(int));
}

static void sum_double_team(size_t bytes)
{
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, (double *)(void *)dest, (double *)(void *)source, bytes / sizeof(double));
}
#endif

/* ---- what is in source, and what must be in dest ---- */

enum content { NOTHING, BROADCAST, COLLECT, ALLTOALL, SUM_INT, SUM_DOUBLE };

static uint64_t word_of(int pe, size_t i)
{
    return ((uint64_t)pe + 1) << 32 | i;
}

/* Sums of these are whole numbers, so their order does not matter. */
static int term_of(int pe, size_t i)
{
    return pe + (int)(i % 7);
}

static void fill_source(enum content content, size_t bytes)
{
    size_t copies = content == ALLTOALL ? (size_t)n : 1;
    if (content == SUM_INT)
        for (size_t i = 0; i < bytes / sizeof(int); i++) ((int *)(void *)source)[i] = term_of(me, i);
    else if (content == SUM_DOUBLE)
        for (size_t i = 0; i < bytes / sizeof(double); i++) ((double *)(void *)source)[i] = term_of(me, i);
    else
        for (size_t i = 0; i < copies * bytes / 8; i++) ((uint64_t *)(void *)source)[i] = word_of(me, i);
}

static bool right_words(const uint64_t *words, int pe, size_t first, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (words[i] != word_of(pe, first + i)) return false;
    return true;
}

static int sum_of(size_t i)
{
    return n * (n - 1) / 2 + n * (int)(i % 7);
}

static bool right_result(enum content content, size_t bytes)
{
    const uint64_t *words = (const uint64_t *)(void *)dest;
    size_t          count = bytes / 8;
    bool            right = true;
    switch (content) {
    case NOTHING: return true;
    case BROADCAST: return me == 0 || right_words(words, 0, 0, count); /* an active set's root keeps its dest */
    case COLLECT:
        for (int pe = 0; pe < n; pe++) right = right && right_words(words + (size_t)pe * count, pe, 0, count);
        return right;
    case ALLTOALL:
        for (int pe = 0; pe < n; pe++) right = right && right_words(words + (size_t)pe * count, pe, (size_t)me * count, count);
        return right;
    case SUM_INT:
        for (size_t i = 0; i < bytes / sizeof(int); i++) right = right && ((int *)(void *)dest)[i] == sum_of(i);
        return right;
    case SUM_DOUBLE:
        for (size_t i = 0; i < bytes / sizeof(double); i++) {
            double sum = ((double *)(void *)dest)[i];
            right      = right && sum >= sum_of(i) && sum <= sum_of(i);
        }
        return right;
    }
    return false;
}

/* ---- a row ---- */

struct operation {
    const char  *name, *form;
    enum content content;
    void (*call)(size_t bytes);
};

static const struct operation operations[] = {
    {"ping_pong", "raw", NOTHING, ping_pong},
    {"barrier_all", "all", NOTHING, barrier_all},
    {"sync_all", "all", NOTHING, sync_all},
    {"sync", "set", NOTHING, sync_set},
    {"broadcast", "set", BROADCAST, broadcast_set},
    {"collect", "set", COLLECT, collect_set},
    {"fcollect", "set", COLLECT, fcollect_set},
    {"alltoall", "set", ALLTOALL, alltoall_set},
    {"sum_int", "set", SUM_INT, sum_int_set},
    {"sum_double", "set", SUM_DOUBLE, sum_double_set},
#if HAVE_TEAMS
    {"sync", "team", NOTHING, sync_team},
    {"broadcast", "team", BROADCAST, broadcast_team},
    {"collect", "team", COLLECT, collect_team},
    {"fcollect", "team", COLLECT, fcollect_team},
    {"alltoall", "team", ALLTOALL, alltoall_team},
    {"sum_int", "team", SUM_INT, sum_int_team},
    {"sum_double", "team", SUM_DOUBLE, sum_double_team},
#endif
};

static long between(double value, long least, long most)
{
    if (value < (double)least) return least;
    return value > (double)most ? most : (long)value;
}

/* Bytes that a PE gets, or 0. */
static size_t received(enum content content, size_t bytes)
{
    if (content == NOTHING) return 0;
    return content == COLLECT || content == ALLTOALL ? bytes * (size_t)n : bytes;
}

/* PE 0 looks how long a call takes, and tells all how many to make. */
static void make_plan(const struct operation *operation, size_t bytes)
{
    double start = now_us();
    for (int i = 0; i < WARM_UPS; i++) operation->call(bytes);
    double call_us = (now_us() - start) / WARM_UPS;
    shmem_barrier_all();
    if (me == 0) {
        struct plan made = {.repeats = between(options.sample_us / call_us, 1, REPEATS_MAX)};
        made.samples     = between(ROW_US / (call_us * (double)made.repeats), SAMPLES_MIN, options.samples);
        if (made.samples > options.samples) made.samples = options.samples;
        for (int pe = 0; pe < n; pe++) shmem_putmem(plan, &made, sizeof made, pe);
    }
    shmem_barrier_all();
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_row(const struct operation *operation, size_t bytes)
{
    double most[SAMPLES_MAX];
    bool   right = true;
    long   count = plan->samples;
    for (long i = 0; i < count; i++) {
        most[i] = 0;
        for (int pe = 0; pe < n; pe++)
            if (times[pe * SAMPLES_MAX + i] > most[i]) most[i] = times[pe * SAMPLES_MAX + i];
        if (strcmp(operation->form, "raw") == 0) most[i] /= 2;
    }
    for (int pe = 0; pe < n; pe++) right = right && results[pe];
    qsort(most, (size_t)count, sizeof *most, by_value);
    double p50 = most[count / 2], p99 = most[(count * 99 + 99) / 100 - 1];
    printf("%s\t%s\t%d\t%zu\t%.3f\t%.3f\t%.3f\t%s\n", operation->name, operation->form, n, bytes, p50, p99,
           (double)received(operation->content, bytes) / p50 / 1e3, right ? "ok" : "wrong");
    fflush(stdout);
}

/* Each line of source is written, with what it has; each line of dest is read. */
static void touch(enum content content, size_t bytes)
{
    volatile uint64_t *written = (volatile uint64_t *)(void *)source, *read = (volatile uint64_t *)(void *)dest;
    size_t             written_bytes = content == ALLTOALL ? bytes * (size_t)n : bytes;
    for (size_t i = 0; i < written_bytes / 8; i += 8) written[i] = written[i];
    for (size_t i = 0; i < received(content, bytes) / 8; i += 8) (void)read[i];
}

/* Microseconds of one call. */
static double timed_calls(const struct operation *operation, size_t bytes)
{
    double start = now_us(), sum = 0;
    if (!options.touch || operation->content == NOTHING) {
        for (long k = 0; k < plan->repeats; k++) operation->call(bytes);
        return (now_us() - start) / (double)plan->repeats;
    }
    for (long k = 0; k < plan->repeats; k++) {
        touch(operation->content, bytes);
        shmem_barrier_all();
        start = now_us();
        operation->call(bytes);
        sum += now_us() - start;
    }
    return sum / (double)plan->repeats;
}

static void measure(const struct operation *operation, size_t bytes)
{
    double mine[SAMPLES_MAX];
    if (options.progress && me == 0) {
        printf("# now: %s %s %zu\n", operation->name, operation->form, bytes);
        fflush(stdout);
    }
    fill_source(operation->content, bytes);
    memset(dest, 0xff, bytes * (size_t)n);
    shmem_barrier_all();
    for (int i = 0; i < WARM_UPS; i++) operation->call(bytes);
    make_plan(operation, bytes);
    for (long i = 0; i < plan->samples; i++) {
        shmem_barrier_all();
        mine[i] = timed_calls(operation, bytes);
    }
    int right = right_result(operation->content, bytes);
    shmem_putmem(times + me * SAMPLES_MAX, mine, (size_t)plan->samples * sizeof *mine, 0);
    shmem_putmem(results + me, &right, sizeof right, 0);
    shmem_barrier_all();
    if (me == 0) print_row(operation, bytes);
    shmem_barrier_all();
}

/* ---- all rows ---- */

/* Is name one of the words of a list with commas between? */
static bool listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += length)
        if ((at == list || at[-1] == ',') && (at[length] == '\0' || at[length] == ',')) return true;
    return false;
}

static void measure_all(void)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        const struct operation *operation = &operations[i];
        if (*options.only && !listed(options.only, operation->name)) continue;
        if (listed(options.skip, operation->name)) continue;
        /* Only two PEs play, and only where they share memory. */
        if (operation->call == ping_pong && (n != 2 || shmem_ptr(line, 1 - me) == NULL)) continue;
        for (int k = 0; k < (operation->content == NOTHING ? 1 : options.size_count); k++)
            measure(operation, operation->content == NOTHING ? 0 : options.sizes[k]);
    }
}

static bool read_sizes(const char *text)
{
    options.size_count = 0;
    while (*text) {
        char *end;
        long  size = strtol(text, &end, 10);
        if (end == text || size < 8 || size % 8 != 0 || options.size_count == SIZES_MAX) return false;
        options.sizes[options.size_count++] = (size_t)size;
        text                                = *end == ',' ? end + 1 : end;
    }
    return options.size_count > 0;
}

static bool read_option(const char *text)
{
    if (strncmp(text, "sizes=", 6) == 0) return read_sizes(text + 6);
    if (strncmp(text, "only=", 5) == 0) options.only = text + 5;
    else if (strncmp(text, "skip=", 5) == 0) options.skip = text + 5;
    else if (strncmp(text, "samples=", 8) == 0) options.samples = atoi(text + 8);
    else if (strncmp(text, "sample_us=", 10) == 0) options.sample_us = atof(text + 10);
    else if (strncmp(text, "realtime=", 9) == 0) options.realtime = atoi(text + 9);
    else if (strncmp(text, "touch=", 6) == 0) options.touch = atoi(text + 6) != 0;
    else if (strncmp(text, "progress=", 9) == 0) options.progress = atoi(text + 9) != 0;
    else return false;
    return options.samples >= 1 && options.samples <= SAMPLES_MAX && options.sample_us > 0;
}

/* Where the launcher has bound this PE to a core, it is that one. */
static void stay_on_a_core(void)
{
    cpu_set_t allowed, chosen;
    CPU_ZERO(&chosen);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    int skip = me % CPU_COUNT(&allowed);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && skip-- == 0) CPU_SET(cpu, &chosen);
    sched_setaffinity(0, sizeof chosen, &chosen);
}

/* 0: back to normal. */
static void set_priority(int priority)
{
    struct sched_param param = {.sched_priority = priority};
    if (sched_setscheduler(0, priority > 0 ? SCHED_RR : SCHED_OTHER, &param) == 0) return;
    fprintf(stderr, "collectives: no real-time priority %d: %s\n", priority, strerror(errno));
    shmem_global_exit(3);
}

/* Then wait, asleep, until all have it: one that spins with it would keep the core from those that have yet to get it. */
static void set_priority_of_all(int priority)
{
    struct timespec pause = {.tv_nsec = 1000000};
    stay_on_a_core();
    set_priority(priority);
    shmem_long_atomic_inc(ready, 0);
    while (shmem_long_atomic_fetch(ready, 0) < n) nanosleep(&pause, NULL);
}

static void *allocate(size_t bytes)
{
    void *memory = shmem_malloc(bytes);
    if (memory == NULL) {
        fprintf(stderr, "collectives: the symmetric heap has no %zu bytes\n", bytes);
        shmem_global_exit(1);
    }
    memset(memory, 0, bytes);
    return memory;
}

static void allocate_all(void)
{
    size_t most = 0;
    for (int i = 0; i < options.size_count; i++)
        if (options.sizes[i] > most) most = options.sizes[i];
    source  = allocate(most * (size_t)n);
    dest    = allocate(most * (size_t)n);
    work    = allocate(most + (1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE) * sizeof(double));
    line    = allocate(LINE_BYTES);
    times   = allocate((size_t)n * SAMPLES_MAX * sizeof *times);
    results = allocate((size_t)n * sizeof *results);
    plan    = allocate(sizeof *plan);
    ready   = allocate(sizeof *ready);
    for (int i = 0; i < 2; i++) {
        sync_words[i] = allocate(SHMEM_SYNC_SIZE * sizeof **sync_words);
        for (int k = 0; k < SHMEM_SYNC_SIZE; k++) sync_words[i][k] = SHMEM_SYNC_VALUE;
    }
    shmem_barrier_all();
}

static void print_head(void)
{
    char name[SHMEM_MAX_NAME_LEN], host[256] = "unknown";
    shmem_info_get_name(name);
    gethostname(host, sizeof host - 1);
    printf("# host: %s\n# library: %s, OpenSHMEM %d.%d\n", host, name, SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION);
    printf("# transport: %s\n", n < 2 || shmem_ptr(line, (me + 1) % n) ? "peers' memory is mapped" : "peers' memory is not mapped");
    printf("# warm-ups: %d, samples: %d to %d of about %.0f us, real-time priority: %d, touched: %s\n", 2 * WARM_UPS, SAMPLES_MIN,
           options.samples, options.sample_us, options.realtime, options.touch ? "yes" : "no");
    printf("operation\tform\tpes\tbytes\tlat_us_p50\tlat_us_p99\tbw_GBps\tresult\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    shmem_init();
    me           = shmem_my_pe();
    n            = shmem_n_pes();
    bool is_fine = true;
    for (int i = 1; i < argc; i++) is_fine = is_fine && read_option(argv[i]);
    if (!is_fine) {
        if (me == 0) fprintf(stderr, "usage: oshrun -n N %s [key=value...]; the source says which\n", argv[0]);
        shmem_finalize();
        return 2;
    }
    allocate_all();
    if (me == 0) print_head();
    shmem_barrier_all();
    if (options.realtime > 0) set_priority_of_all(options.realtime);
    measure_all();
    if (options.realtime > 0) set_priority(0);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
