/* SPDX-License-Identifier: Apache-2.0
 *
 * How the kernel runs memory and processors: huge pages for the heap, clock frequency, sleep states.
 */
#include "runtime/tools/doctor.h"

#include <inttypes.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>

/* ---- huge pages: the ways of runtime/pages.c, in its order ---- */

/* The word in brackets: "always within_size advise [never] deny force". */
static void chosen_word(const struct doctor *doctor, const char *path, char *word_out, size_t bytes)
{
    char line[128];
    word_out[0] = '\0';
    doctor_read_line(doctor, line, sizeof line, "%s", path);
    char *open = strchr(line, '['), *close = open ? strchr(open, ']') : NULL;
    if (close) snprintf(word_out, bytes, "%.*s", (int)(close - open - 1), open + 1);
}

static uint64_t free_huge_pages(const struct doctor *doctor)
{
    DOCTOR_AUTO_LIST struct doctor_names sizes = {0};
    uint64_t                             sum   = 0, pages;
    doctor_list(doctor, &sizes, "/sys/kernel/mm/hugepages");
    for (size_t i = 0; i < sizes.count; i++) {
        if (doctor_read_number(doctor, &pages, "/sys/kernel/mm/hugepages/%s/free_hugepages", sizes.name[i])) sum += pages;
    }
    return sum;
}

/* A private mount of tmpfs wants root, or a user namespace. */
static bool may_mount(const struct doctor *doctor)
{
    uint64_t number;
    if (doctor_capable(doctor, CAP_SYS_ADMIN)) return true;
    if (doctor_read_number(doctor, &number, "/proc/sys/user/max_user_namespaces") && number == 0) return false;
    if (doctor_read_number(doctor, &number, "/proc/sys/kernel/unprivileged_userns_clone") && number == 0) return false;
    if (doctor_read_number(doctor, &number, "/proc/sys/kernel/apparmor_restrict_unprivileged_userns") && number == 1) return false;
    return !doctor_container(doctor); /* whose seccomp filter usually forbids it */
}

static void look_huge_pages(struct doctor *doctor)
{
    char     rule[32];
    uint64_t pages = free_huge_pages(doctor);
    chosen_word(doctor, "/sys/kernel/mm/transparent_hugepage/shmem_enabled", rule, sizeof rule);
    bool allowed = strcmp(rule, "always") == 0 || strcmp(rule, "advise") == 0 || strcmp(rule, "within_size") == 0 ||
                   strcmp(rule, "force") == 0;
    if (pages) {
        doctor_find(doctor, DOCTOR_OK, "huge-pages", "", "%" PRIu64 " set aside and free", pages);
    } else if (allowed) {
        doctor_find(doctor, DOCTOR_OK, "huge-pages", "", "for shared memory: %s", rule);
    } else if (rule[0] && strcmp(rule, "deny") != 0 && may_mount(doctor)) {
        doctor_find(doctor, DOCTOR_OK, "huge-pages", "", "by a private tmpfs (shmem_enabled is %s)", rule);
    } else {
        doctor_find(
            doctor, DOCTOR_DEGRADED, "huge-pages", "",
            "none: shmem_enabled is %s, none are set aside, and this user may not mount a tmpfs" WHY
            "heaps have pages of 4 KiB: slower first touch, more TLB misses, and more entries in an RDMA device's tables" FIX
            "echo advise >/sys/kernel/mm/transparent_hugepage/shmem_enabled, or sysctl vm.nr_hugepages=N for pages of 2 MiB",
            rule[0] ? rule : "absent");
    }
}

/* ---- processors ---- */

/* cpu0, cpu1, ...; not cpufreq and cpuidle, which lie beside them. */
static bool is_cpu(const char *name)
{
    return strncmp(name, "cpu", 3) == 0 && name[3] && strspn(name + 3, "0123456789") == strlen(name + 3);
}

static void look_frequency(struct doctor *doctor, const struct doctor_names *cpus)
{
    char governor[32], slow[32] = "";
    int  told = 0, slow_count = 0;
    for (size_t i = 0; i < cpus->count; i++) {
        if (!is_cpu(cpus->name[i])) continue;
        if (!doctor_read_line(doctor, governor, sizeof governor, "/sys/devices/system/cpu/%s/cpufreq/scaling_governor",
                              cpus->name[i]))
            continue;
        told++;
        if (strcmp(governor, "performance") == 0) continue;
        slow_count++;
        snprintf(slow, sizeof slow, "%s", governor);
    }
    if (slow_count == 0) {
        doctor_find(doctor, DOCTOR_OK, "cpu-frequency", "", "%s",
                    told ? "governor performance" : "not told, as in most virtual machines");
        return;
    }
    doctor_find(doctor, DOCTOR_DEGRADED, "cpu-frequency", "",
                "governor %s on %d of %d CPUs" WHY "a PE that has waited runs slowly for its first milliseconds: latency varies" FIX
                "cpupower frequency-set -g performance; at every start: tuned-adm profile network-latency",
                slow, slow_count, told);
}

/* The slowest way out of a sleep state that is not disabled, over all CPUs. */
static uint64_t deepest_sleep_us(const struct doctor *doctor, const struct doctor_names *cpus, char *name_out, size_t bytes)
{
    uint64_t deepest = 0;
    for (size_t i = 0; i < cpus->count; i++) {
        if (!is_cpu(cpus->name[i])) continue;
        DOCTOR_AUTO_LIST struct doctor_names states = {0};
        doctor_list(doctor, &states, "/sys/devices/system/cpu/%s/cpuidle", cpus->name[i]);
        for (size_t s = 0; s < states.count; s++) {
            uint64_t off, latency_us;
            doctor_read_number(doctor, &off, "/sys/devices/system/cpu/%s/cpuidle/%s/disable", cpus->name[i], states.name[s]);
            doctor_read_number(doctor, &latency_us, "/sys/devices/system/cpu/%s/cpuidle/%s/latency", cpus->name[i], states.name[s]);
            if (off || latency_us <= deepest) continue;
            deepest = latency_us;
            doctor_read_line(doctor, name_out, bytes, "/sys/devices/system/cpu/%s/cpuidle/%s/name", cpus->name[i], states.name[s]);
        }
    }
    return deepest;
}

static void look_sleep_states(struct doctor *doctor, const struct doctor_names *cpus)
{
    enum { LATENCY_US_MAX = 20 };
    char     name[32] = "";
    uint64_t deepest  = deepest_sleep_us(doctor, cpus, name, sizeof name);
    if (deepest <= LATENCY_US_MAX) {
        if (deepest)
            doctor_find(doctor, DOCTOR_OK, "c-states", "", "the deepest is %s, %" PRIu64 " us to wake from", name, deepest);
        else doctor_find(doctor, DOCTOR_OK, "c-states", "", "none that would be felt, or not told");
        return;
    }
    doctor_find(doctor, DOCTOR_DEGRADED, "c-states", "",
                "CPUs sleep as deep as %s, %" PRIu64 " us to wake from" WHY
                "a PE that sleeps in a wait answers that much later, many times the latency of the network" FIX
                "cpupower idle-set -D %d; at every start: tuned-adm profile network-latency",
                name, deepest, LATENCY_US_MAX);
}

void doctor_look_machine(struct doctor *doctor)
{
    DOCTOR_AUTO_LIST struct doctor_names cpus = {0};
    doctor_list(doctor, &cpus, "/sys/devices/system/cpu");
    look_huge_pages(doctor);
    look_frequency(doctor, &cpus);
    look_sleep_states(doctor, &cpus);
}
