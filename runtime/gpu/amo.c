/* SPDX-License-Identifier: Apache-2.0
 *
 * Atomics on words of a GPU. No CPU instruction is atomic with those of a GPU's kernels, so a kernel of one thread does it there: with `.sys`
 * scope, as the device headers do. It is written in PTX, which the driver compiles when it loads it, so no toolkit is needed to build. For sm_60,
 * the first with such atomics; drivers compile it for every later GPU.
 */
#include "runtime/base/report.h"
#include "runtime/gpu/inside.h"
#include "runtime/service.h"

#include <pthread.h>
#include <string.h>

/* clang-format off */

/* Jump to the branch of one operation, by its number in enum shmemt_amo_op. */
#define JUMP(NUMBER, LABEL) "setp.eq.u64 %p, %op, " #NUMBER ";\n" "@%p bra " #LABEL ";\n"
#define JUMPS(WIDTH) \
    JUMP(0, fetch##WIDTH) JUMP(1, set##WIDTH) JUMP(2, cswap##WIDTH) JUMP(3, add##WIDTH) JUMP(4, and##WIDTH) JUMP(5, or##WIDTH) \
    "bra xor" #WIDTH ";\n"
/* One operation on words of 8 bytes, and on words of 4. */
#define BRANCHES(NAME, OP, WIDE, NARROW, OPERANDS8, OPERANDS4)                                        \
    #NAME "8:\n" "atom.sys." OP "." WIDE " %old, [%at], " OPERANDS8 ";\n" "bra done;\n"               \
    #NAME "4:\n" "atom.sys." OP "." NARROW " %w, [%at], " OPERANDS4 ";\n" "cvt.u64.u32 %old, %w;\n" "bra done;\n"

static const char kernel_text[] =
    ".version 6.0\n"
    ".target sm_60\n"
    ".address_size 64\n"
    ".visible .entry postern_amo(\n"
    ".param .u64 p_at, .param .u64 p_op, .param .u64 p_bytes, .param .u64 p_value, .param .u64 p_compare, .param .u64 p_fetch)\n"
    "{\n"
    ".reg .pred %p;\n"
    ".reg .u64 %at, %op, %bytes, %value, %compare, %fetch, %old;\n"
    ".reg .u32 %v, %c, %w;\n"
    "ld.param.u64 %at, [p_at];\n"
    "ld.param.u64 %op, [p_op];\n"
    "ld.param.u64 %bytes, [p_bytes];\n"
    "ld.param.u64 %value, [p_value];\n"
    "ld.param.u64 %compare, [p_compare];\n"
    "ld.param.u64 %fetch, [p_fetch];\n"
    "cvt.u32.u64 %v, %value;\n"
    "cvt.u32.u64 %c, %compare;\n"
    "membar.sys;\n"
    "setp.eq.u64 %p, %bytes, 4;\n"
    "@%p bra narrow;\n"
    JUMPS(8)
    "narrow:\n"
    JUMPS(4)
    BRANCHES(fetch, "or",   "b64", "b32", "0", "0")
    BRANCHES(set,   "exch", "b64", "b32", "%value", "%v")
    BRANCHES(cswap, "cas",  "b64", "b32", "%compare, %value", "%c, %v")
    BRANCHES(add,   "add",  "u64", "u32", "%value", "%v")
    BRANCHES(and,   "and",  "b64", "b32", "%value", "%v")
    BRANCHES(or,    "or",   "b64", "b32", "%value", "%v")
    BRANCHES(xor,   "xor",  "b64", "b32", "%value", "%v")
    "done:\n"
    "membar.sys;\n"
    "setp.eq.u64 %p, %fetch, 0;\n"
    "@%p bra out;\n"
    "st.u64 [%fetch], %old;\n"
    "out:\n"
    "ret;\n"
    "}\n";

/* clang-format on */

static struct {
    shmemi_cu_module   module;
    shmemi_cu_function function;
    uint64_t          *old;  /* pinned: where the kernel leaves the old value */
    pthread_mutex_t    lock; /* guards *old                                    */
    char               why[160];
} kernel = {.lock = PTHREAD_MUTEX_INITIALIZER};

void shmemi_gpu_amo_open(void)
{
    const struct shmemi_cuda *cuda   = shmemi_gpu.cuda;
    void                     *memory = NULL;
    unsigned                  result = cuda->mem_host_alloc(&memory, sizeof *kernel.old, SHMEMI_CU_HOST_ALLOC_PORTABLE);
    kernel.old                       = result ? NULL : memory;
    if (!result && (result = cuda->module_load_data(&kernel.module, kernel_text))) kernel.module = NULL;
    if (!result && (result = cuda->module_get_function(&kernel.function, kernel.module, "postern_amo"))) kernel.function = NULL;
    if (!result) return;
    shmemi_cuda_text(cuda, result, kernel.why, sizeof kernel.why);
    shmemi_report("gpu-atomics", SHMEMI_DEGRADED, "none from the host on words of a GPU: the kernel for it cannot be loaded: %s",
                  kernel.why);
}

void shmemi_gpu_amo_close(void)
{
    if (kernel.module) shmemi_gpu.cuda->module_unload(kernel.module);
    if (kernel.old) shmemi_gpu.cuda->mem_free_host(kernel.old);
    kernel.module   = NULL;
    kernel.function = NULL;
    kernel.old      = NULL;
}

static SHMEMI_COLD void no_kernel(void)
{
    shmemi_service_fatal("atomic operation",
                         "the word lies in GPU memory, where atomics from the host need a kernel of the library" WHY
                         "the driver could not load it: %s" FIX
                         "update the driver, or install its compiler (libnvidia-ptxjitcompiler); in a container: "
                         "NVIDIA_DRIVER_CAPABILITIES=all",
                         kernel.why);
}

uint64_t shmemi_gpu_amo_do(void *word, const struct shmemt_amo *amo)
{
    if (!kernel.function) no_kernel();
    uint64_t at = (uint64_t)(uintptr_t)word, op = amo->op, bytes = amo->bytes, value = amo->value, compare = amo->compare;
    uint64_t fetch       = (uint64_t)(uintptr_t)kernel.old;
    void    *arguments[] = {&at, &op, &bytes, &value, &compare, &fetch};
    pthread_mutex_lock(&kernel.lock);
    shmemi_gpu_enter();
    unsigned result = shmemi_gpu.cuda->launch_kernel(kernel.function, 1, 1, 1, 1, 1, 1, 0, shmemi_gpu.stream, arguments, NULL);
    shmemi_gpu_require(result, "atomic operation", "start the kernel of an atomic operation");
    shmemi_gpu_require(shmemi_gpu.cuda->stream_synchronize(shmemi_gpu.stream), "atomic operation", "wait for its kernel");
    shmemi_gpu_leave();
    uint64_t old = *kernel.old;
    pthread_mutex_unlock(&kernel.lock);
    return amo->bytes == 4 ? (uint32_t)old : old;
}
