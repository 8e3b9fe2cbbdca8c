/* SPDX-License-Identifier: Apache-2.0
 *
 * The records of the heap are private memory, and a limit of it (ulimit -d) may be met by one PE alone. What it cannot get is NULL on all PEs, and
 * what is given has the same offset on all. Blocks are small and many, so that records run out and not the heap.
 * All PEs get the same.
 *
 * PES: 2 3 4
 * ENV: SHMEM_SYMMETRIC_SIZE=16M
 * NOVALGRIND: more than one PE
 * NOSIMVERBS: queue pairs are made when a peer is first needed, and the simulated card too is memory of the process
 * Spec: OpenSHMEM 1.6 §9.3 Memory Management Routines
 */
#include "../api.h"

#include <sys/resource.h>

enum { CALLS = 5000, AGAIN = 200, MORE_BYTES = 32 << 10 };
#define GIVEN_NULL UINT64_MAX

static uint64_t offsets[CALLS + AGAIN], others[CALLS + AGAIN];
static void    *blocks[CALLS];
static int      limited = 1;

/* The private writable memory that the process has now, and little more. */
static bool limit_private_memory(void)
{
    char  line[256];
    long  kib    = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmData: %ld", &kib) == 1) break;
    if (status) fclose(status);
    const rlim_t        bytes = ((rlim_t)kib << 10) + MORE_BYTES;
    const struct rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
    if (kib < 0 || setrlimit(RLIMIT_DATA, &limit) != 0) return false;
    void *much = malloc((size_t)64 << 20);
    free(much);
    return much == NULL;
}

static uint64_t offset_of(const void *block, const char *first)
{
    return block ? (uint64_t)((const char *)block - first) : GIVEN_NULL;
}

static void compare_with_first(void)
{
    shmem_barrier_all();
    shmem_getmem(others, offsets, sizeof offsets, 0);
    for (int i = 0; i < CALLS + AGAIN; i++)
        if (!CHECK_EQUAL(offsets[i], others[i])) {
            fprintf(stderr, "call %d\n", i);
            break;
        }
    shmem_barrier_all();
}

int main(void)
{
#if defined(__SANITIZE_ADDRESS__)
    api_skip("the sanitizer's own memory does not bear a limit");
#endif
    int nulls = 0, kept = -1;
    shmem_init();
    int   me = shmem_my_pe(), n = shmem_n_pes();
    char *first = shmem_malloc(64);
    if (me == n - 1 && !limit_private_memory())
        for (int pe = 0; pe < n; pe++) shmem_int_p(&limited, 0, pe);
    shmem_barrier_all();
    if (!limited) {
        printf("skipped: a limit of private memory has no effect here\n");
        shmem_finalize();
        return API_SKIPPED;
    }

    /* Not until the first NULL but a fixed number, so that all make the same calls also where they get different answers. */
    for (int i = 0; i < CALLS; i++) {
        blocks[i]  = shmem_malloc(64);
        offsets[i] = offset_of(blocks[i], first);
        if (blocks[i]) memset(blocks[i], me + 1, 64), kept = i;
        else nulls++;
    }
    CHECK(nulls > 0 && nulls < CALLS);
    compare_with_first();

    if (kept >= 0) { /* does not grow in place, and finds no record for another one */
        CHECK(shmem_realloc(blocks[0], 100000) == NULL);
        CHECK_EQUAL(((char *)blocks[0])[63], me + 1);
    }
    for (int i = 0; i < CALLS; i += 2) shmem_free(blocks[i]);
    for (int i = 0; i < AGAIN; i++) offsets[CALLS + i] = offset_of(shmem_malloc(40), first);
    CHECK(offsets[CALLS] != GIVEN_NULL);
    compare_with_first();
    shmem_finalize();
    return api_result();
}
