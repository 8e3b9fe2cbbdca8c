/* SPDX-License-Identifier: Apache-2.0
 *
 * The GPU of this PE. The driver is opened only where something asks for it, because it takes seconds on a machine with many GPUs, and a context
 * takes some hundred MiB of each: an option, or a program that uses CUDA itself. What stands in the way is no error here: the cards tell it to all
 * PEs, and memory.c decides.
 */
#include "runtime/gpu/gpu.h"

#include "runtime/base/log.h"
#include "runtime/base/report.h"
#include "runtime/gpu/inside.h"
#include "runtime/init.h"
#include "runtime/service.h"

#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct shmemi_gpu shmemi_gpu = {.dma_buf = -1};

static bool   program_wants;
static char   reason[sizeof(((struct shmemi_gpu_card *)NULL)->why)];
static size_t free_bytes;

void shmemi_gpu_want(void)
{
    program_wants = true;
}

/* The CUDA runtime or the driver among the libraries of this process. A runtime that is linked statically shows by the registrar only. */
static int is_cuda_library(struct dl_phdr_info *info, size_t bytes, void *found)
{
    (void)bytes;
    const char *name = strrchr(info->dlpi_name, '/');
    name             = name ? name + 1 : info->dlpi_name;
    if (strncmp(name, "libcudart.so", 12) == 0 || strncmp(name, "libcuda.so", 10) == 0) *(bool *)found = true;
    return *(bool *)found;
}

bool shmemi_gpu_device_wanted(void)
{
    bool loaded = false;
    if (shmemi_options.cuda_heap_bytes == 0) return false;
    if (shmemi_options.cuda_heap_bytes != SIZE_MAX || shmemi_options.heap == SHMEMI_HEAP_CUDA) return true;
    if (shmemi_options.cuda == SHMEMI_ON_YES || program_wants) return true;
    dl_iterate_phdr(is_cuda_library, &loaded);
    return loaded;
}

/* ---- calls of the driver ---- */

void shmemi_gpu_enter(void)
{
    shmemi_gpu.cuda->ctx_push_current(shmemi_gpu.context);
}

void shmemi_gpu_leave(void)
{
    shmemi_cu_context ours;
    shmemi_gpu.cuda->ctx_pop_current(&ours);
}

static SHMEMI_COLD void driver_failed(unsigned result, const char *call, const char *what)
{
    char text[160];
    shmemi_service_fatal(call,
                         "could not %s: %s" WHY "the GPU's driver refused it; an error of a kernel shows in the next call too" FIX
                         "run the program under compute-sanitizer, and look at dmesg for messages of the driver (NVRM: Xid)",
                         what, shmemi_cuda_text(shmemi_gpu.cuda, result, text, sizeof text));
}

void shmemi_gpu_require(unsigned result, const char *call, const char *what)
{
    if (SHMEMI_UNLIKELY(result != SHMEMI_CU_SUCCESS)) driver_failed(result, call, what);
}

void shmemi_gpu_refuse(const char *call, const char *what, const void *address)
{
    char text[80];
    shmemi_service_fatal(call,
                         "%s at %s lies in GPU memory" WHY "the CPU itself works on it" FIX
                         "make it a static object, or allocate it with shmem_malloc_with_hints and SHMEMX_MEM_HOST",
                         what, shmemi_route_describe(address, text, sizeof text));
}

/* ---- choice ---- */

/* The user's number; the GPU that the program has chosen already (cudaSetDevice); else PEs of a machine take them in turn. */
static int choose_ordinal(const struct shmemi_cuda *cuda, int count, int *ordinal_out)
{
    shmemi_cu_context current = NULL;
    shmemi_cu_device  device;
    if (shmemi_options.cuda_device >= 0) {
        *ordinal_out = (int)shmemi_options.cuda_device;
        if (*ordinal_out < count) return 0;
        snprintf(reason, sizeof reason, "POSTERN_CUDA_DEVICE is %d, and GPUs 0 to %d are visible", *ordinal_out, count - 1);
        return -ENODEV;
    }
    *ordinal_out = (shmemi_state.boot->local_rank > 0 ? shmemi_state.boot->local_rank : 0) % count;
    if (cuda->ctx_get_current(&current) || !current || cuda->ctx_get_device(&device)) return 0;
    for (int i = 0; i < count; i++) {
        shmemi_cu_device other;
        if (cuda->device_get(&other, i) == SHMEMI_CU_SUCCESS && other == device) *ordinal_out = i;
    }
    return 0;
}

