/* SPDX-License-Identifier: Apache-2.0
 *
 * A profiling tool in the program: it defines shmem_long_put itself, counts and times, and calls pshmem_long_put for the work. The
 * program's own calls come through it, those by the generic too; put of another type does not.
 * Spec: OpenSHMEM 1.6 §10 OpenSHMEM Profiling Interface, §10.3.3 C11 Type-Generic Interfaces, §9.6.1.1 shmem_put
 * Does what the specification's pshmem_example does.
 * PES: 2 3
 */
#include <pshmem.h>
#include <time.h>
#include "../../api/api.h"

static long   calls;
static size_t elements;
static double seconds;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void shmem_long_put(long *dest, const long *source, size_t nelems, int pe)
{
    double before = now();
    pshmem_long_put(dest, source, nelems, pe);
    seconds += now() - before;
    elements += nelems;
    calls++;
}

static long words[12];
static int  others[12];

int main(void)
{
    shmem_init();
    int  me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n, before = (me + n - 1) % n;
    long mine[12];
    int  small[12] = {me};
    for (int i = 0; i < 12; i++) mine[i] = me * 12 + i;
    for (size_t i = 0; i < 12; i += 4) shmem_long_put(words + i, mine + i, 3, next);
    shmem_put(words + 11, mine + 11, 1, next); /* the generic calls shmem_long_put */
    shmem_put(others, small, 12, next);        /* shmem_int_put: not counted          */
    shmem_barrier_all();
    for (int i = 0; i < 11; i++) CHECK_EQUAL(words[i], i % 4 < 3 ? before * 12 + i : 0);
    CHECK_EQUAL(words[11], before * 12 + 11);
    CHECK_EQUAL(others[0], before);
    CHECK_EQUAL(calls, 4);
    CHECK_EQUAL(elements, 10);
    CHECK(seconds >= 0.0);
    shmem_finalize();
    return api_result();
}
