/* SPDX-License-Identifier: Apache-2.0
 *
 * What the stand-in adds to a driver: it says what a program does wrong, it fails when it is told to, and work on streams is late. Started with
 * SIMCUDA_FAIL naming every entry point (the argument "fail"), else without.
 */
#include "runtime/base/cuda.h"
#include "runtime/base/options.h"
#include "tests/simcuda/simcuda.h"
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct shmemi_cuda *cuda;
static unsigned long (*misuses)(void);
static void (*add_kernel)(const char *, void (*)(void **));
static void *(*bytes_of)(unsigned long long, size_t);

#define OK(call) CHECK_EQ_U64((call), SHMEMI_CU_SUCCESS)
/* The call is refused, and one line says why. */
#define WRONG(call)                           \
    do {                                      \
        unsigned long before_ = misuses();    \
        CHECK((call) != SHMEMI_CU_SUCCESS);   \
        CHECK_EQ_U64(misuses(), before_ + 1); \
    } while (0)

static void contexts_are_checked(void)
{
    shmemi_cu_pointer pointer;
    shmemi_cu_context context, popped;
    WRONG(cuda->mem_alloc(&pointer, 100)); /* no context yet */
    WRONG(cuda->ctx_pop_current(&popped));
    OK(cuda->primary_ctx_retain(&context, 1));
    WRONG(cuda->primary_ctx_retain(&context, 2)); /* there are two devices */
    OK(cuda->primary_ctx_release(1));
    WRONG(cuda->primary_ctx_release(1));
    WRONG(cuda->ctx_push_current(context));
}

static void memory_is_checked(void)
{
    struct shmemi_cu_memory_kind kind = {.type = SHMEMI_CU_MEMORY_PINNED, .location = {SHMEMI_CU_LOCATION_DEVICE, 0}};
    struct shmemi_cu_access      mine = {{SHMEMI_CU_LOCATION_DEVICE, 0}, SHMEMI_CU_ACCESS_READWRITE};
    size_t                       step;
    shmemi_cu_pointer            pointer, place;
    shmemi_cu_memory             memory;
    int                          fd;
    char                         host[16];
    OK(cuda->mem_alloc(&pointer, 100));
    WRONG(cuda->memset_d8(pointer, 0, 200));
    WRONG(cuda->memcpy_dtoh(host, pointer + 90, 16));
    WRONG(cuda->memcpy_dtoh(host, (shmemi_cu_pointer)(uintptr_t)host, 16));
    WRONG(cuda->mem_free(pointer + 1));
    OK(cuda->mem_free(pointer));
    WRONG(cuda->mem_free(pointer));
    OK(cuda->mem_get_granularity(&step, &kind, SHMEMI_CU_GRANULARITY_MINIMUM));
    WRONG(cuda->mem_create(&memory, step + 1, &kind, 0));
    OK(cuda->mem_create(&memory, step, &kind, 0));
    WRONG(cuda->mem_export(&fd, memory, SHMEMI_CU_HANDLE_FD, 0)); /* created without */
    OK(cuda->mem_address_reserve(&place, 2 * step, 0, 0, 0));
    WRONG(cuda->mem_map(place + 1, step, 0, memory, 0));
    WRONG(cuda->mem_map(place + 2 * step, step, 0, memory, 0));
    OK(cuda->mem_map(place + step, step, 0, memory, 0));
    WRONG(cuda->mem_map(place + step, step, 0, memory, 0));
    WRONG(cuda->memset_d8(place + step, 0, 1)); /* no access yet */
    WRONG(cuda->memset_d8(place, 0, 1));        /* nothing is mapped there */
    WRONG(cuda->mem_set_access(place, 2 * step, &mine, 1));
    OK(cuda->mem_set_access(place + step, step, &mine, 1));
    OK(cuda->memset_d8(place + step, 0, 1));
    OK(cuda->ctx_synchronize());
    WRONG(cuda->mem_get_range_handle(&fd, place + step, step, SHMEMI_CU_RANGE_HANDLE_DMA_BUF, 0)); /* not meant for RDMA */
    WRONG(cuda->mem_address_free(place, 2 * step));
    WRONG(cuda->mem_unmap(place + step, step / 2));
    OK(cuda->mem_unmap(place + step, step));
    OK(cuda->mem_release(memory));
    WRONG(cuda->mem_release(memory));
    OK(cuda->mem_address_free(place, 2 * step));
}

