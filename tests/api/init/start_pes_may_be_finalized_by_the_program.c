/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 1 2
 *
 * A program may call shmem_finalize for start_pes. Then exit has nothing to do. Spec: OpenSHMEM 1.6 §9.1.13 start_pes.
 */
#include "../api.h"

int main(void)
{
    int initialized = -1;
    start_pes(0);
    api_pe();
    shmem_barrier_all();
    shmem_finalize();
    shmem_query_initialized(&initialized);
    CHECK_EQUAL(initialized, 0);
    return api_result();
}
