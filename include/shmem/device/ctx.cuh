/* SPDX-License-Identifier: Apache-2.0
 *
 * Contexts in a kernel: which team a call's PE numbers count in, and which of the ring's orders it belongs to.
 * Spec: OpenSHMEM 1.6 §9.5.
 *
 * For mapped PEs a context is nothing: its operations are loads and stores of the calling thread.
 */
#ifndef SHMEMD_CTX_CUH
#define SHMEMD_CTX_CUH

#include "wait.cuh"

/* The table's entry for a context that the program has made, or NULL.  The table is in host memory. */
SHMEMD_FN const struct shmemd_context *shmemd_ctx_entry(const struct shmemd_state *self, uint64_t handle)
{
    uint32_t i, at;

    if (self->contexts == NULL || handle == 0 || handle == SHMEMD_GONE) return NULL;
    for (i = 0, at = SHMEMD_HASH(handle); i < SHMEMD_CONTEXTS_TABLE; i++, at = (at + 1) % SHMEMD_CONTEXTS_TABLE) {
        uint64_t found = shmemd_load_acquire(&self->contexts[at].handle, 8);

        if (found == handle) return &self->contexts[at];
        if (found == 0) return NULL;
    }
    return NULL;
}

SHMEMD_SLOW int shmemd_ctx_search(shmem_ctx_t ctx, int pe, int *ring_ctx_out, const char *call)
{
    const struct shmemd_context *entry = shmemd_ctx_entry(shmemd_self(), (uint64_t)(uintptr_t)ctx);
    const struct shmemd_team    *team;

    if (entry == NULL) shmemd_refuse(call, SHMEMD_REPORT_ARGUMENT, pe, NULL, (uint64_t)(uintptr_t)ctx);
    *ring_ctx_out = (int)entry->ctx;
    team          = shmemd_team_find((shmem_team_t)(uintptr_t)entry->team);
    if (team == NULL) shmemd_refuse(call, SHMEMD_REPORT_TEAM, pe, (const void *)(uintptr_t)entry->team, 0);
    if (pe < 0 || pe >= team->n) shmemd_refuse(call, SHMEMD_REPORT_PE, pe, NULL, (uint64_t)(int64_t)pe);
    return shmemd_team_world_pe(team, pe);
}

/* The world number of pe, and the ring's number of ctx. */
SHMEMD_FN int shmemd_ctx_pe(shmem_ctx_t ctx, int pe, int *ring_ctx_out, const char *call)
{
    *ring_ctx_out = 0;
    if (ctx == SHMEM_CTX_DEFAULT) return pe;
    return shmemd_ctx_search(ctx, pe, ring_ctx_out, call);
}

#endif
