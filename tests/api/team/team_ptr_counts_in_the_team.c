/* SPDX-License-Identifier: Apache-2.0
 *
 * shmem_team_ptr takes a number of the team and gives the same address as shmem_ptr does for that PE in the world: never NULL
 * for the caller itself. Numbers that the team does not have, and no team at all, give NULL.
 * Spec: OpenSHMEM 1.6 §9.1.10 shmem_team_ptr
 * PES: 1 2 3
 */
#include "../api.h"

static long word;

static void compare(shmem_team_t team, long *heap)
{
    int n = shmem_team_n_pes(team), me = shmem_team_my_pe(team);
    for (int pe = 0; pe < n; pe++) {
        int world = shmem_team_translate_pe(team, pe, SHMEM_TEAM_WORLD);
        CHECK(shmem_team_ptr(team, &word, pe) == shmem_ptr(&word, world));
        CHECK(shmem_team_ptr(team, &heap[1], pe) == shmem_ptr(&heap[1], world));
    }
    if (me >= 0) CHECK(shmem_team_ptr(team, &word, me) == &word && shmem_team_ptr(team, heap, me) == heap);
    CHECK(shmem_team_ptr(team, &word, n < 0 ? 0 : n) == NULL);
    CHECK(shmem_team_ptr(team, &word, -1) == NULL);
}

int main(void)
{
    shmem_init();
    int          n = shmem_n_pes(), on_stack = 0;
    long        *heap = shmem_malloc(2 * sizeof *heap);
    shmem_team_t turned, part;
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n, NULL, 0, &turned), 0);
    CHECK_EQUAL(shmem_team_split_strided(turned, 0, 1, (n + 1) / 2, NULL, 0, &part), 0);
    compare(SHMEM_TEAM_WORLD, heap);
    compare(SHMEM_TEAM_SHARED, heap);
    compare(turned, heap);
    compare(part, heap);
    compare(SHMEM_TEAM_INVALID, heap);
    CHECK(shmem_team_ptr(turned, &on_stack, 0) == NULL);
    shmem_free(heap);
    shmem_finalize();
    return api_result();
}
