/* SPDX-License-Identifier: Apache-2.0
 *
 * Device memory by addresses and handles: reserve, create, map, set access; and export to other processes, as a descriptor of the memfd.
 */
#include "sim.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* In the page behind the memory: what an importing process must know of it. */
struct exported {
    char     magic[16];
    uint64_t bytes;
    int32_t  device;
    uint32_t handle_types;
    uint32_t rdma_capable;
};
static const char magic[16] = "simcuda memory 1";

static bool is_multiple(size_t bytes)
{
    return bytes && bytes % SIM_GRANULARITY == 0;
}

static struct sim_memory *memory_of(shmemi_cu_memory handle)
{
    struct sim_memory *memory = sim.memories;
    while (memory && (memory->handle != handle || !memory->handles)) memory = memory->next;
    return handle ? memory : NULL;
}

static unsigned check_kind(const char *name, const struct shmemi_cu_memory_kind *kind)
{
    if (kind->type != SHMEMI_CU_MEMORY_PINNED || kind->location.type != SHMEMI_CU_LOCATION_DEVICE)
        return sim_misuse(SHMEMI_CU_INVALID_VALUE, name, "only pinned memory of a device is simulated");
    if (!sim_is_device(kind->location.id)) return sim_misuse(SHMEMI_CU_INVALID_DEVICE, name, "no device %d", kind->location.id);
    if (kind->handle_types & ~(unsigned)SHMEMI_CU_HANDLE_FD)
        return sim_misuse(SHMEMI_CU_NOT_SUPPORTED, name, "handle types %#x: only file descriptors are simulated",
                          kind->handle_types);
    if (kind->metadata) return sim_misuse(SHMEMI_CU_INVALID_VALUE, name, "metadata must be NULL");
    return SHMEMI_CU_SUCCESS;
}

unsigned cuMemGetAllocationGranularity(size_t *bytes, const struct shmemi_cu_memory_kind *kind, unsigned option)
{
    SIM_ENTER();
    (void)option;
    unsigned result = check_kind(__func__, kind);
    if (!result) *bytes = SIM_GRANULARITY;
    return result;
}

unsigned cuMemAddressReserve(shmemi_cu_pointer *pointer, size_t bytes, size_t alignment, shmemi_cu_pointer address,
                             unsigned long long flags)
{
    SIM_ENTER();
    if (!is_multiple(bytes) || flags || (alignment & (alignment - 1)))
        return SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "%zu bytes (granularity %zu), alignment %zu, flags %llu", bytes, SIM_GRANULARITY,
                          alignment, flags);
    if (alignment < SIM_GRANULARITY) alignment = SIM_GRANULARITY;
    size_t room = bytes + alignment;
    char  *base = mmap((void *)(uintptr_t)address, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return SHMEMI_CU_OUT_OF_MEMORY;
    uintptr_t start = ((uintptr_t)base + alignment - 1) / alignment * alignment;
    size_t    head  = start - (uintptr_t)base;
    if (head) munmap(base, head);
    if (room - head > bytes) munmap((char *)start + bytes, room - head - bytes);
    struct sim_reservation *reservation = calloc(1, sizeof *reservation);
    if (!reservation) abort();
    pthread_mutex_lock(&sim.lock);
    *reservation     = (struct sim_reservation){.next = sim.reservations, .base = start, .bytes = bytes};
    sim.reservations = reservation;
    pthread_mutex_unlock(&sim.lock);
    *pointer = start;
    return SHMEMI_CU_SUCCESS;
}

static const struct sim_range *first_in(uintptr_t base, size_t bytes)
{
    const struct sim_range *range = sim.ranges;
    while (range && !(range->base < base + bytes && base < range->base + range->bytes)) range = range->next;
    return range;
}

