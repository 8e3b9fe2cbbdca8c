/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that the library and the kernels of a side share. For a GPU it is pinned host memory, which with unified addresses has the same address on
 * both sides; and memory of its own for words that only kernels use, so that they need not cross the bus.
 */
#include "device/side.h"

#include "runtime/base/log.h"
#include "runtime/gpu/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 128 };

static size_t in_lines(size_t bytes)
{
    return (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
}

bool shmemd_memory_usable(enum shmemd_side_kind kind, char *why, size_t why_bytes)
{
    if (kind == SHMEMD_SIDE_CPU || shmemi_gpu.cuda) return true;
    if (shmemi_cuda_open(why, why_bytes)) snprintf(why, why_bytes, "this PE was given none (POSTERN_REPORT=1 says why)");
    return false;
}

static SHMEMI_COLD void refused(const char *call, unsigned result, size_t bytes)
{
    char text[160];
    shmemi_error("could not get %zu bytes for kernels" WHY "%s says: %s" FIX
                 "start fewer PEs on this GPU, or lower POSTERN_DEVICE_RING",
                 bytes, call, shmemi_cuda_text(shmemi_gpu.cuda, result, text, sizeof text));
}

static void *get_pinned(size_t bytes)
{
    void *memory = NULL;
    shmemi_gpu_enter();
    unsigned result =
        shmemi_gpu.cuda->mem_host_alloc(&memory, bytes, SHMEMI_CU_HOST_ALLOC_PORTABLE | SHMEMI_CU_HOST_ALLOC_DEVICEMAP);
    shmemi_gpu_leave();
    if (result == 0) return memory;
    refused("cuMemHostAlloc", result, bytes);
    return NULL;
}

void *shmemd_memory_get(enum shmemd_side_kind kind, size_t bytes)
{
    void *memory;
    bytes = in_lines(bytes);
    if (kind == SHMEMD_SIDE_GPU) {
        memory = get_pinned(bytes);
    } else {
        memory = aligned_alloc(LINE_BYTES, bytes);
        if (!memory)
            shmemi_error("could not get %zu bytes for kernels" WHY "malloc gave none" FIX "raise `ulimit -v`, or start fewer PEs",
                         bytes);
    }
    return memory ? memset(memory, 0, bytes) : NULL;
}

void shmemd_memory_release(enum shmemd_side_kind kind, void *memory)
{
    if (kind == SHMEMD_SIDE_CPU) {
        free(memory);
        return;
    }
    shmemi_gpu_enter();
    shmemi_gpu.cuda->mem_free_host(memory);
    shmemi_gpu_leave();
}

void *shmemd_memory_get_near(enum shmemd_side_kind kind, size_t bytes)
{
    shmemi_cu_pointer pointer = 0;
    if (kind == SHMEMD_SIDE_CPU) return shmemd_memory_get(kind, bytes);
    shmemi_gpu_enter();
    unsigned result = shmemi_gpu.cuda->mem_alloc(&pointer, bytes);
    shmemi_gpu_leave();
    if (result) {
        refused("cuMemAlloc", result, bytes);
        return NULL;
    }
    shmemi_gpu_zero((void *)(uintptr_t)pointer, bytes);
    return (void *)(uintptr_t)pointer;
}

void shmemd_memory_release_near(enum shmemd_side_kind kind, void *memory)
{
    if (kind == SHMEMD_SIDE_CPU) {
        free(memory);
        return;
    }
    shmemi_gpu_enter();
    shmemi_gpu.cuda->mem_free((shmemi_cu_pointer)(uintptr_t)memory);
    shmemi_gpu_leave();
}
