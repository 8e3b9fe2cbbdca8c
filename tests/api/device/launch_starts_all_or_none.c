/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 1 2 3
 * LINK: pthread
 * OUTPUT: PE 0: shmemx_collective_launch: the 9 blocks of PE 0 do not run at the same time
 * OUTPUT: its device holds 8 blocks of this kernel.*would wait for ever
 * OUTPUT: start at most 8 blocks in each PE
 *
 * A collective launch starts the kernel on all PEs or on none, and the answer is the same on all: where one PE's grid does not fit, where the PEs share a
 * device on which each alone would fit, and where one PE's arguments are wrong.
 * Spec: none; shmemx_collective_launch is an extension
 */
#include "kernel.h"

#include <errno.h>

static char     the_kernel; /* only its address counts */
static uint64_t device;     /* that all PEs name */
static int      launched;
static unsigned last_blocks;
static void    *last_argument;

static int resident(const void *kernel, const unsigned block[3], size_t shared_bytes, long *blocks_out, uint64_t *device_out)
{
    *blocks_out = 8;
    *device_out = device;
    return kernel == (const void *)&the_kernel && block[0] == 32 && shared_bytes == 100 ? 0 : 1;
}

static int launch(const void *kernel, const unsigned grid[3], const unsigned block[3], void **args, size_t shared_bytes,
                  void *stream)
{
    (void)kernel, (void)block, (void)shared_bytes, (void)stream;
    launched++;
    last_blocks   = grid[0] * grid[1] * grid[2];
    last_argument = args[0];
    return 0;
}

static int start(unsigned x, unsigned y, const void *kernel)
{
    shmemx_dim3_t grid = {x, y, 1}, block = {32, 1, 1};
    void         *args[1] = {&launched};
    return shmemx_collective_launch(kernel, grid, block, args, 100, NULL);
}

int main(void)
{
    kernel_unit.resident_blocks = resident;
    kernel_unit.launch          = launch;
    CHECK_EQUAL(shmemx_device_register(&kernel_unit), 0);
    shmem_init();
    int         me = shmem_my_pe(), n = shmem_n_pes();
    const void *kernel = (const void *)&the_kernel;

    CHECK_EQUAL(start(4, 2, kernel), 0);
    CHECK_EQUAL(launched, 1);
    CHECK_EQUAL(last_blocks, 8);
    CHECK(last_argument == &launched);
    CHECK_EQUAL(start(me == 0 ? 9 : 1, 1, kernel), -EAGAIN); /* PE 0's do not fit */
    CHECK_EQUAL(start(me == n - 1 ? 0 : 1, 1, kernel), -EINVAL);
    CHECK_EQUAL(start(1, 1, me == n - 1 ? NULL : kernel), -EINVAL);
    CHECK_EQUAL(start(1, 1, me == n - 1 ? &device : kernel), -EINVAL);
    CHECK_EQUAL(launched, 1);

    device = 77; /* one for all: 8 blocks together */
    CHECK_EQUAL(start(8, 1, kernel), n == 1 ? 0 : -EAGAIN);
    CHECK_EQUAL(start((unsigned)(8 / n), 1, kernel), 0);
    CHECK_EQUAL(start(me == 0 ? (unsigned)(9 - n) : 1, 1, kernel), 0);
    CHECK_EQUAL(start(me == 0 ? 8 : 1, 1, kernel), n == 1 ? 0 : -EAGAIN);
    CHECK_EQUAL(launched, n == 1 ? 5 : 3);
    shmem_finalize();
    shmemx_device_unregister(&kernel_unit);
    return api_result();
}
