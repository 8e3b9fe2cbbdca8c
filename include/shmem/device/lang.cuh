/* SPDX-License-Identifier: Apache-2.0
 *
 * How the device headers say what a function is, for each compiler that reads them.
 *
 *   nvcc                         kernels run on the GPU; a public name is one function for both sides, and its host side calls
 *                                the library (pshmem_)
 *   a C++ compiler with          kernels are functions that run on threads (cpu.h); a public name asks at run time on which
 *   SHMEM_DEVICE_ON_CPU          side it is
 *
 * Another compiler, C among them, gets shmem.h from shmem_device.cuh, and none of this.  What is below the public names is C as well,
 * for the library and its tests.
 */
#ifndef SHMEMD_LANG_CUH
#define SHMEMD_LANG_CUH

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* clang-format off */

/*
 * SHMEMD_API   a public function: always inlined, as it is one call of a function that does the work
 * SHMEMD_GROUP a public function of kernels alone: the _warp and _block forms
 * SHMEMD_FN    a helper on the short path, always inlined
 * SHMEMD_SLOW  a helper off the short path: called, so that it costs the short path no registers and no code
 */
#if defined(__CUDACC__)
#define SHMEMD_API   __host__ __device__ __forceinline__
#define SHMEMD_GROUP static __device__ __forceinline__
#define SHMEMD_FN    static __device__ __forceinline__
#define SHMEMD_SLOW  static __device__ __noinline__ __attribute__((unused))
#else
#define SHMEMD_API   inline
#define SHMEMD_GROUP static inline
#define SHMEMD_FN    static inline
#define SHMEMD_SLOW  static __attribute__((noinline, unused))
#endif

/* C linkage around definitions; the names were declared so by shmem.h. */
#ifdef __cplusplus
#define SHMEMD_BEGIN extern "C" {
#define SHMEMD_END   }
#else
#define SHMEMD_BEGIN
#define SHMEMD_END
#endif

/*
 * The body of a public function: what a kernel does, and what the host does.  DO has no result.
 *
 * nvcc compiles each function twice; a kernel's side must not name a function of the host, nor the other way round.
 */
#if defined(__CUDA_ARCH__)
#define SHMEMD_DO(DEVICE, HOST)     { DEVICE; }
#define SHMEMD_RETURN(DEVICE, HOST) { return DEVICE; }
#elif defined(SHMEM_DEVICE_ON_CPU) && !defined(__CUDACC__)
#define SHMEMD_DO(DEVICE, HOST)     { if (shmemd_in_kernel()) { DEVICE; } else { HOST; } }
#define SHMEMD_RETURN(DEVICE, HOST) { if (shmemd_in_kernel()) return DEVICE; return HOST; }
#else
#define SHMEMD_DO(DEVICE, HOST)     { HOST; }
#define SHMEMD_RETURN(DEVICE, HOST) { return HOST; }
#endif

/* An integer type in one number: its bytes, and whether it has a sign.  Compilers fold it. */
#define SHMEMD_SIGNED     0x100u
#define SHMEMD_KIND_OF(T) ((unsigned)sizeof(T) | ((T)-1 < (T)1 ? SHMEMD_SIGNED : 0u))
#define SHMEMD_BYTES(KIND) ((KIND) & 0xffu)

/* clang-format on */

#if defined(SHMEM_DEVICE_ON_CPU) && !defined(__CUDACC__)
#include "cpu.h"
#endif

#endif
