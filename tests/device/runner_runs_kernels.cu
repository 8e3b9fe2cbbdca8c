/* SPDX-License-Identifier: Apache-2.0
 *
 * The runner itself, without SHMEM: what CUDA promises of blocks, barriers, warps, shared memory, atomics and streams holds for kernels on
 * the CPU. On a GPU this is a test of nothing of ours, and passes too.
 *
 * PES: 0
 * TSAN: yes
 */
#include <cuda_runtime.h>
#include <stdio.h>

/* ThreadSanitizer needs a megabyte for each thread that waits. */
#ifdef __SANITIZE_THREAD__
enum { MANY = 64, TURNS = 4 };
#else
enum { MANY = 1024, TURNS = 20 };
#endif

static int failures;

static void check(bool holds, const char *text)
{
    if (holds) return;
    failures++;
    printf("does not hold: %s\n", text);
}
#define CHECK(condition) check(condition, #condition)

template <class T> static T *buffer(size_t count)
{
    T *memory = nullptr;
    if (cudaMallocManaged(&memory, count * sizeof(T)) != cudaSuccess) return nullptr;
    cudaMemset(memory, 0, count * sizeof(T));
    return memory;
}

/* Each thread of a grid of three dimensions is there once, under its own name. */
__global__ void count_places(int *seen)
{
    unsigned block  = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    atomicAdd(&seen[block * blockDim.x * blockDim.y * blockDim.z + thread], 1);
}

static void every_thread_is_there_once()
{
    dim3   grid(2, 3, 2), block(3, 2, 4);
    size_t n    = 12 * 24;
    int   *seen = buffer<int>(n);
    count_places<<<grid, block>>>(seen);
    cudaDeviceSynchronize();
    bool once = true;
    for (size_t i = 0; i < n; i++) once &= seen[i] == 1;
    CHECK(once);
    cudaFree(seen);
}

/* A sum by shuffles, static shared memory and a barrier; many threads wait in it at once. */
template <class T> __global__ void sum(const T *in, int n, T *out)
{
    __shared__ T part[32];
    T            value = 0;
    for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += (int)(gridDim.x * blockDim.x)) value += in[i];
    for (int delta = 16; delta > 0; delta /= 2) value += __shfl_down_sync(0xffffffffu, value, (unsigned)delta);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        value = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
        for (int bits = 16; bits > 0; bits /= 2) value += __shfl_xor_sync(0xffffffffu, value, bits);
        if (threadIdx.x == 0) atomicAdd(out, value);
    }
}

template <class T> static void sums_are_right()
{
    int n  = 40000;
    T  *in = buffer<T>((size_t)n), *out = buffer<T>(1), wanted = 0;
    for (int i = 0; i < n; i++) wanted += in[i] = (T)(i % 7);
    sum<T><<<2, MANY>>>(in, n, out);
    sum<<<dim3(3), 32>>>(in, n, out);
    cudaDeviceSynchronize();
    CHECK(*out == 2 * wanted);
    cudaFree(in);
    cudaFree(out);
}

/* Barriers in a row order what all write and read; votes count; threads that have ended are not waited for. */
__global__ void turn_around(int *wrong)
{
    extern __shared__ __align__(16) int ring[];
    int                                 me = (int)threadIdx.x, n = (int)blockDim.x;
    ring[me] = me;
    for (int round = 0; round < TURNS; round++) {
        __syncthreads();
        int next = ring[(me + 1) % n];
        if (__syncthreads_count(me % 2) != n / 2) atomicAdd(wrong, 1);
        ring[me] = next;
    }
    if (ring[me] != (me + TURNS) % n) atomicAdd(wrong, 1);
    if (__syncthreads_or(me == 7) != 1 || __syncthreads_and(me != 7) != 0 || __syncthreads_and(1) != 1) atomicAdd(wrong, 1);
    if (me >= n / 2) return;
    if (__syncthreads_count(1) != n / 2) atomicAdd(wrong, 1);
}

/* Lanes in two groups that each meet on their own, and do not run in step. */
__global__ void use_warps(int *wrong)
{
    int      lane = (int)threadIdx.x % 32;
    unsigned mask = lane < 20 ? 0x000fffffu : 0xfff00000u;
    for (int i = 0; i < lane % 5; i++) __nanosleep(1);
    for (int i = 0; i < 10; i++) {
        int first = lane < 20 ? 0 : 20;
        if (__shfl_sync(mask, lane * 10 + i, first) != first * 10 + i) atomicAdd(wrong, 1);
        if (__ballot_sync(mask, lane % 3 == 0) != (0x49249249u & mask)) atomicAdd(wrong, 1);
        if (__any_sync(mask, lane == 3) != (lane < 20) || __all_sync(mask, lane < 20) != (lane < 20)) atomicAdd(wrong, 1);
        __syncwarp(mask);
    }
    double up = __shfl_up_sync(0xffffffffu, (double)lane, 3, 8), down = __shfl_down_sync(0xffffffffu, (double)lane, 3, 8);
    if (up != (lane % 8 < 3 ? lane : lane - 3) || down != (lane % 8 > 4 ? lane : lane + 3)) atomicAdd(wrong, 1);
}

