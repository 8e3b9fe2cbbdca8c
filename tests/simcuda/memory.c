/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of addresses that the driver knows; plain allocations, host memory, and what a pointer is.
 */
#include "sim.h"
#include "simcuda.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct sim_range *sim_range_of(uintptr_t address)
{
    for (struct sim_range *range = sim.ranges; range; range = range->next)
        if (address >= range->base && address - range->base < range->bytes) return range;
    return NULL;
}

struct sim_range *sim_range_add(enum sim_kind kind, uintptr_t base, size_t bytes, char *alias)
{
    struct sim_range *range = calloc(1, sizeof *range);
    if (!range) abort();
    *range = (struct sim_range){.next = sim.ranges, .kind = kind, .base = base, .bytes = bytes, .alias = alias, .id = ++sim.ids};
    return sim.ranges = range;
}

void sim_range_unlink(struct sim_range *range)
{
    struct sim_range **at = &sim.ranges;
    while (*at != range) at = &(*at)->next;
    *at = range->next;
    free(range);
}

bool sim_is_mapped(uintptr_t base, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = base / page * page;
    return bytes == 0 || msync((void *)first, base + bytes - first, MS_ASYNC) == 0;
}

struct sim_memory *sim_memory_create(int device, size_t bytes, unsigned handle_types)
{
    if (bytes > sim.memory_bytes - sim.used_bytes[device]) return NULL;
    /* A page more: virtual.c writes there what an importing process must know. */
    int fd = memfd_create("simcuda", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)(bytes + (size_t)sysconf(_SC_PAGESIZE))) != 0) abort();
    struct sim_memory *memory = calloc(1, sizeof *memory);
    if (!memory) abort();
    *memory = (struct sim_memory){.next = sim.memories, .fd = fd, .device = device, .handle_types = handle_types, .bytes = bytes};
    sim.used_bytes[device] += bytes;
    return sim.memories = memory;
}

void sim_memory_drop(struct sim_memory *memory)
{
    if (memory->handles || memory->mappings) return;
    struct sim_memory **at = &sim.memories;
    while (*at != memory) at = &(*at)->next;
    *at = memory->next;
    if (!memory->is_imported) sim.used_bytes[memory->device] -= memory->bytes;
    close(memory->fd);
    free(memory);
}

struct sim_range *sim_range_map(enum sim_kind kind, void *base, struct sim_memory *memory, struct CUctx_st *context)
{
    /* Mapped memory may be touched when cuMemSetAccess has said so. */
    int   prot  = sim.protect || kind == SIM_MAPPED ? PROT_NONE : PROT_READ | PROT_WRITE;
    char *seen  = mmap(base, memory->bytes, prot, MAP_SHARED | (base ? MAP_FIXED : 0), memory->fd, 0);
    char *alias = mmap(NULL, memory->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory->fd, 0);
    if (seen == MAP_FAILED || alias == MAP_FAILED) abort();
    struct sim_range *range = sim_range_add(kind, (uintptr_t)seen, memory->bytes, alias);
    range->memory           = memory;
    range->device           = memory->device;
    range->context          = context;
    memory->mappings++;
    return range;
}

void sim_range_remove(struct sim_range *range)
{
    struct sim_memory *memory = range->memory;
    munmap(range->alias, range->bytes);
    /* The addresses of mapped memory stay reserved. */
    if (range->kind != SIM_MAPPED) munmap((void *)range->base, range->bytes);
    else if (mmap((void *)range->base, range->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) ==
             MAP_FAILED)
        abort();
    sim_range_unlink(range);
    memory->mappings--;
    sim_memory_drop(memory);
}

unsigned cuMemAlloc_v2(shmemi_cu_pointer *pointer, size_t bytes)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    if (!bytes) return SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "0 bytes");
    pthread_mutex_lock(&sim.lock);
    struct sim_memory *memory = sim_memory_create(context->device, bytes, 0);
    if (memory) *pointer = sim_range_map(SIM_DEVICE, NULL, memory, context)->base;
    pthread_mutex_unlock(&sim.lock);
    return memory ? SHMEMI_CU_SUCCESS : SHMEMI_CU_OUT_OF_MEMORY;
}

/* The range of this kind that begins at address, and that nothing uses; NULL after a message. The lock is held. */
static struct sim_range *range_to_free(const char *name, enum sim_kind kind, uintptr_t address)
{
    struct sim_range *range = sim_range_of(address);
    if (!range || range->kind != kind || range->base != address) {
        sim_misuse(SHMEMI_CU_INVALID_VALUE, name, "%#zx does not begin such an allocation", address);
        return NULL;
    }
    if (range->busy || sim_is_queued(range->base, range->bytes)) {
        sim_misuse(SHMEMI_CU_INVALID_VALUE, name, "%#zx is in use: work on a stream copies from or to it", address);
        return NULL;
    }
    return range;
}

