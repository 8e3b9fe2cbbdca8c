/* SPDX-License-Identifier: Apache-2.0
 *
 * RDMA devices: the kernel module and the library that programs reach them by, whether this process may open them, and how wide
 * their way to memory is. doctor_port.c looks at their ports.
 */
#include "runtime/tools/doctor.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The module that makes an RDMA device of a card, by the driver of its network interface. */
static const struct {
    const char *driver, *module;
} rdma_modules[] = {
    {"mlx5_core", "mlx5_ib"}, {"mlx4_core", "mlx4_ib"},   {"bnxt_en", "bnxt_re"}, {"ice", "irdma"},        {"i40e", "irdma"},
    {"qede", "qedr"},         {"hns3", "hns_roce_hw_v2"}, {"mana", "mana_ib"},    {"ionic", "ionic_rdma"},
};

/* The module that is lacking for a card of this machine; NULL if there is no card that we know of. address: of the card. */
static const char *module_for_card(const struct doctor *doctor, char *address_out, size_t bytes)
{
    DOCTOR_AUTO_LIST struct doctor_names cards = {0};
    doctor_list(doctor, &cards, "/sys/bus/pci/devices");
    for (size_t i = 0; i < cards.count; i++) {
        char driver[DOCTOR_NAME_MAX];
        if (!doctor_read_link(doctor, driver, sizeof driver, "/sys/bus/pci/devices/%s/driver", cards.name[i])) continue;
        for (size_t m = 0; m < sizeof rdma_modules / sizeof rdma_modules[0]; m++) {
            if (strcmp(driver, rdma_modules[m].driver) != 0) continue;
            snprintf(address_out, bytes, "%s", cards.name[i]);
            return rdma_modules[m].module;
        }
    }
    return NULL;
}

/* An interface that Soft-RoCE could use: the first one that is up and is not the loopback. */
static void plain_interface(const struct doctor *doctor, char *name_out, size_t bytes)
{
    DOCTOR_AUTO_LIST struct doctor_names interfaces = {0};
    doctor_list(doctor, &interfaces, "/sys/class/net");
    snprintf(name_out, bytes, "eth0");
    for (size_t i = 0; i < interfaces.count; i++) {
        char state[16];
        if (doctor_read_line(doctor, state, sizeof state, "/sys/class/net/%s/operstate", interfaces.name[i]) &&
            strcmp(state, "up") == 0) {
            snprintf(name_out, bytes, "%s", interfaces.name[i]);
            return;
        }
    }
}

static void no_device(struct doctor *doctor)
{
    char        card[DOCTOR_NAME_MAX], interface[DOCTOR_NAME_MAX];
    const char *module = module_for_card(doctor, card, sizeof card);
    if (module) {
        doctor_find(doctor, DOCTOR_MISSING, "rdma-device", card,
                    "the card at %s can be an RDMA device, but the kernel shows none" WHY
                    "jobs on several machines go over libfabric, through the kernel's network stack" FIX "modprobe %s",
                    card, module);
        return;
    }
    plain_interface(doctor, interface, sizeof interface);
    doctor_find(doctor, DOCTOR_MISSING, "rdma-device", "",
                "no RDMA device" WHY "jobs on several machines go over libfabric, through the kernel's network stack; "
                "jobs on this machine alone need none" FIX
                "a card that does RDMA; to try without one: modprobe rdma_rxe && rdma link add rxe0 type rxe netdev %s",
                interface);
}

static void look_module(struct doctor *doctor, bool wanted)
{
    if (doctor_exists(doctor, "/sys/class/infiniband_verbs")) {
        doctor_find(doctor, DOCTOR_OK, "rdma-module", "", "ib_uverbs is loaded");
    } else if (!wanted) {
        doctor_find(doctor, DOCTOR_OK, "rdma-module", "", "ib_uverbs is not loaded, and no RDMA device wants it");
    } else {
        doctor_find(doctor, DOCTOR_MISSING, "rdma-module", "",
                    "ib_uverbs is not loaded" WHY "no program can open an RDMA device" FIX
                    "modprobe ib_uverbs; at every start: echo ib_uverbs >/etc/modules-load.d/rdma.conf");
    }
}

/* In a recorded tree the library is looked for as a file; here it must open, with all that it needs. */
static bool library_is_there(const struct doctor *doctor, char *reason_out, size_t bytes)
{
    static const char *const folders[] = {"/usr/lib/*", "/usr/lib64", "/usr/lib", "/lib/*", "/lib64"};
    if (!doctor->root[0]) {
        void *handle = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_LOCAL);
        if (handle) {
            dlclose(handle);
            return true;
        }
        snprintf(reason_out, bytes, "%s", dlerror());
        return false;
    }
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        char   path[PATH_MAX];
        glob_t found;
        doctor_path(doctor, path, "%s/libibverbs.so.1", folders[i]);
        bool there = glob(path, GLOB_NOSORT, NULL, &found) == 0;
        globfree(&found);
        if (there) return true;
    }
    snprintf(reason_out, bytes, "libibverbs.so.1 is not there");
    return false;
}

