/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that the device may touch: this PE's segments and their keys, the peers' keys, and local memory of operations.
 *
 * A key of registered memory names pages, not addresses. Once a program has unmapped a buffer and mapped another at the same address, an old
 * registration still reads and writes the old pages, and nobody notices. So (docs/decisions/0013-registration-of-private-buffers.md):
 *
 *     symmetric memory   registered at start, until the end                            shmemt_ibverbs_memory_local, no system call
 *     small and private  copied: inline in the request, or through a slot of a ring    shmemt_ibverbs_memory_take_slot
 *     large and private  registered while an operation uses it                         shmemt_ibverbs_memory_local, released afterwards
 *
 * A large private buffer stays registered after its operation only where the kernel tells the device of unmapping (on-demand paging), or
 * where the user promises that buffers stay (POSTERN_IB_REG_CACHE=size). Those are bounded in bytes and number, and the longest unused goes first.
 *
 * Options read here: POSTERN_IB_REG_CACHE, POSTERN_IB_RELAXED_ORDERING.
 * Tests: tests/unit/ibverbs_memory_*.c.
 */
#ifndef SHMEMT_IBVERBS_MEMORY_H
#define SHMEMT_IBVERBS_MEMORY_H

#include "transports/ibverbs/device.h"

struct ib_memory;

/* A peer's region, as its key says. */
struct ib_remote {
    uint64_t base; /* remote address of offset 0 */
    uint64_t bytes;
    uint32_t rkey;
    bool     known;
    bool     host; /* false: GPU memory */
};

/* The right to use local memory in one operation. */
struct ib_local {
    uint32_t        lkey;
    char           *address; /* where the device finds it: a static variable elsewhere than the program */
    struct ib_hold *hold;    /* NULL: nothing to release. Else give it back when the operation has ended. */
};

/* Numbers so far, for the report and statistics. */
struct ib_memory_counts {
    uint64_t registrations, hits, evictions; /* of private memory */
    uint64_t pinned_bytes;                   /* segments, rings and private memory now */
    uint64_t private_bytes;                  /* of these, private                      */
};

/*
 * The protection domain stays the caller's and must outlive this. device is copied from. -ENOMEM.
 * close takes back what is still registered; nothing may be under way.
 */
int                     shmemt_ibverbs_memory_open(const struct shmemt_job *job, struct ibv_pd *pd, const struct ib_port *port,
                                                   struct ib_memory **memory_out);
void                    shmemt_ibverbs_memory_close(struct ib_memory *memory);
struct ib_memory_counts shmemt_ibverbs_memory_counts(struct ib_memory *memory);
/* For the report: "private memory registered per operation". */
const char *shmemt_ibverbs_memory_describe(struct ib_memory *memory);

/*
 * Will the limit on locked memory let this PE register so much? Before anything is registered: call it in probe and open. Raises the soft
 * limit to the hard one where that helps. 0, or -ENOMEM and in why the limit, the need and the command that raises it.
 */
int shmemt_ibverbs_memory_check_limit(const struct ib_port *port, size_t bytes, char *why, size_t why_bytes);
/* What the segments of this PE will need. */
size_t shmemt_ibverbs_memory_need(const struct shmemt_job *job);

/* ---- segments ---- */

/*
 * As the slots export_region and unexport_region say. -ENOTSUP: GPU memory that the device cannot reach. One thread at a time; others may
 * be in shmemt_ibverbs_memory_local meanwhile.
 */
int  shmemt_ibverbs_memory_export(struct ib_memory *memory, const struct shmemt_region *mine, struct shmemt_key *key_out);
void shmemt_ibverbs_memory_unexport(struct ib_memory *memory, int segment);
/* Read a peer's key. A key of 0 bytes gives remote_out->known == false. -EINVAL: of another job, PE, segment or version. */
int shmemt_ibverbs_memory_import(const struct shmemt_job *job, int pe, int segment, const struct shmemt_key *key,
                                 struct ib_remote *remote_out);

/* ---- local memory of an operation ---- */

/*
 * The key for [address, address + bytes), bytes > 0: to send from it, or with `into` to read into it as well. Any thread.
 * -EAGAIN: what is in use fills the bound; complete something and call again. -EFAULT: the memory is not there, or read-only and `into`.
 * -ENOMEM: the limit on locked memory, or the device has no room: copy it piece by piece through slots, which never needs more.
 * Symmetric memory never fails and takes no lock.
 */
int shmemt_ibverbs_memory_local(struct ib_memory *memory, void *address, size_t bytes, enum shmemt_memory kind, bool into,
                                struct ib_local *local_out);
/*
 * How much private memory can be registered at the same time: what the limit on locked memory leaves, or SIZE_MAX. One operation that needs more, all
 * its pieces together, would get -EAGAIN for ever, as it waits for itself.
 */
size_t shmemt_ibverbs_memory_room(const struct ib_memory *memory);
bool   shmemt_ibverbs_memory_possible(const struct ib_memory *memory, size_t bytes);
void   shmemt_ibverbs_memory_release(struct ib_memory *memory, struct ib_hold *hold); /* NULL: nothing */
/* Is the whole range in one segment of this PE, by whichever address? No system call, no lock. Then *local_out is filled, without a hold. */
bool shmemt_ibverbs_memory_symmetric(const struct ib_memory *memory, void *address, size_t bytes, struct ib_local *local_out);

/* ---- rings: registered slots in place of small private memory ---- */

/* Owned by one context: calls on one ring are not made at the same time. */
struct ib_ring {
    char          *base;
    size_t         slot_bytes;
    uint32_t       slots;
    uint32_t       lkey;
    struct ibv_mr *mr;
    uint32_t       free_count;
    uint32_t      *free_slots;
};
int  shmemt_ibverbs_memory_ring_create(struct ib_memory *memory, size_t slot_bytes, uint32_t slots, struct ib_ring *ring_out);
void shmemt_ibverbs_memory_ring_destroy(struct ib_memory *memory, struct ib_ring *ring);

/* A slot, or NULL: all are in use. */
static inline void *shmemt_ibverbs_memory_take_slot(struct ib_ring *ring)
{
    if (ring->free_count == 0) return NULL;
    return ring->base + (size_t)ring->free_slots[--ring->free_count] * ring->slot_bytes;
}

static inline void shmemt_ibverbs_memory_give_slot(struct ib_ring *ring, const void *slot)
{
    ring->free_slots[ring->free_count++] = (uint32_t)((size_t)((const char *)slot - ring->base) / ring->slot_bytes);
}

#endif
