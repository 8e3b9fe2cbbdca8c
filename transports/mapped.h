/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies and atomics on memory that this CPU can load and store: what the shm transport does at once, what a simulated
 * NIC does later, and what the agent of a real one does for its peers.
 *
 * Self-contained (only transport.h), so that modules outside the library can use it.
 */
#ifndef SHMEMT_MAPPED_H
#define SHMEMT_MAPPED_H

#include "transports/transport.h"

#include <errno.h>
#include <string.h>

/* ---- the pieces of a bulk operation, whichever of its three shapes it has ---- */

static inline size_t shmemt_mapped_pieces(const struct shmemt_xfer *xfer)
{
    return xfer->piece_count > 0 ? xfer->piece_count : xfer->blocks;
}

static inline struct shmemt_piece shmemt_mapped_piece(const struct shmemt_xfer *xfer, size_t index)
{
    if (xfer->piece_count > 0) return xfer->pieces[index];
    /* Strides may be negative or zero. Unsigned arithmetic wraps to the right offset where the product is negative. */
    ptrdiff_t local_step = (ptrdiff_t)index * xfer->local_stride, remote_step = (ptrdiff_t)index * xfer->remote_stride;
    return (struct shmemt_piece){
        .local         = index == 0 ? xfer->local : (char *)xfer->local + local_step,
        .remote_offset = xfer->remote_offset + (uint64_t)remote_step,
        .bytes         = xfer->bytes,
    };
}

/*
 * Can this operation be done in a region of region_bytes under these traits? 0; -ERANGE: a piece lies outside the region;
 * -EINVAL: more or larger pieces than the traits allow, or more to copy than copy_bytes_max.
 */
static inline int shmemt_mapped_check(const struct shmemt_xfer *xfer, size_t region_bytes, const struct shmemt_traits *traits)
{
    size_t count = shmemt_mapped_pieces(xfer), total = 0;
    if (count > traits->pieces_max) return -EINVAL;
    for (size_t i = 0; i < count; i++) {
        struct shmemt_piece piece = shmemt_mapped_piece(xfer, i);
        if (piece.bytes == 0) continue; /* touches nothing, wherever it points */
        if (piece.bytes > traits->bytes_max) return -EINVAL;
        if (piece.bytes > region_bytes || piece.remote_offset > region_bytes - piece.bytes) return -ERANGE;
        total +=
            piece.bytes; /* each at most bytes_max, at most pieces_max of them: shm's limits cannot wrap in one address space */
    }
    if ((xfer->flags & SHMEMT_XFER_COPY) && total > traits->copy_bytes_max) return -EINVAL;
    return 0;
}

/* The same for an atomic. */
static inline int shmemt_mapped_check_amo(const struct shmemt_amo *amo, size_t region_bytes)
{
    if (amo->bytes != 4 && amo->bytes != 8) return -EINVAL;
    if (amo->remote_offset % amo->bytes != 0) return -EINVAL;
    if (amo->bytes > region_bytes || amo->remote_offset > region_bytes - amo->bytes) return -ERANGE;
    return 0;
}

/* ---- doing it ---- */

/*
 * One piece to and from the region. An aligned word goes in one access: a program may put a flag and wait for it, and must
 * not see half of it. Release and acquire for the same reason: the flag is often put after a fence.
 * Else memmove, as a PE may put to itself with source and dest the same; no order among the bytes.
 */
static inline void shmemt_mapped_store(void *remote, const void *local, size_t bytes)
{
    uint64_t word;
    uint32_t half;
    uint16_t quarter;
    if (bytes == 8 && (uintptr_t)remote % 8 == 0) {
        memcpy(&word, local, 8);
        __atomic_store_n((uint64_t *)remote, word, __ATOMIC_RELEASE);
    } else if (bytes == 4 && (uintptr_t)remote % 4 == 0) {
        memcpy(&half, local, 4);
        __atomic_store_n((uint32_t *)remote, half, __ATOMIC_RELEASE);
    } else if (bytes == 2 && (uintptr_t)remote % 2 == 0) {
        memcpy(&quarter, local, 2);
        __atomic_store_n((uint16_t *)remote, quarter, __ATOMIC_RELEASE);
    } else {
        memmove(remote, local, bytes);
    }
}

static inline void shmemt_mapped_load(void *local, const void *remote, size_t bytes)
{
    uint64_t word;
    uint32_t half;
    uint16_t quarter;
    if (bytes == 8 && (uintptr_t)remote % 8 == 0) {
        word = __atomic_load_n((const uint64_t *)remote, __ATOMIC_ACQUIRE);
        memcpy(local, &word, 8);
    } else if (bytes == 4 && (uintptr_t)remote % 4 == 0) {
        half = __atomic_load_n((const uint32_t *)remote, __ATOMIC_ACQUIRE);
        memcpy(local, &half, 4);
    } else if (bytes == 2 && (uintptr_t)remote % 2 == 0) {
        quarter = __atomic_load_n((const uint16_t *)remote, __ATOMIC_ACQUIRE);
        memcpy(local, &quarter, 2);
    } else {
        memmove(local, remote, bytes);
    }
}

enum shmemt_mapped_direction { SHMEMT_MAPPED_PUT, SHMEMT_MAPPED_GET };

/*
 * Copy all pieces between local memory and the region at base; the operation has passed shmemt_mapped_check(). No order among
 * the pieces: the caller fences.
 */
