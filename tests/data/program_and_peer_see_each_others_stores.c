/* SPDX-License-Identifier: Apache-2.0
 *
 * Initialised, zero, function-local and static objects, small and larger than a page, in both directions.
 * Spec: OpenSHMEM 1.6 §3 Memory Model
 */
#include "tests/data/job.h"

volatile long        initialised = 41;
volatile long        zero;
static volatile long hidden = 7;
static volatile char wide[3 * 65536];

static volatile long *function_local(void)
{
    static volatile long counter = 100;
    return &counter;
}

static void both_ways(const struct job *job, volatile long *object, long before)
{
    volatile long *remote = job_peer(job, object);
    CHECK(*object == before && *remote == before);
    *remote = before + 1;
    CHECK(*object == before + 1);
    *object = before + 2;
    CHECK(*remote == before + 2);
}

int main(void)
{
    zero            = 5;
    wide[65536]     = 'x';
    struct job *job = job_start();
    both_ways(job, &initialised, 41);
    both_ways(job, &zero, 5);
    both_ways(job, &hidden, 7);
    both_ways(job, function_local(), 100);
    volatile char *remote = job_peer(job, wide);
    CHECK(remote[65536] == 'x' && remote[0] == 0 && remote[sizeof wide - 1] == 0);
    remote[sizeof wide - 1] = 'y';
    CHECK(wide[sizeof wide - 1] == 'y');
    return 0;
}