unsigned cuMemFree_v2(shmemi_cu_pointer pointer)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    pthread_mutex_lock(&sim.lock);
    struct sim_range *range = range_to_free(__func__, SIM_DEVICE, pointer);
    if (range) sim_range_remove(range);
    pthread_mutex_unlock(&sim.lock);
    return range ? SHMEMI_CU_SUCCESS : SHMEMI_CU_INVALID_VALUE;
}

unsigned cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    *total_bytes = sim.memory_bytes;
    *free_bytes  = sim.memory_bytes - sim.used_bytes[context->device];
    return SHMEMI_CU_SUCCESS;
}

unsigned cuMemGetAddressRange_v2(shmemi_cu_pointer *base, size_t *bytes, shmemi_cu_pointer pointer)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    pthread_mutex_lock(&sim.lock);
    struct sim_range *range = sim_range_of(pointer);
    if (range && base) *base = range->base;
    if (range && bytes) *bytes = range->bytes;
    pthread_mutex_unlock(&sim.lock);
    return range ? SHMEMI_CU_SUCCESS : SHMEMI_CU_NOT_FOUND;
}

/* ---- host memory ---- */

unsigned cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    if (!bytes || flags > 7) return SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "%zu bytes, flags %u", bytes, flags);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return SHMEMI_CU_OUT_OF_MEMORY;
    pthread_mutex_lock(&sim.lock);
    struct sim_range *range = sim_range_add(SIM_HOST, (uintptr_t)memory, bytes, memory);
    range->context          = context;
    range->device           = context->device;
    pthread_mutex_unlock(&sim.lock);
    *pointer = memory;
    return SHMEMI_CU_SUCCESS;
}

unsigned cuMemFreeHost(void *pointer)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    pthread_mutex_lock(&sim.lock);
    struct sim_range *range = range_to_free(__func__, SIM_HOST, (uintptr_t)pointer);
    if (range) {
        munmap(range->alias, range->bytes);
        sim_range_unlink(range);
    }
    pthread_mutex_unlock(&sim.lock);
    return range ? SHMEMI_CU_SUCCESS : SHMEMI_CU_INVALID_VALUE;
}

unsigned cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    uintptr_t base   = (uintptr_t)pointer;
    unsigned  result = SHMEMI_CU_SUCCESS;
    if (!bytes || flags > 15) return SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "%zu bytes, flags %u", bytes, flags);
    if (!sim_is_mapped(base, bytes)) return SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "%p: no memory of this process", pointer);
    pthread_mutex_lock(&sim.lock);
    for (const struct sim_range *range = sim.ranges; range; range = range->next)
        if (base < range->base + range->bytes && range->base < base + bytes) result = SHMEMI_CU_HOST_MEMORY_ALREADY_REGISTERED;
    if (!result) {
        struct sim_range *range = sim_range_add(SIM_REGISTERED, base, bytes, pointer);
        range->context          = context;
        range->device           = context->device;
    }
    pthread_mutex_unlock(&sim.lock);
    return result;
}

unsigned cuMemHostUnregister(void *pointer)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    pthread_mutex_lock(&sim.lock);
    struct sim_range *range = range_to_free(__func__, SIM_REGISTERED, (uintptr_t)pointer);
    if (range) sim_range_unlink(range);
    pthread_mutex_unlock(&sim.lock);
    return range ? SHMEMI_CU_SUCCESS : SHMEMI_CU_HOST_MEMORY_NOT_REGISTERED;
}

unsigned cuMemHostGetDevicePointer_v2(shmemi_cu_pointer *device, void *pointer, unsigned flags)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    pthread_mutex_lock(&sim.lock);
    const struct sim_range *range = sim_range_of((uintptr_t)pointer);
    bool                    host  = range && (range->kind == SIM_HOST || range->kind == SIM_REGISTERED);
    pthread_mutex_unlock(&sim.lock);
    if (!host || flags) return SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "%p is no pinned host memory, or flags are not 0", pointer);
    *device = (shmemi_cu_pointer)(uintptr_t)pointer;
    return SHMEMI_CU_SUCCESS;
}

/* ---- what a pointer is ---- */

