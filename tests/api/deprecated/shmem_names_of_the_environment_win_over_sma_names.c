/* SPDX-License-Identifier: Apache-2.0
 *
 * Where both names of a variable are set, that of today counts, whatever the old one holds.
 * Spec: OpenSHMEM 1.6 §F.2.9, §8
 * PES: 1 2
 * ENV: SMA_SYMMETRIC_SIZE=no-size SHMEM_SYMMETRIC_SIZE=1M
 */
#include "../api.h"

int main(void)
{
    shmem_init();
    CHECK(shmem_malloc(2 << 20) == NULL);
    void *block = shmem_malloc(1000 << 10);
    CHECK(block != NULL);
    shmem_free(block);
    shmem_finalize();
    return api_result();
}
