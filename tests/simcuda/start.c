/* SPDX-License-Identifier: Apache-2.0
 *
 * Options, errors, injected failures, and what is left at the end.
 */
#include "sim.h"
#include "simcuda.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sim sim = {.lock = PTHREAD_MUTEX_INITIALIZER, .completed = PTHREAD_COND_INITIALIZER};

_Thread_local bool sim_in_host_function;

/* Every entry point, with how often it was called. */
static struct {
    const char   *name;
    atomic_ulong  calls;
    unsigned long fail_at; /* this call fails; 0: none; ULONG_MAX: all */
    unsigned      code;
} points[] = {
#define SHMEMI_CUDA(SLOT, SYMBOL, PARAMETERS) {.name = #SYMBOL},
#include "runtime/base/cuda.def"
#undef SHMEMI_CUDA
};

static atomic_ulong misuses;

static void say(const char *format, va_list args)
{
    char text[500];
    int  length = snprintf(text, sizeof text, "simcuda: ");
    vsnprintf(text + length, sizeof text - (size_t)length - 1, format, args);
    strcat(text, "\n");
    if (write(STDERR_FILENO, text, strlen(text)) < 0) return;
}

static void __attribute__((format(printf, 1, 2))) sim_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
}

unsigned sim_misuse(unsigned result, const char *name, const char *format, ...)
{
    char    text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    atomic_fetch_add(&misuses, 1);
    sim_say("%s: %s", name, text);
    if (getenv("SIMCUDA_FATAL")) abort();
    return result;
}

static unsigned long long number(const char *variable, unsigned long long otherwise)
{
    const char *text = getenv(variable);
    return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

/* SIMCUDA_FAIL=cuMemCreate:2,cuMemMap:1:201,cuStreamCreate:* */
static void read_failures(void)
{
    char *rest = NULL, *text = strdup(getenv("SIMCUDA_FAIL") ? getenv("SIMCUDA_FAIL") : "");
    if (!text) abort();
    for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        char     name[80] = "", which[20] = "1";
        unsigned code  = SHMEMI_CU_UNKNOWN;
        bool     known = false;
        if (sscanf(word, "%79[^:]:%19[^:]:%u", name, which, &code) < 1) continue;
        for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
            if (strcmp(points[i].name, name) != 0) continue;
            points[i].fail_at = which[0] == '*' ? (unsigned long)-1 : strtoul(which, NULL, 10);
            points[i].code    = code;
            known             = true;
        }
        if (!known) sim_say("SIMCUDA_FAIL: no entry point %s", name);
    }
    free(text);
}

static void __attribute__((constructor)) start(void)
{
    sim.devices      = (int)number("SIMCUDA_DEVICES", 1);
    sim.version      = (int)number("SIMCUDA_VERSION", 13000);
    sim.seed         = number("SIMCUDA_SEED", 0);
    sim.protect      = number("SIMCUDA_PROTECT", 0) != 0;
    sim.has_p2p      = number("SIMCUDA_P2P", 1) != 0;
    sim.memory_bytes = (size_t)number("SIMCUDA_MEMORY", 1ull << 30);
    if (sim.devices > SIM_DEVICES_MAX) sim.devices = SIM_DEVICES_MAX;
    for (int i = 0; i < SIM_DEVICES_MAX; i++) sim.contexts[i].device = i;
    read_failures();
}

/* What the program has left. A program that is ended half-way, by a signal or _exit, does not come here. */
static void __attribute__((destructor)) finish(void)
{
    if (!sim.is_initialised) return;
    pthread_mutex_lock(&sim.lock);
    for (const struct sim_memory *memory = sim.memories; memory; memory = memory->next)
        if (memory->handles) sim_say("leak: a handle of cuMemCreate (%zu bytes)", memory->bytes);
    for (const struct sim_range *range = sim.ranges; range; range = range->next) {
        if (range->kind == SIM_DEVICE) sim_say("leak: %zu bytes of cuMemAlloc", range->bytes);
        if (range->kind == SIM_MAPPED) sim_say("leak: %zu bytes of cuMemMap", range->bytes);
        if (range->kind == SIM_HOST) sim_say("leak: %zu bytes of cuMemHostAlloc", range->bytes);
        if (range->kind == SIM_REGISTERED) sim_say("leak: %zu bytes of cuMemHostRegister", range->bytes);
    }
    for (const struct sim_reservation *it = sim.reservations; it; it = it->next)
        sim_say("leak: %zu bytes of cuMemAddressReserve", it->bytes);
    sim_streams_report();
    sim_modules_report();
    for (const struct CUevent_st *event = sim.events; event; event = event->next) sim_say("leak: an event");
    for (int i = 0; i < sim.devices; i++)
        if (sim.contexts[i].retained)
            sim_say("leak: the primary context of device %d, retained %d times", i, sim.contexts[i].retained);
    pthread_mutex_unlock(&sim.lock);
}

unsigned sim_enter_early(const char *name)
{
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        if (strcmp(points[i].name, name) != 0) continue;
        unsigned long call = atomic_fetch_add(&points[i].calls, 1) + 1;
        if (points[i].fail_at == call || points[i].fail_at == (unsigned long)-1) return points[i].code;
    }
    if (sim_in_host_function)
        return sim_misuse(SHMEMI_CU_NOT_PERMITTED, name,
                          "called in a function of cuLaunchHostFunc, where no call of the driver is allowed");
    return SHMEMI_CU_SUCCESS;
}

unsigned sim_enter(const char *name)
{
    unsigned result = sim_enter_early(name);
    if (result) return result;
    return sim.is_initialised ? SHMEMI_CU_SUCCESS : sim_misuse(SHMEMI_CU_NOT_INITIALIZED, name, "called before cuInit");
}

unsigned long simcuda_calls(const char *name)
{
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++)
        if (strcmp(points[i].name, name) == 0) return atomic_load(&points[i].calls);
    return 0;
}

unsigned long simcuda_misuses(void)
{
    return atomic_load(&misuses);
}

/* ---- the entry points of the start ---- */

unsigned cuInit(unsigned flags)
{
    unsigned refused = sim_enter_early(__func__);
    if (refused) return refused;
    if (flags) return SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "flags are %u, and must be 0", flags);
    if (sim.devices <= 0) return SHMEMI_CU_NO_DEVICE;
    sim.is_initialised = true;
    return SHMEMI_CU_SUCCESS;
}

unsigned cuDriverGetVersion(int *version)
{
    unsigned refused = sim_enter_early(__func__);
    if (refused) return refused;
    *version = sim.version;
    return SHMEMI_CU_SUCCESS;
}

static const struct {
    unsigned    result;
    const char *name;
} names[] = {
#define SIM_NAME(OURS, THEIRS, VALUE) {VALUE, #THEIRS},
    SHMEMI_CUDA_CONSTANTS(SIM_NAME)};

unsigned cuGetErrorName(unsigned result, const char **name)
{
    unsigned refused = sim_enter_early(__func__);
    if (refused) return refused;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].result != result || (strncmp(names[i].name, "CUDA_", 5) != 0)) continue;
        *name = names[i].name;
        return SHMEMI_CU_SUCCESS;
    }
    *name = NULL;
    return SHMEMI_CU_INVALID_VALUE;
}

unsigned cuGetErrorString(unsigned result, const char **text)
{
    unsigned refused = sim_enter_early(__func__);
    if (refused) return refused;
    (void)result;
    *text = "simulated";
    return SHMEMI_CU_SUCCESS;
}
