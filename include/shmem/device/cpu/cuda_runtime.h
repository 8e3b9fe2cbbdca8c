/* SPDX-License-Identifier: Apache-2.0
 *
 * The few calls of the CUDA runtime that a small SHMEM program makes, for kernels on the CPU: the machine has one device, and its memory is
 * that of the process. `oshcc --device-on-cpu` puts the folder of this file where the compiler looks, so <cuda_runtime.h> is found
 * here. A call that is not here is not there.
 */
#ifndef SHMEMX_DEVICE_CPU_CUDA_RUNTIME_H
#define SHMEMX_DEVICE_CPU_CUDA_RUNTIME_H
#if defined SHMEM_DEVICE_ON_CPU && defined __cplusplus

#include "../cpu.h"

#include <stdlib.h>
#include <string.h>

enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2, cudaErrorInvalidDevice = 101 };
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
typedef void *cudaStream_t;

static inline const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    default: return "invalid argument";
    }
}

/* Errors of a launch end the program or are printed, so none is kept. */
static inline cudaError_t cudaGetLastError()
{
    return cudaSuccess;
}
static inline cudaError_t cudaPeekAtLastError()
{
    return cudaSuccess;
}

static inline cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return cudaSuccess;
}

static inline cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}

static inline cudaError_t cudaSetDevice(int device)
{
    return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

static inline cudaError_t cudaDeviceSynchronize()
{
    shmemx_cpu_synchronize(nullptr);
    return cudaSuccess;
}

static inline cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    *stream = malloc(1);
    return *stream ? cudaSuccess : cudaErrorMemoryAllocation;
}

static inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    return cudaStreamCreate(stream);
}

static inline cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    shmemx_cpu_synchronize(stream);
    return cudaSuccess;
}

static inline cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    shmemx_cpu_synchronize(stream);
    free(stream);
    return cudaSuccess;
}

/* Aligned as cudaMalloc does. */
template <class T> cudaError_t cudaMalloc(T **address, size_t bytes)
{
    void *memory = nullptr;
    if (posix_memalign(&memory, 256, bytes ? bytes : 1) != 0) return cudaErrorMemoryAllocation;
    *address = static_cast<T *>(memory);
    return cudaSuccess;
}

template <class T> cudaError_t cudaMallocHost(T **address, size_t bytes)
{
    return cudaMalloc(address, bytes);
}
template <class T> cudaError_t cudaMallocManaged(T **address, size_t bytes)
{
    return cudaMalloc(address, bytes);
}

static inline cudaError_t cudaFree(void *address)
{
    shmemx_cpu_synchronize(nullptr);
    free(address);
    return cudaSuccess;
}

static inline cudaError_t cudaFreeHost(void *address)
{
    return cudaFree(address);
}

/* After what was launched on the stream. */
static inline cudaError_t cudaMemcpyAsync(void *dest, const void *source, size_t bytes, cudaMemcpyKind,
                                          cudaStream_t stream = nullptr)
{
    shmemx_cpu_synchronize(stream);
    memmove(dest, source, bytes);
    return cudaSuccess;
}

static inline cudaError_t cudaMemcpy(void *dest, const void *source, size_t bytes, cudaMemcpyKind kind)
{
    return cudaMemcpyAsync(dest, source, bytes, kind);
}

static inline cudaError_t cudaMemsetAsync(void *dest, int value, size_t bytes, cudaStream_t stream = nullptr)
{
    shmemx_cpu_synchronize(stream);
    memset(dest, value, bytes);
    return cudaSuccess;
}

static inline cudaError_t cudaMemset(void *dest, int value, size_t bytes)
{
    return cudaMemsetAsync(dest, value, bytes);
}

template <class T>
cudaError_t cudaMemcpyToSymbol(T &symbol, const void *source, size_t bytes, size_t offset = 0, cudaMemcpyKind = cudaMemcpyDefault)
{
    return cudaMemcpy(reinterpret_cast<char *>(&symbol) + offset, source, bytes, cudaMemcpyDefault);
}

template <class T>
cudaError_t cudaMemcpyFromSymbol(void *dest, const T &symbol, size_t bytes, size_t offset = 0, cudaMemcpyKind = cudaMemcpyDefault)
{
    return cudaMemcpy(dest, reinterpret_cast<const char *>(&symbol) + offset, bytes, cudaMemcpyDefault);
}

#endif
#endif
