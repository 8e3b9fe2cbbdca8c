/* SPDX-License-Identifier: Apache-2.0
 *
 * NVIDIA GPUs: their driver, whether an RDMA device can reach their memory, how much of the window for that is left, and how far the
 * nearest RDMA device is.
 */
#include "runtime/tools/doctor.h"

#include <inttypes.h>
#include <string.h>

struct gpus {
    struct doctor_pci pci[DOCTOR_DEVICES_MAX];
    int               count;
};

/* Display and 3D controllers of NVIDIA; its switches and sound devices are none. */
static void find_gpus(const struct doctor *doctor, struct gpus *gpus_out)
{
    DOCTOR_AUTO_LIST struct doctor_names cards = {0};
    doctor_list(doctor, &cards, "/sys/bus/pci/devices");
    gpus_out->count = 0;
    for (size_t i = 0; i < cards.count && gpus_out->count < DOCTOR_DEVICES_MAX; i++) {
        uint64_t vendor, class;
        char     path[PATH_MAX];
        doctor_read_number(doctor, &vendor, "/sys/bus/pci/devices/%s/vendor", cards.name[i]);
        doctor_read_number(doctor, &class, "/sys/bus/pci/devices/%s/class", cards.name[i]);
        if (vendor != 0x10de || class >> 16 != 0x03) continue;
        snprintf(path, sizeof path, "/sys/bus/pci/devices/%s", cards.name[i]);
        if (doctor_pci_look(doctor, path, &gpus_out->pci[gpus_out->count])) gpus_out->count++;
    }
}

/* "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  560.35.03 ..." */
static bool look_driver(struct doctor *doctor, int count, bool *open_out)
{
    char version[256];
    bool loaded = doctor_read_line(doctor, version, sizeof version, "/proc/driver/nvidia/version");
    *open_out   = strstr(version, "Open Kernel Module") != NULL;
    if (!loaded) {
        doctor_find(doctor, DOCTOR_MISSING, "gpu-driver", "",
                    "%d NVIDIA GPU%s, and no driver" WHY "no GPU memory and no kernels" FIX
                    "modprobe nvidia; if that fails: apt-get install nvidia-open (or your system's package of the driver)",
                    count, count > 1 ? "s" : "");
    } else {
        doctor_find(doctor, DOCTOR_OK, "gpu-driver", "", "%d GPU%s, driver with %s kernel modules", count, count > 1 ? "s" : "",
                    *open_out ? "open" : "proprietary");
    }
    return loaded;
}

/* Two ways into GPU memory: a dma-buf of the driver's open kernel modules (Linux 5.12), or the module nvidia_peermem. */
static void look_peer_memory(struct doctor *doctor, bool open)
{
    char release[64];
    int  major = 0, minor = 0;
    doctor_read_line(doctor, release, sizeof release, "/proc/sys/kernel/osrelease");
    bool dmabuf = open && sscanf(release, "%d.%d", &major, &minor) == 2 && (major > 5 || (major == 5 && minor >= 12));
    bool module = doctor_exists(doctor, "/sys/module/nvidia_peermem") || doctor_exists(doctor, "/sys/module/nv_peer_mem");
    if (dmabuf || module) {
        doctor_find(doctor, DOCTOR_OK, "gpu-peer-memory", "", "RDMA devices reach GPU memory by %s",
                    dmabuf ? "dma-buf" : "nvidia_peermem");
        return;
    }
    doctor_find(doctor, DOCTOR_MISSING, "gpu-peer-memory", "",
                "nvidia_peermem is not loaded, and this driver has no dma-buf" WHY
                "what lies in GPU memory goes through host memory on its way to another machine" FIX
                "modprobe nvidia-peermem; at every start: echo nvidia-peermem >/etc/modules-load.d/nvidia-peermem.conf");
}

static void look_window(struct doctor *doctor, const struct doctor_bar1 *bar1)
{
    enum { USED_PERCENT_MAX = 80 };
    uint64_t used_mib = bar1->used_bytes >> 20, total_mib = bar1->total_bytes >> 20;
    if (bar1->used_bytes / 100 * 100 <= bar1->total_bytes / 100 * USED_PERCENT_MAX) {
        doctor_find(doctor, DOCTOR_OK, "gpu-bar1", bar1->address, "%" PRIu64 " of %" PRIu64 " MiB of BAR1 used", used_mib,
                    total_mib);
        return;
    }
    doctor_find(doctor, DOCTOR_DEGRADED, "gpu-bar1", bar1->address,
                "%" PRIu64 " of %" PRIu64 " MiB of BAR1 used (%.0f %%)" WHY
                "once it is full, no more GPU memory can be registered with an RDMA device, nor mapped by the CPU" FIX
                "end what holds it: nvidia-smi -i %s --query-compute-apps=pid,used_memory --format=csv%s",
                used_mib, total_mib, 100 * (double)bar1->used_bytes / (double)bar1->total_bytes, bar1->address,
                total_mib <= 256 ? "; 256 MiB is little: turn on Resizable BAR and Above 4G Decoding in the firmware" : "");
}

