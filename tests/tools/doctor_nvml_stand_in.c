/* SPDX-License-Identifier: Apache-2.0
 *
 * A stand-in for libnvidia-ml.so.1: three GPUs, of which the second one does not answer. NVML_STAND_IN=broken: it does not start.
 * Built with STAND_IN_WITHOUT_BAR1 it lacks a function.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))

enum { SUCCESS, NOT_FOUND = 6, DRIVER_NOT_LOADED = 9 };

struct pci {
    char         bus_id_legacy[16];
    unsigned int domain, bus, device, pci_device_id, pci_subsystem_id;
    char         bus_id[32];
};
struct bar1 {
    unsigned long long total, free, used;
};

static const struct gpu {
    const char        *bus_id;
    unsigned long long used;
} gpus[] = {{"00000000:19:00.0", 3ull << 20}, {NULL, 0}, {"00000001:9A:00.0", 100ull << 30}};

static int started;

/* Unloaded while it runs: the caller has not ended it. */
__attribute__((destructor)) static void check_end(void)
{
    if (started) abort();
}

PUBLIC int         nvmlInit_v2(void);
PUBLIC int         nvmlShutdown(void);
PUBLIC const char *nvmlErrorString(int result);
PUBLIC int         nvmlDeviceGetCount_v2(unsigned int *count);
PUBLIC int         nvmlDeviceGetHandleByIndex_v2(unsigned int index, const struct gpu **device);
PUBLIC int         nvmlDeviceGetPciInfo_v3(const struct gpu *device, struct pci *pci);
PUBLIC int         nvmlDeviceGetBAR1MemoryInfo(const struct gpu *device, struct bar1 *bar1);

int nvmlInit_v2(void)
{
    const char *mode = getenv("NVML_STAND_IN");
    if (mode && strcmp(mode, "broken") == 0) return DRIVER_NOT_LOADED;
    started++;
    return SUCCESS;
}

int nvmlShutdown(void)
{
    if (started-- <= 0) abort();
    return SUCCESS;
}

const char *nvmlErrorString(int result)
{
    return result == DRIVER_NOT_LOADED ? "Driver Not Loaded" : "another error";
}

int nvmlDeviceGetCount_v2(unsigned int *count)
{
    *count = sizeof gpus / sizeof gpus[0];
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, const struct gpu **device)
{
    *device = &gpus[index];
    return gpus[index].bus_id ? SUCCESS : NOT_FOUND;
}

int nvmlDeviceGetPciInfo_v3(const struct gpu *device, struct pci *pci)
{
    snprintf(pci->bus_id_legacy, sizeof pci->bus_id_legacy, "not this one");
    snprintf(pci->bus_id, sizeof pci->bus_id, "%s", device->bus_id);
    return SUCCESS;
}

#ifndef STAND_IN_WITHOUT_BAR1
int nvmlDeviceGetBAR1MemoryInfo(const struct gpu *device, struct bar1 *bar1)
{
    bar1->total = 128ull << 30;
    bar1->used  = device->used;
    bar1->free  = bar1->total - bar1->used;
    return SUCCESS;
}
#endif
