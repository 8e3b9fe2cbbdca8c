/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens the CUDA driver. The order is: may we, is there a GPU at all, the library, its version, its entry points, cuInit. The first that fails
 * is the reason.
 */
#include "runtime/base/cuda.h"
#include "runtime/base/options.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef SHMEMI_CUDA_NEVER /* libpostern.a: it is for static programs, where naming dlopen alone makes the linker warn */

const struct shmemi_cuda *shmemi_cuda_open(char *why, size_t why_bytes)
{
    snprintf(why, why_bytes, "this program contains the library, linked statically, which then opens no driver");
    return NULL;
}

#else

#define LIBRARY                                   "libcuda.so.1"

static struct shmemi_cuda table;
static bool               opened;
static pthread_mutex_t    lock = PTHREAD_MUTEX_INITIALIZER;

/* Where a GPU shows itself: the driver's device file; WSL's; a Jetson's. */
static bool has_gpu_device(void)
{
    static const char *const files[] = {"/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-ctrl", "/dev/nvhost-gpu"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (access(files[i], F_OK) == 0) return true;
    return false;
}

static int load_slots(void *library, char *why, size_t why_bytes)
{
    static const struct {
        const char *symbol;
        size_t      slot;
        bool        needed;
    } rows[] = {
#define SHMEMI_CUDA(SLOT, SYMBOL, PARAMETERS)     {#SYMBOL, offsetof(struct shmemi_cuda, SLOT), true},
#define SHMEMI_CUDA_MAY(SLOT, SYMBOL, PARAMETERS) {#SYMBOL, offsetof(struct shmemi_cuda, SLOT), false},
#include "runtime/base/cuda.def"
#undef SHMEMI_CUDA
#undef SHMEMI_CUDA_MAY
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        void *symbol = dlsym(library, rows[i].symbol);
        if (!symbol && rows[i].needed) {
            snprintf(why, why_bytes, LIBRARY " (CUDA %d.%d) lacks %s", table.version / 1000, table.version % 1000 / 10,
                     rows[i].symbol);
            return -ELIBBAD;
        }
        memcpy((char *)&table + rows[i].slot, &symbol, sizeof symbol);
    }
    return 0;
}

/* The version may be asked for before cuInit, and first of all: an old driver lacks other functions, and only its version says why. */
static int check_version(void *library, char *why, size_t why_bytes)
{
    unsigned (*ask)(int *) = NULL;
    void *symbol           = dlsym(library, "cuDriverGetVersion");
    memcpy(&ask, &symbol, sizeof ask);
    if (!ask || ask(&table.version) != SHMEMI_CU_SUCCESS) {
        snprintf(why, why_bytes, LIBRARY " does not tell its version");
        return -ELIBBAD;
    }
    if (table.version >= SHMEMI_CUDA_VERSION_MIN) return 0;
    snprintf(why, why_bytes, "the driver is for CUDA %d.%d; %d.%d is the oldest that can be used: update the NVIDIA driver",
             table.version / 1000, table.version % 1000 / 10, SHMEMI_CUDA_VERSION_MIN / 1000, SHMEMI_CUDA_VERSION_MIN % 1000 / 10);
    return -ELIBBAD;
}

static int open_library(char *why, size_t why_bytes)
{
    char  text[200];
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(why, why_bytes, "%s: install the NVIDIA driver, or give the container its libraries", dlerror());
        return -ENOENT;
    }
    int err = check_version(library, why, why_bytes);
    if (!err) err = load_slots(library, why, why_bytes);
    if (!err) {
        unsigned result = table.init(0);
        if (!result) return 0; /* never closed: the program's CUDA contexts may outlive us */
        snprintf(why, why_bytes, "cuInit failed: %s", shmemi_cuda_text(&table, result, text, sizeof text));
        err = shmemi_cuda_errno(result);
    }
    dlclose(library);
    return err;
}

const struct shmemi_cuda *shmemi_cuda_open(char *why, size_t why_bytes)
{
    if (shmemi_options.cuda == SHMEMI_ON_NO) {
        snprintf(why, why_bytes, "switched off by POSTERN_CUDA=0");
        return NULL;
    }
    pthread_mutex_lock(&lock);
    if (!opened && shmemi_options.cuda == SHMEMI_ON_AUTO && !has_gpu_device())
        snprintf(why, why_bytes, "no GPU here (no /dev/nvidiactl)");
    else if (!opened) opened = open_library(why, why_bytes) == 0;
    pthread_mutex_unlock(&lock);
    return opened ? &table : NULL;
}

#endif

const char *shmemi_cuda_text(const struct shmemi_cuda *cuda, unsigned result, char *buffer, size_t buffer_bytes)
{
    const char *name = NULL, *text = NULL;
    if (cuda->get_error_name(result, &name) != SHMEMI_CU_SUCCESS || !name) name = "unknown error";
    if (cuda->get_error_string(result, &text) != SHMEMI_CU_SUCCESS || !text) snprintf(buffer, buffer_bytes, "%s %u", name, result);
    else snprintf(buffer, buffer_bytes, "%s (%s)", name, text);
    return buffer;
}

int shmemi_cuda_errno(unsigned result)
{
    switch (result) {
    case SHMEMI_CU_SUCCESS: return 0;
    case SHMEMI_CU_INVALID_VALUE: return -EINVAL;
    case SHMEMI_CU_OUT_OF_MEMORY: return -ENOMEM;
    case SHMEMI_CU_NO_DEVICE:
    case SHMEMI_CU_INVALID_DEVICE: return -ENODEV;
    case SHMEMI_CU_NOT_FOUND: return -ENOENT;
    case SHMEMI_CU_NOT_READY: return -EAGAIN;
    case SHMEMI_CU_NOT_PERMITTED: return -EPERM;
    case SHMEMI_CU_PEER_ACCESS_UNSUPPORTED:
    case SHMEMI_CU_NOT_SUPPORTED: return -ENOTSUP;
    case SHMEMI_CU_PEER_ACCESS_ALREADY_ENABLED:
    case SHMEMI_CU_HOST_MEMORY_ALREADY_REGISTERED: return -EALREADY;
    default: return -EIO;
    }
}
