/* SPDX-License-Identifier: Apache-2.0
 *
 * What libibverbs tells of a port and no file of /sys does: the MTU of InfiniBand. The library is opened at run time, so that postern-doctor runs where it
 * is not installed; of its structs only the first fields are read, which are the same in every version.
 */
#include "runtime/tools/doctor.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* The beginning of struct ibv_port_attr, and room for what any version writes behind it. */
struct port_answer {
    unsigned state, max_mtu, active_mtu; /* 1 is 256 bytes, 5 is 4096 */
    char     rest[512];
};

struct library {
    void *handle;
    void **(*get_device_list)(int *count);
    void (*free_device_list)(void **list);
    const char *(*get_device_name)(void *device);
    void *(*open_device)(void *device);
    int (*close_device)(void *context);
    int (*query_port)(void *context, uint8_t port, struct port_answer *answer);
};

static bool open_library(struct library *library_out)
{
    struct library library = {.handle = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_LOCAL)};
    const struct {
        const char *name;
        void       *place;
    } wanted[] = {
        {"ibv_get_device_list", &library.get_device_list}, {"ibv_free_device_list", &library.free_device_list},
        {"ibv_get_device_name", &library.get_device_name}, {"ibv_open_device", &library.open_device},
        {"ibv_close_device", &library.close_device},       {"ibv_query_port", &library.query_port},
    };
    if (!library.handle) return false;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *function = dlsym(library.handle, wanted[i].name);
        memcpy(wanted[i].place, &function, sizeof function);
        if (function) continue;
        dlclose(library.handle);
        return false;
    }
    *library_out = library;
    return true;
}

static void *open_named(const struct library *library, const char *name)
{
    int    count   = 0;
    void **list    = library->get_device_list(&count);
    void  *context = NULL;
    for (int i = 0; list && i < count && !context; i++)
        if (strcmp(library->get_device_name(list[i]), name) == 0) context = library->open_device(list[i]);
    if (list) library->free_device_list(list);
    return context;
}

static bool ask_live(const char *device, unsigned port, struct doctor_mtu *mtu_out)
{
    struct library     library;
    struct port_answer answer = {.state = 0};
    if (!open_library(&library)) return false;
    void *context = open_named(&library, device);
    bool told = context && library.query_port(context, (uint8_t)port, &answer) == 0 && answer.max_mtu >= 1 && answer.max_mtu <= 5 &&
                answer.active_mtu >= 1 && answer.active_mtu <= 5;
    if (context) library.close_device(context);
    dlclose(library.handle);
    if (told) *mtu_out = (struct doctor_mtu){.active = 128u << answer.active_mtu, .max = 128u << answer.max_mtu};
    return told;
}

/* "active_mtu:             2048 (4)", behind "port:   1", of `ibv_devinfo -d DEVICE` */
static bool read_recorded(char *text, unsigned port, struct doctor_mtu *mtu_out)
{
    struct doctor_mtu mtu  = {0};
    unsigned long     at   = 0;
    char             *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        line += strspn(line, " \t");
        char *value = strchr(line, ':');
        if (!value) continue;
        if (strncmp(line, "port:", 5) == 0) at = strtoul(value + 1, NULL, 10);
        if (at == port && strncmp(line, "max_mtu:", 8) == 0) mtu.max = (unsigned)strtoul(value + 1, NULL, 10);
        if (at == port && strncmp(line, "active_mtu:", 11) == 0) mtu.active = (unsigned)strtoul(value + 1, NULL, 10);
    }
    if (!mtu.max || !mtu.active) return false;
    *mtu_out = mtu;
    return true;
}

bool doctor_verbs_mtu(const struct doctor *doctor, const char *device, unsigned port, struct doctor_mtu *mtu_out)
{
    if (!doctor->root[0]) return ask_live(device, port, mtu_out);
    SHMEMI_AUTO_FREE char *text = doctor_read_text(doctor, "/ibv_devinfo/%s", device);
    return text && read_recorded(text, port, mtu_out);
}
