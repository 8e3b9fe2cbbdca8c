/* SPDX-License-Identifier: Apache-2.0
 *
 * A static object has one value, whether its pages are shared with the peers or private again.
 * Spec: OpenSHMEM 1.6 §3 Memory Model, §9.1.4 shmem_finalize
 */
#include "../api.h"

#include <sys/wait.h>
#include <unistd.h>

static long before[700] = {[0] = 3, [699] = 4}; /* in .data */
static long later[5000];                        /* in .bss  */

int main(void)
{
    for (int i = 0; i < 5000; i++) later[i] = i;
    for (int round = 0; round < 3; round++) {
        shmem_init();
        int me = shmem_my_pe(), n = shmem_n_pes();
        CHECK_EQUAL(before[0], round == 0 ? 3 : 1000 + round - 1);
        CHECK_EQUAL(before[699], 4 + round);
        for (int i = 0; i < 5000; i++)
            if (!CHECK_EQUAL(later[i], i + round)) break;
        shmem_barrier_all(); /* all have looked */
        shmem_long_p(&before[0], 1000 + round, (me + 1) % n);
        shmem_finalize();

        CHECK_EQUAL(before[0], 1000 + round);
        pid_t child = fork(); /* private again: what a child writes is its own */
        if (child == 0) {
            before[0] = later[4999] = -1;
            _exit(0);
        }
        CHECK_EQUAL(waitpid(child, NULL, 0), child);
        CHECK_EQUAL(before[0], 1000 + round);
        CHECK_EQUAL(later[4999], 4999 + round);
        before[699]++;
        for (int i = 0; i < 5000; i++) later[i]++;
    }
    return api_result();
}
