/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a symmetric address leads for one PE: to a mapped address, which the kernel uses itself, or to (PE, segment, offset), which goes
 * through the ring.
 */
#ifndef SHMEMD_PLACE_CUH
#define SHMEMD_PLACE_CUH

#include "self.cuh"

struct shmemd_place {
    char    *at; /* mapped address; NULL: through the ring */
    int      pe; /* world number */
    int      segment;
    uint64_t offset;
};

/* The mapped address of offset in this segment of world PE pe, or NULL. */
SHMEMD_FN char *shmemd_map(const struct shmemd_segment *segment, uint64_t offset, int pe)
{
    uint32_t index;

    if (segment->local_of == NULL) {
        index = (uint32_t)pe - segment->map_first;
        if (index >= segment->map_count) return NULL;
    } else {
        int32_t local = segment->local_of[pe];

        if (local < 0) return NULL;
        index = (uint32_t)local;
    }
    return (char *)(uintptr_t)(segment->map_base + index * segment->stride + offset);
}

/* The segment that address lies in, or -1. */
SHMEMD_FN int shmemd_segment_of(const struct shmemd_state *self, const void *address, uint64_t *offset_out)
{
    int i;

    for (i = 0; i < SHMEMD_SEGMENTS; i++) {
        uint64_t offset = (uint64_t)(uintptr_t)address - self->segment[i].base;

        if (offset < self->segment[i].bytes) {
            *offset_out = offset;
            return i;
        }
    }
    return -1;
}

/* The long way: all segments, and what is wrong where nothing fits. */
SHMEMD_SLOW void shmemd_find_slow(const void *address, int pe, const char *call, struct shmemd_place *place_out)
{
    const struct shmemd_state *self = shmemd_self();

    if (self->version == 0) shmemd_refuse("shmem_init has not been called", SHMEMD_REPORT_ARGUMENT, -1, NULL, 0);
    if (pe < 0 || pe >= self->npes) shmemd_refuse(call, SHMEMD_REPORT_PE, pe, address, (uint64_t)(int64_t)pe);
    place_out->pe      = pe;
    place_out->segment = shmemd_segment_of(self, address, &place_out->offset);
    if (place_out->segment < 0) shmemd_refuse(call, SHMEMD_REPORT_ADDRESS, pe, address, 0);
    place_out->at = shmemd_map(&self->segment[place_out->segment], place_out->offset, pe);
}

/*
 * The short way, for what a kernel does most: is the address in the first segment that there is, and is the PE mapped?
 * Two compares; NULL: ask shmemd_find.  On a GPU the first segment is the GPU heap, on CPU threads the host heap.
 */
SHMEMD_FN char *shmemd_find_mapped(const void *address, int pe)
{
    const struct shmemd_state *self = shmemd_self();
#if defined(__CUDACC__)
    const struct shmemd_segment *segment = &self->segment[SHMEMD_SEGMENT_GPU];
#else
    const struct shmemd_segment *segment = &self->segment[SHMEMD_SEGMENT_HEAP];
#endif
    uint64_t offset = (uint64_t)(uintptr_t)address - segment->base;

    if (offset >= segment->bytes) return NULL;
    if (segment->local_of != NULL && (uint32_t)pe >= (uint32_t)self->npes) return NULL;
    return shmemd_map(segment, offset, pe);
}

/* pe is a world number. */
SHMEMD_FN struct shmemd_place shmemd_find(const void *address, int pe, const char *call)
{
    struct shmemd_place place;

    place.at = shmemd_find_mapped(address, pe);
    if (place.at == NULL) shmemd_find_slow(address, pe, call, &place);
    return place;
}

#endif
