/* SPDX-License-Identifier: Apache-2.0
 *
 * What calls of kernels cost, beside kernels without SHMEM in the same run. ./dev gpu-test runs it with 1, 2 and 4 PEs.
 *
 *     bench [LARGEST_BYTES [ROUNDS]]      default 64 MiB, 20
 *
 * PE 0 measures, to its right neighbour (itself, where it is alone); the others take part in ping-pongs only. Rows are
 *
 *     row NAME BYTES MICROSECONDS GIGABYTES_PER_SECOND
 *
 * each the median of ROUNDS launches. raw_* rows are the yardsticks: a copy kernel on the same GPU, the driver's copy, and flags that two blocks store for one
 * another. put_* go to the neighbour's heap: the same GPU where PEs share one. On CPU threads (oshcc --device-on-cpu) the figures mean
 * nothing; that the program runs to its end does.
 */
#include <cuda_runtime.h>
#include <shmem.h>
#include <shmem_device.cuh>
#include <shmemx.h>
#include <algorithm>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef SHMEM_DEVICE_ON_CPU
enum { BLOCKS = 2, THREADS = 64, TURNS = 10 };
#else
enum { BLOCKS = 132, THREADS = 512, TURNS = 100 };
#endif
enum { MARK = 12345 };
/* TURNS: of a ping-pong, and of puts of one element. */

static int    rounds  = 20;
static size_t largest = (size_t)64 << 20;

static void *kernel_malloc(size_t bytes)
{
#if defined(SHMEM_DEVICE_ON_CPU) || !defined(SHMEMX_MEM_CUDA)
    void *memory = shmem_malloc(bytes);
#else
    void *memory = shmem_malloc_with_hints(bytes, SHMEMX_MEM_CUDA);
#endif
    if (!memory) {
        fprintf(stderr, "bench: %zu bytes do not fit into the heap for kernels\n", bytes);
        shmem_global_exit(1);
    }
    cudaMemset(memory, 0, bytes);
    return memory;
}

static double now_us()
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static void finish_kernels(const char *what)
{
    cudaError_t error = cudaDeviceSynchronize();
    if (error == cudaSuccess) return;
    fprintf(stderr, "bench: %s: %s\n", what, cudaGetErrorString(error));
    shmem_global_exit(1);
}

/* Median over the rounds, after one that does not count; per: operations in one launch. */
template <class F> static double median_us(const char *what, int per, F launch)
{
    double *us = (double *)malloc((size_t)rounds * sizeof *us);
    for (int round = -1; round < rounds; round++) {
        double start = now_us();
        launch();
        finish_kernels(what);
        if (round >= 0) us[round] = (now_us() - start) / per;
    }
    std::sort(us, us + rounds);
    double median = us[rounds / 2];
    free(us);
    return median;
}

static void row(const char *name, size_t bytes, double us)
{
    if (shmem_my_pe() == 0) printf("row\t%s\t%zu\t%.3f\t%.3f\n", name, bytes, us, (double)bytes / us * 1e-3);
    fflush(stdout);
}

/* ---- kernels ---- */

struct sixteen {
    unsigned long lo, hi;
};

__global__ void raw_copy(sixteen *dest, const sixteen *source, size_t count)
{
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) dest[i] = source[i];
}

__global__ void put_by_blocks(long *dest, const long *source, size_t nelems, int pe)
{
    size_t share = nelems / gridDim.x, first = share * blockIdx.x;
    shmemx_long_put_block(dest + first, source + first, share, pe);
}

__global__ void put_by_warp(long *dest, const long *source, size_t nelems, int pe)
{
    shmemx_long_put_warp(dest, source, nelems, pe);
}

__global__ void put_by_thread(long *dest, const long *source, size_t nelems, int pe)
{
    shmem_long_put(dest, source, nelems, pe);
}

__global__ void put_elements(long *dest, int turns, int pe)
{
    for (int i = 0; i < turns; i++) shmem_long_p(dest + threadIdx.x, i, pe);
}

/* Puts of one PE to one place keep no order without a fence, so what is looked at afterwards is put behind a quiet. */
__global__ void put_mark(long *dest, long mark, int pe)
{
    shmem_quiet();
    shmem_long_p(dest + threadIdx.x, mark, pe);
}

__global__ void raw_elements(volatile long *dest, int turns)
{
    for (int i = 0; i < turns; i++) dest[threadIdx.x] = i;
}

/* Two players: blocks of one kernel where a PE is alone, else one of PE 0 and one of PE 1. first: this one serves. */
__device__ void play_signals(long *dest, const long *source, uint64_t *theirs, uint64_t *mine, size_t nelems, int pe, uint64_t base,
                             int turns, bool first)
{
    for (int i = 1; i <= turns; i++) {
        if (!first) shmem_signal_wait_until(mine, SHMEM_CMP_GE, base + (uint64_t)i);
        shmem_long_put_signal(dest, source, nelems, theirs, base + (uint64_t)i, SHMEM_SIGNAL_SET, pe);
        if (first) shmem_signal_wait_until(mine, SHMEM_CMP_GE, base + (uint64_t)i);
    }
}

__device__ void play_flags(volatile uint64_t *theirs, volatile uint64_t *mine, uint64_t base, int turns, bool first)
{
    for (int i = 1; i <= turns; i++) {
        while (!first && *mine < base + (uint64_t)i) shmemd_pause();
        __threadfence_system();
        *theirs = base + (uint64_t)i;
        while (first && *mine < base + (uint64_t)i) shmemd_pause();
    }
}

