/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies between memory of this node. The put and get calls themselves are in rma.c; signal.c and coll/ share the copies.
 */
#ifndef SHMEMI_RMA_COPY_H
#define SHMEMI_RMA_COPY_H

#include "runtime/state.h"

#include <string.h>

/*
 * Choose how this machine copies large ranges (called once by init): by one string instruction where the CPU is quick at it, and past
 * the cache from stream_bytes on. SIZE_MAX, the default: from a core's share of the caches on, and from 16 KiB on in puts
 * to places that this PE has not put to lately (docs/decisions/0007-copies.md). Sets shmemi_state.copy_large_bytes.
 */
void shmemi_rma_choose_copy(size_t stream_bytes);

/* Copy of shmemi_state.copy_large_bytes and more. What it stores is ordered like plain stores when it returns. */
typedef void     shmemi_rma_large(void *to, const void *from, size_t bytes);
shmemi_rma_large shmemi_rma_large_put, shmemi_rma_large_get;

/* `blocks` pieces of `bytes` each, the pieces at fixed distances (in bytes, from start to start) on either side. */
void shmemi_rma_copy_strided(void *to, ptrdiff_t to_stride, const void *from, ptrdiff_t from_stride, size_t blocks, size_t bytes);

/*
 * 1 to 16 bytes, or none, each byte in exactly one store, and an aligned element of 1, 2, 4 or 8 bytes never in two: a flag written by
 * put is never seen half, and is not written again after its reader has seen it and reset it.
 */
enum { SHMEMI_RMA_SMALL = 16 };
SHMEMI_INLINE void shmemi_rma_copy_small(void *to, const void *from, size_t bytes)
{
    char       *d = to;
    const char *s = from;
    if (bytes == 8) { /* by far the most frequent */
        memcpy(d, s, 8);
        return;
    }
    if (bytes == 16) {
        memcpy(d, s, 8);
        memcpy(d + 8, s + 8, 8);
        return;
    }
    if (bytes & 8) {
        memcpy(d, s, 8);
        d += 8;
        s += 8;
    }
    if (bytes & 4) {
        memcpy(d, s, 4);
        d += 4;
        s += 4;
    }
    if (bytes & 2) {
        memcpy(d, s, 2);
        d += 2;
        s += 2;
    }
    if (bytes & 1) *d = *s;
}

/*
 * 17 to 128 bytes, in at most eight registers: quicker than a call. The pieces overlap. The loads come first, so that dest may be source.
 */
enum { SHMEMI_RMA_MEDIUM = 128 };
SHMEMI_INLINE void shmemi_rma_copy_medium(void *to, const void *from, size_t bytes)
{
    typedef struct {
        uint64_t half[2];
    } piece;
    enum { PIECE = sizeof(piece) };
    char       *d = to, *d_end = d + bytes;
    const char *s = from, *s_end = s + bytes;
    piece       first, last, second, next_to_last, middle[4];
    memcpy(&first, s, PIECE);
    memcpy(&last, s_end - PIECE, PIECE);
    if (bytes > 2 * PIECE) {
        memcpy(&second, s + PIECE, PIECE);
        memcpy(&next_to_last, s_end - 2 * PIECE, PIECE);
        if (bytes > 4 * PIECE) {
            memcpy(middle, s + 2 * PIECE, PIECE);
            memcpy(middle + 1, s + 3 * PIECE, PIECE);
            memcpy(middle + 2, s_end - 4 * PIECE, PIECE);
            memcpy(middle + 3, s_end - 3 * PIECE, PIECE);
            memcpy(d + 2 * PIECE, middle, PIECE);
            memcpy(d + 3 * PIECE, middle + 1, PIECE);
            memcpy(d_end - 4 * PIECE, middle + 2, PIECE);
            memcpy(d_end - 3 * PIECE, middle + 3, PIECE);
        }
        memcpy(d + PIECE, &second, PIECE);
        memcpy(d_end - 2 * PIECE, &next_to_last, PIECE);
    }
    memcpy(d, &first, PIECE);
    memcpy(d_end - PIECE, &last, PIECE);
}

/* Any size: small ones inline, so that they cost no call; then memcpy; the largest as chosen for this machine. */
SHMEMI_INLINE void shmemi_rma_copy(void *to, const void *from, size_t bytes, shmemi_rma_large *copy_large)
{
    if (bytes <= SHMEMI_RMA_SMALL) shmemi_rma_copy_small(to, from, bytes);
    else if (bytes >= shmemi_state.copy_large_bytes) copy_large(to, from, bytes);
    else memcpy(to, from, bytes);
}

#endif
