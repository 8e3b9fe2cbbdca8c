/* SPDX-License-Identifier: Apache-2.0
 *
 * A stencil whose halo exchange is in the kernel. Each PE has a band of rows of a square plate and replaces every point by the mean of its
 * four neighbours, again and again. The blocks at the edges of a band put their new rows straight into the halo of the PE above or below, with
 * a signal; in the next step they wait for their neighbour's.
 *
 * Shows waiting without co-resident blocks: a block waits only for what an earlier launch of the other PE sends. Launches of a stream run
 * in order, so there is no circle, and any number of blocks fits any GPU.
 *
 * Why a halo is never overwritten too early: there are two plates, read and written in turn. The block that writes my neighbour's halo for
 * step s + 1 has waited for the row that the neighbour sent in step s, and it sent that after it had read that halo for step s.
 *
 *     oshcc --device-on-cpu gpu_halo.cu -o gpu_halo && oshrun -n 4 ./gpu_halo [columns [rows for each PE [steps]]]
 */
#include <cuda_runtime.h>
#include <math.h>
#include <shmem.h>
#include <shmem_device.cuh>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <vector>

enum { THREADS = 128 };

/* My band: rows 1 ... rows of a plate; rows 0 and rows + 1 are halos, or the plate's own edge. */
struct band {
    int columns, rows;
};

static void *kernel_malloc(size_t bytes)
{
#ifdef SHMEM_DEVICE_ON_CPU
    return shmem_malloc(bytes);
#else
    return shmem_malloc_with_hints(bytes, SHMEMX_MEM_CUDA);
#endif
}

__device__ static void relax_row(struct band band, const float *from, float *to, int row)
{
    const float *at = from + (size_t)row * (size_t)band.columns;
    for (int i = 1 + (int)threadIdx.x; i < band.columns - 1; i += (int)blockDim.x) {
        to[(size_t)row * (size_t)band.columns + (size_t)i] =
            0.25f * (at[i - 1] + at[i + 1] + at[i - band.columns] + at[i + band.columns]);
    }
}

/* One step. Block b has rows b + 1, b + 1 + blocks, ... signals[0]: steps that the PE above has sent me, signals[1]: the one below. */
__global__ void relax(struct band band, float *from, float *to, uint64_t *signals, uint64_t step)
{
    int me = shmem_my_pe(), last = shmem_n_pes() - 1;
    for (int row = 1 + (int)blockIdx.x; row <= band.rows; row += (int)gridDim.x) {
        bool above = row == 1 && me > 0, below = row == band.rows && me < last;
        if (threadIdx.x == 0 && above) shmem_signal_wait_until(&signals[0], SHMEM_CMP_GE, step);
        if (threadIdx.x == 0 && below) shmem_signal_wait_until(&signals[1], SHMEM_CMP_GE, step);
        __syncthreads();
        relax_row(band, from, to, row);
        float *mine = to + (size_t)row * (size_t)band.columns;
        /* put_signal begins with a barrier of the block: the whole row is there. */
        if (above) {
            shmemx_float_put_signal_block(to + (size_t)(band.rows + 1) * (size_t)band.columns, mine, (size_t)band.columns,
                                          &signals[1], step + 1, SHMEM_SIGNAL_SET, me - 1);
        }
        if (below) {
            shmemx_float_put_signal_block(to, mine, (size_t)band.columns, &signals[0], step + 1, SHMEM_SIGNAL_SET, me + 1);
        }
    }
}

/* The plate at the start: hot at the top, cold elsewhere. y counts rows of the whole plate, edges included. */
static float start_value(int y)
{
    return y == 0 ? 100.0f : 0.0f;
}

/* The whole plate by one CPU: what all bands together must be. */
static std::vector<float> relax_all(int columns, int all_rows, int steps)
{
    std::vector<float> from((size_t)(all_rows + 2) * (size_t)columns), to;
    for (int y = 0; y < all_rows + 2; y++)
        for (int x = 0; x < columns; x++) from[(size_t)y * (size_t)columns + (size_t)x] = start_value(y);
    to = from;
    for (int step = 0; step < steps; step++) {
        for (int y = 1; y <= all_rows; y++)
            for (int x = 1; x < columns - 1; x++) {
                size_t at = (size_t)y * (size_t)columns + (size_t)x, row = (size_t)columns;
                to[at] = 0.25f * (from[at - 1] + from[at + 1] + from[at - row] + from[at + row]);
            }
        from.swap(to);
    }
    return from;
}

static int count_wrong(const std::vector<float> &mine, const std::vector<float> &all, struct band band, int me)
{
    int wrong = 0;
    for (int y = 1; y <= band.rows; y++)
        for (int x = 0; x < band.columns; x++) {
            float a = mine[(size_t)y * (size_t)band.columns + (size_t)x];
            float b = all[(size_t)(me * band.rows + y) * (size_t)band.columns + (size_t)x];
            wrong += fabsf(a - b) > 1e-4f * (1.0f + fabsf(b));
        }
    return wrong;
}

int main(int argc, char **argv)
{
    shmem_init();
    struct band band  = {argc > 1 ? atoi(argv[1]) : 256, argc > 2 ? atoi(argv[2]) : 64};
    int         steps = argc > 3 ? atoi(argv[3]) : 50, me = shmem_my_pe(), npes = shmem_n_pes();
    if (band.columns < 3 || band.rows < 1 || steps < 0) {
        if (me == 0) fprintf(stderr, "gpu_halo: columns are at least 3, rows at least 1, steps not negative\n");
        shmem_finalize();
        return 2;
    }
    size_t             points = (size_t)(band.rows + 2) * (size_t)band.columns;
    float             *plate[2];
    uint64_t          *signals = (uint64_t *)kernel_malloc(2 * sizeof(uint64_t));
    std::vector<float> host(points);
    for (int y = 0; y < band.rows + 2; y++)
        for (int x = 0; x < band.columns; x++) host[(size_t)y * (size_t)band.columns + (size_t)x] = start_value(me * band.rows + y);
    for (int i = 0; i < 2; i++) {
        plate[i] = (float *)kernel_malloc(points * sizeof(float));
        if (!plate[i] || !signals) {
            fprintf(stderr, "gpu_halo: there is no memory for the plate on the GPU\n");
            shmem_global_exit(1);
        }
        cudaMemcpy(plate[i], host.data(), points * sizeof(float), cudaMemcpyDefault);
    }
    cudaMemset(signals, 0, 2 * sizeof(uint64_t));
    cudaDeviceSynchronize();
    shmem_barrier_all();

    for (int step = 0; step < steps; step++) {
        relax<<<(unsigned)(band.rows < 32 ? band.rows : 32), THREADS>>>(band, plate[step % 2], plate[(step + 1) % 2], signals,
                                                                        (uint64_t)step);
    }
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        fprintf(stderr, "gpu_halo: the kernels of PE %d failed: %s\n", me, cudaGetErrorString(error));
        shmem_global_exit(1);
    }
    cudaMemcpy(host.data(), plate[steps % 2], points * sizeof(float), cudaMemcpyDefault);
    int wrong = count_wrong(host, relax_all(band.columns, band.rows * npes, steps), band, me);
    printf("PE %d of %d: %d of %d points wrong after %d steps\n", me, npes, wrong, band.rows * band.columns, steps);
    shmem_finalize();
    return wrong ? 1 : 0;
}
