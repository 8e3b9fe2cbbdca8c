/* SPDX-License-Identifier: Apache-2.0
 *
 * Dispatch and combine of a mixture of experts. Each PE has tokens, rows of bf16, and some of the 64 experts. Every token goes to 8 experts,
 * wherever they are, comes back from each of them changed, and the 8 answers are summed with weights.
 *
 *   dispatch  a block for each token: 8 puts of its row, to the PEs of its experts. A row lands in the part of the expert's inbox that is for
 *             this PE, so places are counted by local atomics, and senders never meet
 *   announce  the number of rows for each expert, as a signal, after all rows: a quiet stands between
 *   expert    a block for each (expert, sender): waits for the number, changes each row, and puts it back with a signal that counts
 *   combine   a block for each token: waits until 8 answers have been counted, and sums them
 *
 * Shows what the kernels do not need: no host between the steps, no meeting of all PEs, no co-resident blocks. A block waits only for what
 * earlier launches send.
 *
 *     oshcc --device-on-cpu gpu_moe.cu -o gpu_moe && oshrun -n 4 ./gpu_moe [tokens for each PE [elements of a row]]
 *
 * Rows have 7168 elements unless you say otherwise. The number of PEs divides 64.
 */
#include <cuda_runtime.h>
#include <math.h>
#include <shmem.h>
#include <shmem_device.cuh>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

enum { EXPERTS = 64, CHOSEN = 8, THREADS = 128 };

typedef uint16_t bf16;

/* A row as it travels: whose it is, then its elements. 16 bytes, so the elements are aligned for wide loads. */
struct header {
    int32_t token, choice;
    int32_t unused[2];
};

struct shape {
    int    tokens, elements; /* of one PE; of a row */
    int    local_experts;    /* of one PE           */
    size_t row_bytes;        /* with header         */
};

/* Symmetric memory. Expert e is number e % local_experts on PE e / local_experts. */
struct moe {
    struct shape shape;
    char        *inbox;     /* [local_experts][npes][tokens] rows with header */
    uint64_t    *announced; /* [local_experts][npes]: rows that have come, plus 1 */
    bf16        *answers;   /* [tokens][CHOSEN][elements] */
    uint64_t    *answered;  /* [tokens]: answers that have come */
    /* Of this PE alone: */
    const bf16 *rows;    /* [tokens][elements] */
    const int  *chosen;  /* [tokens][CHOSEN]: experts */
    float      *weights; /* [tokens][CHOSEN] */
    int        *sent;    /* [EXPERTS]: rows that this PE has for each expert */
    char       *staging; /* [tokens] rows with header */
    float      *out;     /* [tokens][elements] */
};

