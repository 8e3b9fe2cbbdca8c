/* SPDX-License-Identifier: Apache-2.0
 *
 * The first fi_getinfo does not read /proc/kallsyms, where no RDMA device would make use of that (transports/libfabric/quick.c).
 * Spec: none; how long a start takes
 */
#include "transports/libfabric/fabric.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t bytes_read(void)
{
    size_t bytes = 0;
    FILE  *file  = fopen("/proc/self/io", "r");
    if (!file) return 0;
    if (fscanf(file, "rchar: %zu", &bytes) != 1) bytes = 0;
    fclose(file);
    return bytes;
}

static size_t bytes_of_names(void)
{
    static char buffer[1 << 16];
    size_t      bytes = 0, part;
    FILE       *file  = fopen("/proc/kallsyms", "r");
    while (file && (part = fread(buffer, 1, sizeof buffer, file)) > 0) bytes += part;
    if (file) fclose(file);
    return bytes;
}

int main(void)
{
    struct fi_info *info  = NULL;
    const char     *why   = NULL;
    size_t          names = bytes_of_names(), before = bytes_read();
    DIR            *devices = opendir("/sys/class/infiniband");
    if (devices) {
        printf("skipped: this machine may have RDMA devices, and then the file is read\n");
        closedir(devices);
        return 77;
    }
    if (names < 1 << 20 || before == 0) {
        printf("skipped: /proc/kallsyms or /proc/self/io tells nothing here\n");
        return 77;
    }
    const struct library *library = shmemt_libfabric_library(&why);
    if (!library) {
        printf("skipped: %s\n", why);
        return 77;
    }
    if (!library->handle) return fprintf(stderr, "the library is taken for one that somebody else had loaded\n"), 1;
    if (shmemt_libfabric_library_getinfo(library, NULL, &info) != 0) return fprintf(stderr, "fi_getinfo fails\n"), 1;
    library->freeinfo(info);
    size_t read = bytes_read() - before;
    if (read >= names) return fprintf(stderr, "%zu bytes were read, and the kernel's names are %zu\n", read, names), 1;
    return 0;
}
