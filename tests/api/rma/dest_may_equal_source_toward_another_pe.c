/* SPDX-License-Identifier: Apache-2.0
 *
 * put(data, data, n, next): the pointers are equal, the memory is not. Checked mode must see that too.
 * Spec: OpenSHMEM 1.6 §4.2 Invoking OpenSHMEM Operations, §9.6.1.1 shmem_put; pitfall: overlap is of memory, not of pointers
 * ENV: POSTERN_CHECK=1
 * PES: 2 3 4 8 16
 */
#include "../api.h"

enum { COUNT = 300 };

int main(void)
{
    static int data[COUNT];
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    for (int i = 0; i < COUNT; i++) data[i] = me * 1000 + i;
    shmem_barrier_all();
    /* Even PEs write, odd PEs are written, so that no array is read while it is written. */
    if (me % 2 == 0 && me + 1 < n) shmem_int_put(data, data, COUNT, me + 1);
    shmem_barrier_all();
    int owner = me % 2 ? me - 1 : me;
    for (int i = 0; i < COUNT; i++) CHECK_EQUAL(data[i], owner * 1000 + i);
    shmem_barrier_all();
    for (int i = 0; i < COUNT; i++) data[i] = me * 1000 + i;
    shmem_barrier_all();
    if (me % 2 == 0 && me + 1 < n) shmem_int_get(data, data, COUNT, me + 1);
    owner = me % 2 == 0 && me + 1 < n ? me + 1 : me;
    for (int i = 0; i < COUNT; i++) CHECK_EQUAL(data[i], owner * 1000 + i);
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
