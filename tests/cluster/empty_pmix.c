/* SPDX-License-Identifier: Apache-2.0
 *
 * The least that a PMIx client can be: what starting a SHMEM program is compared with (see bench).
 */
#include <pmix.h>

int main(void)
{
    pmix_proc_t me;
    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS) return 1;
    return PMIx_Finalize(NULL, 0) == PMIX_SUCCESS ? 0 : 1;
}
