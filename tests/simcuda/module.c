/* SPDX-License-Identifier: Apache-2.0
 *
 * Modules from PTX text: entries, their parameters, and global variables are read; what an entry does is a C function of this name
 * (kernels.c, or simcuda_add_kernel). Cubins and fat binaries are refused.
 */
#include "sim.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PARAMETERS_MAX = 32 };

struct CUfunc_st {
    struct CUfunc_st *next;
    struct CUmod_st  *module;
    char              name[256];
    sim_kernel_fn     run; /* NULL: nobody has said what it does */
    size_t            bytes[PARAMETERS_MAX];
    int               parameters, dynamic_shared;
};

struct variable {
    struct variable  *next;
    char              name[256];
    struct sim_range *range;
    size_t            bytes;
};

struct CUmod_st {
    struct CUmod_st  *next;
    struct CUctx_st  *context;
    struct CUfunc_st *functions;
    struct variable  *variables;
};

/* "[16]" or "[4][4]" behind a name: how often the type. */
static size_t elements(const char *at)
{
    size_t count = 1;
    for (; *at == '['; at = strchr(at, ']') ? strchr(at, ']') + 1 : "") count *= strtoul(at + 1, NULL, 10);
    return count;
}

/* Of ".param .align 8 .b8 name[16]" or ".visible .const .u64 name": the name, and its size. */
static size_t read_declaration(const char *from, const char *to, char *name, size_t name_bytes)
{
    size_t type = 0;
    for (const char *at = from; at < to; at++)
        if (*at == '.' && strchr("usbf", at[1]) && isdigit((unsigned char)at[2])) type = strtoul(at + 2, NULL, 10) / 8;
    const char *end = from;
    while (end < to && *end != '[') end++;
    while (end > from && isspace((unsigned char)end[-1])) end--;
    const char *start = end;
    while (start > from && (isalnum((unsigned char)start[-1]) || start[-1] == '_' || start[-1] == '$')) start--;
    snprintf(name, name_bytes, "%.*s", (int)(end - start), start);
    return type * elements(end);
}

static void read_parameters(struct CUfunc_st *function, const char *at, const char *end)
{
    char name[256];
    while (at < end && function->parameters < PARAMETERS_MAX) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop  = comma ? comma : end;
        size_t      bytes = read_declaration(at, stop, name, sizeof name);
        if (bytes) function->bytes[function->parameters++] = bytes;
        at = stop + 1;
    }
}

static void read_entries(struct CUmod_st *module, const char *text)
{
    for (const char *at = text; (at = strstr(at, ".entry")) != NULL; at++) {
        const char       *name = at + 6 + strspn(at + 6, " \t\n"), *open = strpbrk(name, "( \n{"), *brace = strchr(name, '{');
        struct CUfunc_st *function = calloc(1, sizeof *function);
        if (!function || !open || !brace) abort();
        snprintf(function->name, sizeof function->name, "%.*s", (int)(open - name), name);
        function->module  = module;
        function->run     = sim_kernel(function->name);
        function->next    = module->functions;
        module->functions = function;
        open              = memchr(name, '(', (size_t)(brace - name));
        const char *close = open ? memchr(open, ')', (size_t)(brace - open)) : NULL;
        if (close) read_parameters(function, open + 1, close);
    }
}

/* Variables are declared outside of functions, a line each. */
static void read_variables(struct CUmod_st *module, const char *text)
{
    int depth = 0;
    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        const char *end = line + strcspn(line, "\n"), *stop = line + strcspn(line, ";=\n");
        bool        declares =
            depth == 0 && (memmem(line, (size_t)(stop - line), ".const ", 7) || memmem(line, (size_t)(stop - line), ".global ", 8));
        for (const char *at = line; at < end; at++) depth += (*at == '{') - (*at == '}');
        if (!declares) continue;
        struct variable *variable = calloc(1, sizeof *variable);
        if (!variable) abort();
        variable->bytes           = read_declaration(line, stop, variable->name, sizeof variable->name);
        struct sim_memory *memory = variable->bytes ? sim_memory_create(module->context->device, variable->bytes, 0) : NULL;
        if (!memory) {
            free(variable);
            continue;
        }
        variable->range   = sim_range_map(SIM_GLOBAL, NULL, memory, module->context);
        variable->next    = module->variables;
        module->variables = variable;
    }
}

static struct CUmod_st *module_of(const char *name, shmemi_cu_module handle)
{
    for (struct CUmod_st *module = sim.modules; module; module = module->next)
        if (module == handle) return module;
    sim_misuse(SHMEMI_CU_INVALID_HANDLE, name, "no module");
    return NULL;
}

