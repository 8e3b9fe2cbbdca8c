/* SPDX-License-Identifier: Apache-2.0 */
#include "runner.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SETS_MAX = 16, PES_MAX = 16, SEEDS_MIN = 8 /* of a set, or it is not worth it */, GUARD_S = 60 };

void runner_fail(struct runner_set *set, enum runner_end end, const char *format, ...)
{
    int     good = RUNNER_GOOD;
    va_list args;

    if (!atomic_compare_exchange_strong(&set->end, &good, (int)end)) return;
    va_start(args, format);
    vsnprintf(set->why, sizeof set->why, format, args);
    va_end(args);
}

static int64_t seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* ---- one set ---- */

static void end_all(const pid_t *pids, int count)
{
    for (int i = 0; i < count; i++) kill(pids[i], SIGKILL);
}

/* Wait for all. The first that ends badly ends the others; a seed that takes too long ends all. */
static void watch(struct runner_set *set, const pid_t *pids, int count)
{
    uint64_t seed  = UINT64_MAX;
    int64_t  since = seconds();

    for (int left = count; left > 0;) {
        int   status;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid > 0) {
            left--;
            if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
            if (WIFSIGNALED(status)) runner_fail(set, RUNNER_DIED, "a PE was ended by signal %d", WTERMSIG(status));
            else runner_fail(set, RUNNER_DIED, "a PE ended with status %d", WEXITSTATUS(status));
            end_all(pids, count);
            continue;
        }
        if (atomic_load(&set->seed) != seed) {
            seed  = atomic_load(&set->seed);
            since = seconds();
        }
        if (seconds() - since > GUARD_S) {
            runner_fail(set, RUNNER_HANGS, "the seed hangs: no end after %d s", GUARD_S);
            end_all(pids, count);
        }
        poll(NULL, 0, 2);
    }
}

/* Processor number n of those that we may use. */
static void stay_on(unsigned n)
{
    cpu_set_t all, one;

    if (sched_getaffinity(0, sizeof all, &all)) return;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &all) || n-- > 0) continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

static void run_set(const struct runner *r, struct runner_set *set, uint64_t from, uint64_t step, uint64_t count)
{
    char  fabric[64];
    pid_t pids[PES_MAX];
    int   processes = r->forks ? 1 : r->pes;
    int   fd        = memfd_create("fabric", 0); /* a file that nobody has to remove */

    if (fd < 0) runner_fail(set, RUNNER_NOT_RUN, "no memory for the fabric");
    else {
        snprintf(fabric, sizeof fabric, "/proc/%d/fd/%d", (int)getpid(), fd);
        setenv("SIMVERBS_FABRIC", fabric, 1);
        if (r->prepare) r->prepare();
        for (int me = 0; me < processes; me++) {
            pids[me] = fork();
            if (pids[me] != 0) continue;
            prctl(PR_SET_PDEATHSIG, SIGKILL); /* who is ended from outside leaves nobody behind */
            r->run(me, set, from, step, count);
            _exit(0);
        }
        watch(set, pids, processes);
    }
}

/* ---- all sets ---- */

static int count_sets(const struct runner *r)
{
    cpu_set_t cpus;
    int       sets = r->sets ? r->sets : sched_getaffinity(0, sizeof cpus, &cpus) ? 1 : CPU_COUNT(&cpus);

    if (r->must_catch) sets = 1; /* the first seed that shows it is then always the same one */
    if ((uint64_t)sets > (r->seeds + SEEDS_MIN - 1) / SEEDS_MIN) sets = (int)((r->seeds + SEEDS_MIN - 1) / SEEDS_MIN);
    return sets > SETS_MAX ? SETS_MAX : sets;
}

static void start_set(const struct runner *r, struct runner_set *sets, int n, int count)
{
    /* Who passes the token on is not to be interrupted by who gets it, a moment before it sleeps. */
    sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){.sched_priority = 0});
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (count > 1) stay_on((unsigned)n);
    run_set(r, &sets[n], r->from + (uint64_t)n, (uint64_t)count, (r->seeds - (uint64_t)n + (uint64_t)count - 1) / (uint64_t)count);
    _exit(atomic_load(&sets[n].end) == RUNNER_GOOD ? 0 : 1);
}

/* The first set that ends badly, after which the others are of no interest; -1: none does. */
static int wait_for_sets(const pid_t *pids, int count)
{
    int bad = -1;

    for (int left = count; left > 0; left--) {
        int   status;
        pid_t pid = waitpid(-1, &status, 0);
        if (pid < 0 || bad >= 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) continue;
        for (int n = 0; n < count; n++) {
            if (pids[n] == pid) bad = n;
            else kill(pids[n], SIGKILL);
        }
    }
    return bad;
}

int runner_main(const struct runner *r)
{
    int                count = count_sets(r);
    pid_t              pids[SETS_MAX];
    uint64_t           trace = 0;
    struct runner_set *sets =
        mmap(NULL, sizeof(struct runner_set) * SETS_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (sets == MAP_FAILED) {
        perror("memory to share");
        return 2;
    }
    for (int n = 0; n < count; n++) {
        pids[n] = fork();
        if (pids[n] == 0) start_set(r, sets, n, count);
    }
    int bad = wait_for_sets(pids, count);
    for (int n = 0; n < count; n++) trace += atomic_load(&sets[n].trace);
    if (bad < 0) {
        printf("%llu seeds of %d PEs, trace %016llx\n", (unsigned long long)r->seeds, r->pes, (unsigned long long)trace);
        return r->must_catch ? 1 : 0;
    }
    int      end  = atomic_load(&sets[bad].end);
    uint64_t seed = atomic_load(&sets[bad].seed), left = r->from + r->seeds - seed - 1;
    printf("seed %llu of %d PEs fails: %s\n    again: %s --seed %llu\n", (unsigned long long)seed, r->pes,
           end == RUNNER_GOOD ? "the processes of the set are gone" : sets[bad].why, r->again, (unsigned long long)seed);
    if (end == RUNNER_NOT_RUN) return 2;
    /* A crash or a hang is not what a planted fault is to be seen by: on with the next seed. */
    if (r->must_catch && end == RUNNER_DIED && left > 0) {
        struct runner rest = *r;
        rest.from          = seed + 1;
        rest.seeds         = left;
        munmap(sets, sizeof(struct runner_set) * SETS_MAX);
        return runner_main(&rest);
    }
    return r->must_catch && end == RUNNER_WRONG ? 0 : 1;
}
