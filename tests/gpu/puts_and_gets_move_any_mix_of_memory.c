/* SPDX-License-Identifier: Apache-2.0
 *
 * Contiguous and strided puts and gets, blocking and not, p and g, between every pair of PEs, with memory of host and GPU in every mix on the two
 * sides; every byte is looked at, and those around are as they were.
 * SPEC: §9.6
 * PES: 1 2 3
 * ENV: POSTERN_CUDA_HEAP=16M
 * VARIANTS: staged chaos rdma bounced
 */
#include "gpu.h"

enum { BYTES = 270001, GUARD = 64, WORDS = 40 };

static const size_t sizes[] = {1, 7, 8, 100, 4096, BYTES};
static int          me, n;

/* Memory of a kind: symmetric host, symmetric GPU, private host, the program's own GPU memory is the GPU heap's too. */
enum { HOST, GPU, PRIVATE, KINDS };

static void *symmetric(int kind)
{
    void *memory = shmem_malloc_with_hints(BYTES + 2 * GUARD, kind == GPU ? SHMEMX_MEM_CUDA : SHMEMX_MEM_HOST);
    CHECK(memory != NULL);
    return memory;
}

static void put_each_size(char *target, char *local, unsigned *round, bool nbi)
{
    int to = (me + 1) % n, from = (me + n - 1) % n;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t bytes = sizes[i];
        ++*round;
        gpu_fill(target, BYTES + 2 * GUARD, n + me, *round);
        gpu_fill(local, bytes, me, *round);
        shmem_barrier_all();
        if (nbi) shmem_putmem_nbi(target + GUARD, local, bytes, to);
        else shmem_putmem(target + GUARD, local, bytes, to);
        shmem_barrier_all();
        CHECK(gpu_wrong(target + GUARD, bytes, from, *round, 0) == 0);
        CHECK(gpu_wrong(target, GUARD, n + me, *round, 0) == 0);
        CHECK(gpu_wrong(target + GUARD + bytes, GUARD, n + me, *round, GUARD + bytes) == 0);
        shmem_barrier_all();
    }
}

static void get_each_size(char *target, char *local, unsigned *round, bool nbi)
{
    int to = (me + 1) % n;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t bytes = sizes[i];
        ++*round;
        gpu_fill(target, BYTES, me, *round);
        gpu_fill(local, bytes, n + me, *round);
        shmem_barrier_all();
        if (nbi) {
            shmem_getmem_nbi(local, target, bytes, to);
            shmem_quiet();
        } else {
            shmem_getmem(local, target, bytes, to);
        }
        CHECK(gpu_wrong(local, bytes, to, *round, 0) == 0);
        shmem_barrier_all();
    }
}

/* Every third int of local to every second of target, and back. */
static void strided(int *target, int *local, unsigned round)
{
    int to = (me + 1) % n, from = (me + n - 1) % n, seen[2 * WORDS], own[3 * WORDS];
    for (int i = 0; i < 3 * WORDS; i++) own[i] = (int)round * 100000 + me * 1000 + i;
    shmem_putmem(local, own, sizeof own, me);
    gpu_clear(target, sizeof seen);
    shmem_barrier_all();
    shmem_int_iput(target, local, 2, 3, WORDS, to);
    shmem_barrier_all();
    shmem_getmem(seen, target, sizeof seen, me);
    for (int i = 0; i < WORDS; i++) {
        CHECK(seen[2 * i] == (int)round * 100000 + from * 1000 + 3 * i);
        CHECK(seen[2 * i + 1] == 0);
    }
    shmem_barrier_all();
    gpu_clear(local, sizeof own);
    shmem_int_iget(local, target, 3, 2, WORDS, to);
    shmem_getmem(own, local, sizeof own, me);
    for (int i = 0; i < WORDS; i++) {
        CHECK(own[3 * i] == (int)round * 100000 + me * 1000 + 3 * i);
        CHECK(own[3 * i + 1] == 0);
    }
    shmem_barrier_all();
}

static void single(long *word)
{
    int to = (me + 1) % n, from = (me + n - 1) % n;
    shmem_long_p(word, me + 77, to);
    shmem_barrier_all();
    CHECK(shmem_long_g(word, me) == from + 77);
    CHECK(shmem_long_g(word, to) == me + 77);
    shmem_barrier_all();
}

int main(void)
{
    unsigned round = 0;
    shmem_init();
    me = shmem_my_pe();
    n  = shmem_n_pes();

    char *target[2] = {symmetric(HOST), symmetric(GPU)};
    char *local[3]  = {symmetric(HOST), symmetric(GPU), malloc(BYTES + 2 * GUARD)};
    for (int there = HOST; there <= GPU; there++)
        for (int here = HOST; here < KINDS; here++) {
            if (here == PRIVATE) { /* gpu_fill writes symmetric memory; a private array is filled by a get */
                gpu_fill(local[HOST], BYTES, me, ++round);
                shmem_getmem(local[PRIVATE], local[HOST], BYTES, me);
                shmem_barrier_all();
                shmem_putmem(target[there], local[PRIVATE], BYTES, (me + 1) % n);
                shmem_barrier_all();
                CHECK(gpu_wrong(target[there], BYTES, (me + n - 1) % n, round, 0) == 0);
                shmem_barrier_all();
                continue;
            }
            for (int nbi = 0; nbi < 2; nbi++) {
                put_each_size(target[there], local[here], &round, nbi);
                get_each_size(target[there], local[here], &round, nbi);
            }
            strided((int *)(void *)target[there], (int *)(void *)local[here], ++round);
        }
    single((long *)(void *)target[GPU]);

    /* What the queries say of such addresses. */
    for (int pe = 0; pe < n; pe++) CHECK(shmem_addr_accessible(target[GPU], pe) == 1);
    CHECK(shmem_ptr(target[GPU], me) == target[GPU]);

    free(local[PRIVATE]);
    shmem_free(local[GPU]);
    shmem_free(local[HOST]);
    shmem_free(target[GPU]);
    shmem_free(target[HOST]);
    shmem_finalize();
    return api_result();
}