static struct CUfunc_st *function_of(const char *name, shmemi_cu_function handle)
{
    for (struct CUmod_st *module = sim.modules; module; module = module->next)
        for (struct CUfunc_st *function = module->functions; function; function = function->next)
            if (function == handle) return function;
    sim_misuse(SHMEMI_CU_INVALID_HANDLE, name, "no function of a loaded module");
    return NULL;
}

unsigned cuModuleLoadData(shmemi_cu_module *module, const void *image)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    const char *text = image;
    if (!image || (strncmp(text, "//", 2) != 0 && !strstr(text, ".version")))
        return SIM_MISUSE(SHMEMI_CU_INVALID_IMAGE, "only PTX text is simulated");
    struct CUmod_st *made = calloc(1, sizeof *made);
    if (!made) abort();
    pthread_mutex_lock(&sim.lock);
    *made       = (struct CUmod_st){.next = sim.modules, .context = context};
    sim.modules = *module = made;
    read_entries(made, text);
    read_variables(made, text);
    pthread_mutex_unlock(&sim.lock);
    return SHMEMI_CU_SUCCESS;
}

unsigned cuModuleUnload(shmemi_cu_module handle)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    pthread_mutex_lock(&sim.lock);
    struct CUmod_st *module = module_of(__func__, handle), **at = &sim.modules;
    while (module && *at != module) at = &(*at)->next;
    if (module) *at = module->next;
    for (struct CUfunc_st *function = module ? module->functions : NULL, *next; function; function = next) {
        next = function->next;
        free(function);
    }
    for (struct variable *variable = module ? module->variables : NULL, *next; variable; variable = next) {
        next = variable->next;
        sim_range_remove(variable->range);
        free(variable);
    }
    free(module);
    pthread_mutex_unlock(&sim.lock);
    return module ? SHMEMI_CU_SUCCESS : SHMEMI_CU_INVALID_HANDLE;
}

void sim_modules_report(void)
{
    static const char text[] = "simcuda: leak: a module\n";
    for (const struct CUmod_st *module = sim.modules; module; module = module->next)
        if (write(STDERR_FILENO, text, sizeof text - 1) < 0) return;
}

unsigned cuModuleGetFunction(shmemi_cu_function *function, shmemi_cu_module handle, const char *name)
{
    SIM_ENTER();
    pthread_mutex_lock(&sim.lock);
    const struct CUmod_st *module = module_of(__func__, handle);
    struct CUfunc_st      *found  = module ? module->functions : NULL;
    while (found && strcmp(found->name, name) != 0) found = found->next;
    if (found) *function = found;
    pthread_mutex_unlock(&sim.lock);
    return !module ? SHMEMI_CU_INVALID_HANDLE : found ? SHMEMI_CU_SUCCESS : SHMEMI_CU_NOT_FOUND;
}

unsigned cuModuleGetGlobal_v2(shmemi_cu_pointer *pointer, size_t *bytes, shmemi_cu_module handle, const char *name)
{
    SIM_ENTER();
    pthread_mutex_lock(&sim.lock);
    const struct CUmod_st *module = module_of(__func__, handle);
    const struct variable *found  = module ? module->variables : NULL;
    while (found && strcmp(found->name, name) != 0) found = found->next;
    if (found && pointer) *pointer = found->range->base;
    if (found && bytes) *bytes = found->bytes;
    pthread_mutex_unlock(&sim.lock);
    return !module ? SHMEMI_CU_INVALID_HANDLE : found ? SHMEMI_CU_SUCCESS : SHMEMI_CU_NOT_FOUND;
}

unsigned cuFuncGetModule(shmemi_cu_module *module, shmemi_cu_function handle)
{
    SIM_ENTER();
    pthread_mutex_lock(&sim.lock);
    const struct CUfunc_st *function = function_of(__func__, handle);
    if (function) *module = function->module;
    pthread_mutex_unlock(&sim.lock);
    return function ? SHMEMI_CU_SUCCESS : SHMEMI_CU_INVALID_HANDLE;
}

