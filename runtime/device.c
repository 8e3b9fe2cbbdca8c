/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the runtime calls device/. See device.h for why so.
 */
#include "runtime/device.h"

#include "runtime/gpu/gpu.h"
#include "runtime/service.h"

#include <shmemx.h>
#include <string.h>

static const struct shmemi_device_hooks *offered;

void shmemi_device_offer(const struct shmemi_device_hooks *hooks)
{
    offered = hooks;
}

bool shmemi_device_wanted(void)
{
    return offered && offered->wanted();
}

void shmemi_device_report(void)
{
    if (offered && shmemi_state.device) offered->report();
}

void shmemi_device_start(void)
{
    /* On every PE, also one without device code, as any allocation. */
    char *sync = pshmem_align(SHMEMI_DEVICE_SYNC_ALIGNMENT, SHMEMI_DEVICE_SYNC_BYTES);
    if (sync) memset(sync, 0, SHMEMI_DEVICE_SYNC_BYTES);
    char *gpu_sync = shmemi_state.gpu ? pshmem_malloc_with_hints(SHMEMI_DEVICE_SYNC_BYTES, SHMEMX_MEM_CUDA) : NULL;
    if (gpu_sync) shmemi_gpu_zero(gpu_sync, SHMEMI_DEVICE_SYNC_BYTES);
    pshmem_barrier_all(); /* zero on all, before the first kernel of any */
    if (!offered || offered->start(sync, gpu_sync) == 0) return;
    shmemi_service_end(1);
}

/* What init does where it is known from the start: the proxy waits too, and kernels wake nobody. */
void shmemi_device_late(void)
{
    shmemi_state.device             = true;
    shmemi_state.ctx_default.locked = true;
    shmemi_state.silent_writers     = true;
}

void shmemi_device_stop(void)
{
    if (offered) offered->stop();
}

void shmemi_device_finish(void)
{
    if (offered) offered->finish();
}

void shmemi_device_team_made(const struct shmemi_team *team)
{
    if (offered) offered->team_made(team);
}

void shmemi_device_team_gone(const struct shmemi_team *team)
{
    if (offered) offered->team_gone(team);
}

void shmemi_device_ctx_made(const struct shmemi_ctx *ctx)
{
    if (offered) offered->ctx_made(ctx);
}

void shmemi_device_ctx_gone(const struct shmemi_ctx *ctx)
{
    if (offered) offered->ctx_gone(ctx);
}

void shmemi_device_quiet(void)
{
    if (offered) offered->quiet();
}

void shmemi_device_abort(int lost_pe)
{
    if (offered) offered->abort(lost_pe);
}
