/* SPDX-License-Identifier: Apache-2.0
 *
 * Many seeds in sets of processes: one set for each processor, tied to it. In a set one thread runs at a time, so it has no use for
 * a second processor, and a token that stays on one goes round twice as fast.
 */
#ifndef SIMVERBS_RUNNER_H
#define SIMVERBS_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum runner_end { RUNNER_GOOD, RUNNER_WRONG, RUNNER_NOT_RUN, RUNNER_HANGS, RUNNER_DIED };

/* Where a set stands, in memory that all its processes share. */
struct runner_set {
    _Atomic uint64_t seed;  /* under way                                                    */
    _Atomic uint64_t trace; /* of all its seeds, in any order                               */
    _Atomic int      end;   /* enum runner_end; the first that says so is heard             */
    char             why[600];
};

struct runner {
    int         pes;
    uint64_t    from, seeds;
    int         sets;  /* 0: as many as there are processors                                     */
    const char *again; /* arguments that replay a seed, but for its number                      */
    bool        must_catch;
    /* In each process: run these seeds, and return. */
    void (*run)(int me, struct runner_set *set, uint64_t from, uint64_t step, uint64_t count);
    void (*prepare)(void); /* in the parent of a set's processes, before there are any; or NULL     */
    bool forks;            /* run() is called in one process (me 0), which makes those of each seed */
};

int  runner_main(const struct runner *r); /* the exit status of the program */
void runner_fail(struct runner_set *set, enum runner_end end, const char *format, ...)
    __attribute__((format(printf, 3, 4))); /* note why, once */

/* ---- chance, the same for all: from the seed and a purpose (splitmix64) ---- */

static inline uint64_t runner_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline uint64_t runner_draw(uint64_t *state)
{
    return runner_mix(*state += UINT64_C(0x9e3779b97f4a7c15));
}

#endif
