/* SPDX-License-Identifier: Apache-2.0
 *
 * Does an IOMMU translate what an RDMA device does to memory? In the mode "identity" (passthrough) it does not, and costs nothing.
 */
#include "runtime/tools/doctor.h"

#include <string.h>

/* What the kernel's command line says of it: "iommu=pt" among other words. */
static bool asked_for_passthrough(const struct doctor *doctor)
{
    SHMEMI_AUTO_FREE char *line = doctor_read_text(doctor, "/proc/cmdline");
    char                  *rest = NULL;
    for (char *word = line ? strtok_r(line, " \t\n", &rest) : NULL; word; word = strtok_r(NULL, " \t\n", &rest))
        if (strcmp(word, "iommu=pt") == 0 || strcmp(word, "iommu.passthrough=1") == 0) return true;
    return false;
}

void doctor_look_iommu(struct doctor *doctor, const struct doctor_rdma *device)
{
    char type[32], group[32];
    if (!doctor_read_link(doctor, group, sizeof group, "/sys/class/infiniband/%s/device/iommu_group", device->name)) {
        doctor_find(doctor, DOCTOR_OK, "rdma-iommu", device->name, "no IOMMU is in its way, or it is not told");
        return;
    }
    doctor_read_line(doctor, type, sizeof type, "/sys/kernel/iommu_groups/%s/type", group);
    if (!type[0] || strcmp(type, "identity") == 0) {
        doctor_find(doctor, DOCTOR_OK, "rdma-iommu", device->name, "%s",
                    type[0] ? "passthrough (identity)" : "the kernel does not tell its mode");
        return;
    }
    doctor_find(
        doctor, DOCTOR_DEGRADED, "rdma-iommu", device->name,
        "the IOMMU translates all its accesses to memory (group %s, mode %s)" WHY
        "registration takes longer, misses of its table slow large transfers, and traffic with GPUs may go the long way" FIX "%s",
        group, type,
        asked_for_passthrough(doctor)
            ? "the kernel was started with passthrough, and something overrides it for this device: dmesg | grep -i iommu"
            : "add iommu=pt to the kernel's command line (GRUB_CMDLINE_LINUX in /etc/default/grub, update-grub), then restart");
}
