/* SPDX-License-Identifier: Apache-2.0
 *
 * The GPU heap and the network: who has registered it, and why not. A device reaches memory of a GPU by a dma-buf of the driver, or by its address
 * where the module nvidia_peermem resolves it. Without either, what goes to another node is copied through host memory: that is said with its
 * cause and its fix, and refused where POSTERN_REQUIRE names gdr.
 */
#include "runtime/base/log.h"
#include "runtime/base/report.h"
#include "runtime/gpu/inside.h"
#include "runtime/sysfile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
    bool has[SHMEMI_TRANSPORTS_MAX]; /* this PE's part is registered with that transport */
    int  tried, refused;             /* transports that were asked, and the last that refused, or -1 */
    int  error;
} rdma = {.refused = -1};

struct shmemt_region shmemi_gpu_region(void)
{
    return (struct shmemt_region){
        .segment = SHMEMT_SEGMENT_GPU,
        .memory  = SHMEMT_MEMORY_CUDA,
        .base    = (void *)shmemi_state.gpu_base,
        .bytes   = shmemi_gpu.bytes,
        .fd      = shmemi_gpu.dma_buf,
        .device  = shmemi_gpu.ordinal,
    };
}

bool shmemi_gpu_rdma_reaches(int pe)
{
    return shmemi_state.peers[pe].posts_gpu;
}

bool shmemi_gpu_rdma_has(int transport)
{
    return transport >= 0 && rdma.has[transport];
}

void shmemi_gpu_registered(size_t transport, int err)
{
    if (rdma.tried == 0) {
        memset(rdma.has, 0, sizeof rdma.has);
        rdma.refused = -1;
    }
    rdma.tried++;
    rdma.has[transport] = err == 0;
    if (err == 0) return;
    rdma.refused = (int)transport;
    rdma.error   = err;
}

/* The window through which others reach the GPU's memory: the second range of its PCI device. 0: not known. */
static uint64_t window_bytes(void)
{
    char bus[24] = "", path[96];
    if (shmemi_gpu.cuda->device_get_pci_bus_id(bus, sizeof bus, shmemi_gpu.device)) return 0;
    for (char *at = bus; *at; at++)
        if (*at >= 'A' && *at <= 'F') *at = (char)(*at - 'A' + 'a');
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/resource", bus);
    FILE    *file = shmemi_sysfile_open("", path);
    uint64_t first, last, bytes = 0;
    char     line[96];
    if (!file) return 0;
    if (fgets(line, sizeof line, file) && fgets(line, sizeof line, file) &&
        sscanf(line, "%" SCNx64 " %" SCNx64, &first, &last) == 2 && last > first)
        bytes = last - first + 1;
    fclose(file);
    return bytes;
}

static bool has_peermem(void)
{
    return access("/sys/module/nvidia_peermem", F_OK) == 0 || access("/sys/module/nv_peer_mem", F_OK) == 0;
}

/* BAR1, dma-buf, peermem: what was looked at, in a few words. */
static void describe(char *text, size_t bytes)
{
    uint64_t window   = window_bytes();
    char     size[48] = "BAR1 is not known";
    if (window) snprintf(size, sizeof size, "BAR1 has %" PRIu64 " MiB", window >> 20);
    snprintf(text, bytes, "%s dma-buf of the driver, nvidia_peermem is %sloaded, %s", shmemi_gpu.dma_buf >= 0 ? "with a" : "no",
             has_peermem() ? "" : "not ", size);
}

static const char *cure(void)
{
    uint64_t window = window_bytes();
    if (window && window < shmemi_gpu.bytes) return "turn on Resizable BAR in the firmware, or lower POSTERN_CUDA_HEAP below BAR1";
    if (shmemi_gpu.dma_buf < 0 && !has_peermem())
        return "sudo modprobe nvidia-peermem, or use the open kernel modules of the driver (nvidia-open) with Linux 5.12 or later";
    if (rdma.error == -ENOTSUP) return "use a transport that takes GPU memory, such as ibverbs with an RDMA device";
    return "postern-doctor looks for the cause";
}

void shmemi_gpu_report_rdma(void)
{
    char found[160];
    int  tried = rdma.tried;
    rdma.tried = 0; /* of the next start */
    if (shmemi_gpu.bytes == 0) {
        if (shmemi_gpu.cuda) shmemi_report("gdr", SHMEMI_ABSENT, "there is no GPU heap");
        return;
    }
    if (shmemi_state.node.count == shmemi_state.npes && tried == 0) {
        shmemi_report("gdr", SHMEMI_ABSENT, "all PEs are on one node, so no network device needs the GPU heap");
        return;
    }
    describe(found, sizeof found);
    const char *name = rdma.refused >= 0 ? shmemi_state.transports[rdma.refused]->ops->name : "";
    if (tried > 0 && rdma.refused < 0) {
        shmemi_report("gdr", SHMEMI_PRESENT, "network devices reach the GPU heap; %s", found);
        return;
    }
    shmemi_report("gdr", SHMEMI_DEGRADED,
                  "transport %s does not take the GPU heap (%s), so it goes through host memory; %s; fix: %s", name,
                  strerror(-rdma.error), found, cure());
    if (shmemi_state.node.me == 0)
        shmemi_warn("GPU memory goes through host memory on its way to other nodes" WHY "transport %s does not take it (%s): %s" FIX
                    "%s; POSTERN_REQUIRE=gdr refuses to start like this",
                    name, strerror(-rdma.error), found, cure());
}
