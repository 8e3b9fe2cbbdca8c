/* SPDX-License-Identifier: Apache-2.0
 *
 * Collectives whose arrays lie in a GPU heap, in part or both. Each file of coll/ asks shmemi_gpu_concerns_arrays(), after the checks that all ways
 * share. All members answer alike, since both arrays are symmetric. bytes > 0 in all of them.
 */
#ifndef SHMEMI_GPU_COLL_H
#define SHMEMI_GPU_COLL_H

#include "runtime/coll/reduce.h"
#include "runtime/gpu/gpu.h"

/* root_too: dest on the root is written as well. */
void shmemi_gpu_coll_broadcast(const char *call, struct shmemi_team *team, void *dest, const void *source, size_t bytes, int root,
                               bool root_too);
/* My block to offset of every member's dest. bytes may be 0 here: blocks of collect. */
void shmemi_gpu_coll_push(const char *call, struct shmemi_team *team, void *dest, const void *source, size_t bytes, size_t offset);

/* Block k of source to member k, at dest, which is the place of my block there. Distances in bytes, of blocks and of their elements. */
struct shmemi_gpu_coll_blocks {
    const char         *call;
    struct shmemi_team *team;
    char               *dest;
    const char         *source;
    size_t              block_step, nelems, elem_bytes;
    ptrdiff_t           dest_step, source_step;
};
void shmemi_gpu_coll_alltoall(const struct shmemi_gpu_coll_blocks *blocks);

void shmemi_gpu_coll_reduce(const struct shmemi_reduce *what);
void shmemi_gpu_coll_scan(const struct shmemi_reduce *what);

#endif
