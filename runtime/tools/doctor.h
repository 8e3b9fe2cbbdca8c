/* SPDX-License-Identifier: Apache-2.0
 *
 * postern-doctor, inside: the list of findings, and reading /sys and /proc below a root.
 *
 * A finding is one look at one thing. Its message has the form of all our messages: what was found, and for what is not in order
 * WHY (what follows from it) and FIX (the command that mends it, or what a person must do).
 *
 *     doctor_find(doctor, DOCTOR_DEGRADED, "port-mtu", "mlx5_0/1",
 *                 "packets of %d bytes" WHY "..." FIX "ip link set %s mtu 4200", mtu, interface);
 *
 * Every path is read below doctor->root, "" on a running machine, so a recorded tree is looked at like a live one. What no file
 * below /sys and /proc tells has a file of its own in a recorded tree: nvidia-smi, ethtool/INTERFACE, dcb/INTERFACE and ibv_devinfo/DEVICE
 * (doctor_nvml.c, doctor_net.c, doctor_dcb.c, doctor_verbs.c).
 */
#ifndef SHMEMI_DOCTOR_H
#define SHMEMI_DOCTOR_H

#include "runtime/base/attr.h"
#include "runtime/base/log.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* In order of how bad it is; the worst is the exit status. */
enum doctor_state {
    DOCTOR_OK,
    DOCTOR_DEGRADED, /* it works, with less than the machine could give       */
    DOCTOR_MISSING,  /* what was looked for does not work, or is not there    */
    DOCTOR_STATES,
};

struct doctor_finding {
    enum doctor_state state;
    const char       *check;  /* which look: a word with hyphens, the same on every machine     */
    char             *object; /* at what: "mlx5_0/1", a PCI address; "" where there is only one */
    char             *found;  /* one line                                                       */
    char             *why;    /* one line; NULL for DOCTOR_OK                                   */
    char             *fix;    /* one line; NULL for DOCTOR_OK                                   */
};

struct doctor {
    char                   root[PATH_MAX]; /* without a slash at its end; "" is this machine */
    struct doctor_finding *findings;
    size_t                 finding_count;
};

/* ---- doctor_find.c: findings ---- */

/* check is a literal; object is copied. Anything but DOCTOR_OK has a WHY and a FIX in its format. */
void doctor_find(struct doctor *doctor, enum doctor_state state, const char *check, const char *object, const char *format, ...)
    SHMEMI_PRINTF(5, 6);
enum doctor_state doctor_worst(const struct doctor *doctor);
void              doctor_forget(struct doctor *doctor);
const char       *doctor_state_word(enum doctor_state state);

/* ---- doctor_print.c: what is told of them ---- */

void doctor_print_text(const struct doctor *doctor, FILE *out);
void doctor_print_json(const struct doctor *doctor, FILE *out);

/* In the text format of Prometheus; the file appears whole or not at all. 0 or a negative errno. */
int doctor_print_prometheus(const struct doctor *doctor, const char *path);

/* ---- doctor_read.c: files below the root. All formats make a path that begins with a slash. ---- */

void doctor_path(const struct doctor *doctor, char path_out[PATH_MAX], const char *format, ...) SHMEMI_PRINTF(3, 4);
bool doctor_exists(const struct doctor *doctor, const char *format, ...) SHMEMI_PRINTF(2, 3);

/* The whole file, for the caller to free; NULL if it cannot be read. */
char *doctor_read_text(const struct doctor *doctor, const char *format, ...) SHMEMI_PRINTF(2, 3);

/* The first line without blanks around it; false, and "", if there is none. */
bool doctor_read_line(const struct doctor *doctor, char *line_out, size_t bytes, const char *format, ...) SHMEMI_PRINTF(4, 5);

/* A decimal or 0x number at the beginning of the file; false, and 0, if there is none. */
bool doctor_read_number(const struct doctor *doctor, uint64_t *number_out, const char *format, ...) SHMEMI_PRINTF(3, 4);

/* The last part of where a link leads; false, and "", if it is none. The file it leads to need not be there. */
bool doctor_read_link(const struct doctor *doctor, char *name_out, size_t bytes, const char *format, ...) SHMEMI_PRINTF(4, 5);

