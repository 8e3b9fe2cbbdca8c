/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel cannot print and must not wait for ever. Before it gives up it fills the report in control (state.h), and the proxy makes of it
 * one message with the end of the job.
 */
#include "device/proxy.h"

#include "runtime/service.h"

#include <shmem.h>
#include <stdio.h>

static const char *compare_text(int cmp)
{
    switch (cmp) {
    case SHMEM_CMP_EQ: return "==";
    case SHMEM_CMP_NE: return "!=";
    case SHMEM_CMP_GT: return ">";
    case SHMEM_CMP_LE: return "<=";
    case SHMEM_CMP_LT: return "<";
    case SHMEM_CMP_GE: return ">=";
    default: return "?";
    }
}

/* "heap+0x40", or a plain address. */
static void place_text(const struct shmemd_report *report, char *text, size_t bytes)
{
    static const char *const names[SHMEMD_SEGMENTS] = {"gpu heap", "heap", "data"};
    if (report->segment >= 0 && report->segment < SHMEMD_SEGMENTS)
        snprintf(text, bytes, "%s+0x%llx", names[report->segment], (unsigned long long)report->offset);
    else snprintf(text, bytes, "0x%llx", (unsigned long long)report->offset);
}

static void event_text(const struct shmemd_report *report, char *text, size_t bytes)
{
    char place[48];
    place_text(report, place, sizeof place);
    unsigned long long seen = report->seen, wanted = report->wanted;
    switch (report->kind) {
    case SHMEMD_REPORT_WAIT:
        if (report->cmp < 0)
            snprintf(text, bytes, "waited too long at %s, which holds %lld; wanted: %lld", place, (long long)seen,
                     (long long)wanted);
        else
            snprintf(text, bytes, "waited too long for %s %s %lld, which holds %lld (%u bytes)", place, compare_text(report->cmp),
                     (long long)wanted, (long long)seen, report->width);
        break;
    case SHMEMD_REPORT_REPLY: snprintf(text, bytes, "waited too long for the reply to request %llu of the ring", seen); break;
    case SHMEMD_REPORT_CREDIT: snprintf(text, bytes, "the ring stayed full for too long before request %llu", seen); break;
    case SHMEMD_REPORT_ADDRESS: snprintf(text, bytes, "%s is not symmetric (target PE %d)", place, report->pe); break;
    case SHMEMD_REPORT_PE: snprintf(text, bytes, "there is no PE %d", report->pe); break;
    case SHMEMD_REPORT_TEAM: snprintf(text, bytes, "%s is no team that kernels can use", place); break;
    default: snprintf(text, bytes, "an argument makes no sense: %llu (0x%llx)", seen, seen); break;
    }
}

static const char *why_text(uint32_t kind)
{
    switch (kind) {
    case SHMEMD_REPORT_WAIT: return "a wait in a kernel has lasted longer than POSTERN_WAIT_TIMEOUT";
    case SHMEMD_REPORT_REPLY:
    case SHMEMD_REPORT_CREDIT:
        return "the proxy thread did not get on within POSTERN_WAIT_TIMEOUT: its peer or the network does not answer";
    case SHMEMD_REPORT_ADDRESS: return "it lies in no symmetric heap and in no static object";
    case SHMEMD_REPORT_TEAM: return "it was never made, or was destroyed, or is one of too many to have a sync area";
    default: return "the kernel passed it";
    }
}

static const char *fix_text(uint32_t kind)
{
    switch (kind) {
    case SHMEMD_REPORT_WAIT:
        return "look for the PE that should have stored there, and whether all blocks of its kernel run at the same time "
               "(shmemx_collective_launch); or raise POSTERN_WAIT_TIMEOUT";
    case SHMEMD_REPORT_REPLY:
    case SHMEMD_REPORT_CREDIT: return "look at the messages of the other PEs, or raise POSTERN_WAIT_TIMEOUT";
    case SHMEMD_REPORT_ADDRESS: return "take it from shmem_malloc";
    default: return "look at the arguments of the call";
    }
}

void shmemd_report_look(const struct shmemd_side *side)
{
    const struct shmemd_report *report = &side->control->report;
    char                        event[200];
    /* Acquire: the fields; pairs with the release of the kernel that filled it. */
    if (atomic_load_explicit((const _Atomic uint64_t *)&report->ready, memory_order_acquire) == 0) return;
    event_text(report, event, sizeof event);
    shmemi_service_fatal("kernel", "block %llu, thread %u: %.*s: %s" WHY "%s" FIX "%s", (unsigned long long)report->block,
                         report->thread, (int)sizeof report->call, report->call[0] ? report->call : "a call", event,
                         why_text(report->kind), fix_text(report->kind));
}
