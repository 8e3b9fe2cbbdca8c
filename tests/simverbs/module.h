/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests that drive the ibverbs module itself: its table, from the folder that is the program's only argument.
 */
#ifndef SIMVERBS_MODULE_H
#define SIMVERBS_MODULE_H

#include "transports/transport.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* The module stays loaded. Ends the program, with status 2, where there is none. */
static inline const struct shmemt_ops *module_ops(int argc, char **argv)
{
    char file[1000];
    if (argc != 2) exit(2);
    snprintf(file, sizeof file, "%s/transport_ibverbs.so", argv[1]);
    void             *module    = dlopen(file, RTLD_NOW);
    shmemt_module_fn *module_fn = NULL;
    if (module) *(void **)&module_fn = dlsym(module, SHMEMT_MODULE_SYMBOL);
    if (!module_fn) {
        printf("%s: %s\n", file, dlerror());
        exit(2);
    }
    return module_fn();
}

#endif