static void look_windows(struct doctor *doctor)
{
    struct doctor_bar1 bar1[DOCTOR_DEVICES_MAX];
    char               reason[256];
    int                count = doctor_nvml_bar1(doctor, bar1, DOCTOR_DEVICES_MAX, reason, sizeof reason);
    for (int i = 0; i < count; i++) {
        if (bar1[i].total_bytes) look_window(doctor, &bar1[i]);
    }
    if (count >= 0) return;
    doctor_find(
        doctor, DOCTOR_DEGRADED, "gpu-bar1", "",
        "not told: %s" WHY "whether GPU memory can still be registered is not known" FIX
        "nvidia-smi -q -d MEMORY shows it, or why it cannot be shown; in a container: --gpus all, NVIDIA_DRIVER_CAPABILITIES=all",
        reason);
}

/* ---- distance ---- */

enum distance { FAR_NODE, SAME_NODE, SAME_BRIDGE, SAME_SWITCH };
static const char *const distance_words[] = {"on another NUMA node", "on the same NUMA node", "on the same host bridge",
                                             "on the same PCIe switch"};

/* Folders that two chains share: 1 is the host bridge alone; 2 and more go through a bridge below it. */
static int shared_folders(const char *a, const char *b)
{
    int shared = 0;
    for (size_t i = 0; a[i] && a[i] == b[i]; i++) shared += a[i] == '/';
    return shared;
}

static enum distance distance_between(const struct doctor_pci *a, const struct doctor_pci *b)
{
    int shared = shared_folders(a->chain, b->chain);
    if (shared >= 2) return SAME_SWITCH;
    if (shared == 1) return SAME_BRIDGE;
    return a->numa_node == b->numa_node ? SAME_NODE : FAR_NODE; /* both -1: a machine without nodes */
}

static void look_distance(struct doctor *doctor, const struct doctor_pci *gpu, const struct doctor_devices *devices)
{
    const struct doctor_rdma *nearest  = NULL;
    enum distance             distance = FAR_NODE;
    for (int i = 0; i < devices->rdma_count; i++) {
        const struct doctor_rdma *device = &devices->rdma[i];
        if (!device->pci.address[0]) continue;
        enum distance this_one = distance_between(gpu, &device->pci);
        if (nearest && this_one <= distance) continue;
        nearest  = device;
        distance = this_one;
    }
    if (!nearest) return;
    if (distance != FAR_NODE) {
        doctor_find(doctor, DOCTOR_OK, "gpu-distance", gpu->address, "%s is %s", nearest->name, distance_words[distance]);
        return;
    }
    doctor_find(doctor, DOCTOR_DEGRADED, "gpu-distance", gpu->address,
                "the nearest RDMA device, %s, is %s (%d, the GPU on %d)" WHY
                "its memory crosses the link between processors: often a fraction of the bandwidth" FIX
                "put an RDMA card into a slot of NUMA node %d; until then prefer the other GPUs (CUDA_VISIBLE_DEVICES)",
                nearest->name, distance_words[distance], nearest->pci.numa_node, gpu->numa_node, gpu->numa_node);
}

void doctor_look_gpu(struct doctor *doctor, const struct doctor_devices *devices)
{
    struct gpus gpus;
    bool        open = false;
    find_gpus(doctor, &gpus);
    if (gpus.count == 0) {
        doctor_find(doctor, DOCTOR_OK, "gpu-driver", "", "no NVIDIA GPU, and nothing to look at");
        return;
    }
    if (!look_driver(doctor, gpus.count, &open)) return;
    look_windows(doctor);
    if (devices->rdma_count == 0) return; /* nobody would reach for the GPU's memory */
    look_peer_memory(doctor, open);
    for (int i = 0; i < gpus.count; i++) look_distance(doctor, &gpus.pci[i], devices);
}