static void calls_the_driver(void *result)
{
    *(unsigned *)result = cuda->ctx_synchronize();
}

static void streams_are_checked(void)
{
    shmemi_cu_stream  stream, other;
    shmemi_cu_context second;
    shmemi_cu_pointer pointer;
    uint64_t          pageable = 0;
    unsigned          result   = 0;
    OK(cuda->mem_alloc(&pointer, 4096));
    OK(cuda->stream_create(&stream, SHMEMI_CU_STREAM_NON_BLOCKING));
    WRONG(cuda->stream_write_value64(stream, (shmemi_cu_pointer)(uintptr_t)&pageable, 1, 0));
    WRONG(cuda->stream_write_value64(stream, pointer + 4, 1, 0));

    /* The copy reads late: what the host changes after the call arrives. */
    OK(cuda->memset_d8_async(pointer, 0, 4096, stream));
    OK(cuda->stream_synchronize(stream));
    OK(cuda->stream_wait_value64(stream, pointer, 1, SHMEMI_CU_WAIT_GEQ));
    OK(cuda->memcpy_async(pointer + 8, (shmemi_cu_pointer)(uintptr_t)&pageable, 8, stream));
    OK(cuda->stream_create(&other, SHMEMI_CU_STREAM_NON_BLOCKING));
    pageable = 33;
    WRONG(cuda->mem_free(pointer)); /* the stream waits for a word of it */
    OK(cuda->stream_write_value64(other, pointer, 1, 0));
    OK(cuda->stream_synchronize(stream));
    CHECK_EQ_U64(*(uint64_t *)bytes_of(pointer + 8, 8), 33);

    unsigned long before = misuses();
    OK(cuda->launch_host_func(stream, calls_the_driver, &result));
    OK(cuda->stream_synchronize(stream));
    CHECK_EQ_U64(result, SHMEMI_CU_NOT_PERMITTED);
    CHECK_EQ_U64(misuses(), before + 1);

    OK(cuda->primary_ctx_retain(&second, 1));
    OK(cuda->ctx_push_current(second));
    WRONG(cuda->memset_d8_async(pointer, 0, 8, stream)); /* a stream of the first context */
    OK(cuda->ctx_pop_current(NULL));
    OK(cuda->primary_ctx_release(1));
    OK(cuda->stream_destroy(stream));
    WRONG(cuda->stream_synchronize(stream));
    OK(cuda->stream_destroy(other));
    OK(cuda->mem_free(pointer));
}

static void add_one(void **arguments)
{
    uint64_t *word = bytes_of(*(unsigned long long *)arguments[0], 8);
    *word += *(unsigned *)arguments[1];
}

