/* SPDX-License-Identifier: Apache-2.0
 *
 * A signal operator that is neither SET nor ADD ends the job with a message that names the call; nothing is written before.
 * Spec: OpenSHMEM 1.6 §9.8.2 Available Signal Operators
 * PES: 1 2
 * STATUS: 1
 * OUTPUT: shmem_long_put_signal: signal operator 12345
 * OUTPUT: fix: pass one of the two
 */
#include "../api.h"

int main(void)
{
    static uint64_t word;
    static long     data;
    const long      value = 1;
    shmem_init();
    shmem_long_put_signal(&data, &value, 1, &word, 1, 12345, 0);
    shmem_finalize();
    return 0;
}