static unsigned attribute_of(const struct sim_range *range, unsigned attribute, uintptr_t pointer, void *value)
{
    bool host = range->kind == SIM_HOST || range->kind == SIM_REGISTERED;
    switch (attribute) {
    case SHMEMI_CU_POINTER_CONTEXT: *(shmemi_cu_context *)value = range->context; break; /* NULL of mapped memory, as in CUDA */
    case SHMEMI_CU_POINTER_KIND: *(unsigned *)value = host ? SHMEMI_CU_KIND_HOST : SHMEMI_CU_KIND_DEVICE; break;
    case SHMEMI_CU_POINTER_DEVICE: *(shmemi_cu_pointer *)value = pointer; break;
    case SHMEMI_CU_POINTER_HOST:
        *(void **)value = host ? (void *)pointer : NULL;
        return host ? SHMEMI_CU_SUCCESS : SHMEMI_CU_INVALID_VALUE;
    case SHMEMI_CU_POINTER_SYNC_MEMOPS: *(int *)value = range->sync_memops; break;
    case SHMEMI_CU_POINTER_BUFFER_ID: *(unsigned long long *)value = range->id; break;
    case SHMEMI_CU_POINTER_IS_MANAGED: *(unsigned *)value = 0; break;
    case SHMEMI_CU_POINTER_ORDINAL: *(int *)value = range->device; break;
    case SHMEMI_CU_POINTER_RANGE_START: *(shmemi_cu_pointer *)value = range->base; break;
    case SHMEMI_CU_POINTER_RANGE_BYTES: *(size_t *)value = range->bytes; break;
    case SHMEMI_CU_POINTER_MAPPED: *(int *)value = 1; break;
    case SHMEMI_CU_POINTER_HANDLE_TYPES: *(unsigned long long *)value = range->memory ? range->memory->handle_types : 0; break;
    case SHMEMI_CU_POINTER_RDMA_CAPABLE:
        *(int *)value = range->memory && (range->kind == SIM_DEVICE || range->memory->rdma_capable);
        break;
    default: return SHMEMI_CU_NOT_SUPPORTED;
    }
    return SHMEMI_CU_SUCCESS;
}

/* For an address that the driver does not know this one is an error, and no misuse: it is how one asks. */
unsigned cuPointerGetAttribute(void *value, unsigned attribute, shmemi_cu_pointer pointer)
{
    SIM_ENTER();
    pthread_mutex_lock(&sim.lock);
    const struct sim_range *range  = sim_range_of(pointer);
    unsigned                result = range ? attribute_of(range, attribute, pointer, value) : SHMEMI_CU_INVALID_VALUE;
    pthread_mutex_unlock(&sim.lock);
    return result;
}

/* And this one answers zeros. */
unsigned cuPointerGetAttributes(unsigned count, unsigned *attributes, void **values, shmemi_cu_pointer pointer)
{
    SIM_ENTER();
    pthread_mutex_lock(&sim.lock);
    const struct sim_range *range  = sim_range_of(pointer);
    unsigned                result = SHMEMI_CU_SUCCESS;
    for (unsigned i = 0; i < count; i++) {
        bool wide = attributes[i] == SHMEMI_CU_POINTER_CONTEXT || attributes[i] == SHMEMI_CU_POINTER_DEVICE ||
                    attributes[i] == SHMEMI_CU_POINTER_HOST || attributes[i] == SHMEMI_CU_POINTER_BUFFER_ID ||
                    attributes[i] == SHMEMI_CU_POINTER_RANGE_START || attributes[i] == SHMEMI_CU_POINTER_RANGE_BYTES ||
                    attributes[i] == SHMEMI_CU_POINTER_HANDLE_TYPES;
        memset(values[i], 0, wide ? 8 : 4);
        if (!range && attributes[i] == SHMEMI_CU_POINTER_ORDINAL)
            *(int *)values[i] = -2; /* as CUDA: no device, and not the CPU's -1 */
        if (range && attribute_of(range, attributes[i], pointer, values[i]) == SHMEMI_CU_NOT_SUPPORTED)
            result = SHMEMI_CU_INVALID_VALUE;
    }
    pthread_mutex_unlock(&sim.lock);
    return result ? SIM_MISUSE(result, "unknown attribute") : SHMEMI_CU_SUCCESS;
}

unsigned cuPointerSetAttribute(const void *value, unsigned attribute, shmemi_cu_pointer pointer)
{
    SIM_ENTER();
    pthread_mutex_lock(&sim.lock);
    struct sim_range *range = sim_range_of(pointer);
    bool              ok    = range && range->memory && attribute == SHMEMI_CU_POINTER_SYNC_MEMOPS;
    if (ok) range->sync_memops = *(const unsigned *)value != 0;
    pthread_mutex_unlock(&sim.lock);
    return ok ? SHMEMI_CU_SUCCESS : SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "attribute %u of %#llx", attribute, pointer);
}

void *simcuda_bytes(unsigned long long pointer, size_t bytes)
{
    pthread_mutex_lock(&sim.lock);
    struct sim_range *range = sim_range_of(pointer);
    char *found = range && pointer - range->base + bytes <= range->bytes ? range->alias + (pointer - range->base) : NULL;
    pthread_mutex_unlock(&sim.lock);
    return found;
}
