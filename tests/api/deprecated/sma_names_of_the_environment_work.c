/* SPDX-License-Identifier: Apache-2.0
 *
 * The four variables by their old names: the size of the heap, the version and the help at start, and debug messages.
 * Spec: OpenSHMEM 1.6 §F.2.9, §8
 * PES: 1 2
 * ENV: SMA_SYMMETRIC_SIZE=1M SMA_VERSION=1 SMA_INFO=1 SMA_DEBUG=1
 * OUTPUT: OpenSHMEM 1.6
 * OUTPUT: ^. SHMEM_SYMMETRIC_SIZE *1M
 * OUTPUT: session on context
 */
#include "../api.h"

int main(void)
{
    shmem_init();
    CHECK(shmem_malloc(2 << 20) == NULL);
    void *block = shmem_malloc(1000 << 10);
    CHECK(block != NULL);
    shmem_free(block);
    shmem_ctx_session_start(SHMEM_CTX_DEFAULT, 0, NULL, 0); /* has a debug message */
    shmem_finalize();
    return api_result();
}
