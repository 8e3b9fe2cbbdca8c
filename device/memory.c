/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that the library and the kernels of a side share.
 */
#include "device/side.h"

#include "runtime/base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 128 };

bool shmemd_memory_usable(enum shmemd_side_kind kind, char *why, size_t why_bytes)
{
    if (kind == SHMEMD_SIDE_CPU) return true;
    snprintf(why, why_bytes, "this PE has none");
    return false;
}

void *shmemd_memory_get(enum shmemd_side_kind kind, size_t bytes)
{
    void *memory = NULL;
    bytes        = (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    if (kind == SHMEMD_SIDE_CPU) memory = aligned_alloc(LINE_BYTES, bytes);
    if (memory) return memset(memory, 0, bytes);
    shmemi_error("could not get %zu bytes for kernels" WHY "malloc gave none" FIX "raise `ulimit -v`, or start fewer PEs", bytes);
    return NULL;
}

void shmemd_memory_release(enum shmemd_side_kind kind, void *memory)
{
    if (kind == SHMEMD_SIDE_CPU) free(memory);
}

void *shmemd_memory_get_near(enum shmemd_side_kind kind, size_t bytes)
{
    return shmemd_memory_get(kind, bytes);
}

void shmemd_memory_release_near(enum shmemd_side_kind kind, void *memory)
{
    shmemd_memory_release(kind, memory);
}
