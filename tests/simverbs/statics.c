/* SPDX-License-Identifier: Apache-2.0
 *
 * Static data are registered with the segments at the start: what an operation reads from them or writes into them here, at the addresses that
 * the program uses, is not registered again. Private memory is, each time. By 2 PEs over the ibverbs transport.
 */
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1 << 16 }; /* of long: more than is copied */

static long from[COUNT], to[COUNT], back[COUNT];

static uint64_t count(const char *name)
{
    uint64_t value = UINT64_MAX;
    shmemx_counter(name, &value);
    return value;
}

static int differ(const long *got, const char *what)
{
    for (long i = 0; i < COUNT; i++)
        if (got[i] != i + 1) return printf("PE %d: %s[%ld] is %ld\n", shmem_my_pe(), what, i, got[i]), 1;
    return 0;
}

static int expect(const char *what, uint64_t got, uint64_t wanted)
{
    if (got == wanted) return 0;
    printf("PE %d: %s: %llu, not %llu\n", shmem_my_pe(), what, (unsigned long long)got, (unsigned long long)wanted);
    return 1;
}

int main(void)
{
    int wrong = 0;
    shmem_init();
    int other = 1 - shmem_my_pe();
    for (long i = 0; i < COUNT; i++) from[i] = i + 1;
    shmem_barrier_all();
    shmem_long_put(to, from, COUNT, other);
    shmem_barrier_all();
    wrong += differ(to, "to");
    shmem_long_get(back, from, COUNT, other);
    wrong += differ(back, "back");
    wrong += expect("registrations for static data", count("ibverbs.registrations"), 0);

    long *private = malloc(COUNT * sizeof *private);
    shmem_long_get(private, from, COUNT, other);
    wrong += differ(private, "private");
    wrong += expect("registrations for private memory", count("ibverbs.registrations"), 1);
    free(private);
    shmem_finalize();
    return wrong ? 1 : 0;
}