unsigned cuFuncGetAttribute(int *value, unsigned attribute, shmemi_cu_function handle)
{
    SIM_ENTER();
    pthread_mutex_lock(&sim.lock);
    const struct CUfunc_st *function = function_of(__func__, handle);
    *value = attribute == SHMEMI_CU_FUNC_MAX_THREADS_PER_BLOCK ? 1024 : attribute == SHMEMI_CU_FUNC_REGISTERS ? 32 : 0;
    if (function && attribute == SHMEMI_CU_FUNC_MAX_DYNAMIC_SHARED_BYTES) *value = function->dynamic_shared;
    pthread_mutex_unlock(&sim.lock);
    return function ? SHMEMI_CU_SUCCESS : SHMEMI_CU_INVALID_HANDLE;
}

unsigned cuFuncSetAttribute(shmemi_cu_function handle, unsigned attribute, int value)
{
    SIM_ENTER();
    pthread_mutex_lock(&sim.lock);
    struct CUfunc_st *function = function_of(__func__, handle);
    if (function && attribute == SHMEMI_CU_FUNC_MAX_DYNAMIC_SHARED_BYTES) function->dynamic_shared = value;
    pthread_mutex_unlock(&sim.lock);
    return function ? SHMEMI_CU_SUCCESS : SHMEMI_CU_INVALID_HANDLE;
}

static int blocks_for(int threads)
{
    int blocks = threads > 0 && threads <= 1024 ? 2048 / threads : 0;
    return blocks < SIM_BLOCKS_MAX ? blocks : SIM_BLOCKS_MAX;
}

unsigned cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, shmemi_cu_function handle, int threads, size_t shared_bytes)
{
    SIM_ENTER();
    (void)shared_bytes;
    pthread_mutex_lock(&sim.lock);
    const struct CUfunc_st *function = function_of(__func__, handle);
    pthread_mutex_unlock(&sim.lock);
    *blocks = blocks_for(threads);
    return function ? SHMEMI_CU_SUCCESS : SHMEMI_CU_INVALID_HANDLE;
}

static unsigned run_kernel(struct sim_op *op)
{
    op->kernel->run(op->arguments);
    return op->stream->context->broken;
}

static unsigned launch(const char *name, shmemi_cu_function handle, const unsigned grid[3], const unsigned block[3],
                       shmemi_cu_stream stream, void **arguments)
{
    pthread_mutex_lock(&sim.lock);
    struct CUfunc_st *function = function_of(name, handle);
    pthread_mutex_unlock(&sim.lock);
    if (!function) return SHMEMI_CU_INVALID_HANDLE;
    if (!function->run)
        return sim_misuse(SHMEMI_CU_LAUNCH_FAILED, name, "nobody has said what kernel %s does (simcuda_add_kernel)",
                          function->name);
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    if (!threads || threads > 1024 || !grid[0] || !grid[1] || !grid[2])
        return sim_misuse(SHMEMI_CU_INVALID_VALUE, name, "grid or block has no or too many threads");
    if (function->parameters && !arguments)
        return sim_misuse(SHMEMI_CU_INVALID_VALUE, name, "kernel %s has %d parameters", function->name, function->parameters);
    /* The driver copies arguments before it returns. */
    struct sim_op op = {.run = run_kernel, .name = name, .kernel = function};
    op.arguments     = calloc((size_t)function->parameters + 1, sizeof *op.arguments);
    if (!op.arguments) abort();
    for (int i = 0; i < function->parameters; i++) {
        op.arguments[i] = malloc(function->bytes[i]);
        if (!op.arguments[i]) abort();
        memcpy(op.arguments[i], arguments[i], function->bytes[i]);
    }
    return sim_submit(&op, stream, false);
}

unsigned cuLaunchKernel(shmemi_cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, shmemi_cu_stream stream, void **arguments,
                        void **extra)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    (void)shared_bytes;
    if (extra) return SIM_MISUSE(SHMEMI_CU_NOT_SUPPORTED, "extra is not simulated");
    return launch(__func__, function, (const unsigned[]){grid_x, grid_y, grid_z}, (const unsigned[]){block_x, block_y, block_z},
                  stream, arguments);
}

unsigned cuLaunchCooperativeKernel(shmemi_cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                   unsigned block_y, unsigned block_z, unsigned shared_bytes, shmemi_cu_stream stream,
                                   void **arguments)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    (void)shared_bytes;
    uint64_t most = (uint64_t)blocks_for((int)(block_x * block_y * block_z)) * SIM_MULTIPROCESSORS;
    if ((uint64_t)grid_x * grid_y * grid_z > most) return SHMEMI_CU_COOPERATIVE_LAUNCH_TOO_LARGE;
    return launch(__func__, function, (const unsigned[]){grid_x, grid_y, grid_z}, (const unsigned[]){block_x, block_y, block_z},
                  stream, arguments);
}
