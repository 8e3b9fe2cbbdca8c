/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams for the programs of this folder: the driver's own calls, from the library that the program has loaded.
 */
#ifndef POSTERN_TESTS_GPU_STREAM_H
#define POSTERN_TESTS_GPU_STREAM_H

#include "gpu.h"

#include "runtime/base/cuda.h"

#include <dlfcn.h>

/* Slots of the driver; all that the library's own table has. */
static struct shmemi_cuda driver;

static inline void driver_open(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    CHECK(library != NULL);
#define SHMEMI_CUDA(SLOT, SYMBOL, PARAMETERS)              \
    do {                                                   \
        void *symbol = dlsym(library, #SYMBOL);            \
        memcpy(&driver.SLOT, &symbol, sizeof driver.SLOT); \
    } while (0);
#include "runtime/base/cuda.def"
#undef SHMEMI_CUDA
}

/* A stream of the PE's GPU: the one that its GPU heap lies on. */
static inline shmemi_cu_stream stream_create(const void *heap_memory)
{
    shmemi_cu_context context;
    shmemi_cu_stream  stream;
    int               device = 0;
    CHECK(driver.pointer_get_attribute(&device, SHMEMI_CU_POINTER_ORDINAL, (shmemi_cu_pointer)(uintptr_t)heap_memory) ==
          SHMEMI_CU_SUCCESS);
    CHECK(driver.primary_ctx_retain(&context, device) == SHMEMI_CU_SUCCESS);
    CHECK(driver.ctx_set_current(context) == SHMEMI_CU_SUCCESS);
    CHECK(driver.stream_create(&stream, SHMEMI_CU_STREAM_NON_BLOCKING) == SHMEMI_CU_SUCCESS);
    return stream;
}

static inline void stream_destroy(shmemi_cu_stream stream)
{
    shmemi_cu_device device = 0;
    CHECK(driver.stream_synchronize(stream) == SHMEMI_CU_SUCCESS);
    CHECK(driver.ctx_get_device(&device) == SHMEMI_CU_SUCCESS);
    CHECK(driver.stream_destroy(stream) == SHMEMI_CU_SUCCESS);
    CHECK(driver.primary_ctx_release(device) == SHMEMI_CU_SUCCESS);
}

static inline void stream_wait(shmemi_cu_stream stream)
{
    CHECK(driver.stream_synchronize(stream) == SHMEMI_CU_SUCCESS);
}

#endif