static void look_library(struct doctor *doctor)
{
    char reason[256];
    if (library_is_there(doctor, reason, sizeof reason)) {
        doctor_find(doctor, DOCTOR_OK, "rdma-library", "", "libibverbs.so.1 is installed");
        return;
    }
    doctor_find(doctor, DOCTOR_MISSING, "rdma-library", "",
                "cannot open libibverbs: %s" WHY
                "the ibverbs transport is absent, and jobs on several machines go over libfabric" FIX
                "apt-get install libibverbs1 ibverbs-providers (Fedora and its kin: dnf install libibverbs)",
                reason);
}

/* The device file of an RDMA device: uverbs0. */
static bool device_file(const struct doctor *doctor, const char *device, char *name_out, size_t bytes)
{
    DOCTOR_AUTO_LIST struct doctor_names files = {0};
    doctor_list(doctor, &files, "/sys/class/infiniband_verbs");
    for (size_t i = 0; i < files.count; i++) {
        char owner[DOCTOR_NAME_MAX];
        if (doctor_read_line(doctor, owner, sizeof owner, "/sys/class/infiniband_verbs/%s/ibdev", files.name[i]) &&
            strcmp(owner, device) == 0) {
            snprintf(name_out, bytes, "%s", files.name[i]);
            return true;
        }
    }
    return false;
}

static void look_access(struct doctor *doctor, const char *device)
{
    char file[DOCTOR_NAME_MAX], path[PATH_MAX];
    if (!device_file(doctor, device, file, sizeof file)) return; /* look_module has said so */
    doctor_path(doctor, path, "/dev/infiniband/%s", file);
    int fd  = open(path, O_RDWR | O_CLOEXEC);
    int err = fd < 0 ? errno : 0;
    if (fd >= 0) close(fd);
    const char *container = doctor_container(doctor);
    if (!err) {
        doctor_find(doctor, DOCTOR_OK, "rdma-access", device, "this user may open /dev/infiniband/%s", file);
    } else if (container && err != EACCES) {
        doctor_find(doctor, DOCTOR_MISSING, "rdma-access", device,
                    "cannot open /dev/infiniband/%s: %s" WHY "programs in this container cannot use the device" FIX
                    "start it with --device=/dev/infiniband/%s, or in Kubernetes with the RDMA device plugin",
                    file, strerror(err), file);
    } else if (err == EACCES) {
        doctor_find(doctor, DOCTOR_MISSING, "rdma-access", device,
                    "cannot open /dev/infiniband/%s: %s" WHY "programs of this user cannot use the device" FIX
                    "chmod 0666 /dev/infiniband/uverbs*; at every start: apt-get install rdma-core, whose udev rules do that",
                    file, strerror(err));
    } else {
        doctor_find(doctor, DOCTOR_MISSING, "rdma-access", device,
                    "cannot open /dev/infiniband/%s: %s" WHY "no program can use the device" FIX
                    "udevadm trigger --subsystem-match=infiniband_verbs",
                    file, strerror(err));
    }
}

/* Gb/s that a PCIe link carries: transfers a second times lanes, less the line code (8b/10b up to 5 GT/s, then 128b/130b). */
static double link_gbps(const struct doctor *doctor, const char *device, const char *which, double *gts_out, uint64_t *lanes_out)
{
    char speed[64];
    *gts_out = 0;
    if (doctor_read_line(doctor, speed, sizeof speed, "/sys/class/infiniband/%s/device/%s_link_speed", device, which))
        *gts_out = strtod(speed, NULL);
    doctor_read_number(doctor, lanes_out, "/sys/class/infiniband/%s/device/%s_link_width", device, which);
    return *gts_out * (double)*lanes_out * (*gts_out > 5 ? 128.0 / 130 : 8.0 / 10);
}

/* "100 Gb/sec (4X EDR)", of the fastest port of the device. */
static double port_gbps(const struct doctor *doctor, const char *device)
{
    double                               fastest = 0;
    DOCTOR_AUTO_LIST struct doctor_names ports   = {0};
    doctor_list(doctor, &ports, "/sys/class/infiniband/%s/ports", device);
    for (size_t i = 0; i < ports.count; i++) {
        char rate[64];
        if (!doctor_read_line(doctor, rate, sizeof rate, "/sys/class/infiniband/%s/ports/%s/rate", device, ports.name[i])) continue;
        double gbps = strtod(rate, NULL);
        if (gbps > fastest) fastest = gbps;
    }
    return fastest;
}

