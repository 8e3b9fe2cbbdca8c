/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers from a seed, and time, for chaos.c.
 */
#ifndef SHMEMT_CHAOS_CHANCE_H
#define SHMEMT_CHAOS_CHANCE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline uint64_t chaos_chance_draw(uint64_t *state)
{
    /* splitmix64 */
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z          = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z          = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline bool chaos_chance_one_in(uint64_t *state, unsigned n)
{
    return chaos_chance_draw(state) % n == 0;
}

static inline int64_t chaos_chance_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* "20us", "5ms", "1s", "100ns", plain: seconds. -1 if it is none of these. */
static inline int64_t chaos_chance_parse_time(const char *text)
{
    char  *unit;
    double value = strtod(text, &unit);
    double scale = strcmp(unit, "ns") == 0                           ? 1
                   : strcmp(unit, "us") == 0                         ? 1e3
                   : strcmp(unit, "ms") == 0                         ? 1e6
                   : strcmp(unit, "s") == 0 || strcmp(unit, "") == 0 ? 1e9
                                                                     : -1;
    if (unit == text || scale < 0 || !(value >= 0 && value * scale <= 60e9)) return -1;
    return (int64_t)(value * scale);
}

#endif
