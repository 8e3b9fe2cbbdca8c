/* SPDX-License-Identifier: Apache-2.0
 *
 * Posted operations: what a put, get, atomic or signal becomes where the target is not mapped. Cuts to the transport's limits, retries
 * while its queue is full, and waits where the call must not return before the source is reusable or the result is there.
 */
#ifndef SHMEMI_POST_H
#define SHMEMI_POST_H

#include "runtime/route.h"
#include "runtime/state.h"

/* Whether the call returns at once (nbi) or once the local side is done. */
enum shmemi_post_wait { SHMEMI_POST_NBI, SHMEMI_POST_LOCAL };

/*
 * The short way of a small put: ctx has world numbers, pe is any number, dest any address. True: the transport has taken it, and source may be
 * reused. False: nothing has happened, and the careful way tells why, waits for room, or maps.
 */
bool shmemi_post_put_small(shmem_ctx_t ctx, const void *dest, const void *source, size_t bytes, int pe);

void shmemi_post_put(struct shmemi_ctx *ctx, const struct shmemi_place *to, const void *source, size_t bytes,
                     enum shmemi_post_wait wait);
void shmemi_post_get(struct shmemi_ctx *ctx, const struct shmemi_place *from, void *dest, size_t bytes, enum shmemi_post_wait wait);

/* blocks pieces of bytes each; strides in bytes from start to start. Local side done on return. */
void shmemi_post_put_strided(struct shmemi_ctx *ctx, const struct shmemi_place *to, const void *source, size_t blocks, size_t bytes,
                             ptrdiff_t local_stride, ptrdiff_t remote_stride);
void shmemi_post_get_strided(struct shmemi_ctx *ctx, const struct shmemi_place *from, void *dest, size_t blocks, size_t bytes,
                             ptrdiff_t local_stride, ptrdiff_t remote_stride);

/* amo: op, bytes, value, compare, fetch; the rest is filled in here. */
void shmemi_post_amo(struct shmemi_ctx *ctx, const struct shmemi_place *at, const struct shmemt_amo *amo,
                     enum shmemi_post_wait wait);

/* op: SHMEMT_AMO_SET or SHMEMT_AMO_ADD on the 8-byte word at `signal`. */
void shmemi_post_put_signal(struct shmemi_ctx *ctx, const struct shmemi_place *to, const void *source, size_t bytes,
                            const struct shmemi_place *signal, uint64_t value, enum shmemt_amo_op op, enum shmemi_post_wait wait);

void shmemi_post_fence(struct shmemi_ctx *ctx);
void shmemi_post_quiet(struct shmemi_ctx *ctx, int world_pe); /* or SHMEMT_ALL_PES */

/* Move the default context on, if no other thread does. For waits. */
void shmemi_post_progress(void);

#endif
