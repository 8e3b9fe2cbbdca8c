/* SPDX-License-Identifier: Apache-2.0
 *
 * The library finds its modules from where it is itself, so that a moved or copied installation works.
 */
#include "runtime/base/module.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *shmemi_module_folder(char *buffer, size_t buffer_bytes)
{
    static const char marker = 0; /* an object of this very library */
    Dl_info           library;
    char              file[PATH_MAX];
    if (!dladdr(&marker, &library) || !library.dli_fname || !realpath(library.dli_fname, file)) return NULL;
    char *name = strrchr(file, '/');
    if (!name || strncmp(name, "/libpostern.so", strlen("/libpostern.so")) != 0) return NULL;
    int length = snprintf(buffer, buffer_bytes, "%.*s/postern", (int)(name - file), file);
    return length > 0 && (size_t)length < buffer_bytes ? buffer : NULL;
}