static void barriers_and_warps_do_what_they_should()
{
    int *wrong = buffer<int>(1);
    turn_around<<<3, 96, 96 * sizeof(int)>>>(wrong);
    use_warps<<<2, 64>>>(wrong);
    cudaDeviceSynchronize();
    CHECK(*wrong == 0);
    cudaFree(wrong);
}

__global__ void use_atomics(unsigned *words, unsigned long long *wide, float *real)
{
    unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&words[0], 2);
    atomicSub(&words[1], 1);
    atomicMax(&words[2], me);
    atomicMin(&words[3], me);
    atomicOr(&words[4], 1u << me % 32);
    atomicAnd(&words[5], ~(1u << me % 32));
    atomicXor(&words[6], 1u << me % 32);
    atomicInc(&words[7], 9);
    atomicDec(&words[8], 9);
    atomicAdd(wide, 1ull << 33);
    atomicAdd(real, 0.5f);
    if (atomicExch(&words[9], me) == me) words[10]++;
    /* A lock by compare and swap: its holder may be any thread, also one of this block that must get a turn. */
    bool done = false;
    while (!done) {
        if (atomicCAS(&words[11], 0u, 1u) == 0) {
            __threadfence();
            words[12]++;
            __threadfence();
            atomicExch(&words[11], 0u);
            done = true;
        }
    }
}

static void atomics_are_atomic()
{
    unsigned           *words = buffer<unsigned>(16);
    unsigned long long *wide  = buffer<unsigned long long>(1);
    float              *real  = buffer<float>(1);
    words[3] = words[5] = words[9] = ~0u;
    use_atomics<<<4, 64>>>(words, wide, real);
    cudaDeviceSynchronize();
    CHECK(words[0] == 512 && words[1] == 0u - 256 && words[2] == 255 && words[3] == 0 && words[4] == ~0u && words[5] == 0);
    CHECK(words[6] == 0 && words[7] == 256 % 10 && words[8] == (2560 - 256) % 10 && words[10] == 0 && words[12] == 256);
    CHECK(*wide == 256ull << 33 && *real == 128.0f);
    cudaFree(words);
    cudaFree(wide);
    cudaFree(real);
}

/* Blocks that wait for each other, and kernels of two streams that do: all run at once. The loop does not ask for a turn. */
__global__ void wait_for_the_next(volatile int *flags, int from, int wait_for)
{
    if (threadIdx.x != 0) return;
    int me = from + (int)blockIdx.x;
#ifdef __SANITIZE_THREAD__ /* which calls that a race, rightly */
    while (me != wait_for && !__atomic_load_n(&flags[me + 1], __ATOMIC_ACQUIRE)) {
    }
    __atomic_store_n(&flags[me], 1, __ATOMIC_RELEASE);
#else
    while (me != wait_for && !flags[me + 1]) {
    }
    flags[me] = 1;
#endif
}

static void blocks_and_streams_run_at_once()
{
    int         *flags = buffer<int>(32);
    cudaStream_t one, other;
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    wait_for_the_next<<<8, 32, 0, one>>>(flags, 0, 15);
    wait_for_the_next<<<8, 32, 0, other>>>(flags, 8, 15);
    cudaStreamSynchronize(one);
    cudaStreamSynchronize(other);
    CHECK(flags[0] == 1);
    cudaStreamDestroy(one);
    cudaStreamDestroy(other);
    cudaFree(flags);
}

/* Arguments are those at the time of the launch. */
__global__ void keep(int value, int *at)
{
    *at = value;
}

static void launches_of_a_stream_are_in_order()
{
    int *at = buffer<int>(1);
    for (int i = 0; i < 20; i++) keep<<<1, 1>>>(i, at);
    cudaDeviceSynchronize();
    CHECK(*at == 19);
    cudaFree(at);
}

int main()
{
    every_thread_is_there_once();
    sums_are_right<int>();
    sums_are_right<unsigned long long>();
    barriers_and_warps_do_what_they_should();
    atomics_are_atomic();
    blocks_and_streams_run_at_once();
    launches_of_a_stream_are_in_order();
    return failures > 0;
}
