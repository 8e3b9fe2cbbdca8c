/* SPDX-License-Identifier: Apache-2.0
 *
 * The registrar. A unit of device code registers itself before main, or when its library is loaded; the library may start before or after that. Whichever
 * comes later copies the state into the unit. The last finalize takes it back, so that kernels after it say that there is no job.
 *
 * Also the table of hooks by which the runtime reaches device/ (runtime/device.h).  Tests: tests/api/device/.
 */
#include "device/unit.h"

#include "device/proxy.h"
#include "device/tables.h"
#include "runtime/base/log.h"
#include "runtime/base/report.h"
#include "runtime/device.h"
#include "runtime/gpu/gpu.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <shmem.h>
#include <shmemx.h>
#include <string.h>

static_assert(SHMEMI_DEVICE_SYNC_BYTES == SHMEMD_TEAMS_MAX * SHMEMD_SYNC_BYTES, "one sync area for each team of kernels");

static pthread_mutex_t     lock = PTHREAD_MUTEX_INITIALIZER;
static struct shmemd_unit *units;
static bool                started; /* between start and stop */
static char               *sync_areas[SHMEMD_SIDES];

static enum shmemd_side_kind side_of(const struct shmemd_unit *unit)
{
    return unit->on_cpu ? SHMEMD_SIDE_CPU : SHMEMD_SIDE_GPU;
}

/* The rest of the program may do without: so the job goes on. All PEs of a node have most often the same to say. */
static void say_unusable(const char *why)
{
    if (shmemi_state.node.me != 0) return;
    shmemi_warn("this program has kernels for a GPU, but no GPU can be used" WHY "%s" FIX
                "run it where a GPU is, or build it with oshcc --device-on-cpu",
                why);
}

/* Under the lock, in a running job. 0 or a negative errno, logged. */
static int open_side(enum shmemd_side_kind kind)
{
    struct shmemd_side *side = &shmemd_side_all[kind];
    int                 err  = 0;
    if (!side->live) err = shmemd_side_open(side, kind, sync_areas[kind]);
    return err ? err : shmemd_proxy_start();
}

/*
 * No PE had device code when the job started: this one has now. Without sync areas, since these are made by all PEs together.
 */
static void start_late(void)
{
    if (started || !shmemi_state_running() || shmemi_state.device) return;
    shmemi_device_late();
    started = true;
}

int shmemd_unit_gpu_state(struct shmemd_state *state_out)
{
    pthread_mutex_lock(&lock);
    start_late();
    int err = open_side(SHMEMD_SIDE_GPU);
    if (!err) *state_out = shmemd_side_all[SHMEMD_SIDE_GPU].state;
    pthread_mutex_unlock(&lock);
    return err;
}

/* Under the lock, in a running job: the side and its proxy, then the copy. 0 or a negative errno, logged. */
static int serve_unit(struct shmemd_unit *unit)
{
    struct shmemd_side *side = &shmemd_side_all[side_of(unit)];
    char                why[200];
    if (!shmemd_memory_usable(side_of(unit), why, sizeof why)) {
        say_unusable(why);
        return 0;
    }
    int err = open_side(side_of(unit));
    if (err) return err;
    if (unit->upload(&side->state, sizeof side->state) == 0) return 0;
    shmemi_error("could not copy the state of the job into device code" WHY
                 "the copy into its constant memory failed: no GPU can be used, or it has no code for this one" FIX
                 "compile for this GPU (nvcc -arch=native), and look at what cudaGetLastError says");
    return -EIO;
}

static bool fits(const struct shmemd_unit *unit)
{
    if (unit->version == SHMEMD_STATE_VERSION && unit->bytes == sizeof(struct shmemd_state)) return true;
    shmemi_error("device code was compiled for another version of the library" WHY
                 "its headers have version %u of the device state (%u bytes), the library version %d (%zu bytes)" FIX
                 "compile the program with the headers of this library",
                 unit->version, unit->bytes, SHMEMD_STATE_VERSION, sizeof(struct shmemd_state));
    return false;
}

int pshmemx_device_register(void *record)
{
    struct shmemd_unit *unit = record;
    if (!fits(unit)) return -EPROTO;
    pthread_mutex_lock(&lock);
    unit->next = units;
    units      = unit;
    start_late();
    if (!unit->on_cpu) shmemi_gpu_want(); /* a GPU heap, without a word of the user */
    int err = started ? serve_unit(unit) : 0;
    pthread_mutex_unlock(&lock);
    return err;
}
SHMEMI_EXPORT(shmemx_device_register)

void pshmemx_device_unregister(void *record)
{
    pthread_mutex_lock(&lock);
    for (struct shmemd_unit **at = &units; *at; at = &(*at)->next)
        if (*at == record) {
            *at = (*at)->next;
            break;
        }
    pthread_mutex_unlock(&lock);
}
SHMEMI_EXPORT(shmemx_device_unregister)

