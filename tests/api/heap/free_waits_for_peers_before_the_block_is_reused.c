/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 2 3 4
 *
 * shmem_free has a barrier on entry, since peers may still use the block. Here PE 0 is late and puts into PE 1's block; the calloc that gets
 * the same memory must be clear after that.
 * Spec: OpenSHMEM 1.6 §9.3.2 shmem_free
 */
#include "../api.h"

#include <unistd.h>

enum { BYTES = 4096, ROUNDS = 10 };

int main(void)
{
    shmem_init();
    char garbage[BYTES];
    memset(garbage, 0x5a, sizeof garbage);
    for (int round = 0; round < ROUNDS; round++) {
        char *block = shmem_malloc(BYTES);
        if (shmem_my_pe() == 0) {
            usleep(5000);
            shmem_putmem(block, garbage, BYTES, 1);
        }
        shmem_free(block);
        char *again = shmem_calloc(BYTES, 1);
        CHECK(again == block); /* else this test shows nothing */
        for (int i = 0; i < BYTES; i++)
            if (!CHECK_EQUAL(again[i], 0)) break;
        shmem_free(again);
    }
    shmem_finalize();
    return api_result();
}
