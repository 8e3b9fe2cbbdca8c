/* SPDX-License-Identifier: Apache-2.0
 *
 * What the heap costs, and what it costs to start a job at all. The heap's calls synchronize all PEs twice, so two barriers are the least
 * that they can take. Start-ups are timed from outside: PE 0 runs the launcher as a user does.
 */
#include "runtime/tools/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- heap ---- */

static void our_malloc_free(const struct bench_case *what, size_t times)
{
    for (size_t i = 0; i < times; i++) shmem_free(shmem_malloc(what->bytes));
}

static void two_barriers(const struct bench_case *what, size_t times)
{
    (void)what;
    for (size_t i = 0; i < 2 * times; i++) shmem_barrier_all();
}

enum { TOUCH_BYTES = 8 << 20, TOUCH_PAGES = TOUCH_BYTES / BENCH_PAGE, TOUCH_ROUNDS = 15 };

static char *map_private(size_t bytes)
{
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static double touch_ns(char *memory)
{
    double start = bench_now_ns();
    for (size_t i = 0; i < TOUCH_BYTES; i += BENCH_PAGE) ((volatile char *)memory)[i] = 1;
    return (bench_now_ns() - start) / TOUCH_PAGES;
}

/* How often both sides can have a block and keep it, in half of what is free: the same on all PEs. */
static int touch_rounds(void)
{
    double free_bytes = (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double fit        = free_bytes / 2 / ((double)bench.npes * 2 * TOUCH_BYTES);
    fit               = -bench_largest(-fit);
    return fit < TOUCH_ROUNDS ? (int)fit : TOUCH_ROUNDS;
}

/*
 * A virtual machine gets memory from its host when it touches that for the first time, which takes many times what the kernel needs for a page, and whom
 * it befalls is chance: small pages mostly come from memory that a process has just given back, huge ones from where nobody has been. So as much
 * as both sides will use is touched and given back before.
 */
static void warm_machine(int rounds)
{
    size_t bytes  = (size_t)rounds * 2 * TOUCH_BYTES;
    char  *memory = map_private(bytes);
    if (memory) {
        madvise(memory, bytes, MADV_HUGEPAGE); /* given back in one piece, it serves either size of pages */
        for (size_t i = 0; i < bytes; i += BENCH_PAGE) ((volatile char *)memory)[i] = 1;
    }
    shmem_barrier_all(); /* nobody may give back what another then touches once more */
    if (memory) munmap(memory, bytes);
    shmem_barrier_all();
}

/* From the allocation to the last first store; memory that was used before does not count, so the blocks of both sides are kept until the end. */
static void run_first_touch(void)
{
    struct bench_case what = {.group  = BENCH_HEAP,
                              .name   = "malloc and first touch, per 4 KiB page",
                              .memory = "heap",
                              .bytes  = TOUCH_BYTES,
                              .by     = BENCH_BY_EACH,
                              .calls  = 1};
    static double     ours[TOUCH_ROUNDS], plain[TOUCH_ROUNDS];
    static char      *blocks[TOUCH_ROUNDS], *raw[TOUCH_ROUNDS];
    int               count = 0;
    if (!bench_wanted(&what)) return;
    what.raw_name = "anonymous memory";
    if (bench.me == 0) bench_progress(what.name, what.bytes);
    int rounds = touch_rounds();
    if (rounds > 0) warm_machine(rounds);
    for (; count < rounds; count++) {
        double start  = bench_now_ns();
        blocks[count] = shmem_malloc(TOUCH_BYTES);
        double spent  = bench_now_ns() - start;
        if (!blocks[count]) break;
        ours[count]  = bench_largest(touch_ns(blocks[count]) + spent / TOUCH_PAGES);
        raw[count]   = map_private(TOUCH_BYTES);
        plain[count] = bench_largest(raw[count] ? touch_ns(raw[count]) : 0);
    }
    if (count > 0) bench_note(&what, ours, plain, count);
    for (int i = 0; i < TOUCH_ROUNDS; i++) {
        if (blocks[i]) shmem_free(blocks[i]);
        if (raw[i]) munmap(raw[i], TOUCH_BYTES);
    }
}

void bench_run_heap(void)
{
    struct bench_case one = {.group    = BENCH_HEAP,
                             .name     = "malloc + free",
                             .memory   = "heap",
                             .bytes    = 64,
                             .by       = BENCH_BY_EACH,
                             .calls    = 1,
                             .ours     = our_malloc_free,
                             .raw      = two_barriers,
                             .raw_name = "two barrier_all"};
    bench_measure(&one);
    run_first_touch();
}

/* ---- start-up ---- */

/* The environment of a shell: what the launcher of this job has put into it would make the new job's PEs think they belong here. */
static char **plain_environment(void)
{
    static const char *const job[]  = {"POSTERN_", "PMIX_", "PMI_", "OMPI_", "PRTE_", "SLURM_", "HYDRA_", "MPI"};
    static const char *const kept[] = {"OMPI_MCA_osc=", "OMPI_ALLOW_RUN_AS_ROOT"};
    size_t                   count = 0, used = 0;
    while (environ[count]) count++;
    char **plain = calloc(count + 1, sizeof *plain);
    for (size_t i = 0; plain && i < count; i++) {
        bool out = false;
        for (size_t k = 0; k < sizeof job / sizeof job[0]; k++) out |= strncmp(environ[i], job[k], strlen(job[k])) == 0;
        for (size_t k = 0; k < sizeof kept / sizeof kept[0]; k++) out &= strncmp(environ[i], kept[k], strlen(kept[k])) != 0;
        if (!out) plain[used++] = environ[i];
    }
    return plain;
}

/* Run all, wait for all: milliseconds as nanoseconds, or a negative number where one failed. */
static double run_ns(char *const argv[], int copies, char *const envp[])
{
    pid_t  children[2];
    double start = bench_now_ns();
    int    born = 0, bad = 0;
    for (; born < copies; born++) {
        int err = posix_spawnp(&children[born], argv[0], NULL, NULL, argv, envp);
        if (err) {
            fprintf(stderr, "postern-bench: could not start %s" WHY "%s" FIX "give the launcher with --launcher\n", argv[0],
                    strerror(err));
            bad = 1;
            break;
        }
    }
    for (int i = 0; i < born; i++) {
        int status;
        if (waitpid(children[i], &status, 0) < 0 || status != 0) bad = 1;
    }
    return bad ? -1 : bench_now_ns() - start;
}

void bench_run_startup(void)
{
    static const char *const names[]  = {"job of 1 PE", "job of 2 PEs", "job of 8 PEs"};
    static const char *const counts[] = {"1", "2", "8"};
    enum { ROUNDS = 15, KINDS = 3 };
    static double ours[KINDS][ROUNDS], plain[ROUNDS], plain_copy[ROUNDS];
    if (bench.me != 0 || !(bench.groups & BENCH_STARTUP)) return;
    char  *empty[] = {bench.self, "--empty-program", NULL};
    char **envp    = plain_environment();
    if (!envp) return;
    for (int i = -1; i < ROUNDS; i++) {
        double spent = run_ns(empty, 2, envp);
        if (spent < 0) goto end;
        if (i >= 0) plain[i] = spent;
        for (int k = 0; k < KINDS; k++) {
            bench_progress(names[k], 0);
            char *job[] = {(char *)(uintptr_t)bench.launcher, "-n", (char *)(uintptr_t)counts[k], bench.self, "--empty-job", NULL};
            spent       = run_ns(job, 1, envp);
            if (spent < 0) {
                bench_progress(NULL, 0);
                fprintf(stderr, "postern-bench: start-up is not measured" WHY "`%s -n %s %s --empty-job` failed\n", bench.launcher,
                        counts[k], bench.self);
                goto end;
            }
            if (i >= 0) ours[k][i] = spent;
        }
    }
    for (int k = 0; k < KINDS; k++) {
        struct bench_case what = {
            .group = BENCH_STARTUP, .name = names[k], .memory = "", .raw_name = "fork, exec of two", .calls = 1};
        memcpy(plain_copy, plain, sizeof plain);
        if (bench_wanted(&what)) bench_note(&what, ours[k], plain_copy, ROUNDS);
    }
end:
    free(envp);
}
