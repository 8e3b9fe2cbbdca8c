/* SPDX-License-Identifier: Apache-2.0
 *
 * Every third element here goes to every second place there; the places between keep what they had.
 * Spec: OpenSHMEM 1.6 §9.6.1.3 shmem_iput
 * Does what the specification's shmem_iput_example does.
 * PES: 2 3
 */
#include "../../api/api.h"

enum { COUNT = 4 };
static short places[2 * COUNT];

int main(void)
{
    shmem_init();
    int   me = shmem_my_pe();
    short deck[3 * COUNT];
    for (int i = 0; i < 3 * COUNT; i++) deck[i] = (short)(500 + i);
    for (int i = 0; i < 2 * COUNT; i++) places[i] = (short)-i;
    shmem_barrier_all();
    if (me == 0) shmem_iput(places, deck, 2, 3, COUNT, 1);
    shmem_barrier_all();
    for (int i = 0; i < 2 * COUNT; i++) CHECK_EQUAL(places[i], me == 1 && i % 2 == 0 ? 500 + i / 2 * 3 : -i);
    shmem_finalize();
    return api_result();
}