unsigned cuMemAddressFree(shmemi_cu_pointer pointer, size_t bytes)
{
    SIM_ENTER();
    pthread_mutex_lock(&sim.lock);
    struct sim_reservation **at = &sim.reservations;
    while (*at && !((*at)->base == pointer && (*at)->bytes == bytes)) at = &(*at)->next;
    struct sim_reservation *found  = *at;
    bool                    filled = found && first_in(pointer, bytes);
    if (found && !filled) {
        *at = found->next;
        munmap((void *)found->base, found->bytes);
        free(found);
    }
    pthread_mutex_unlock(&sim.lock);
    if (!found) return SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "%#llx, %zu bytes: no reservation", pointer, bytes);
    return filled ? SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "%#llx: something is still mapped there", pointer) : SHMEMI_CU_SUCCESS;
}

unsigned cuMemCreate(shmemi_cu_memory *handle, size_t bytes, const struct shmemi_cu_memory_kind *kind, unsigned long long flags)
{
    SIM_ENTER();
    unsigned result = check_kind(__func__, kind);
    if (result) return result;
    if (!is_multiple(bytes) || flags)
        return SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "%zu bytes (granularity %zu), flags %llu", bytes, SIM_GRANULARITY, flags);
    pthread_mutex_lock(&sim.lock);
    struct sim_memory *memory = sim_memory_create(kind->location.id, bytes, kind->handle_types);
    if (memory) {
        memory->rdma_capable = kind->flags.rdma_capable;
        memory->handles      = 1;
        memory->handle = *handle = 0x51000000ull + ++sim.ids;
        struct exported card     = {
                .bytes = bytes, .device = memory->device, .handle_types = memory->handle_types, .rdma_capable = memory->rdma_capable};
        memcpy(card.magic, magic, sizeof magic);
        if (pwrite(memory->fd, &card, sizeof card, (off_t)bytes) != sizeof card) abort();
    }
    pthread_mutex_unlock(&sim.lock);
    return memory ? SHMEMI_CU_SUCCESS : SHMEMI_CU_OUT_OF_MEMORY;
}

unsigned cuMemRelease(shmemi_cu_memory handle)
{
    SIM_ENTER();
    pthread_mutex_lock(&sim.lock);
    struct sim_memory *memory = memory_of(handle);
    if (memory) {
        memory->handles--;
        sim_memory_drop(memory);
    }
    pthread_mutex_unlock(&sim.lock);
    return memory ? SHMEMI_CU_SUCCESS : SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "%#llx: no handle", handle);
}

unsigned cuMemMap(shmemi_cu_pointer pointer, size_t bytes, size_t offset, shmemi_cu_memory handle, unsigned long long flags)
{
    SIM_ENTER();
    const char *why = NULL;
    pthread_mutex_lock(&sim.lock);
    struct sim_memory      *memory      = memory_of(handle);
    struct sim_reservation *reservation = sim.reservations;
    while (reservation && !(pointer >= reservation->base && pointer - reservation->base < reservation->bytes))
        reservation = reservation->next;
    if (!memory) why = "no such handle";
    else if (offset || flags) why = "offset and flags must be 0";
    else if (bytes != memory->bytes) why = "a handle is mapped whole"; /* CUDA 13 allows parts of some; we need none */
    else if (pointer % SIM_GRANULARITY) why = "not at a multiple of the granularity";
    else if (!reservation || pointer - reservation->base + bytes > reservation->bytes) why = "these addresses are not reserved";
    else if (first_in(pointer, bytes)) why = "something is mapped there already";
    else sim_range_map(SIM_MAPPED, (void *)(uintptr_t)pointer, memory, NULL);
    pthread_mutex_unlock(&sim.lock);
    return why ? SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "%#llx, %zu bytes: %s", pointer, bytes, why) : SHMEMI_CU_SUCCESS;
}

/* The mapping that begins at address and is not longer than limit; NULL: none. */
static struct sim_range *mapping_at(uintptr_t address, size_t limit)
{
    struct sim_range *range = sim_range_of(address);
    return range && range->kind == SIM_MAPPED && range->base == address && range->bytes <= limit ? range : NULL;
}