static int refused(const struct shmemi_cuda *cuda, const char *what, unsigned result)
{
    char text[80];
    snprintf(reason, sizeof reason, "%s: %s", what, shmemi_cuda_text(cuda, result, text, sizeof text));
    return shmemi_cuda_errno(result);
}

/* What the GPU heap is built on. */
static int check_device(const struct shmemi_cuda *cuda, shmemi_cu_device device)
{
    static const struct {
        unsigned    attribute;
        const char *name;
    } needed[] = {
        {SHMEMI_CU_DEVICE_UNIFIED_ADDRESSING, "unified addresses"},
        {SHMEMI_CU_DEVICE_VIRTUAL_MEMORY, "management of virtual memory"},
        {SHMEMI_CU_DEVICE_EXPORT_FD, "memory that is passed by file descriptor"},
    };
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        int has = 0;
        if (cuda->device_get_attribute(&has, needed[i].attribute, device) == SHMEMI_CU_SUCCESS && has) continue;
        snprintf(reason, sizeof reason, "GPU %d (%s) has no %s", shmemi_gpu.ordinal, shmemi_gpu.name, needed[i].name);
        return -ENOTSUP;
    }
    return 0;
}

struct shmemi_cu_memory_kind shmemi_gpu_device_memory_kind(void)
{
    int                          rdma = 0;
    struct shmemi_cu_memory_kind kind = {
        .type         = SHMEMI_CU_MEMORY_PINNED,
        .handle_types = SHMEMI_CU_HANDLE_FD,
        .location     = {.type = SHMEMI_CU_LOCATION_DEVICE, .id = shmemi_gpu.device},
    };
    if (shmemi_gpu.cuda->device_get_attribute(&rdma, SHMEMI_CU_DEVICE_RDMA_VIRTUAL_MEMORY, shmemi_gpu.device) ==
            SHMEMI_CU_SUCCESS &&
        rdma)
        kind.flags.rdma_capable = 1;
    return kind;
}

static int open_streams(const struct shmemi_cuda *cuda)
{
    unsigned result = cuda->stream_create(&shmemi_gpu.stream, SHMEMI_CU_STREAM_NON_BLOCKING);
    if (!result) result = cuda->stream_create(&shmemi_gpu.stream_nbi, SHMEMI_CU_STREAM_NON_BLOCKING);
    return result ? refused(cuda, "could not make a stream", result) : 0;
}

/* With the context current. */
static int measure(const struct shmemi_cuda *cuda)
{
    size_t                       total;
    struct shmemi_cu_memory_kind kind   = shmemi_gpu_device_memory_kind();
    unsigned                     result = cuda->mem_get_info(&free_bytes, &total);
    if (!result) result = cuda->mem_get_granularity(&shmemi_gpu.unit, &kind, SHMEMI_CU_GRANULARITY_RECOMMENDED);
    return result ? refused(cuda, "could not ask for its memory", result) : 0;
}

