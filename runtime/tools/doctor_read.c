/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading files, links and folders below the root.
 */
#include "runtime/tools/doctor.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The path of a va_list; longer ones than PATH_MAX are cut, and then not found. */
#define MAKE_PATH(path, doctor, format)         \
    do {                                        \
        va_list args_;                          \
        va_start(args_, format);                \
        make_path(path, doctor, format, args_); \
        va_end(args_);                          \
    } while (0)

SHMEMI_PRINTF(3, 0) static void make_path(char path[PATH_MAX], const struct doctor *doctor, const char *format, va_list args)
{
    size_t root_bytes = strlen(doctor->root);
    memcpy(path, doctor->root, root_bytes);
    vsnprintf(path + root_bytes, PATH_MAX - root_bytes, format, args);
}

void doctor_path(const struct doctor *doctor, char path_out[PATH_MAX], const char *format, ...)
{
    MAKE_PATH(path_out, doctor, format);
}

bool doctor_exists(const struct doctor *doctor, const char *format, ...)
{
    char path[PATH_MAX];
    MAKE_PATH(path, doctor, format);
    return access(path, F_OK) == 0;
}

/* Files of /sys and /proc say no size, so read until the end. Some answer with an error: then there is nothing to read. */
static char *read_file(const char *path)
{
    enum { STEP_BYTES = 4096, TEXT_MAX = 1 << 20 };
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return NULL;
    char  *text = NULL;
    size_t used = 0;
    for (;;) {
        char *grown = realloc(text, used + STEP_BYTES + 1);
        if (!grown) break;
        text        = grown;
        ssize_t got = read(fd, text + used, STEP_BYTES);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) break;
        used += (size_t)got;
        if (got == 0 || used > TEXT_MAX) {
            text[used] = '\0';
            close(fd);
            return text;
        }
    }
    free(text);
    close(fd);
    return NULL;
}

char *doctor_read_text(const struct doctor *doctor, const char *format, ...)
{
    char path[PATH_MAX];
    MAKE_PATH(path, doctor, format);
    return read_file(path);
}

static bool first_line(const char *path, char *line_out, size_t bytes)
{
    line_out[0]                 = '\0';
    SHMEMI_AUTO_FREE char *text = read_file(path);
    if (!text) return false;
    const char *begin = text;
    while (*begin == ' ' || *begin == '\t') begin++;
    const char *end = begin + strcspn(begin, "\n");
    while (end > begin && isspace((unsigned char)end[-1])) end--;
    snprintf(line_out, bytes, "%.*s", (int)(end - begin), begin);
    return line_out[0] != '\0';
}

bool doctor_read_line(const struct doctor *doctor, char *line_out, size_t bytes, const char *format, ...)
{
    char path[PATH_MAX];
    MAKE_PATH(path, doctor, format);
    return first_line(path, line_out, bytes);
}

bool doctor_read_number(const struct doctor *doctor, uint64_t *number_out, const char *format, ...)
{
    char path[PATH_MAX], line[64], *end = line;
    MAKE_PATH(path, doctor, format);
    *number_out = 0;
    if (!first_line(path, line, sizeof line) || !isdigit((unsigned char)line[0])) return false;
    errno          = 0;
    uint64_t value = strtoull(line, &end, strncmp(line, "0x", 2) == 0 ? 16 : 10);
    if (errno || end == line) return false;
    *number_out = value;
    return true;
}

bool doctor_read_link(const struct doctor *doctor, char *name_out, size_t bytes, const char *format, ...)
{
    char path[PATH_MAX], target[PATH_MAX];
    MAKE_PATH(path, doctor, format);
    name_out[0]    = '\0';
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0) return false;
    target[length]    = '\0';
    const char *slash = strrchr(target, '/');
    snprintf(name_out, bytes, "%s", slash ? slash + 1 : target);
    return true;
}

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* As people count, but PCI addresses are hexadecimal. */
static int in_order(const struct dirent **a, const struct dirent **b)
{
    return strchr((*a)->d_name, ':') ? strcmp((*a)->d_name, (*b)->d_name) : strverscmp((*a)->d_name, (*b)->d_name);
}

void doctor_list(const struct doctor *doctor, struct doctor_names *names_out, const char *format, ...)
{
    char            path[PATH_MAX];
    struct dirent **entries;
    MAKE_PATH(path, doctor, format);
    *names_out = (struct doctor_names){0};
    int count  = scandir(path, &entries, not_hidden, in_order);
    if (count < 0) return;
    names_out->name = calloc((size_t)count + 1, sizeof *names_out->name);
    for (int i = 0; i < count; i++) {
        char *name = names_out->name ? strdup(entries[i]->d_name) : NULL;
        if (name) names_out->name[names_out->count++] = name;
        free(entries[i]);
    }
    free(entries);
}

void doctor_list_free(struct doctor_names *names)
{
    for (size_t i = 0; i < names->count; i++) free(names->name[i]);
    free(names->name);
    *names = (struct doctor_names){0};
}

bool doctor_pci_look(const struct doctor *doctor, const char *path, struct doctor_pci *pci_out)
{
    char link[PATH_MAX], real[PATH_MAX], numa[16];
    *pci_out = (struct doctor_pci){.numa_node = -1};
    doctor_path(doctor, link, "%s", path);
    if (!realpath(link, real)) return false;
    char *chain = strstr(real, "/devices/pci");
    if (!chain) return false;
    chain += strlen("/devices/");
    const char *last = strrchr(chain, '/');
    if (!last) return false;
    snprintf(pci_out->chain, sizeof pci_out->chain, "%s", chain);
    snprintf(pci_out->address, sizeof pci_out->address, "%.15s", last + 1);
    /* Not doctor_read_number: it may be -1. */
    if (doctor_read_line(doctor, numa, sizeof numa, "%s/numa_node", path)) pci_out->numa_node = (int)strtol(numa, NULL, 10);
    return true;
}