static inline void shmemt_mapped_xfer(enum shmemt_mapped_direction direction, char *base, const struct shmemt_xfer *xfer)
{
    size_t count = shmemt_mapped_pieces(xfer);
    for (size_t i = 0; i < count; i++) {
        struct shmemt_piece piece = shmemt_mapped_piece(xfer, i);
        if (piece.bytes == 0) continue; /* local may be NULL then */
        if (direction == SHMEMT_MAPPED_PUT) shmemt_mapped_store(base + piece.remote_offset, piece.local, piece.bytes);
        else shmemt_mapped_load(piece.local, base + piece.remote_offset, piece.bytes);
    }
}

/*
 * One atomic operation on the word of Type at address.
 *
 * Orders: updates release, so that what the initiator (or its NIC) wrote before is seen by whoever reads the new value with
 * acquire: a signal depends on it. Reads acquire, so that a fetched value may be used as a flag. Nothing needs the single
 * total order of seq_cst: OpenSHMEM orders atomics only by fence and quiet, which bring their own barrier.
 * CSWAP that fails has read only: acquire.
 */
#define SHMEMT_MAPPED_AMO(Type, address, amo, old)                                                                    \
    do {                                                                                                              \
        Type *word_ = (address), value_ = (Type)(amo)->value, seen_ = (Type)(amo)->compare;                           \
        switch ((amo)->op) {                                                                                          \
        case SHMEMT_AMO_FETCH: seen_ = __atomic_load_n(word_, __ATOMIC_ACQUIRE); break;                               \
        case SHMEMT_AMO_SET:                                                                                          \
            if ((amo)->fetch) seen_ = __atomic_exchange_n(word_, value_, __ATOMIC_ACQ_REL);                           \
            else /* a plain store: cheaper than an exchange */ __atomic_store_n(word_, value_, __ATOMIC_RELEASE);     \
            break;                                                                                                    \
        case SHMEMT_AMO_CSWAP: /* on failure the builtin puts the value seen into seen_; on success they are equal */ \
            __atomic_compare_exchange_n(word_, &seen_, value_, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);            \
            break;                                                                                                    \
        case SHMEMT_AMO_ADD: seen_ = __atomic_fetch_add(word_, value_, __ATOMIC_ACQ_REL); break;                      \
        case SHMEMT_AMO_AND: seen_ = __atomic_fetch_and(word_, value_, __ATOMIC_ACQ_REL); break;                      \
        case SHMEMT_AMO_OR: seen_ = __atomic_fetch_or(word_, value_, __ATOMIC_ACQ_REL); break;                        \
        case SHMEMT_AMO_XOR: seen_ = __atomic_fetch_xor(word_, value_, __ATOMIC_ACQ_REL); break;                      \
        }                                                                                                             \
        (old) = seen_;                                                                                                \
    } while (0)

/* Do it, and return the old value (its low `bytes` bytes). Without meaning for a SET that does not fetch. */
static inline uint64_t shmemt_mapped_amo(void *address, const struct shmemt_amo *amo)
{
    uint64_t old;
    if (amo->bytes == 8) SHMEMT_MAPPED_AMO(uint64_t, address, amo, old);
    else SHMEMT_MAPPED_AMO(uint32_t, address, amo, old);
    return old;
}

#undef SHMEMT_MAPPED_AMO

/* ---- telling the initiator ---- */

/* Release: whoever sees the new count also sees the data (get, fetch), and its later stores to the source come after our reads. */
static inline void shmemt_mapped_done(_Atomic uint32_t *done)
{
    if (done) atomic_fetch_add_explicit(done, 1, memory_order_release);
}

/* Hand the old value to the initiator, then count. */
static inline void shmemt_mapped_fetched(const struct shmemt_amo *amo, uint64_t old)
{
    uint32_t old32 = (uint32_t)old;
    if (amo->fetch) memcpy(amo->fetch, amo->bytes == 8 ? (void *)&old : (void *)&old32, amo->bytes);
    shmemt_mapped_done(amo->done);
}

/* ---- in this PE's own memory: its operations to itself, and what messages of peers ask for ---- */

/* Who sleeps on what a CPU has just changed here? */
static inline void shmemt_mapped_wake(const struct shmemt_job *job, const void *address, size_t bytes)
{
    if (job->wake) job->wake(job->local_of[job->my_pe], address, bytes);
}

/* Do it at once; base: of the region as this PE addresses it. */
static inline void shmemt_mapped_xfer_self(const struct shmemt_job *job, enum shmemt_mapped_direction direction, char *base,
                                           const struct shmemt_xfer *xfer)
{
    shmemt_mapped_xfer(direction, base, xfer);
    if (direction == SHMEMT_MAPPED_PUT) {
        atomic_thread_fence(memory_order_release); /* before what comes after this put; pairs with the reader's acquire */
        for (size_t i = 0; i < shmemt_mapped_pieces(xfer); i++) {
            struct shmemt_piece piece = shmemt_mapped_piece(xfer, i);
            if (piece.bytes > 0) shmemt_mapped_wake(job, base + piece.remote_offset, piece.bytes);
        }
    }
    shmemt_mapped_done(xfer->done);
}

/* The word's old value. */
static inline uint64_t shmemt_mapped_update(const struct shmemt_job *job, char *word, const struct shmemt_amo *amo)
{
    uint64_t old = shmemt_mapped_amo(word, amo);
    if (amo->op != SHMEMT_AMO_FETCH) shmemt_mapped_wake(job, word, amo->bytes);
    return old;
}

static inline void shmemt_mapped_amo_self(const struct shmemt_job *job, char *base, const struct shmemt_amo *amo)
{
    shmemt_mapped_fetched(amo, shmemt_mapped_update(job, base + amo->remote_offset, amo));
}

#endif