static void kernels_run_by_name(void)
{
    static const char  ptx[] = "//\n.version 8.0\n.visible .const .align 8 .b8 state[24];\n.global .u32 counter;\n"
                               ".visible .entry add_one(\n\t.param .u64 p0,\n\t.param .u32 p1\n)\n{\n ret;\n}\n.visible .entry "
                               "nobody_knows()\n{\n ret;\n}\n";
    shmemi_cu_module   module, of;
    shmemi_cu_function function, unknown;
    shmemi_cu_pointer  state;
    size_t             bytes;
    int                blocks      = 0;
    unsigned           amount      = 5;
    void              *arguments[] = {&state, &amount};
    add_kernel("add_one", add_one);
    WRONG(cuda->module_load_data(&module, "\x7f"
                                          "ELF"));
    OK(cuda->module_load_data(&module, ptx));
    OK(cuda->module_get_function(&function, module, "add_one"));
    CHECK_EQ_U64(cuda->module_get_function(&unknown, module, "add_two"), SHMEMI_CU_NOT_FOUND);
    OK(cuda->module_get_function(&unknown, module, "nobody_knows"));
    OK(cuda->func_get_module(&of, function));
    CHECK(of == module);
    OK(cuda->module_get_global(&state, &bytes, module, "state"));
    CHECK_EQ_U64(bytes, 24);
    OK(cuda->memset_d8(state, 0, 24));
    OK(cuda->launch_kernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
    amount = 0; /* the launch has copied its arguments */
    OK(cuda->ctx_synchronize());
    CHECK_EQ_U64(*(uint64_t *)bytes_of(state, 8), 5);
    WRONG(cuda->launch_kernel(unknown, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    WRONG(cuda->launch_kernel(function, 1, 1, 1, 2048, 1, 1, 0, NULL, arguments, NULL));
    OK(cuda->occupancy_max_blocks(&blocks, function, 1024, 0));
    CHECK_EQ_I64(blocks, 2);
    CHECK_EQ_U64(cuda->launch_cooperative(function, 1000, 1, 1, 1024, 1, 1, 0, NULL, arguments),
                 SHMEMI_CU_COOPERATIVE_LAUNCH_TOO_LARGE);
    OK(cuda->module_unload(module));
    WRONG(cuda->module_get_function(&function, module, "add_one"));
}

static void *symbol(const char *name)
{
    void *found = dlsym(dlopen("libcuda.so.1", RTLD_NOW), name);
    if (!found) printf("no %s\n", name);
    return found;
}

/* Each is called with zeros: an injected failure comes before arguments are looked at. cuInit and the version have let the loader pass. */
static void every_entry_point_fails_when_told(void)
{
    typedef unsigned any(long, long, long, long, long, long, long, long, long, long, long);
#define SHMEMI_CUDA(SLOT, SYMBOL, PARAMETERS) {#SYMBOL},
    static const struct {
        const char *name;
    } rows[] = {
#include "runtime/base/cuda.def"
    };
#undef SHMEMI_CUDA
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        any  *call  = NULL;
        void *found = symbol(rows[i].name);
        memcpy(&call, &found, sizeof call);
        unsigned result = call(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        if (result != 801) printf("%s: %u\n", rows[i].name, result);
        CHECK_EQ_U64(result, 801);
    }
}

int main(int argc, char **argv)
{
    char              why[300] = "";
    shmemi_cu_context context;
    if (argc > 1 && strcmp(argv[1], "fail") == 0) {
        static char all[8000] = "SIMCUDA_FAIL=";
#define SHMEMI_CUDA(SLOT, SYMBOL, PARAMETERS) strcat(all, #SYMBOL ":1:801,");
#include "runtime/base/cuda.def"
#undef SHMEMI_CUDA
        putenv(all); /* read when the library is loaded */
        every_entry_point_fails_when_told();
        return unit_result();
    }
    shmemi_options_load();
    cuda = shmemi_cuda_open(why, sizeof why);
    if (!cuda) {
        printf("%s\n", why);
        return 1;
    }
    void *found[] = {symbol("simcuda_misuses"), symbol("simcuda_add_kernel"), symbol("simcuda_bytes")};
    memcpy(&misuses, &found[0], sizeof misuses);
    memcpy(&add_kernel, &found[1], sizeof add_kernel);
    memcpy(&bytes_of, &found[2], sizeof bytes_of);
    contexts_are_checked();
    OK(cuda->primary_ctx_retain(&context, 0));
    OK(cuda->ctx_push_current(context));
    memory_is_checked();
    streams_are_checked();
    kernels_run_by_name();
    OK(cuda->ctx_pop_current(NULL));
    OK(cuda->primary_ctx_release(0));
    return unit_result();
}
