/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 1 2 4
 * LINK: pthread
 *
 * A unit gets the state at init or when it is registered, whichever is later, in every job of the process. Teams and contexts are in it from
 * their creation to their end, and a team's sync area is zero when it is made. Mapped PEs are where the state says.
 * Spec: none; calls in kernels are an extension
 */
#include "kernel.h"

static struct shmemd_state second_state;
static int                 second_upload(const void *state, size_t bytes)
{
    memcpy(&second_state, state, bytes);
    return 0;
}
static struct shmemd_unit second_unit = {
    .version = SHMEMD_STATE_VERSION, .bytes = sizeof(struct shmemd_state), .on_cpu = 1, .upload = second_upload};

/* As kernels search: open addressing, on past entries that were given back. */
static const struct shmemd_team *find_team(shmem_team_t team)
{
    uint64_t handle = (uint64_t)(uintptr_t)team;
    uint32_t place  = SHMEMD_HASH(handle);
    for (int i = 0; i < SHMEMD_TEAMS_TABLE; i++, place = (place + 1) % SHMEMD_TEAMS_TABLE) {
        if (kernel_state.teams[place].handle == handle) return &kernel_state.teams[place];
        if (kernel_state.teams[place].handle == 0) return NULL;
    }
    return NULL;
}

static const struct shmemd_context *find_context(shmem_ctx_t ctx)
{
    uint64_t handle = (uint64_t)(uintptr_t)ctx;
    uint32_t place  = SHMEMD_HASH(handle);
    for (int i = 0; i < SHMEMD_CONTEXTS_TABLE; i++, place = (place + 1) % SHMEMD_CONTEXTS_TABLE) {
        if (kernel_state.contexts[place].handle == handle) return &kernel_state.contexts[place];
        if (kernel_state.contexts[place].handle == 0) return NULL;
    }
    return NULL;
}

static int member(const struct shmemd_team *team, int i)
{
    int place = team->start + i * team->stride;
    return team->list ? team->list[place] : place;
}

static void check_team(shmem_team_t team)
{
    const struct shmemd_team *entry = find_team(team);
    if (!CHECK(entry != NULL)) return;
    CHECK_EQUAL(entry->n, shmem_team_n_pes(team));
    CHECK_EQUAL(entry->me, shmem_team_my_pe(team));
    for (int i = 0; i < entry->n; i++) CHECK_EQUAL(member(entry, i), shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD));
    if (entry->n == 1) return;
    char *area = kernel_state.sync + (size_t)entry->slot * SHMEMD_SYNC_BYTES;
    if (!CHECK(entry->slot >= 2 && entry->slot < SHMEMD_TEAMS_MAX)) return;
    for (int i = 0; i < SHMEMD_SYNC_BYTES; i++)
        if (!CHECK_EQUAL(area[i], 0)) break;
    memset(area, 1, SHMEMD_SYNC_BYTES); /* its end must clear it for the next */
}

static void teams_come_and_go(void)
{
    for (int round = 0; round < 150; round++) { /* more than there are entries */
        shmem_team_t team, shared;
        shmem_ctx_t  ctx;
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), NULL, 0, &team);
        shmem_team_split_strided(SHMEM_TEAM_SHARED, 0, 1, shmem_team_n_pes(SHMEM_TEAM_SHARED), NULL, 0, &shared);
        check_team(team);
        if (shared != SHMEM_TEAM_INVALID) check_team(shared);
        CHECK_EQUAL(shmem_team_create_ctx(team, 0, &ctx), 0);
        const struct shmemd_context *entry = find_context(ctx);
        if (CHECK(entry != NULL)) CHECK(entry->team == (uint64_t)(uintptr_t)team && entry->ctx > 0 && entry->ctx < SHMEMD_CONTEXTS);
        shmem_ctx_destroy(ctx);
        CHECK(find_context(ctx) == NULL);
        shmem_team_destroy(shared);
        shmem_team_destroy(team);
        CHECK(find_team(team) == NULL);
    }
}

/* Where a kernel stores for a PE is where that PE reads. */
static void mapped_pes_are_there(void)
{
    int                          me = shmem_my_pe(), n = shmem_n_pes();
    uint64_t                    *words   = shmem_calloc((size_t)n, sizeof *words), offset;
    int                          kind    = kernel_place(words, &offset);
    const struct shmemd_segment *segment = &kernel_state.segment[kind];
    CHECK_EQUAL(kind, SHMEMD_SEGMENT_HEAP);
    for (int pe = 0; pe < n; pe++) {
        int64_t index = segment->local_of ? segment->local_of[pe] : (int64_t)pe - segment->map_first;
        bool    here  = segment->local_of ? index >= 0 : index >= 0 && index < (int64_t)segment->map_count;
        /* Where all are posted to, this PE is too, in the same order; a pointer to its own memory it has all the same. */
        if (pe != me || here) CHECK_EQUAL(here, shmem_ptr(words, pe) != NULL);
        if (!here) CHECK(kernel_state.flags & SHMEMD_FLAG_RING);
        if (here)
            ((uint64_t *)(uintptr_t)(segment->map_base + (uint64_t)index * segment->stride + offset))[me] = (uint64_t)(pe + 1);
    }
    shmem_barrier_all();
    for (int pe = 0; pe < n; pe++)
        if (shmem_ptr(words, pe) && (pe != me || words[me] != 0)) CHECK_EQUAL(words[pe], me + 1);
    shmem_free(words);
}

int main(void)
{
    CHECK_EQUAL(shmemx_device_register(&kernel_unit), 0);
    for (int job = 0; job < 2; job++) {
        shmem_init();
        CHECK_EQUAL(kernel_state.version, SHMEMD_STATE_VERSION);
        CHECK_EQUAL(kernel_state.my_pe, shmem_my_pe());
        CHECK_EQUAL(kernel_state.npes, shmem_n_pes());
        CHECK_EQUAL(kernel_state.world.n, shmem_n_pes());
        CHECK_EQUAL(kernel_state.shared.n, shmem_team_n_pes(SHMEM_TEAM_SHARED));
        CHECK(shmem_addr_accessible(kernel_state.sync, (shmem_my_pe() + 1) % shmem_n_pes()));
        mapped_pes_are_there();
        teams_come_and_go();
        CHECK_EQUAL(shmemx_device_register(&second_unit), 0); /* late */
        CHECK(memcmp(&second_state, &kernel_state, sizeof second_state) == 0);
        shmem_finalize();
        CHECK_EQUAL(kernel_state.version, 0);
        CHECK_EQUAL(second_state.version, 0);
        shmemx_device_unregister(&second_unit);
    }
    shmemx_device_unregister(&kernel_unit);
    return api_result();
}
