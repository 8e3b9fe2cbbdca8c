/* SPDX-License-Identifier: Apache-2.0
 *
 * The library finds its modules from where it is itself, so that a moved or copied installation works.
 */
#include "runtime/base/module.h"

#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct search {
    uintptr_t   address;
    const char *file; /* NULL: not found, or the program itself */
};

static int look_into(struct dl_phdr_info *object, size_t bytes, void *wanted)
{
    struct search *search = wanted;
    (void)bytes;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || search->address - (object->dlpi_addr + part->p_vaddr) >= part->p_memsz) continue;
        search->file = object->dlpi_name;
        return 1;
    }
    return 0;
}

/* dladdr() would go through all the names of the library, more than 100 us. */
const char *shmemi_module_folder(char *buffer, size_t buffer_bytes)
{
    static const char marker = 0; /* an object of this very library */
    struct search     search = {.address = (uintptr_t)&marker};
    char              file[PATH_MAX];
    dl_iterate_phdr(look_into, &search);
    if (!search.file || !realpath(search.file, file)) return NULL;
    char *name = strrchr(file, '/');
    if (!name || strncmp(name, "/libpostern.so", strlen("/libpostern.so")) != 0) return NULL;
    int length = snprintf(buffer, buffer_bytes, "%.*s/postern", (int)(name - file), file);
    return length > 0 && (size_t)length < buffer_bytes ? buffer : NULL;
}
