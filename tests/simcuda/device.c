/* SPDX-License-Identifier: Apache-2.0
 *
 * Devices and their primary contexts.
 */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local struct {
    struct CUctx_st *stack[SIM_STACK_MAX];
    int              depth;
} current;

bool sim_is_device(int device)
{
    return device >= 0 && device < sim.devices;
}

bool sim_is_context(const struct CUctx_st *context)
{
    for (int i = 0; i < sim.devices; i++)
        if (context == &sim.contexts[i]) return true;
    return false;
}

bool sim_can_access(int device, int peer)
{
    return device == peer || sim.has_p2p;
}

struct CUctx_st *sim_context(const char *name, unsigned *result_out)
{
    struct CUctx_st *context = current.depth ? current.stack[current.depth - 1] : NULL;
    *result_out              = SHMEMI_CU_SUCCESS;
    if (!context) *result_out = sim_misuse(SHMEMI_CU_INVALID_CONTEXT, name, "this thread has no context");
    else if (!context->retained)
        *result_out = sim_misuse(SHMEMI_CU_INVALID_CONTEXT, name, "this thread's context has been released");
    else *result_out = context->broken;
    return context;
}

#define SIM_DEVICE_OF(device) \
    if (!sim_is_device(device)) return SIM_MISUSE(SHMEMI_CU_INVALID_DEVICE, "no device %d", device)

unsigned cuDeviceGetCount(int *count)
{
    SIM_ENTER();
    *count = sim.devices;
    return SHMEMI_CU_SUCCESS;
}

unsigned cuDeviceGet(shmemi_cu_device *device, int ordinal)
{
    SIM_ENTER();
    SIM_DEVICE_OF(ordinal);
    *device = ordinal;
    return SHMEMI_CU_SUCCESS;
}

unsigned cuDeviceGetName(char *name, int bytes, shmemi_cu_device device)
{
    SIM_ENTER();
    SIM_DEVICE_OF(device);
    snprintf(name, (size_t)bytes, "Simulated GPU %d", device);
    return SHMEMI_CU_SUCCESS;
}

/* SIMCUDA_ATTRIBUTES=124:0,110:0 overrides. */
static bool overridden(unsigned attribute, int *value)
{
    char        text[200], *rest = NULL;
    const char *from = getenv("SIMCUDA_ATTRIBUTES");
    snprintf(text, sizeof text, "%s", from ? from : "");
    for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        unsigned which = 0;
        int      given = 0;
        if (sscanf(word, "%u:%d", &which, &given) != 2 || which != attribute) continue;
        *value = given;
        return true;
    }
    return false;
}

unsigned cuDeviceGetAttribute(int *value, unsigned attribute, shmemi_cu_device device)
{
    static const struct {
        unsigned attribute;
        int      value;
    } rows[] = {
        {SHMEMI_CU_DEVICE_MAX_THREADS_PER_BLOCK, 1024},
        {10 /* warp */, 32},
        {SHMEMI_CU_DEVICE_MULTIPROCESSORS, SIM_MULTIPROCESSORS},
        {SHMEMI_CU_DEVICE_CAN_MAP_HOST, 1},
        {SHMEMI_CU_DEVICE_UNIFIED_ADDRESSING, 1},
        {SHMEMI_CU_DEVICE_COMPUTE_MAJOR, 9},
        {SHMEMI_CU_DEVICE_HOST_POINTER_SAME, 1},
        {SHMEMI_CU_DEVICE_COOPERATIVE_LAUNCH, 1},
        {SHMEMI_CU_DEVICE_CAN_FLUSH_REMOTE_WRITES, 1},
        {SHMEMI_CU_DEVICE_HOST_REGISTER, 1},
        {SHMEMI_CU_DEVICE_VIRTUAL_MEMORY, 1},
        {SHMEMI_CU_DEVICE_EXPORT_FD, 1},
        {SHMEMI_CU_DEVICE_RDMA_VIRTUAL_MEMORY, 1},
        {SHMEMI_CU_DEVICE_RDMA, 1},
        {SHMEMI_CU_DEVICE_STREAM_MEM_OPS_64, 1},
        {SHMEMI_CU_DEVICE_STREAM_WAIT_NOR, 1},
        {SHMEMI_CU_DEVICE_DMA_BUF, 1},
    };
    SIM_ENTER();
    SIM_DEVICE_OF(device);
    *value = 0;
    if (attribute == SHMEMI_CU_DEVICE_PCI_BUS) *value = 0x10 + device;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].attribute == attribute) *value = rows[i].value;
    overridden(attribute, value);
    return SHMEMI_CU_SUCCESS;
}

unsigned cuDeviceGetUuid_v2(struct shmemi_cu_uuid *uuid, shmemi_cu_device device)
{
    SIM_ENTER();
    SIM_DEVICE_OF(device);
    memcpy(uuid->bytes, "simcuda-device-", 15);
    uuid->bytes[15] = (char)device;
    return SHMEMI_CU_SUCCESS;
}

unsigned cuDeviceTotalMem_v2(size_t *bytes, shmemi_cu_device device)
{
    SIM_ENTER();
    SIM_DEVICE_OF(device);
    *bytes = sim.memory_bytes;
    return SHMEMI_CU_SUCCESS;
}

