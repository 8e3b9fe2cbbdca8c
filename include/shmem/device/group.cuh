/* SPDX-License-Identifier: Apache-2.0
 *
 * Who makes a call together: one thread, a warp, or a block.  An operation is written once for all three: each thread does its
 * share, and the first one alone does what must be done once.
 */
#ifndef SHMEMD_GROUP_CUH
#define SHMEMD_GROUP_CUH

#include "lang.cuh"

enum shmemd_group_kind { SHMEMD_THREAD, SHMEMD_WARP, SHMEMD_BLOCK };

struct shmemd_group {
    unsigned               rank, size; /* of this thread among those that make the call */
    enum shmemd_group_kind kind;
};

SHMEMD_FN struct shmemd_group shmemd_group_thread(void)
{
    struct shmemd_group group;

    group.rank = 0;
    group.size = 1;
    group.kind = SHMEMD_THREAD;
    return group;
}

SHMEMD_FN struct shmemd_group shmemd_group_block(void)
{
    struct shmemd_group group;

    group.rank = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    group.size = blockDim.x * blockDim.y * blockDim.z;
    group.kind = SHMEMD_BLOCK;
    return group;
}

/* The last warp of a block may have fewer threads than 32. */
SHMEMD_FN struct shmemd_group shmemd_group_warp(void)
{
    struct shmemd_group group = shmemd_group_block();
    unsigned            left  = group.size - (group.rank & ~31u);

    group.rank &= 31u;
    group.size = left < 32u ? left : 32u;
    group.kind = SHMEMD_WARP;
    return group;
}

/* All have come here, and each sees what the others did before.  All threads of the group call it. */
SHMEMD_FN void shmemd_group_sync(struct shmemd_group group)
{
    if (group.kind == SHMEMD_WARP) __syncwarp(0xffffffffu);
    if (group.kind == SHMEMD_BLOCK) __syncthreads();
}

#endif
