/* SPDX-License-Identifier: Apache-2.0
 *
 * How full the window is through which others on the PCI bus reach a GPU's memory (BAR1). Only the driver knows: its library NVML is
 * opened at run time. The types and names here are those of its public interface, as far as they are needed.
 */
#include "runtime/tools/doctor.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef void *nvml_device;
struct nvml_bar1 {
    unsigned long long total, free, used;
};
struct nvml_pci {
    char         bus_id_legacy[16];
    unsigned int domain, bus, device, pci_device_id, pci_subsystem_id;
    char         bus_id[32];
};

struct nvml {
    void *library;
    int (*init)(void);
    int (*shutdown)(void);
    const char *(*error)(int result);
    int (*count)(unsigned int *count);
    int (*device)(unsigned int index, nvml_device *device);
    int (*pci)(nvml_device device, struct nvml_pci *pci);
    int (*bar1)(nvml_device device, struct nvml_bar1 *bar1);
};

static bool open_nvml(struct nvml *nvml, char *reason_out, size_t bytes)
{
    const struct {
        void      **slot;
        const char *name;
    } functions[] = {
        {(void **)&nvml->init, "nvmlInit_v2"},
        {(void **)&nvml->shutdown, "nvmlShutdown"},
        {(void **)&nvml->error, "nvmlErrorString"},
        {(void **)&nvml->count, "nvmlDeviceGetCount_v2"},
        {(void **)&nvml->device, "nvmlDeviceGetHandleByIndex_v2"},
        {(void **)&nvml->pci, "nvmlDeviceGetPciInfo_v3"},
        {(void **)&nvml->bar1, "nvmlDeviceGetBAR1MemoryInfo"},
    };
    nvml->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!nvml->library) {
        snprintf(reason_out, bytes, "%s", dlerror());
        return false;
    }
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        *functions[i].slot = dlsym(nvml->library, functions[i].name);
        if (*functions[i].slot) continue;
        snprintf(reason_out, bytes, "libnvidia-ml.so.1 lacks %s", functions[i].name);
        dlclose(nvml->library);
        return false;
    }
    int err = nvml->init();
    if (!err) return true;
    snprintf(reason_out, bytes, "%s", nvml->error(err));
    dlclose(nvml->library);
    return false;
}

/* NVML and nvidia-smi write 00000000:18:00.0 where /sys has 0000:18:00.0, and letters of either case. */
static void set_address(struct doctor_bar1 *bar1, const char *bus_id)
{
    size_t length = strlen(bus_id), skip = length > 12 ? length - 12 : 0;
    snprintf(bar1->address, sizeof bar1->address, "%s", bus_id + skip);
    for (char *at = bar1->address; *at; at++) *at = (char)tolower((unsigned char)*at);
}

static int ask_nvml(struct doctor_bar1 *bar1_out, int max, char *reason_out, size_t bytes)
{
    struct nvml  nvml;
    unsigned int count = 0;
    int          found = 0;
    if (!open_nvml(&nvml, reason_out, bytes)) return -1;
    nvml.count(&count);
    for (unsigned int i = 0; i < count && found < max; i++) {
        nvml_device      device;
        struct nvml_pci  pci  = {0};
        struct nvml_bar1 bar1 = {0};
        if (nvml.device(i, &device) || nvml.pci(device, &pci) || nvml.bar1(device, &bar1)) continue;
        bar1_out[found] = (struct doctor_bar1){.total_bytes = bar1.total, .used_bytes = bar1.used};
        set_address(&bar1_out[found++], pci.bus_id);
    }
    nvml.shutdown();
    dlclose(nvml.library);
    return found;
}

/*
 * GPU 00000000:18:00.0
 *     BAR1 Memory Usage
 *         Total                             : 131072 MiB
 *         Used                              : 1 MiB
 */
static int read_recorded(char *text, struct doctor_bar1 *bar1_out, int max)
{
    int   found = 0;
    bool  in    = false;
    char *rest  = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char     bus_id[32];
        uint64_t mib;
        if (sscanf(line, "GPU %31[0-9A-Fa-f:.]", bus_id) == 1 && found < max) {
            bar1_out[found] = (struct doctor_bar1){0};
            set_address(&bar1_out[found++], bus_id);
        }
        line += strspn(line, " \t");
        const char *colon = strchr(line, ':');
        if (!colon) in = strcmp(line, "BAR1 Memory Usage") == 0;
        if (!in || !colon || found == 0) continue;
        mib = strtoull(colon + 1, NULL, 10);
        if (strncmp(line, "Total", 5) == 0) bar1_out[found - 1].total_bytes = mib << 20;
        if (strncmp(line, "Used", 4) == 0) bar1_out[found - 1].used_bytes = mib << 20;
    }
    return found;
}

int doctor_nvml_bar1(const struct doctor *doctor, struct doctor_bar1 *bar1_out, int max, char *reason_out, size_t reason_bytes)
{
    if (!doctor->root[0]) return ask_nvml(bar1_out, max, reason_out, reason_bytes);
    SHMEMI_AUTO_FREE char *text = doctor_read_text(doctor, "/nvidia-smi");
    if (text) return read_recorded(text, bar1_out, max);
    snprintf(reason_out, reason_bytes, "the recording has no output of nvidia-smi -q");
    return -1;
}
