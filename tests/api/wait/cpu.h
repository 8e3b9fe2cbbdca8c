/* SPDX-License-Identifier: Apache-2.0
 *
 * How much of a core this process used over a stretch of time.
 */
#ifndef POSTERN_TESTS_CPU_H
#define POSTERN_TESTS_CPU_H

#include "../api.h"

#include <sys/resource.h>
#include <time.h>

struct cpu_use {
    double cpu_s, wall_s;
};

static inline double cpu_now_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static inline double wall_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static inline struct cpu_use cpu_begin(void)
{
    return (struct cpu_use){.cpu_s = cpu_now_s(), .wall_s = wall_now_s()};
}

/* Percent of one core since begin. */
static inline double cpu_percent(struct cpu_use begin)
{
    return 100 * (cpu_now_s() - begin.cpu_s) / (wall_now_s() - begin.wall_s);
}

static inline void sleep_ms(long ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0) continue;
}

#endif