unsigned cuDeviceGetPCIBusId(char *id, int bytes, shmemi_cu_device device)
{
    SIM_ENTER();
    SIM_DEVICE_OF(device);
    snprintf(id, (size_t)bytes, "0000:%02x:00.0", 0x10 + device);
    return SHMEMI_CU_SUCCESS;
}

unsigned cuDeviceCanAccessPeer(int *can, shmemi_cu_device device, shmemi_cu_device peer)
{
    SIM_ENTER();
    SIM_DEVICE_OF(device);
    SIM_DEVICE_OF(peer);
    *can = device != peer && sim_can_access(device, peer); /* as CUDA: no device is its own peer */
    return SHMEMI_CU_SUCCESS;
}

unsigned cuDeviceGetP2PAttribute(int *value, unsigned attribute, shmemi_cu_device from, shmemi_cu_device to)
{
    SIM_ENTER();
    SIM_DEVICE_OF(from);
    SIM_DEVICE_OF(to);
    if (from == to) return SIM_MISUSE(SHMEMI_CU_INVALID_DEVICE, "device %d twice", from);
    *value = attribute != SHMEMI_CU_P2P_PERFORMANCE_RANK && sim.has_p2p;
    return SHMEMI_CU_SUCCESS;
}

unsigned cuDevicePrimaryCtxRetain(shmemi_cu_context *context, shmemi_cu_device device)
{
    SIM_ENTER();
    SIM_DEVICE_OF(device);
    pthread_mutex_lock(&sim.lock);
    sim.contexts[device].retained++;
    *context = &sim.contexts[device];
    pthread_mutex_unlock(&sim.lock);
    return SHMEMI_CU_SUCCESS;
}

unsigned cuDevicePrimaryCtxRelease_v2(shmemi_cu_device device)
{
    SIM_ENTER();
    SIM_DEVICE_OF(device);
    pthread_mutex_lock(&sim.lock);
    bool held = sim.contexts[device].retained > 0;
    if (held && --sim.contexts[device].retained == 0) sim.contexts[device].broken = 0;
    pthread_mutex_unlock(&sim.lock);
    return held ? SHMEMI_CU_SUCCESS : SIM_MISUSE(SHMEMI_CU_INVALID_CONTEXT, "device %d: not retained", device);
}

unsigned cuDevicePrimaryCtxGetState(shmemi_cu_device device, unsigned *flags, int *active)
{
    SIM_ENTER();
    SIM_DEVICE_OF(device);
    *flags  = 0;
    *active = sim.contexts[device].retained > 0;
    return SHMEMI_CU_SUCCESS;
}

unsigned cuCtxGetCurrent(shmemi_cu_context *context)
{
    SIM_ENTER();
    *context = current.depth ? current.stack[current.depth - 1] : NULL;
    return SHMEMI_CU_SUCCESS;
}

unsigned cuCtxSetCurrent(shmemi_cu_context context)
{
    SIM_ENTER();
    if (context && !sim_is_context(context)) return SIM_MISUSE(SHMEMI_CU_INVALID_CONTEXT, "no context");
    if (!context) current.depth -= current.depth > 0;
    else {
        if (!current.depth) current.depth = 1;
        current.stack[current.depth - 1] = context;
    }
    return SHMEMI_CU_SUCCESS;
}

unsigned cuCtxPushCurrent_v2(shmemi_cu_context context)
{
    SIM_ENTER();
    if (!sim_is_context(context) || !context->retained) return SIM_MISUSE(SHMEMI_CU_INVALID_CONTEXT, "no context, or released");
    if (current.depth == SIM_STACK_MAX)
        return SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "%d contexts pushed and none popped", current.depth);
    current.stack[current.depth++] = context;
    return SHMEMI_CU_SUCCESS;
}

unsigned cuCtxPopCurrent_v2(shmemi_cu_context *context)
{
    SIM_ENTER();
    if (!current.depth) return SIM_MISUSE(SHMEMI_CU_INVALID_CONTEXT, "nothing to pop");
    current.depth--;
    if (context) *context = current.stack[current.depth];
    return SHMEMI_CU_SUCCESS;
}

unsigned cuCtxGetDevice(shmemi_cu_device *device)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    *device = context->device;
    return SHMEMI_CU_SUCCESS;
}

unsigned cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return SHMEMI_CU_SUCCESS;
}

unsigned cuCtxEnablePeerAccess(shmemi_cu_context peer, unsigned flags)
{
    SIM_ENTER();
    SIM_CONTEXT(context);
    if (flags || !sim_is_context(peer) || peer == context) return SIM_MISUSE(SHMEMI_CU_INVALID_VALUE, "flags, or no other context");
    if (!sim_can_access(context->device, peer->device)) return SHMEMI_CU_PEER_ACCESS_UNSUPPORTED;
    if (context->peers & 1u << peer->device) return SHMEMI_CU_PEER_ACCESS_ALREADY_ENABLED;
    context->peers |= 1u << peer->device;
    return SHMEMI_CU_SUCCESS;
}