/* Whole mappings, one behind the other, fill the range. */
static const char *why_not_whole(uintptr_t address, size_t bytes)
{
    while (bytes) {
        const struct sim_range *range = mapping_at(address, bytes);
        if (!range) return "these are not whole mappings";
        if (range->busy || sim_is_queued(range->base, range->bytes)) return "in use: work on a stream copies from or to it";
        address += range->bytes;
        bytes -= range->bytes;
    }
    return NULL;
}

unsigned cuMemUnmap(shmemi_cu_pointer pointer, size_t bytes)
{
    SIM_ENTER();
    pthread_mutex_lock(&sim.lock);
    const char *why = bytes ? why_not_whole(pointer, bytes) : "0 bytes";
    for (size_t done = 0; !why && done < bytes;) {
        struct sim_range *range = mapping_at(pointer + done, bytes - done);
        done += range->bytes;
        sim_range_remove(range);
    }
    pthread_mutex_unlock(&sim.lock);
    return why ? SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "%#llx, %zu bytes: %s", pointer, bytes, why) : SHMEMI_CU_SUCCESS;
}

static unsigned give_access(const char *name, struct sim_range *range, const struct shmemi_cu_access *access)
{
    int device = access->location.id;
    if (access->location.type != SHMEMI_CU_LOCATION_DEVICE || !sim_is_device(device))
        return sim_misuse(SHMEMI_CU_INVALID_DEVICE, name, "no device %d", device);
    if (!sim_can_access(device, range->device)) return SHMEMI_CU_INVALID_DEVICE;
    if (access->flags == SHMEMI_CU_ACCESS_NONE) range->access &= ~(1u << device);
    else range->access |= 1u << device;
    if (!sim.protect) mprotect((void *)range->base, range->bytes, range->access ? PROT_READ | PROT_WRITE : PROT_NONE);
    return SHMEMI_CU_SUCCESS;
}

unsigned cuMemSetAccess(shmemi_cu_pointer pointer, size_t bytes, const struct shmemi_cu_access *access, size_t count)
{
    SIM_ENTER();
    unsigned result = SHMEMI_CU_SUCCESS;
    pthread_mutex_lock(&sim.lock);
    const char *why = bytes ? why_not_whole(pointer, bytes) : "0 bytes";
    for (size_t done = 0; !why && !result && done < bytes;) {
        struct sim_range *range = mapping_at(pointer + done, bytes - done);
        for (size_t i = 0; i < count && !result; i++) result = give_access(__func__, range, &access[i]);
        done += range->bytes;
    }
    pthread_mutex_unlock(&sim.lock);
    return why ? SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "%#llx, %zu bytes: %s", pointer, bytes, why) : result;
}

/* ---- to other processes ---- */

unsigned cuMemExportToShareableHandle(void *shareable, shmemi_cu_memory handle, unsigned type, unsigned long long flags)
{
    SIM_ENTER();
    pthread_mutex_lock(&sim.lock);
    const struct sim_memory *memory = memory_of(handle);
    int                      fd     = memory && (memory->handle_types & type) ? fcntl(memory->fd, F_DUPFD_CLOEXEC, 0) : -1;
    pthread_mutex_unlock(&sim.lock);
    if (!memory || type != SHMEMI_CU_HANDLE_FD || flags)
        return SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "%#llx: no handle, type %u, flags %llu", handle, type, flags);
    if (fd < 0) return SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "%#llx was not created to be exported so", handle);
    *(int *)shareable = fd;
    return SHMEMI_CU_SUCCESS;
}

