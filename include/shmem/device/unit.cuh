/* SPDX-License-Identifier: Apache-2.0
 *
 * Each unit that includes shmem_device.cuh makes itself known to the library, which fills the unit's state: at shmem_init, or at once
 * where that has been.
 */
#ifndef SHMEMD_UNIT_CUH
#define SHMEMD_UNIT_CUH

#include "self.cuh"

#if defined(__CUDACC__)

/* On the device that is current; a PE keeps to one, and makes it current before shmem_init. */
static inline int shmemd_unit_upload(const void *state, size_t bytes)
{
    return cudaMemcpyToSymbol(shmemd_unit_state, state, bytes) == cudaSuccess ? 0 : -1;
}

/* A number that is the same for all PEs on one device: from where it sits in the machine. */
static inline uint64_t shmemd_unit_device_number(const struct cudaDeviceProp *device)
{
    uint64_t number = 1469598103934665603u;

    for (unsigned i = 0; i < sizeof device->uuid.bytes; i++)
        number = (number ^ (unsigned char)device->uuid.bytes[i]) * 1099511628211u;
    return number | 1u;
}

static inline int shmemd_unit_resident_blocks(const void *kernel, const unsigned block[3], size_t shared_bytes, long *blocks_out,
                                              uint64_t *device_out)
{
    struct cudaDeviceProp properties;
    int                   device, per_multiprocessor;

    if (cudaGetDevice(&device) != cudaSuccess) return -1;
    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) return -1;
    if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, kernel, (int)(block[0] * block[1] * block[2]),
                                                      shared_bytes) != cudaSuccess) {
        return -1;
    }
    *blocks_out = (long)per_multiprocessor * properties.multiProcessorCount;
    *device_out = shmemd_unit_device_number(&properties);
    return 0;
}

static inline int shmemd_unit_launch(const void *kernel, const unsigned grid[3], const unsigned block[3], void **args,
                                     size_t shared_bytes, void *stream)
{
    return cudaLaunchCooperativeKernel(kernel, dim3(grid[0], grid[1], grid[2]), dim3(block[0], block[1], block[2]), args,
                                       shared_bytes, (cudaStream_t)stream) == cudaSuccess
               ? 0
               : -1;
}

#define SHMEMD_UNIT_ON_CPU 0
#define SHMEMD_UNIT_CALLS  shmemd_unit_upload, shmemd_unit_resident_blocks, shmemd_unit_launch

#else

static inline int shmemd_unit_upload(const void *state, size_t bytes)
{
    memcpy(&shmemd_unit_state, state, bytes);
    return 0;
}

#define SHMEMD_UNIT_ON_CPU 1
#ifndef SHMEMD_CPU_RESIDENT_BLOCKS
#define SHMEMD_CPU_RESIDENT_BLOCKS NULL
#define SHMEMD_CPU_LAUNCH          NULL
#endif
#define SHMEMD_UNIT_CALLS shmemd_unit_upload, SHMEMD_CPU_RESIDENT_BLOCKS, SHMEMD_CPU_LAUNCH

#endif

static struct shmemd_unit shmemd_unit = {
    SHMEMD_STATE_VERSION, (uint32_t)sizeof(struct shmemd_state), SHMEMD_UNIT_ON_CPU, 0, SHMEMD_UNIT_CALLS, NULL};

/*
 * An object, not a function with the attribute constructor: objects are made last in a unit, so nvcc's own constructor has made the unit's
 * constants known before, and a library that is loaded after shmem_init can be filled at once.
 */
static struct shmemd_registrar {
    shmemd_registrar()
    {
        shmemx_device_register(&shmemd_unit);
    }
    ~shmemd_registrar()
    {
        shmemx_device_unregister(&shmemd_unit);
    }
} shmemd_registrar_of_unit;

#if !defined(__CUDACC__)
/* On threads of the CPU a kernel is started by its type, which is known here. */
template <class... Parameters>
int shmemx_collective_launch(void (*kernel)(Parameters...), shmemx_dim3_t grid, shmemx_dim3_t block, void **args,
                             size_t shared_bytes, void *stream)
{
    return shmemx_collective_launch(shmemx_cpu_typed_kernel(kernel), grid, block, args, shared_bytes, stream);
}

/* The memory of such kernels is the host heap. */
#undef SHMEMX_MEM_CUDA
#define SHMEMX_MEM_CUDA 0L
#endif

#undef SHMEMD_UNIT_ON_CPU
#undef SHMEMD_UNIT_CALLS

#endif
