/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPUs of the progress thread. A transport tells which of the PE's CPUs are near its device (traits.near_cpus), never others: if the launcher has
 * bound the PE away from the device, the thread stays with the PE. Who names CPUs by POSTERN_PROGRESS_CPUS may name any that the machine gives.
 * Tests: tests/unit/progress_place_reads_lists_of_cpus.c, tests/api/nodes/.
 */
#include "runtime/progress_place.h"

#include "runtime/base/log.h"
#include "runtime/state.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPUS_MAX = 4096 };

/* Chosen by the thread that starts the job, read by the progress thread, which begins later. */
static struct {
    char list[256]; /* "": where the PE runs */
    bool by_user;
} place;

/* ---- lists of CPUs ---- */

/* "0-3,8" into a set of CPUS_MAX. false: it is no such list, or an empty one. */
static bool read_list(const char *text, cpu_set_t *set)
{
    size_t bytes = CPU_ALLOC_SIZE(CPUS_MAX);
    CPU_ZERO_S(bytes, set);
    do {
        char         *end;
        unsigned long first = strtoul(text, &end, 10), last = first;
        if (*text < '0' || *text > '9') return false;
        if (*end == '-') {
            text = end + 1;
            if (*text < '0' || *text > '9') return false;
            last = strtoul(text, &end, 10);
        }
        if (last < first || last >= CPUS_MAX || (*end != ',' && *end != '\0')) return false;
        for (unsigned long cpu = first; cpu <= last; cpu++) CPU_SET_S(cpu, bytes, set);
        text = *end ? end + 1 : NULL;
    } while (text);
    return true;
}

static bool is_list(const char *text)
{
    cpu_set_t *set  = CPU_ALLOC(CPUS_MAX);
    bool       good = set && read_list(text, set);
    CPU_FREE(set);
    return good;
}

/* ---- choosing ---- */

/* Of the first transport between nodes that knows. */
static const char *near_device(void)
{
    for (size_t i = 0; i < shmemi_state.transport_count; i++) {
        const struct shmemt_traits *traits = &shmemi_state.transports[i]->traits;
        if ((traits->caps & SHMEMT_CAP_POSTED) && !(traits->caps & SHMEMT_CAP_MAP_HOST) && traits->near_cpus[0])
            return traits->near_cpus;
    }
    return "";
}

int shmemi_progress_place_choose(void)
{
    const char *asked = shmemi_options.progress_cpus ? shmemi_options.progress_cpus : "near";
    place.by_user     = strcmp(asked, "near") != 0;
    if (place.by_user && strcmp(asked, "any") != 0 && (!is_list(asked) || strlen(asked) >= sizeof place.list)) {
        shmemi_error("POSTERN_PROGRESS_CPUS is \"%s\"" WHY "it takes near, any, or CPUs such as 0-3,8 (below %d)" FIX
                     "correct it, or unset it",
                     asked, CPUS_MAX);
        return -EINVAL;
    }
    const char *list = !place.by_user ? near_device() : strcmp(asked, "any") == 0 ? "" : asked;
    snprintf(place.list, sizeof place.list, "%s", list);
    return 0;
}

void shmemi_progress_place_describe(char *text, size_t bytes)
{
    if (!place.list[0]) snprintf(text, bytes, "%s", "");
    else snprintf(text, bytes, ", on CPUs %s%s", place.list, place.by_user ? " (POSTERN_PROGRESS_CPUS)" : " near its device");
}

void shmemi_progress_place_go(void)
{
    cpu_set_t *set = place.list[0] ? CPU_ALLOC(CPUS_MAX) : NULL;
    if (!set) return;
    int err = read_list(place.list, set) && sched_setaffinity(0, CPU_ALLOC_SIZE(CPUS_MAX), set) != 0 ? errno : 0;
    CPU_FREE(set);
    if (err)
        shmemi_warn("the thread that serves other PEs could not go to CPUs %s: %s" WHY
                    "this PE may use none of them, or they do not exist" FIX "name others by POSTERN_PROGRESS_CPUS, or any",
                    place.list, strerror(err));
}
