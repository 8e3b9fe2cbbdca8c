/* SPDX-License-Identifier: Apache-2.0
 *
 * Unchecked, options and fields that do not exist and a config that is missing change nothing: they are hints.
 * Spec: OpenSHMEM 1.6 §9.9.2 shmem_ctx_session_start
 * PES: 1 2
 * ENV: POSTERN_CHECK=0
 */
#include "../api.h"

static long word;

int main(void)
{
    shmem_init();
    int next = (shmem_my_pe() + 1) % shmem_n_pes();
    shmem_ctx_session_start(SHMEM_CTX_DEFAULT, -1, NULL, -1);
    shmem_long_p(&word, 7, next);
    shmem_ctx_session_stop(SHMEM_CTX_DEFAULT);
    shmem_barrier_all();
    CHECK_EQUAL(word, 7);
    shmem_finalize();
    return api_result();
}