/* The descriptor stays the caller's. */
unsigned cuMemImportFromShareableHandle(shmemi_cu_memory *handle, void *shareable, unsigned type)
{
    SIM_ENTER();
    int             fd = (int)(intptr_t)shareable;
    struct stat     file;
    struct exported card;
    if (type != SHMEMI_CU_HANDLE_FD) return SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "type %u", type);
    if (fstat(fd, &file) != 0 || file.st_size <= sysconf(_SC_PAGESIZE) ||
        pread(fd, &card, sizeof card, file.st_size - sysconf(_SC_PAGESIZE)) != sizeof card ||
        memcmp(card.magic, magic, sizeof magic) != 0 || !sim_is_device(card.device))
        return SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "descriptor %d is no exported memory", fd);
    struct sim_memory *memory = calloc(1, sizeof *memory);
    if (!memory) abort();
    pthread_mutex_lock(&sim.lock);
    *memory      = (struct sim_memory){.next         = sim.memories,
                                       .fd           = fcntl(fd, F_DUPFD_CLOEXEC, 0),
                                       .device       = card.device,
                                       .handles      = 1,
                                       .handle_types = card.handle_types,
                                       .rdma_capable = card.rdma_capable,
                                       .is_imported  = true,
                                       .bytes        = (size_t)card.bytes,
                                       .handle       = 0x51000000ull + ++sim.ids};
    sim.memories = memory;
    pthread_mutex_unlock(&sim.lock);
    *handle = memory->handle;
    return SHMEMI_CU_SUCCESS;
}

unsigned cuMemRetainAllocationHandle(shmemi_cu_memory *handle, void *address)
{
    SIM_ENTER();
    pthread_mutex_lock(&sim.lock);
    struct sim_range *range = sim_range_of((uintptr_t)address);
    bool              ok    = range && range->kind == SIM_MAPPED;
    if (ok) {
        range->memory->handles++;
        *handle = range->memory->handle;
    }
    pthread_mutex_unlock(&sim.lock);
    return ok ? SHMEMI_CU_SUCCESS : SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "%p: no mapped memory", address);
}

unsigned cuMemGetAllocationPropertiesFromHandle(struct shmemi_cu_memory_kind *kind, shmemi_cu_memory handle)
{
    SIM_ENTER();
    pthread_mutex_lock(&sim.lock);
    const struct sim_memory *memory = memory_of(handle);
    if (memory) {
        *kind                    = (struct shmemi_cu_memory_kind){.type         = SHMEMI_CU_MEMORY_PINNED,
                                                                  .handle_types = memory->handle_types,
                                                                  .location     = {SHMEMI_CU_LOCATION_DEVICE, memory->device}};
        kind->flags.rdma_capable = memory->rdma_capable;
    }
    pthread_mutex_unlock(&sim.lock);
    return memory ? SHMEMI_CU_SUCCESS : SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "%#llx: no handle", handle);
}

/* A memfd begins at its begin, and so must what is asked for. */
unsigned cuMemGetHandleForAddressRange(void *handle, shmemi_cu_pointer pointer, size_t bytes, unsigned type,
                                       unsigned long long flags)
{
    SIM_ENTER();
    const char *why  = NULL;
    size_t      page = (size_t)sysconf(_SC_PAGESIZE);
    pthread_mutex_lock(&sim.lock);
    const struct sim_range *range = sim_range_of(pointer);
    if (!range || !range->memory) why = "no device memory";
    else if (type != SHMEMI_CU_RANGE_HANDLE_DMA_BUF || flags > 1) why = "type or flags";
    else if (pointer % page || bytes % page || !bytes) why = "not whole pages of the host";
    else if (pointer - range->base + bytes > range->bytes) why = "beyond one allocation";
    else if (pointer != range->base) why = "this stand-in hands out allocations from their begin only";
    else if (range->kind == SIM_MAPPED && !range->memory->rdma_capable) why = "cuMemCreate was not told that RDMA will use it";
    else *(int *)handle = fcntl(range->memory->fd, F_DUPFD_CLOEXEC, 0);
    pthread_mutex_unlock(&sim.lock);
    return why ? SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "%#llx, %zu bytes: %s", pointer, bytes, why) : SHMEMI_CU_SUCCESS;
}

unsigned cuFlushGPUDirectRDMAWrites(unsigned target, unsigned scope)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    if (target != 0 || (scope != 100 && scope != 200))
        return SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "target %u, scope %u", target, scope);
    atomic_thread_fence(memory_order_seq_cst);
    return SHMEMI_CU_SUCCESS;
}
