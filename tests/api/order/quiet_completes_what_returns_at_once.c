/* SPDX-License-Identifier: Apache-2.0
 *
 * After quiet, the results of get_nbi and of nonblocking atomics are there, and sources of put_nbi may be written; quiet on one
 * context says nothing about another, whose own quiet completes it; pe_quiet does the same for the PEs it lists, in numbers of the
 * context's team, and with n 0 ignores its list. On an invalid context all of them do nothing.
 * Spec: OpenSHMEM 1.6 §9.5 Communication Management Routines, §9.12.2 shmem_quiet, §9.12.3 shmem_pe_quiet; gap: an invalid context
 * ENV: POSTERN_CHAOS_DELAY=5us
 */
#include "../ring.h"

enum { ROUNDS = 60, COUNT = 700 };

static long data[COUNT], target[2][COUNT];

static void quiet(shmem_ctx_t ctx, int pe, int how)
{
    const int list[] = {pe, pe};
    if (how == 0) shmem_ctx_quiet(ctx);
    else if (how == 1) shmem_ctx_pe_quiet(ctx, list, 1);
    else if (ctx == SHMEM_CTX_DEFAULT) shmem_pe_quiet(list, 2);
    else shmem_ctx_pe_quiet(ctx, list, 2);
    shmem_pe_quiet(NULL, 0);
    shmem_ctx_pe_quiet(ctx, NULL, 0);
    shmem_ctx_pe_quiet(ctx, (const int[]){-7}, 0);
}

static void round_on(shmem_ctx_t ctx, int pe, int world, int slot, long round)
{
    static long source[2][COUNT];
    long        got[COUNT], fetched = -1, swapped = -1, wanted;
    memset(got, 0, sizeof got);
    for (int i = 0; i < COUNT; i++) source[slot][i] = round + i;
    shmem_ctx_long_get_nbi(ctx, got, data, COUNT, pe);
    shmem_ctx_long_atomic_fetch_nbi(ctx, &fetched, &data[3], pe);
    shmem_ctx_long_atomic_compare_swap_nbi(ctx, &swapped, &data[4], -1, -1, pe);
    shmem_ctx_long_put_nbi(ctx, target[slot], source[slot], COUNT, pe);
    quiet(ctx, pe, (int)(round % 3));
    memset(source[slot], 0xFF, sizeof source[slot]); /* what arrives later would be wrong */
    for (int i = 0; i < COUNT; i++) CHECK_EQUAL(got[i], world * 10000 + i);
    wanted = world * 10000 + 3;
    CHECK_EQUAL(fetched, wanted);
    CHECK_EQUAL(swapped, wanted + 1);
    shmem_ctx_long_get(ctx, got, target[slot], COUNT, pe);
    for (int i = 0; i < COUNT; i++) CHECK_EQUAL(got[i], round + i);
}

int main(void)
{
    shmem_init();
    struct ring ring = ring_open();
    for (int i = 0; i < COUNT; i++) data[i] = ring.me * 10000 + i;
    shmem_barrier_all();
    for (long round = 1; round <= ROUNDS; round++) {
        round_on(SHMEM_CTX_DEFAULT, ring.next, ring.next, 0, round);
        round_on(ring.ctx, ring.ctx_next, ring.ctx_next_world, 1, round);
    }
    shmem_ctx_quiet(SHMEM_CTX_INVALID);
    shmem_ctx_fence(SHMEM_CTX_INVALID);
    shmem_ctx_pe_quiet(SHMEM_CTX_INVALID, (const int[]){0}, 1);
    shmem_barrier_all();
    ring_close(&ring);
    shmem_finalize();
    return api_result();
}