__host__ __device__ static inline float from_bf16(bf16 value)
{
    uint32_t bits = (uint32_t)value << 16;
    float    f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* To the nearest, ties to even. There are no NaNs here. */
__host__ __device__ static inline bf16 to_bf16(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return (bf16)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/* What expert e does to an element: enough to tell the experts apart. */
__host__ __device__ static inline bf16 work_of_expert(int expert, bf16 value)
{
    return to_bf16(from_bf16(value) * (1.0f + (float)expert / 16.0f));
}

__device__ static char *inbox_of(const struct moe &moe, int local_expert, int sender, int place)
{
    size_t part = (size_t)local_expert * (size_t)shmem_n_pes() + (size_t)sender;
    return moe.inbox + (part * (size_t)moe.shape.tokens + (size_t)place) * moe.shape.row_bytes;
}

__global__ void dispatch(struct moe moe)
{
    __shared__ int place[CHOSEN];
    int            token = (int)blockIdx.x, me = shmem_my_pe();
    char          *row    = moe.staging + (size_t)token * moe.shape.row_bytes;
    const bf16    *source = moe.rows + (size_t)token * (size_t)moe.shape.elements;
    bf16          *copy   = (bf16 *)(row + sizeof(struct header));
    for (int i = (int)threadIdx.x; i < moe.shape.elements; i += (int)blockDim.x) copy[i] = source[i];
    if (threadIdx.x < CHOSEN) place[threadIdx.x] = atomicAdd(&moe.sent[moe.chosen[token * CHOSEN + (int)threadIdx.x]], 1);
    for (int choice = 0; choice < CHOSEN; choice++) {
        int expert = moe.chosen[token * CHOSEN + choice], pe = expert / moe.shape.local_experts;
        if (threadIdx.x == 0) *(struct header *)row = {token, choice, {0, 0}};
        __syncthreads();
        /* A blocking put: the row may be changed again for the next choice. */
        shmemx_putmem_block(inbox_of(moe, expert % moe.shape.local_experts, me, place[choice]), row, moe.shape.row_bytes, pe);
    }
}

/* A thread for each expert. The quiet speaks for the kernel before: its stores are this thread's past. */
__global__ void announce(struct moe moe)
{
    int expert = (int)threadIdx.x, npes = shmem_n_pes();
    shmem_quiet();
    shmem_signal_set(&moe.announced[expert % moe.shape.local_experts * npes + shmem_my_pe()], (uint64_t)moe.sent[expert] + 1,
                     expert / moe.shape.local_experts);
}

__global__ void expert(struct moe moe)
{
    __shared__ int count;
    int            npes = shmem_n_pes(), local = (int)blockIdx.x / npes, sender = (int)blockIdx.x % npes;
    int            number = shmem_my_pe() * moe.shape.local_experts + local;
    if (threadIdx.x == 0) count = (int)shmem_signal_wait_until(&moe.announced[local * npes + sender], SHMEM_CMP_GE, 1) - 1;
    __syncthreads();
    for (int i = 0; i < count; i++) {
        char         *row     = inbox_of(moe, local, sender, i);
        struct header whose   = *(struct header *)row;
        bf16         *element = (bf16 *)(row + sizeof(struct header));
        for (int j = (int)threadIdx.x; j < moe.shape.elements; j += (int)blockDim.x)
            element[j] = work_of_expert(number, element[j]);
        size_t answer = ((size_t)whose.token * CHOSEN + (size_t)whose.choice) * (size_t)moe.shape.elements;
        shmemx_putmem_signal_block(moe.answers + answer, element, (size_t)moe.shape.elements * sizeof(bf16),
                                   &moe.answered[whose.token], 1, SHMEM_SIGNAL_ADD, sender);
    }
}

__global__ void combine(struct moe moe)
{
    int token = (int)blockIdx.x;
    if (threadIdx.x == 0) shmem_signal_wait_until(&moe.answered[token], SHMEM_CMP_EQ, CHOSEN);
    __syncthreads();
    const bf16 *answers = moe.answers + (size_t)token * CHOSEN * (size_t)moe.shape.elements;
    for (int i = (int)threadIdx.x; i < moe.shape.elements; i += (int)blockDim.x) {
        float sum = 0;
        for (int choice = 0; choice < CHOSEN; choice++) {
            sum +=
                moe.weights[token * CHOSEN + choice] * from_bf16(answers[(size_t)choice * (size_t)moe.shape.elements + (size_t)i]);
        }
        moe.out[(size_t)token * (size_t)moe.shape.elements + (size_t)i] = sum;
    }
}

/* ---- the host ---- */

static void *must(void *memory)
{
    if (memory) return memory;
    fprintf(stderr, "gpu_moe: there is not enough memory on the GPU; use fewer tokens or a larger POSTERN_CUDA_HEAP\n");
    shmem_global_exit(1);
    return NULL;
}

static void *symmetric(size_t bytes)
{
#ifdef SHMEM_DEVICE_ON_CPU
    void *memory = must(shmem_malloc(bytes));
#else
    void *memory = must(shmem_malloc_with_hints(bytes, SHMEMX_MEM_CUDA));
#endif
    cudaMemset(memory, 0, bytes);
    return memory;
}

static void *of_this_pe(size_t bytes, const void *contents)
{
    void *memory = NULL;
    cudaMalloc(&memory, bytes);
    must(memory);
    if (contents) cudaMemcpy(memory, contents, bytes, cudaMemcpyDefault);
    else cudaMemset(memory, 0, bytes);
    return memory;
}

/* Numbers that every PE can make again: of a PE's token and element, or choice. */
static uint32_t mix(int pe, int token, int i)
{
    uint32_t x = (uint32_t)pe * 0x9e3779b1u ^ (uint32_t)token * 0x85ebca77u ^ (uint32_t)i * 0xc2b2ae3du;
    x          = (x ^ x >> 15) * 0x2c1b3c6du;
    return x ^ x >> 13;
}

struct input {
    std::vector<bf16>  rows;
    std::vector<int>   chosen;
    std::vector<float> weights;
};

static struct input make_input(const struct shape &shape, int pe)
{
    struct input input;
    for (int token = 0; token < shape.tokens; token++) {
        for (int i = 0; i < shape.elements; i++) input.rows.push_back(to_bf16((float)(mix(pe, token, i) % 2048) / 1024.0f - 1.0f));
        int first = (int)(mix(pe, token, -1) % EXPERTS), step = (int)(mix(pe, token, -2) % (EXPERTS / CHOSEN)) + 1;
        for (int i = 0; i < CHOSEN; i++) {
            input.chosen.push_back((first + i * step) % EXPERTS); /* 8 different ones: 7 steps stay below 64 */
            input.weights.push_back((float)(mix(pe, token, -3 - i) % 100) / 400.0f);
        }
    }
    return input;
}

static int count_wrong(const struct shape &shape, const struct input &input, const std::vector<float> &out)
{
    int wrong = 0;
    for (size_t token = 0; token < (size_t)shape.tokens; token++)
        for (size_t i = 0; i < (size_t)shape.elements; i++) {
            float wanted = 0;
            for (size_t choice = token * CHOSEN; choice < (token + 1) * CHOSEN; choice++) {
                bf16 element = input.rows[token * (size_t)shape.elements + i];
                wanted += input.weights[choice] * from_bf16(work_of_expert(input.chosen[choice], element));
            }
            wrong += fabsf(out[token * (size_t)shape.elements + i] - wanted) > 1e-4f * (1.0f + fabsf(wanted));
        }
    return wrong;
}

static struct moe make_moe(const struct shape &shape, const struct input &input)
{
    size_t     npes = (size_t)shmem_n_pes(), tokens = (size_t)shape.tokens, elements = (size_t)shape.elements;
    struct moe moe;
    moe.shape     = shape;
    moe.inbox     = (char *)symmetric((size_t)shape.local_experts * npes * tokens * shape.row_bytes);
    moe.announced = (uint64_t *)symmetric((size_t)shape.local_experts * npes * sizeof(uint64_t));
    moe.answers   = (bf16 *)symmetric(tokens * CHOSEN * elements * sizeof(bf16));
    moe.answered  = (uint64_t *)symmetric(tokens * sizeof(uint64_t));
    moe.rows      = (const bf16 *)of_this_pe(input.rows.size() * sizeof(bf16), input.rows.data());
    moe.chosen    = (const int *)of_this_pe(input.chosen.size() * sizeof(int), input.chosen.data());
    moe.weights   = (float *)of_this_pe(input.weights.size() * sizeof(float), input.weights.data());
    moe.sent      = (int *)of_this_pe(EXPERTS * sizeof(int), NULL);
    moe.staging   = (char *)of_this_pe(tokens * shape.row_bytes, NULL);
    moe.out       = (float *)of_this_pe(tokens * elements * sizeof(float), NULL);
    return moe;
}

/* What is symmetric goes with shmem_finalize. */
static void free_own(const struct moe &moe)
{
    const void *own[] = {moe.rows, moe.chosen, moe.weights, moe.sent, moe.staging, moe.out};
    for (const void *memory : own) cudaFree((void *)memory);
}

int main(int argc, char **argv)
{
    shmem_init();
    int          me = shmem_my_pe(), npes = shmem_n_pes();
    struct shape shape = {argc > 1 ? atoi(argv[1]) : 32, argc > 2 ? atoi(argv[2]) : 7168, EXPERTS / npes, 0};
    shape.row_bytes    = (sizeof(struct header) + (size_t)shape.elements * sizeof(bf16) + 15) / 16 * 16;
    if (EXPERTS % npes != 0 || shape.tokens < 1 || shape.elements < 1) {
        if (me == 0) fprintf(stderr, "gpu_moe: the number of PEs divides %d, and tokens and elements are at least 1\n", EXPERTS);
        shmem_finalize();
        return 2;
    }
    struct input input = make_input(shape, me);
    struct moe   moe   = make_moe(shape, input);
    cudaDeviceSynchronize();
    shmem_barrier_all();

    dispatch<<<(unsigned)shape.tokens, THREADS>>>(moe);
    announce<<<1, EXPERTS>>>(moe);
    expert<<<(unsigned)(shape.local_experts * npes), THREADS>>>(moe);
    combine<<<(unsigned)shape.tokens, THREADS>>>(moe);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        fprintf(stderr, "gpu_moe: the kernels of PE %d failed: %s\n", me, cudaGetErrorString(error));
        shmem_global_exit(1);
    }
    std::vector<float> out((size_t)shape.tokens * (size_t)shape.elements);
    cudaMemcpy(out.data(), moe.out, out.size() * sizeof(float), cudaMemcpyDefault);
    int wrong = count_wrong(shape, input, out);
    printf("PE %d of %d: %d tokens of %d elements through %d of %d experts: %d elements wrong\n", me, npes, shape.tokens,
           shape.elements, CHOSEN, EXPERTS, wrong);
    free_own(moe);
    shmem_finalize();
    return wrong ? 1 : 0;
}
