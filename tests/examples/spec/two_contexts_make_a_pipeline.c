/* SPDX-License-Identifier: Apache-2.0
 *
 * A sum over all PEs in stages: while the parts of one stage are under way on one context, those of the stage before are completed
 * on the other and added up. Three buffers take turns: a PE that has added up one stage may be writing the next but one while
another is still adding. (The specification's program has two; it does not notice, its numbers are the same in all stages.)
 * Spec: OpenSHMEM 1.6 §9.5.3 shmem_ctx_destroy, §9.6.2.1 shmem_put_nbi, §9.12.2 shmem_ctx_quiet
 * Does what the specification's shmem_ctx_pipelined_reduce does.
 * PES: 2 3
 */
#include "../../api/api.h"

enum { LENGTH = 2000, STAGE = 125, STAGES = LENGTH / STAGE };
static int in[LENGTH], out[LENGTH], *part[3];

static void send(shmem_ctx_t ctx, int stage)
{
    int me = shmem_my_pe(), n = shmem_n_pes();
    for (int i = 1; i <= n; i++) shmem_put_nbi(ctx, &part[stage % 3][STAGE * me], &in[STAGE * stage], STAGE, (me + i) % n);
}

static void add(shmem_ctx_t ctx, int stage)
{
    shmem_ctx_quiet(ctx);
    shmem_sync_all(); /* everyone's part of this stage is here, and everyone has added up the stage before */
    for (int pe = 0; pe < shmem_n_pes(); pe++) {
        for (int i = 0; i < STAGE; i++) out[STAGE * stage + i] += part[stage % 3][STAGE * pe + i];
    }
}

int main(void)
{
    shmem_init();
    int         n = shmem_n_pes();
    shmem_ctx_t ctx[2];
    for (int i = 0; i < 3; i++) {
        part[i] = shmem_malloc(STAGE * (size_t)n * sizeof *part[i]);
        if (part[i] == NULL) shmem_global_exit(1);
    }
    if (shmem_ctx_create(0, &ctx[0]) != 0 || shmem_ctx_create(0, &ctx[1]) != 0) shmem_global_exit(1);
    for (int i = 0; i < LENGTH; i++) in[i] = (shmem_my_pe() + 1) * i;

    send(ctx[0], 0);
    for (int stage = 1; stage < STAGES; stage++) {
        send(ctx[stage % 2], stage);
        add(ctx[(stage - 1) % 2], stage - 1);
    }
    add(ctx[(STAGES - 1) % 2], STAGES - 1);

    for (int i = 0; i < LENGTH; i++) {
        if (!CHECK_EQUAL(out[i], n * (n + 1) / 2 * i)) break;
    }
    shmem_ctx_destroy(ctx[1]);
    shmem_ctx_destroy(ctx[0]);
    for (int i = 2; i >= 0; i--) shmem_free(part[i]);
    shmem_finalize();
    return api_result();
}
