/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening libpmix.so.2. Its plugins name it as a library that they need, so its symbols can stay local.
 */
#include "runtime/bootstrap/pmix_lib.h"

#include "runtime/base/log.h"
#include "runtime/bootstrap/pmix.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shmemi_pmix_lib shmemi_pmix_lib;

/* A symbol is a void pointer to dlsym; memcpy avoids the cast to a function pointer, which C does not define. */
static const char *take_symbols(void *library)
{
    static const struct {
        const char *name;
        size_t      offset;
    } wanted[] = {
        {"PMIx_Init", offsetof(struct shmemi_pmix_lib, init)},
        {"PMIx_Finalize", offsetof(struct shmemi_pmix_lib, finalize)},
        {"PMIx_Put", offsetof(struct shmemi_pmix_lib, put)},
        {"PMIx_Commit", offsetof(struct shmemi_pmix_lib, commit)},
        {"PMIx_Fence_nb", offsetof(struct shmemi_pmix_lib, fence_nb)},
        {"PMIx_Get", offsetof(struct shmemi_pmix_lib, get)},
        {"PMIx_Get_nb", offsetof(struct shmemi_pmix_lib, get_nb)},
        {"PMIx_Abort", offsetof(struct shmemi_pmix_lib, abort)},
        {"PMIx_Register_event_handler", offsetof(struct shmemi_pmix_lib, register_event_handler)},
        {"PMIx_Error_string", offsetof(struct shmemi_pmix_lib, error_string)},
        {"PMIx_Get_version", offsetof(struct shmemi_pmix_lib, get_version)},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        void *symbol = dlsym(library, wanted[i].name);
        if (!symbol) return wanted[i].name;
        memcpy((char *)&shmemi_pmix_lib + wanted[i].offset, &symbol, sizeof symbol);
    }
    return NULL;
}

int shmemi_pmix_lib_load(void (*await_turn)(void))
{
    const char *name = getenv("POSTERN_PMIX_LIBRARY");
    if (shmemi_pmix_lib.init) return 0;
    if (!name || !*name) name = SHMEMB_PMIX_LIBRARY;
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        if (await_turn) await_turn();
        shmemi_error("could not join the job of a PMIx launcher (mpirun, srun, prterun)" WHY
                     "the PMIx library cannot be loaded: %s" FIX
                     "install it (Debian: libpmix2), or say where it is: POSTERN_PMIX_LIBRARY=/path/libpmix.so.2",
                     why);
        return -ELIBACC; /* not -ENOENT, which means: not started this way */
    }
    const char *missing = take_symbols(library);
    if (missing) {
        if (await_turn) await_turn();
        shmemi_error("could not join the job of a PMIx launcher (mpirun, srun, prterun)" WHY "%s has no function %s" FIX
                     "use a libpmix of version 3 or later: POSTERN_PMIX_LIBRARY=/path/libpmix.so.2",
                     name, missing);
        shmemi_pmix_lib.init = NULL;
        dlclose(library);
        return -ELIBBAD;
    }
    return 0;
}

const char *shmemi_pmix_lib_version(char *buffer, size_t buffer_bytes)
{
    const char *text = shmemi_pmix_lib.get_version();
    size_t      skip = text ? strcspn(text, "0123456789") : 0;
    size_t      used = text ? strspn(text + skip, "0123456789.") : 0;
    snprintf(buffer, buffer_bytes, "%.*s", (int)used, text ? text + skip : "");
    return buffer;
}
