/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of runtime/gpu/ have among themselves.
 */
#ifndef SHMEMI_GPU_INSIDE_H
#define SHMEMI_GPU_INSIDE_H

#include "runtime/gpu/gpu.h"

/* ---- device.c ---- */

bool                         shmemi_gpu_device_wanted(void);
struct shmemi_cu_memory_kind shmemi_gpu_device_memory_kind(void);
void                         shmemi_gpu_device_close(void);

/* ---- share.c: descriptors of the parts, between the PEs of a node ---- */

/* One PE's part as its owner gives it: a descriptor of the driver's, or -1 where it has none. */
typedef void shmemi_gpu_share_take(int local, int fd);

int shmemi_gpu_share_listen(void);
/* Give mine (-1: none) to all PEs of the node, and take theirs, each exactly once; the taker owns the descriptor. 0 or a negative errno, logged. */
int  shmemi_gpu_share_all(int mine, shmemi_gpu_share_take *take);
void shmemi_gpu_share_close(void);

/* ---- copy.c ---- */

/* Between memory of GPUs; shmemi_gpu_complete() waits for it. */
void shmemi_gpu_copy_nbi(void *dest, const void *source, size_t bytes);

/* ---- amo.c ---- */

/* The kernel of atomics. A failure is said when it is used. */
void     shmemi_gpu_amo_open(void);
void     shmemi_gpu_amo_close(void);
uint64_t shmemi_gpu_amo_do(void *word, const struct shmemt_amo *amo);

/* ---- stage.c ---- */

size_t shmemi_gpu_stage_bytes(void); /* of the box behind the team slots in segment CTRL */
void   shmemi_gpu_stage_plan(size_t offset);
int    shmemi_gpu_stage_start(void);
void   shmemi_gpu_stage_stop(void);
/* Done on return, at the target too. Local memory of any kind. */
void     shmemi_gpu_stage_put(struct shmemi_ctx *ctx, const struct shmemi_place *to, const void *source, size_t bytes);
void     shmemi_gpu_stage_get(struct shmemi_ctx *ctx, const struct shmemi_place *from, void *dest, size_t bytes);
uint64_t shmemi_gpu_stage_amo(struct shmemi_ctx *ctx, const struct shmemi_place *at, const struct shmemt_amo *amo);

/* ---- rdma.c ---- */

/* Has the transport that posts to the PE registered both sides' heaps? */
bool shmemi_gpu_rdma_reaches(int pe);
bool shmemi_gpu_rdma_has(int transport);

#endif
