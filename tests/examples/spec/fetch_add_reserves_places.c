/* SPDX-License-Identifier: Apache-2.0
 *
 * A journal on PE 0 that all write to at once: a fetch-and-add reserves places, puts fill them. No two entries share one, none is
 * left out.
 * Spec: OpenSHMEM 1.6 §9.7.1.7 shmem_atomic_fetch_add
 * Does what the specification's shmem_atomic_fetch_add_example does.
 * PES: 2 3
 */
#include "../../api/api.h"

enum { ENTRIES = 20, PLACES = 512 };
static int used = 3, journal[PLACES];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), length = me + 1, entry[8];
    for (int i = 0; i < length; i++) entry[i] = me + 1;
    for (int i = 0; i < ENTRIES; i++) {
        int place = shmem_atomic_fetch_add(&used, length, 0);
        if (!CHECK(place >= 3 && place + length <= PLACES)) break;
        shmem_put(&journal[place], entry, (size_t)length, 0);
    }
    shmem_barrier_all();
    CHECK_EQUAL(used, me == 0 ? 3 + ENTRIES * (n * (n + 1) / 2) : 3);
    for (int i = 3; me == 0 && i < used; i += journal[i]) {
        if (!CHECK(journal[i] >= 1 && journal[i] <= n)) break;
        for (int j = 1; j < journal[i]; j++) CHECK_EQUAL(journal[i + j], journal[i]);
    }
    shmem_finalize();
    return api_result();
}
