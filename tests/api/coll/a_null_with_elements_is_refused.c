/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 1 2 3
 * ENV: POSTERN_CHECK=0
 *
 * Without checks too, NULL where there are elements ends the job with a message that names the argument, not with a crash.
 * Spec: OpenSHMEM 1.6 §9.10 Collective Routines
 */
#include "../child.h"

static long data[16];

static void no_dest(void)
{
    shmem_long_broadcast(SHMEM_TEAM_WORLD, NULL, data, 2, 0);
}

static void no_source(void)
{
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, data, NULL, 2);
}

static void no_source_of_fcollect(void)
{
    shmem_long_fcollect(SHMEM_TEAM_WORLD, data, NULL, 1);
}

int main(void)
{
    shmem_init();
    CHECK(child_refuses("dest", no_dest, (const char *const[]){"shmem_long_broadcast: dest is NULL", NULL}));
    CHECK(child_refuses("source", no_source, (const char *const[]){"shmem_long_sum_reduce: source is NULL", NULL}));
    CHECK(child_refuses("fcollect", no_source_of_fcollect, (const char *const[]){"shmem_long_fcollect: source is NULL", NULL}));
    shmem_finalize();
    return api_result();
}