const struct shmemd_unit *shmemd_unit_launcher(void)
{
    pthread_mutex_lock(&lock);
    const struct shmemd_unit *unit = units;
    while (unit && !(unit->resident_blocks && unit->launch)) unit = unit->next;
    pthread_mutex_unlock(&lock);
    return unit;
}

/* ---- hooks ---- */

static bool wanted(void)
{
    pthread_mutex_lock(&lock);
    bool some = units != NULL;
    pthread_mutex_unlock(&lock);
    return some;
}

/* One line: where kernels of this PE run. */
static void report(void)
{
    char why[200];
    bool has[SHMEMD_SIDES] = {false};
    pthread_mutex_lock(&lock);
    for (const struct shmemd_unit *unit = units; unit; unit = unit->next) has[side_of(unit)] = true;
    pthread_mutex_unlock(&lock);
    if (has[SHMEMD_SIDE_GPU] && !shmemd_memory_usable(SHMEMD_SIDE_GPU, why, sizeof why))
        shmemi_report("kernels", SHMEMI_ABSENT, "this program has some for a GPU, but no GPU can be used: %s", why);
    else if (has[SHMEMD_SIDE_GPU]) shmemi_report("kernels", SHMEMI_PRESENT, "on the GPU of this PE");
    else if (has[SHMEMD_SIDE_CPU]) shmemi_report("kernels", SHMEMI_PRESENT, "on threads of the CPU");
    else shmemi_report("kernels", SHMEMI_CHOICE, "none in this PE, but in others");
}

static int start(char *sync, char *gpu_sync)
{
    int err = 0;
    pthread_mutex_lock(&lock);
    sync_areas[SHMEMD_SIDE_CPU] = sync;
    sync_areas[SHMEMD_SIDE_GPU] = gpu_sync;
    started                     = true;
    for (struct shmemd_unit *unit = units; unit && !err; unit = unit->next) err = serve_unit(unit);
    pthread_mutex_unlock(&lock);
    return err;
}

static void stop(void)
{
    pthread_mutex_lock(&lock);
    started = false;
    shmemd_proxy_stop();
    pthread_mutex_unlock(&lock);
}

static void finish(void)
{
    static const struct shmemd_state none;
    pthread_mutex_lock(&lock);
    for (struct shmemd_unit *unit = units; unit; unit = unit->next)
        if (shmemd_side_all[side_of(unit)].live) unit->upload(&none, sizeof none);
    for (int i = 0; i < SHMEMD_SIDES; i++) shmemd_side_close(&shmemd_side_all[i]);
    shmemd_tables_clear();
    memset(sync_areas, 0, sizeof sync_areas);
    pthread_mutex_unlock(&lock);
}

/* Its members have met: no kernel of theirs is in a collective of the team. */
static void team_gone(const struct shmemi_team *team)
{
    size_t offset = (size_t)team->slot * SHMEMD_SYNC_BYTES;
    if (team->slot >= 0 && team->slot < SHMEMD_TEAMS_MAX) {
        if (sync_areas[SHMEMD_SIDE_CPU]) memset(sync_areas[SHMEMD_SIDE_CPU] + offset, 0, SHMEMD_SYNC_BYTES);
        if (sync_areas[SHMEMD_SIDE_GPU]) shmemi_gpu_zero(sync_areas[SHMEMD_SIDE_GPU] + offset, SHMEMD_SYNC_BYTES);
    }
    shmemd_tables_team_gone(team);
}

static void ctx_made(const struct shmemi_ctx *ctx)
{
    if (!shmemd_proxy_is_me()) shmemd_tables_ctx_made(ctx);
}

/* No lock: the thread that ends the job may hold it. Kernels look at the word now and then. */
static void abort_kernels(int lost_pe)
{
    for (int i = 0; i < SHMEMD_SIDES; i++) {
        struct shmemd_side *side = &shmemd_side_all[i];
        if (!atomic_load_explicit(&side->live, memory_order_acquire)) continue;
        if (lost_pe >= 0) side->control->abort_pe = lost_pe;
        /* Release: who sees the word sees the PE. */
        atomic_store_explicit((_Atomic uint64_t *)&side->control->abort, lost_pe >= 0 ? SHMEMD_ABORT_LOST : SHMEMD_ABORT_END,
                              memory_order_release);
    }
}

static const struct shmemi_device_hooks hooks = {
    .wanted    = wanted,
    .report    = report,
    .start     = start,
    .stop      = stop,
    .finish    = finish,
    .team_made = shmemd_tables_team_made,
    .team_gone = team_gone,
    .ctx_made  = ctx_made,
    .ctx_gone  = shmemd_tables_ctx_gone,
    .quiet     = shmemd_proxy_quiet,
    .abort     = abort_kernels,
};

__attribute__((constructor)) static void offer_hooks(void)
{
    shmemi_device_offer(&hooks);
}
