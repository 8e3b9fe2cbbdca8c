/* SPDX-License-Identifier: Apache-2.0
 *
 * This unit's copy of the device state, and how a kernel gives up.
 *
 * A unit is one compiled file.  Its state is a constant of its own, because a header cannot share one over units without a
 * device linker; unit.cuh has the library fill it.
 */
#ifndef SHMEMD_SELF_CUH
#define SHMEMD_SELF_CUH

#include "lang.cuh"
#include "group.cuh"
#include "mem.cuh"
#include "state.h"
#include "ring.cuh"

#if defined(__CUDACC__)
static __constant__ struct shmemd_state shmemd_unit_state __attribute__((unused));

SHMEMD_FN const struct shmemd_state *shmemd_self(void)
{
    return &shmemd_unit_state;
}
#else
static struct shmemd_state shmemd_unit_state __attribute__((unused));

/* A test may run several PEs as launches of one process: then each launch has its own. */
SHMEMD_FN const struct shmemd_state *shmemd_self(void)
{
    const struct shmemx_cpu_thread *thread = shmemx_cpu_self();

    return thread != NULL && thread->state != NULL ? (const struct shmemd_state *)thread->state : &shmemd_unit_state;
}
#endif

/* ---- how a kernel gives up ---- */

/* End the kernel.  On a GPU that is a trap, which takes the process's CUDA context with it; the report lies in host memory. */
SHMEMD_SLOW void shmemd_die(const struct shmemd_report *report)
{
#if defined(__CUDACC__)
    (void)report;
    asm volatile("trap;");
#else
    shmemx_cpu_trap("%s: kind %u, PE %d, segment %d, offset %llu: seen %llu, wanted %llu (comparison %d)", report->call,
                    report->kind, (int)report->pe, (int)report->segment, (unsigned long long)report->offset,
                    (unsigned long long)report->seen, (unsigned long long)report->wanted, (int)report->cmp);
#endif
}

/* Fill in where we are, hand the report to the host if this is the first one, and end. */
SHMEMD_SLOW void shmemd_give_up(struct shmemd_report *report, const char *call)
{
    const struct shmemd_state *self = shmemd_self();
    unsigned                   i;

    for (i = 0; i + 1 < sizeof report->call && call[i] != '\0'; i++) report->call[i] = call[i];
    report->call[i] = '\0';
    report->block   = blockIdx.x + (uint64_t)gridDim.x * (blockIdx.y + (uint64_t)gridDim.y * blockIdx.z);
    report->thread  = shmemd_group_block().rank;
    report->ready   = 0;
    if (self->control != NULL && self->ring.producers != NULL &&
        shmemd_atomic(&self->ring.producers->report_claims, SHMEMD_ATOMIC_ADD, 1, 0, 8) == 0) {
        self->control->report = *report;
        shmemd_store_release(&self->control->report.ready, 1, 8); /* pairs with the proxy's acquire */
    }
    shmemd_die(report);
}

SHMEMD_FN void shmemd_report_begin(struct shmemd_report *report, enum shmemd_report_kind kind)
{
    memset(report, 0, sizeof *report);
    report->kind    = kind;
    report->pe      = -1;
    report->segment = -1;
    report->cmp     = -1;
}

/* An argument, address or PE number that makes no sense. */
SHMEMD_SLOW void shmemd_refuse(const char *call, enum shmemd_report_kind kind, int pe, const void *address, uint64_t seen)
{
    struct shmemd_report report;

    shmemd_report_begin(&report, kind);
    report.pe     = pe;
    report.offset = (uintptr_t)address;
    report.seen   = seen;
    shmemd_give_up(&report, call);
}

/* The job ends for another reason: so does this kernel, without a report of its own. */
SHMEMD_SLOW void shmemd_stop(void)
{
    struct shmemd_report report;

    shmemd_report_begin(&report, SHMEMD_REPORT_WAIT);
    memcpy(report.call, "the job ends", 13);
    shmemd_die(&report);
}

#endif
