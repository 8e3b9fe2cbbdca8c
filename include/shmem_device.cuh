/* SPDX-License-Identifier: Apache-2.0
 *
 * OpenSHMEM in GPU kernels: the names of shmem.h, callable from device code.
 *
 * Header only: no device library is linked.  A name that is here is one function for both sides: in a kernel it works by loads and stores
 * on mapped memory, or through the proxy thread of the library; on the host it is the function of shmem.h.  A name that is not here
 * (shmem_malloc, shmem_team_split_strided, ...) cannot be called in a kernel, and the compiler says so.  Beside them stand the forms in
 * which all threads of a warp or a block make one call together: shmemx_long_put_block and so on.
 *
 * With nvcc: kernels for a GPU.  With SHMEM_DEVICE_ON_CPU defined (oshcc --device-on-cpu), a C++ compiler makes the same kernels for CPU
 * threads.  Otherwise, and in C, this is shmemx.h.  docs/gpu.md has the rules of memory, order and deadlock.
 */
#ifndef SHMEMI_SHMEM_DEVICE_CUH
#define SHMEMI_SHMEM_DEVICE_CUH

#include "shmemx.h"

#if defined(__CUDACC__) || (defined(SHMEM_DEVICE_ON_CPU) && defined(__cplusplus))

#ifdef __CUDACC__
/* "a __host__ function redeclared with __host__ __device__": that is what we do, function by function. */
#pragma nv_diagnostic push
#pragma nv_diag_suppress 20040
#endif

#include "shmem/device/teams.cuh"
#include "shmem/device/order.cuh"
#include "shmem/device/rma.cuh"
#include "shmem/device/signal.cuh"
#include "shmem/device/amo.cuh"
#include "shmem/device/p2p.cuh"
#include "shmem/device/coll.cuh"
#include "shmem/device/reduce.cuh"
#include "shmem/device/overloads.cuh"
#include "shmem/device/unit.cuh"

#ifdef __CUDACC__
#pragma nv_diagnostic pop
#endif

#endif

#endif
