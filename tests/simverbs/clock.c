/* SPDX-License-Identifier: Apache-2.0
 *
 * Time and chance: the scheduler's, or the machine's clock and a sequence of random numbers of this process's own.
 */
#include "schedule.h"

#include <time.h>

static uint64_t state;

uint64_t sim_now_ns(void)
{
    struct timespec now;

    if (sim_schedule_on()) return sim_schedule_now_ns();
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* splitmix64 */
uint64_t sim_random(void)
{
    if (sim_schedule_on()) return sim_schedule_random();
    if (state == 0) state = ((uint64_t)sim_options.seed << 32) + (uint64_t)sim_fabric_slot() + 1;
    state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = state;
    z          = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z          = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

unsigned sim_random_below(unsigned limit)
{
    return limit ? (unsigned)(sim_random() % limit) : 0;
}

bool sim_chance(unsigned per_mille)
{
    return per_mille && sim_random_below(1000) < per_mille;
}