static void look_pci_link(struct doctor *doctor, const struct doctor_rdma *device)
{
    double   gts, gts_max, port = port_gbps(doctor, device->name);
    uint64_t lanes = 0, lanes_max = 0;
    double   now  = link_gbps(doctor, device->name, "current", &gts, &lanes);
    double   most = link_gbps(doctor, device->name, "max", &gts_max, &lanes_max);
    if (now <= 0) return; /* virtual machines often do not tell */
    if (now >= port) {
        doctor_find(doctor, DOCTOR_OK, "rdma-pci-link", device->name, "%g GT/s x%d carries %.0f Gb/s, its port %.0f", gts,
                    (int)lanes, now, port);
        return;
    }
    doctor_find(doctor, DOCTOR_DEGRADED, "rdma-pci-link", device->name,
                "the PCIe link runs at %g GT/s x%d, which carries %.0f Gb/s for a port of %.0f" WHY
                "the port cannot be filled, and the network pauses or drops what comes faster" FIX
                "put the card at %s into a slot of %g GT/s x%d%s; lspci -vv -s %s shows LnkSta beside LnkCap",
                gts, (int)lanes, now, port, device->pci.address, gts_max, (int)lanes_max, most < port ? " at least" : "",
                device->pci.address);
}

/* Can the ibverbs transport use a device of this kind at all? Says so where it cannot. */
static bool kind_is_right(struct doctor *doctor, const struct doctor_rdma *device)
{
    char kind[32];
    doctor_read_line(doctor, kind, sizeof kind, "/sys/class/infiniband/%s/node_type", device->name);
    if (strstr(kind, "RNIC")) {
        doctor_find(
            doctor, DOCTOR_MISSING, "rdma-device", device->name,
            "it speaks iWARP" WHY "the ibverbs transport needs write with immediate and datagrams, which iWARP lacks" FIX
            "switch the card to RoCE if it can: devlink dev param set pci/%s name enable_roce value true cmode driverinit && "
            "devlink dev reload pci/%s; else use libfabric",
            device->pci.address, device->pci.address);
        return false;
    }
    if (strstr(kind, "unspecified")) {
        doctor_find(doctor, DOCTOR_OK, "rdma-device", device->name,
                    "a device for libfabric (such as EFA), not for the ibverbs transport");
        return false;
    }
    return true;
}

static void look_device(struct doctor *doctor, struct doctor_rdma *device)
{
    DOCTOR_AUTO_LIST struct doctor_names ports = {0};
    char                                 path[PATH_MAX], firmware[64];
    snprintf(path, sizeof path, "/sys/class/infiniband/%s/device", device->name);
    bool hardware = doctor_pci_look(doctor, path, &device->pci);
    doctor_list(doctor, &ports, "/sys/class/infiniband/%s/ports", device->name);
    if (!kind_is_right(doctor, device)) return;
    if (hardware) {
        doctor_read_line(doctor, firmware, sizeof firmware, "/sys/class/infiniband/%s/fw_ver", device->name);
        doctor_find(doctor, DOCTOR_OK, "rdma-device", device->name, "at %s, NUMA node %d, firmware %s", device->pci.address,
                    device->pci.numa_node, firmware[0] ? firmware : "not told");
    } else {
        doctor_find(doctor, DOCTOR_OK, "rdma-device", device->name, "a device of software: for tests, not for speed");
    }
    look_access(doctor, device->name);
    if (hardware) {
        look_pci_link(doctor, device);
        doctor_look_iommu(doctor, device);
    }
    for (size_t p = 0; p < ports.count; p++) doctor_look_port(doctor, device, ports.name[p]);
}

void doctor_look_rdma(struct doctor *doctor, struct doctor_devices *devices_out)
{
    DOCTOR_AUTO_LIST struct doctor_names names = {0};
    char                                 card[DOCTOR_NAME_MAX];
    doctor_list(doctor, &names, "/sys/class/infiniband");
    devices_out->rdma_count = 0;
    look_module(doctor, names.count > 0 || module_for_card(doctor, card, sizeof card));
    if (names.count == 0) {
        no_device(doctor);
        return;
    }
    look_library(doctor);
    for (size_t i = 0; i < names.count && i < DOCTOR_DEVICES_MAX; i++) {
        struct doctor_rdma *device = &devices_out->rdma[devices_out->rdma_count++];
        snprintf(device->name, sizeof device->name, "%s", names.name[i]);
        look_device(doctor, device);
    }
}
