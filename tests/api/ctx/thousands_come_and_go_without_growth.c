/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 1 2 3
 * ENV: ASAN_OPTIONS=quarantine_size_mb=1
 * NOVALGRIND: resident memory is that of valgrind then
 *
 * A destroyed context leaves nothing behind: 3,000 of them with some traffic do not make the process grow. B22. One context is a
 * few hundred bytes, so 3,000 lost ones are 600 KiB at least; under ASan, whose own records grow, its leak detector finds them.
 * Before that a transport may touch the rings that it has once: 1,000 contexts go first, on all PEs, since the rings of a connection are touched by
 * what the other end sends, too.
 * Spec: OpenSHMEM 1.6 §9.5.1 shmem_ctx_create, §9.5.3 shmem_ctx_destroy
 */
#include "../api.h"

#include <unistd.h>

enum { WARM_UP = 1000, PAIRS = WARM_UP + 3000, GROWTH_KIB_MAX = 400 };
static long word;

static long resident_kib(void)
{
    long  total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &total, &resident) != 2) resident = 0;
    if (file) fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) >> 10);
}

int main(void)
{
    static const long flags[] = {0, SHMEM_CTX_PRIVATE, SHMEM_CTX_SERIALIZED, SHMEM_CTX_NOSTORE};
    shmem_init();
    int  next          = (shmem_my_pe() + 1) % shmem_n_pes();
    long after_warm_up = 0;
    for (int i = 0; i < PAIRS; i++) {
        shmem_ctx_t ctx;
        if (!CHECK_EQUAL(shmem_ctx_create(flags[i % 4], &ctx), 0)) break;
        shmem_ctx_long_atomic_add(ctx, &word, 1, next);
        if (i % 3 == 0) shmem_ctx_quiet(ctx);
        shmem_ctx_destroy(ctx);
        if (i != WARM_UP) continue;
        shmem_barrier_all();
        after_warm_up = resident_kib();
    }
    long growth_kib = resident_kib() - after_warm_up;
    shmem_barrier_all();
    CHECK_EQUAL(word, PAIRS);
    if (growth_kib >= GROWTH_KIB_MAX) fprintf(stderr, "PE %d grew by %ld KiB\n", shmem_my_pe(), growth_kib);
#ifdef __SANITIZE_ADDRESS__
    growth_kib /= 40;
#endif
    CHECK(growth_kib < GROWTH_KIB_MAX);
    shmem_finalize();
    return api_result();
}
