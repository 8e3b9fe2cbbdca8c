/* SPDX-License-Identifier: Apache-2.0
 *
 * SHMEM_TEAM_WORLD numbers as shmem_my_pe does; SHMEM_TEAM_SHARED holds the PEs whose memory can be
 * loaded and stored, at least the caller; members are numbered 0 to n - 1.
 * Spec: OpenSHMEM 1.6 §7 Library Handles, §9.4 Team Management Routines, §9.4.1 shmem_team_my_pe, §9.4.2 shmem_team_n_pes
 */
#include "../api.h"

int main(void)
{
    shmem_init();
    int   me = shmem_my_pe(), n = shmem_n_pes();
    char *block = shmem_malloc(1);
    CHECK_EQUAL(shmem_team_my_pe(SHMEM_TEAM_WORLD), me);
    CHECK_EQUAL(shmem_team_n_pes(SHMEM_TEAM_WORLD), n);

    int shared_me = shmem_team_my_pe(SHMEM_TEAM_SHARED), shared_n = shmem_team_n_pes(SHMEM_TEAM_SHARED), reachable = 0;
    CHECK(shared_n >= 1 && shared_me >= 0 && shared_me < shared_n);
    CHECK_EQUAL(shmem_team_translate_pe(SHMEM_TEAM_SHARED, shared_me, SHMEM_TEAM_WORLD), me);
    for (int pe = 0; pe < n; pe++) {
        int there = shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, SHMEM_TEAM_SHARED);
        CHECK_EQUAL(shmem_ptr(block, pe) != NULL, there >= 0);
        if (there < 0) continue;
        reachable++;
        CHECK(there < shared_n);
        CHECK_EQUAL(shmem_team_translate_pe(SHMEM_TEAM_SHARED, there, SHMEM_TEAM_WORLD), pe);
        CHECK(shmem_team_ptr(SHMEM_TEAM_SHARED, block, there) == shmem_ptr(block, pe)); /* numbers of that team */
    }
    CHECK_EQUAL(reachable, shared_n);
    shmem_finalize();
    return api_result();
}
