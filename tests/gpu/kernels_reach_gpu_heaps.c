/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 1 2 3
 * ENV: POSTERN_CUDA_HEAP=8M SIMCUDA_PROTECT=0 POSTERN_DEVICE_RING=8
 * LINK: pthread
 * VARIANTS: staged
 *
 * What a unit of a GPU is given: the GPU heap first, with the parts of the PEs that this GPU maps where they are; the host's segments by the ring
 * only; sync areas in the GPU heap. What goes through the ring arrives, from and to GPU memory. Here "kernels" are threads of this program, which reach the
 * stand-in's device memory.
 * Spec: none; calls in kernels are an extension
 */
#include "../api/device/kernel.h"
#include "stream.h"

#include <errno.h>

enum { WORDS = 200 };

static long in_data[WORDS];

/* A word of a PE's part as kernels reach it; NULL: through the ring. */
static uint64_t *mapped_word(int pe, const void *address)
{
    uint64_t                     offset;
    const struct shmemd_segment *segment = &kernel_state.segment[kernel_place(address, &offset)];
    int64_t                      index   = segment->local_of ? segment->local_of[pe] : (int64_t)pe - segment->map_first;
    bool                         mapped  = segment->local_of ? index >= 0 : index >= 0 && index < (int64_t)segment->map_count;
    return mapped ? (uint64_t *)(uintptr_t)(segment->map_base + (uint64_t)index * segment->stride + offset) : NULL;
}

static uint64_t value_of(const void *word)
{
    uint64_t value;
    shmem_getmem(&value, word, sizeof value, shmem_my_pe());
    return value;
}

static void check_state(const void *on_gpu, const void *on_host)
{
    uint64_t offset;
    CHECK_EQUAL(kernel_state.version, SHMEMD_STATE_VERSION);
    CHECK(!(kernel_state.flags & SHMEMD_FLAG_CPU) && (kernel_state.flags & SHMEMD_FLAG_RING));
    CHECK_EQUAL(kernel_place(on_gpu, &offset), SHMEMD_SEGMENT_GPU);
    CHECK_EQUAL(kernel_place(on_host, &offset), SHMEMD_SEGMENT_HEAP);
    CHECK_EQUAL(kernel_place(in_data, &offset), SHMEMD_SEGMENT_DATA);
    CHECK(mapped_word(shmem_my_pe(), on_host) == NULL && mapped_word(shmem_my_pe(), in_data) == NULL);
    CHECK(mapped_word(shmem_my_pe(), on_gpu) == on_gpu);
    CHECK_EQUAL(kernel_place(kernel_state.sync, &offset), SHMEMD_SEGMENT_GPU);
    for (int i = 0; i < SHMEMD_TEAMS_MAX * SHMEMD_SYNC_BYTES; i++)
        if (!CHECK_EQUAL(kernel_state.sync[i], 0)) break;
}

/* To each kind of memory of the next PE, from GPU memory and back into it. */
static void through_the_ring(long *on_gpu, long *on_host, int pe)
{
    long *source = on_gpu + WORDS, *back = on_gpu + 2 * WORDS;
    long *targets[] = {on_gpu, on_host, in_data};
    for (int i = 0; i < WORDS; i++) source[i] = 1000 * shmem_my_pe() + i;
    for (int kind = 0; kind < 3; kind++) {
        memset(back, 0, WORDS * sizeof *back);
        kernel_do(kernel_request(SHMEMD_OP_PUT | SHMEMD_OP_REPLY, pe, targets[kind], source, WORDS * sizeof *source));
        kernel_do(kernel_request(SHMEMD_OP_GET | SHMEMD_OP_REPLY, pe, targets[kind], back, WORDS * sizeof *back));
        CHECK(memcmp(source, back, WORDS * sizeof *back) == 0);
    }
    for (int kind = 0; kind < 3; kind++) {
        struct shmemd_descriptor d = kernel_request(SHMEMD_OP_AMO | SHMEMD_OP_REPLY, pe, targets[kind], NULL, sizeof(long));
        d.detail                   = SHMEMD_ATOMIC_ADD;
        d.argument[0]              = 5;
        CHECK_EQUAL(kernel_do(d), source[0]);
    }
}

/* A module that is loaded by hand gets the same state as the unit; one of another version, or without SHMEM, is refused. */
static void module_gets_the_state(size_t bytes, const char *name, int wanted)
{
    char              text[200];
    shmemi_cu_module  module;
    shmemi_cu_pointer at;
    size_t            there = 0;
    snprintf(text, sizeof text, ".version 8.0\n.target sm_80\n.address_size 64\n.const .align 8 .b8 %s[%zu];\n", name, bytes);
    if (!CHECK_EQUAL(driver.module_load_data(&module, text), SHMEMI_CU_SUCCESS)) return;
    CHECK_EQUAL(shmemx_module_init(module), wanted);
    if (wanted == 0) {
        CHECK_EQUAL(driver.module_get_global(&at, &there, module, name), SHMEMI_CU_SUCCESS);
        CHECK_EQUAL(there, sizeof kernel_state);
        CHECK(memcmp((void *)(uintptr_t)at, &kernel_state, there) == 0);
    }
    driver.module_unload(module);
}

static void modules_get_the_state(const void *on_gpu)
{
    driver_open();
    shmemi_cu_stream stream = stream_create(on_gpu);
    module_gets_the_state(sizeof kernel_state, "shmemd_unit_state", 0);
    module_gets_the_state(sizeof kernel_state - 8, "shmemd_unit_state", -EPROTO);
    module_gets_the_state(sizeof kernel_state, "something_else", -ENOENT);
    stream_destroy(stream);
}

int main(void)
{
    kernel_unit.on_cpu = 0;
    CHECK_EQUAL(shmemx_device_register(&kernel_unit), 0);
    shmem_init();
    int   me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n, before = (me + n - 1) % n;
    long *on_gpu  = shmem_malloc_with_hints(3 * WORDS * sizeof *on_gpu, SHMEMX_MEM_CUDA);
    long *on_host = shmem_malloc(WORDS * sizeof *on_host);
    if (!CHECK(on_gpu && on_host)) shmem_global_exit(1);
    check_state(on_gpu, on_host);
    shmem_barrier_all();

    uint64_t *theirs = mapped_word(next, on_gpu);
    if (theirs) *theirs = (uint64_t)(me + 77);
    shmem_barrier_all();
    if (theirs) CHECK_EQUAL(value_of(on_gpu), before + 77);
    shmem_barrier_all();

    modules_get_the_state(on_gpu);
    through_the_ring(on_gpu, on_host, next);
    shmem_barrier_all();
    CHECK_EQUAL(value_of(on_gpu), 1000 * before + 5);
    CHECK_EQUAL(on_host[0], 1000 * before + 5);
    CHECK_EQUAL(in_data[0], 1000 * before + 5);
    shmem_finalize();
    CHECK_EQUAL(kernel_state.version, 0);
    shmemx_device_unregister(&kernel_unit);
    return api_result();
}
