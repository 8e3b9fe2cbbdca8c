/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of different length are packed into one buffer of one PE: an exclusive sum over the lengths, in place, says where each
 * part begins. The inclusive sum says where it ends.
 * Spec: OpenSHMEM 1.6 §9.10.10 shmem_sum_exscan, shmem_sum_inscan
 * Does what the specification's shmem_scan_example does.
 * PES: 2 3 5
 */
#include "../../api/api.h"

static size_t length, end;
static int    buffer[64];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), packer = 1, part[8];
    length = (size_t)((me * 3 + 1) % 4); /* 1 0 3 2 1 0 ... */
    for (size_t i = 0; i < length; i++) part[i] = 100 * (me + 1) + (int)i;
    size_t mine = length;
    CHECK_EQUAL(shmem_sum_inscan(SHMEM_TEAM_WORLD, &end, &length, 1), 0);
    CHECK_EQUAL(shmem_sum_exscan(SHMEM_TEAM_WORLD, &length, &length, 1), 0);
    CHECK_EQUAL(length + mine, end);
    shmem_put(&buffer[length], part, mine, packer);
    shmem_barrier_all();
    if (me == packer) {
        int place = 0;
        for (int pe = 0; pe < n; pe++) {
            for (int i = 0; i < (pe * 3 + 1) % 4; i++) CHECK_EQUAL(buffer[place++], 100 * (pe + 1) + i);
        }
        CHECK_EQUAL(buffer[place], 0);
    }
    shmem_finalize();
    return api_result();
}
