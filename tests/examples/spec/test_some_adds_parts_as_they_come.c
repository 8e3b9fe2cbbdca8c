/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of a sum come from all PEs in any order. shmem_test_some says which have come; between two questions the PE is free.
 * Spec: OpenSHMEM 1.6 §9.11.11 shmem_test_some
 * Does what the specification's shmem_test_some_example does.
 * PES: 2 3
 */
#include "../../api/api.h"

enum { COUNT = 64 };

/* Every PE gives every PE its part, and then a flag behind it. */
static void send_parts(int *parts, int *flags, int *mine)
{
    int me = shmem_my_pe(), n = shmem_n_pes();
    for (int i = 0; i < COUNT; i++) mine[i] = me * COUNT + i + 1;
    for (int pe = 0; pe < n; pe++) shmem_put_nbi(&parts[me * COUNT], mine, COUNT, pe);
    shmem_fence();
    for (int pe = 0; pe < n; pe++) shmem_atomic_set(&flags[me], 1, pe);
}

static long sum_of(const int *parts, size_t who)
{
    long sum = 0;
    for (size_t i = 0; i < COUNT; i++) sum += parts[who * COUNT + i];
    return sum;
}

int main(void)
{
    shmem_init();
    int    n     = shmem_n_pes();
    size_t count = (size_t)n;
    int   *parts = shmem_calloc(count * COUNT, sizeof *parts), *flags = shmem_calloc(count, sizeof *flags);
    int   *done = calloc(count, sizeof *done), mine[COUNT];
    size_t which[16];
    if (parts == NULL || flags == NULL || done == NULL) shmem_global_exit(1);
    long total = 0, all = (long)n * COUNT;
    send_parts(parts, flags, mine);
    for (size_t come = 0; come < count;) {
        size_t now = shmem_test_some(flags, count, which, done, SHMEM_CMP_NE, 0);
        for (size_t i = 0; i < now; i++) {
            total += sum_of(parts, which[i]);
            done[which[i]] = 1;
        }
        come += now;
    }
    CHECK_EQUAL(total, all * (all + 1) / 2);
    shmem_quiet(); /* mine was a source */
    free(done);
    shmem_free(flags);
    shmem_free(parts);
    shmem_finalize();
    return api_result();
}