static int open_device(const struct shmemi_cuda *cuda)
{
    struct shmemi_cu_uuid uuid  = {{0}};
    int                   count = 0;
    unsigned              result;
    if ((result = cuda->device_get_count(&count))) return refused(cuda, "could not count the GPUs", result);
    if (count == 0) {
        snprintf(reason, sizeof reason, "no GPU is visible (CUDA_VISIBLE_DEVICES)");
        return -ENODEV;
    }
    int err = choose_ordinal(cuda, count, &shmemi_gpu.ordinal);
    if (err) return err;
    if ((result = cuda->device_get(&shmemi_gpu.device, shmemi_gpu.ordinal))) return refused(cuda, "could not get the GPU", result);
    if (cuda->device_get_name(shmemi_gpu.name, sizeof shmemi_gpu.name, shmemi_gpu.device)) shmemi_gpu.name[0] = '\0';
    if ((err = check_device(cuda, shmemi_gpu.device))) return err;
    if ((result = cuda->device_get_uuid(&uuid, shmemi_gpu.device))) return refused(cuda, "could not identify the GPU", result);
    memcpy(shmemi_gpu.uuid, uuid.bytes, sizeof shmemi_gpu.uuid);
    if ((result = cuda->primary_ctx_retain(&shmemi_gpu.context, shmemi_gpu.device))) {
        shmemi_gpu.context = NULL;
        return refused(cuda, "could not make a context", result);
    }
    if ((result = cuda->ctx_push_current(shmemi_gpu.context))) return refused(cuda, "could not use the context", result);
    err = measure(cuda);
    if (!err) err = open_streams(cuda);
    shmemi_gpu_leave();
    return err;
}

/* Nobody asks for a GPU: whether there is one is said all the same, where that costs nothing. */
static void report_unwanted(void)
{
    char why[200] = "";
    if (access("/dev/nvidiactl", F_OK) != 0 && !shmemi_cuda_open(why, sizeof why)) shmemi_report("cuda", SHMEMI_ABSENT, "%s", why);
    else
        shmemi_report("cuda", SHMEMI_CHOICE, "not used: the program does not use CUDA, and POSTERN_CUDA_HEAP asks for no GPU heap");
}

static void report_device(const struct shmemi_cuda *cuda)
{
    char bus[24] = "";
    if (cuda->device_get_pci_bus_id(bus, sizeof bus, shmemi_gpu.device)) bus[0] = '\0';
    shmemi_report("cuda", SHMEMI_PRESENT, "GPU %d (%s%s%s), %zu MiB free, driver for CUDA %d.%d", shmemi_gpu.ordinal,
                  shmemi_gpu.name, bus[0] ? ", " : "", bus, free_bytes >> 20, cuda->version / 1000, cuda->version % 1000 / 10);
}

int shmemi_gpu_open(void)
{
    reason[0]  = '\0';
    free_bytes = 0;
    if (!shmemi_gpu_device_wanted()) {
        snprintf(reason, sizeof reason, "nothing asks for it there");
        report_unwanted();
        return 0;
    }
    char                      why[200] = "";
    const struct shmemi_cuda *cuda     = shmemi_cuda_open(why, sizeof why);
    shmemi_gpu.cuda                    = cuda;
    if (cuda && open_device(cuda) == 0) {
        report_device(cuda);
        return shmemi_gpu_share_listen();
    }
    if (!cuda) snprintf(reason, sizeof reason, "%.*s", (int)sizeof reason - 1, why);
    shmemi_report("cuda", SHMEMI_ABSENT, "%s", cuda ? reason : why);
    shmemi_gpu_device_close();
    return 0;
}

void shmemi_gpu_fill_card(struct shmemi_gpu_card *card_out)
{
    *card_out = (struct shmemi_gpu_card){
        .present    = shmemi_gpu.cuda != NULL,
        .wanted     = shmemi_gpu_device_wanted(),
        .free_bytes = free_bytes,
        .unit       = shmemi_gpu.unit,
    };
    memcpy(card_out->uuid, shmemi_gpu.uuid, sizeof card_out->uuid);
    memcpy(card_out->why, reason, sizeof card_out->why);
}

void shmemi_gpu_device_close(void)
{
    const struct shmemi_cuda *cuda = shmemi_gpu.cuda;
    if (cuda && shmemi_gpu.context) {
        shmemi_gpu_enter();
        if (shmemi_gpu.stream) cuda->stream_destroy(shmemi_gpu.stream);
        if (shmemi_gpu.stream_nbi) cuda->stream_destroy(shmemi_gpu.stream_nbi);
        shmemi_gpu_leave();
        cuda->primary_ctx_release(shmemi_gpu.device);
    }
    shmemi_gpu = (struct shmemi_gpu){.dma_buf = -1};
}
