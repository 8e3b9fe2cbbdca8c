/* SPDX-License-Identifier: Apache-2.0
 *
 * Each PE ticks its name off a list on PE 0: one bit of a word, by an atomic or. The word has one type for all of them; who keeps
 * lists in two widths keeps two words.
 * Spec: OpenSHMEM 1.6 §3.2 Atomicity Guarantees, §9.7.1.12 shmem_atomic_or
 * Does what the specification's amo_scenario_2 warns about, in the way that is defined.
 * PES: 2 3
 */
#include "../../api/api.h"

static uint64_t wide;
static uint32_t narrow;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    shmem_atomic_or(&wide, UINT64_C(1) << (63 - me), 0);
    shmem_atomic_or(&narrow, UINT32_C(1) << me, 0);
    shmem_barrier_all();
    if (me == 0) {
        CHECK(wide == ~UINT64_C(0) << (64 - n));
        CHECK(narrow == (UINT32_C(1) << n) - 1);
    } else {
        CHECK(wide == 0 && narrow == 0);
    }
    shmem_finalize();
    return api_result();
}