/* signals: two words, a line each; word 0 is for who serves. */
__global__ void ping_pong(long *data, uint64_t *signals, size_t nelems, int pe, uint64_t base, int turns, int player, int raw)
{
    bool      first = gridDim.x == 2 ? blockIdx.x == 0 : player == 0;
    uint64_t *mine = signals + (first ? 0 : 16), *theirs = signals + (first ? 16 : 0);
    long     *source = data + (first ? 0 : nelems), *dest = data + (first ? 2 * nelems : 3 * nelems);
    if (raw) play_flags((volatile uint64_t *)shmem_ptr(theirs, pe), mine, base, turns, first);
    else play_signals(dest, source, theirs, mine, nelems, pe, base, turns, first);
}

/* ---- what is measured ---- */

static long *source, *dest;

static void bandwidth(int pe)
{
    for (size_t bytes = 4096; bytes <= largest; bytes *= 16) {
        size_t nelems = bytes / sizeof(long);
        row("raw_copy_kernel", bytes, median_us("raw copy", 1, [&] {
                raw_copy<<<BLOCKS, THREADS>>>((sixteen *)dest, (const sixteen *)source, bytes / sizeof(sixteen));
            }));
        row("raw_memcpy", bytes, median_us("memcpy", 1, [&] { cudaMemcpyAsync(dest, source, bytes, cudaMemcpyDefault, 0); }));
        row("put_blocks", bytes,
            median_us("put by blocks", 1, [&] { put_by_blocks<<<BLOCKS, THREADS>>>(dest, source, nelems, pe); }));
        row("put_one_block", bytes,
            median_us("put by one block", 1, [&] { put_by_blocks<<<1, THREADS>>>(dest, source, nelems, pe); }));
        row("put_warp", bytes, median_us("put by a warp", 1, [&] { put_by_warp<<<1, 32>>>(dest, source, nelems, pe); }));
        if (bytes <= (size_t)1 << 20)
            row("put_thread", bytes, median_us("put by a thread", 1, [&] { put_by_thread<<<1, 1>>>(dest, source, nelems, pe); }));
        row("host_put", bytes, median_us("put by the host", 1, [&] {
                shmem_putmem(dest, source, bytes, pe);
                shmem_quiet();
            }));
#ifdef BENCH_ON_STREAM
        row("put_on_stream", bytes,
            median_us("put on a stream", 1, [&] { shmemx_putmem_on_stream(dest, source, bytes, pe, NULL); }));
#endif
    }
}

static void elements(int pe)
{
    row("raw_store", sizeof(long), median_us("raw stores", TURNS, [&] { raw_elements<<<1, 32>>>(dest, TURNS); }));
    row("long_p", sizeof(long), median_us("long_p", TURNS, [&] { put_elements<<<1, 32>>>(dest, TURNS, pe); }));
    put_mark<<<1, 32>>>(dest, MARK, pe);
    finish_kernels("put of a mark");
}

static void check_mark(void)
{
    static long value[2];
    cudaMemcpy(value, dest, sizeof value, cudaMemcpyDefault);
    if (value[0] == MARK && value[1] == MARK) return;
    fprintf(stderr, "bench: PE %d: the puts of its neighbour have not arrived: %ld, %ld\n", shmem_my_pe(), value[0], value[1]);
    shmem_global_exit(1);
}

/* One way is half a turn. All PEs come here; those behind the second only to meet. */
static void ping_pongs(uint64_t *signals)
{
    int    me = shmem_my_pe(), n = shmem_n_pes(), pe = n == 1 ? 0 : 1 - me;
    size_t sizes[] = {8, 1024, 65536};
    if (me < 2) {
        uint64_t base = 0;
        auto     play = [&](size_t bytes, int raw) {
            ping_pong<<<n == 1 ? 2 : 1, 1>>>(source, signals, bytes / sizeof(long), pe, base, TURNS, me, raw);
            base += TURNS;
        };
        if (shmem_ptr(signals, pe)) row("raw_flag_ping_pong", 8, median_us("raw ping-pong", 2 * TURNS, [&] { play(8, 1); }));
        for (size_t bytes : sizes) row("put_signal_ping_pong", bytes, median_us("ping-pong", 2 * TURNS, [&] { play(bytes, 0); }));
    }
}

int main(int argc, char **argv)
{
    if (argc > 1) largest = strtoull(argv[1], NULL, 0);
    if (argc > 2) rounds = atoi(argv[2]);
    if (largest < 4096 || rounds < 1) {
        fprintf(stderr, "usage: bench [LARGEST_BYTES (at least 4096) [ROUNDS]]\n");
        return 2;
    }
    shmem_init();
    int    me = shmem_my_pe(), pe = (me + 1) % shmem_n_pes();
    size_t bytes      = largest < 4 * 65536 ? 4 * 65536 : largest; /* ping-pongs take four parts of the source */
    source            = (long *)kernel_malloc(bytes);
    dest              = (long *)kernel_malloc(bytes);
    uint64_t *signals = (uint64_t *)kernel_malloc(32 * sizeof(uint64_t));
    finish_kernels("clear");
    shmem_barrier_all();
    if (me == 0) bandwidth(pe);
    shmem_barrier_all();
    if (me == 0) elements(pe);
    shmem_barrier_all();
    if (me == 1 % shmem_n_pes()) check_mark();
    shmem_barrier_all();
    ping_pongs(signals);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
