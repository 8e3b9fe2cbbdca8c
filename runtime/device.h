/* SPDX-License-Identifier: Apache-2.0
 *
 * The library's side of kernels (device/) lies above the runtime, which may not know it. So device/ offers this table when it is
 * loaded, and the runtime calls it at the few places that matter to kernels. A program that is linked statically and has no device code has no
 * table.
 *
 * A job has device code if any of its PEs says so in its first card. Then all PEs make the symmetric memory that it needs.
 */
#ifndef SHMEMI_DEVICE_H
#define SHMEMI_DEVICE_H

#include "runtime/state.h"

struct shmemi_device_hooks {
    /* Is there device code in this PE, so far? Before the first exchange. */
    bool (*wanted)(void);
    /* Its lines of the report; where any PE wants it. */
    void (*report)(void);
    /*
     * The library runs; where any PE wants it. sync: symmetric, of SHMEMI_DEVICE_SYNC_BYTES, zero on all PEs; gpu_sync: the same in the GPU heap;
     * NULL: there is none, or it did not fit. 0 or a negative errno, logged.
     */
    int (*start)(char *sync, char *gpu_sync);
    /* Complete all that kernels have asked for, and ask for no more. At the begin of the last finalize, and before a release. Safe at any stage. */
    void (*stop)(void);
    /* After stop: give everything back. Safe at any stage. */
    void (*finish)(void);
    /* A team has got its slot; is about to give it back (its members have met). May be called before start and after stop. */
    void (*team_made)(const struct shmemi_team *team);
    void (*team_gone)(const struct shmemi_team *team);
    void (*ctx_made)(const struct shmemi_ctx *ctx);
    void (*ctx_gone)(const struct shmemi_ctx *ctx);
    /* All that kernels had asked for when it was called is done and visible. Not in the thread that does it. */
    void (*quiet)(void);
    /* The job ends, or the way to lost_pe is lost (else -1): kernels must stop waiting. Any thread, in any state. */
    void (*abort)(int lost_pe);
};

/* Sync areas of the teams of kernels: state.h of the device headers says what one is. */
enum { SHMEMI_DEVICE_SYNC_BYTES = 64 * 8192, SHMEMI_DEVICE_SYNC_ALIGNMENT = 4096 };

/* By a constructor of device/. */
void shmemi_device_offer(const struct shmemi_device_hooks *hooks);

/* For the first card. */
bool shmemi_device_wanted(void);

/* In start-up, before the report is printed. */
void shmemi_device_report(void);

/* Collective, once the library runs, if shmemi_state.device. Ends the job where it cannot. */
void shmemi_device_start(void);

/* Device code has come to this PE after the start of a job that had none. */
void shmemi_device_late(void);

void shmemi_device_stop(void);
void shmemi_device_finish(void);
void shmemi_device_team_made(const struct shmemi_team *team);
void shmemi_device_team_gone(const struct shmemi_team *team);
void shmemi_device_ctx_made(const struct shmemi_ctx *ctx);
void shmemi_device_ctx_gone(const struct shmemi_ctx *ctx);
void shmemi_device_quiet(void);
void shmemi_device_abort(int lost_pe);

#endif
