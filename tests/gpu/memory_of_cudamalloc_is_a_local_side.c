/* SPDX-License-Identifier: Apache-2.0
 *
 * The local side of a put, get, put_signal or fetching atomic may be memory that the program has from the driver itself, which the library has never
 * seen: also after it was given back and another block lies at its address, and in checked mode.
 * PES: 1 2 3
 * ENV: POSTERN_CUDA_HEAP=4M POSTERN_CHECK=1
 * VARIANTS: staged chaos rdma bounced
 */
#include "gpu.h"

#include <dlfcn.h>

enum { BYTES = 270000, ROUNDS = 2 };

typedef unsigned long long pointer;

static struct {
    unsigned (*retain)(void **context, int device);
    unsigned (*release)(int device);
    unsigned (*set_current)(void *context);
    unsigned (*allocate)(pointer *memory, size_t bytes);
    unsigned (*give_back)(pointer memory);
    unsigned (*to_device)(pointer dest, const void *source, size_t bytes);
    unsigned (*to_host)(void *dest, pointer source, size_t bytes);
} driver;

static void load(void *library, const char *name, void *slot)
{
    void *symbol = dlsym(library, name);
    CHECK(symbol != NULL);
    memcpy(slot, &symbol, sizeof symbol);
}

static void open_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) api_skip("there is no libcuda.so.1");
    load(library, "cuDevicePrimaryCtxRetain", &driver.retain);
    load(library, "cuDevicePrimaryCtxRelease_v2", &driver.release);
    load(library, "cuCtxSetCurrent", &driver.set_current);
    load(library, "cuMemAlloc_v2", &driver.allocate);
    load(library, "cuMemFree_v2", &driver.give_back);
    load(library, "cuMemcpyHtoD_v2", &driver.to_device);
    load(library, "cuMemcpyDtoH_v2", &driver.to_host);
}

static int            me, n;
static unsigned char *host;

static void fill(pointer memory, unsigned round)
{
    for (size_t i = 0; i < BYTES; i++) host[i] = gpu_byte(me, round, i);
    CHECK(driver.to_device(memory, host, BYTES) == 0);
}

static size_t wrong(pointer memory, int pe, unsigned round)
{
    size_t count = 0;
    CHECK(driver.to_host(host, memory, BYTES) == 0);
    for (size_t i = 0; i < BYTES; i++)
        if (host[i] != gpu_byte(pe, round, i)) count++;
    return count;
}

static void move(unsigned char *target, pointer own, uint64_t *words, unsigned round)
{
    int   to = (me + 1) % n, from = (me + n - 1) % n;
    void *local = (void *)(uintptr_t)own;
    fill(own, round);
    shmem_barrier_all();
    shmem_putmem(target, local, BYTES, to);
    shmem_barrier_all();
    CHECK(gpu_wrong(target, BYTES, from, round, 0) == 0);
    fill(own, round + 100);
    shmem_barrier_all();
    shmem_putmem_signal_nbi(target, local, BYTES, &words[0], round, SHMEM_SIGNAL_SET, to);
    shmem_signal_wait_until(&words[0], SHMEM_CMP_EQ, round);
    CHECK(gpu_wrong(target, BYTES, from, round + 100, 0) == 0);
    shmem_barrier_all();
    shmem_getmem_nbi(local, target, BYTES, to);
    shmem_quiet();
    CHECK(wrong(own, me, round + 100) == 0);
    shmem_uint64_atomic_fetch_add_nbi(local, &words[1], 1, me);
    shmem_quiet();
    uint64_t before = 99;
    CHECK(driver.to_host(&before, own, sizeof before) == 0);
    CHECK(before == round - 1);
    shmem_barrier_all();
}

int main(void)
{
    void *context;
    open_driver();
    shmem_init();
    me   = shmem_my_pe();
    n    = shmem_n_pes();
    host = malloc(BYTES);
    /* The library's GPU of a PE is number PE modulo GPUs; one GPU does for the program's own memory. */
    CHECK(driver.retain(&context, 0) == 0);
    CHECK(driver.set_current(context) == 0);
    for (int kind = 0; kind < 2; kind++) {
        unsigned char *target = shmem_malloc_with_hints(BYTES, kind ? SHMEMX_MEM_CUDA : SHMEMX_MEM_HOST);
        uint64_t      *words  = shmem_malloc_with_hints(2 * sizeof *words, kind ? SHMEMX_MEM_CUDA : SHMEMX_MEM_HOST);
        gpu_clear(words, 2 * sizeof *words);
        shmem_barrier_all();
        for (unsigned round = 1; round <= ROUNDS; round++) {
            pointer own = 0;
            CHECK(driver.allocate(&own, BYTES) == 0);
            move(target, own, words, round);
            CHECK(driver.give_back(own) == 0);
        }
        shmem_free(words);
        shmem_free(target);
    }
    shmem_finalize();
    driver.set_current(NULL);
    driver.release(0);
    free(host);
    return api_result();
}