/* Names in a folder, sorted as people count (cpu2 before cpu10), without those that begin with a dot. None if it is not there. */
struct doctor_names {
    char **name;
    size_t count;
};
void doctor_list(const struct doctor *doctor, struct doctor_names *names_out, const char *format, ...) SHMEMI_PRINTF(3, 4);
void doctor_list_free(struct doctor_names *names);

/* Freed at the end of its scope, so it begins as {0}. */
#define DOCTOR_AUTO_LIST __attribute__((cleanup(doctor_list_free)))

/* ---- the looks, each a file; doctor_rdma.c and doctor_gpu.c share what they found of devices ---- */

enum { DOCTOR_DEVICES_MAX = 64, DOCTOR_NAME_MAX = 64 };

/* A device on the PCI bus. */
struct doctor_pci {
    char address[16];     /* 0000:18:00.0                                                       */
    char chain[PATH_MAX]; /* pci0000:15/0000:15:01.0/.../0000:18:00.0, from its root to itself  */
    int  numa_node;       /* -1: not told                                                       */
};

/* path: a link of /sys to the device's folder. false if it is not on the PCI bus. */
bool doctor_pci_look(const struct doctor *doctor, const char *path, struct doctor_pci *pci_out);

struct doctor_rdma {
    char              name[DOCTOR_NAME_MAX]; /* mlx5_0 */
    struct doctor_pci pci;                   /* address "" for devices of software */
};

struct doctor_devices {
    struct doctor_rdma rdma[DOCTOR_DEVICES_MAX];
    int                rdma_count;
};

/* The name of the container around us, or NULL: "docker", "podman", ... */
const char *doctor_container(const struct doctor *doctor);

/* Does this process have the capability (CapEff)? */
bool doctor_capable(const struct doctor *doctor, int capability);

/* CPUs that are online; 1 where nothing tells. */
int doctor_cpus(const struct doctor *doctor);

/* Fills devices. */
void doctor_look_rdma(struct doctor *doctor, struct doctor_devices *devices_out);
/* One port: state, rate, MTU, GIDs, counters. */
void doctor_look_port(struct doctor *doctor, const struct doctor_rdma *device, const char *port);
void doctor_look_gpu(struct doctor *doctor, const struct doctor_devices *devices);
void doctor_look_limits(struct doctor *doctor, const struct doctor_devices *devices);
void doctor_look_machine(struct doctor *doctor);

/*
 * Numbers that network drivers keep of an interface, as `ethtool -S` shows them: each() is called for every one.
 * A recorded tree has that command's output in ethtool/INTERFACE. false if there are none.
 */
typedef void doctor_each(void *arg, const char *name, uint64_t value);
bool         doctor_net_statistics(const struct doctor *doctor, const char *interface, doctor_each *each, void *arg);

/*
 * Priorities of an interface with PFC, one bit each. A recorded tree has the output of `dcb pfc show dev INTERFACE` in dcb/INTERFACE. false: not told.
 */
bool doctor_dcb_pfc(const struct doctor *doctor, const char *interface, unsigned *enabled_out);
/* The look at them. */
void doctor_look_priorities(struct doctor *doctor, const char *object, const char *interface, bool ecn_is_off);

/* The IOMMU before a device on the PCI bus. */
void doctor_look_iommu(struct doctor *doctor, const struct doctor_rdma *device);

/*
 * Largest packets of a port, in bytes, as libibverbs tells them. A recorded tree has the output of `ibv_devinfo -d DEVICE` in
 * ibv_devinfo/DEVICE. false: not told.
 */
struct doctor_mtu {
    unsigned active, max;
};
bool doctor_verbs_mtu(const struct doctor *doctor, const char *device, unsigned port, struct doctor_mtu *mtu_out);

/*
 * What NVML (libnvidia-ml.so.1, opened at run time) tells of the window into the memory of each GPU, BAR1.
 * A recorded tree has the output of `nvidia-smi -q` in the file nvidia-smi. The count of GPUs, or -1 and the reason.
 */
struct doctor_bar1 {
    char     address[16]; /* of the PCI bus, lower case, domain of 4 digits: as in /sys */
    uint64_t total_bytes;
    uint64_t used_bytes;
};
int doctor_nvml_bar1(const struct doctor *doctor, struct doctor_bar1 *bar1_out, int max, char *reason_out, size_t reason_bytes);

#endif
