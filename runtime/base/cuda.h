/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA driver, opened at run time: libcuda.so.1 is never linked, and no toolkit is needed to build. So one build serves machines with and
 * without GPUs. Types, constants and functions are those of the driver's public interface, as far as they are needed, under names of
 * our own, so that a file may include the toolkit's cuda.h beside this one. Tests: tests/simcuda, which also compares with cuda.h.
 * Why it is done so: docs/decisions/0015.
 *
 *     const struct shmemi_cuda *cuda = shmemi_cuda_open(why, sizeof why);
 *     unsigned result = cuda->mem_alloc(&pointer, bytes);
 *     if (result) shmemi_error("... : %s", shmemi_cuda_text(cuda, result, text, sizeof text));
 */
#ifndef SHMEMI_CUDA_H
#define SHMEMI_CUDA_H

#include <stddef.h>
#include <stdint.h>

/* ---- types ---- */

typedef int                shmemi_cu_device;
typedef unsigned long long shmemi_cu_pointer; /* CUdeviceptr; with unified addresses also a host pointer */
typedef unsigned long long shmemi_cu_memory;  /* CUmemGenericAllocationHandle */
/* As in cuda.h, long or long long as uint64_t is. */
typedef uint64_t            shmemi_cu_uint64;
typedef struct CUctx_st    *shmemi_cu_context;
typedef struct CUstream_st *shmemi_cu_stream;
typedef struct CUevent_st  *shmemi_cu_event;
typedef struct CUmod_st    *shmemi_cu_module;
typedef struct CUfunc_st   *shmemi_cu_function;

/* The stream of callers that name none, and the one that each thread has for itself. */
#define SHMEMI_CU_STREAM_LEGACY     ((shmemi_cu_stream)1)
#define SHMEMI_CU_STREAM_PER_THREAD ((shmemi_cu_stream)2)

struct shmemi_cu_uuid { /* CUuuid */
    char bytes[16];
};

struct shmemi_cu_location { /* CUmemLocation */
    unsigned type;          /* SHMEMI_CU_LOCATION_DEVICE */
    int      id;
};

struct shmemi_cu_memory_kind {      /* CUmemAllocationProp */
    unsigned                  type; /* SHMEMI_CU_MEMORY_PINNED */
    unsigned                  handle_types;
    struct shmemi_cu_location location;
    void                     *metadata;
    struct {
        unsigned char  compression;
        unsigned char  rdma_capable; /* gpuDirectRDMACapable */
        unsigned short usage;
        unsigned char  reserved[4];
    } flags;
};

struct shmemi_cu_access { /* CUmemAccessDesc */
    struct shmemi_cu_location location;
    unsigned                  flags; /* SHMEMI_CU_ACCESS_* */
};

struct shmemi_cu_copy2d { /* CUDA_MEMCPY2D */
    size_t            source_x_bytes, source_y;
    unsigned          source_kind; /* SHMEMI_CU_KIND_* */
    const void       *source_host;
    shmemi_cu_pointer source_device;
    void             *source_array;
    size_t            source_pitch;
    size_t            dest_x_bytes, dest_y;
    unsigned          dest_kind;
    void             *dest_host;
    shmemi_cu_pointer dest_device;
    void             *dest_array;
    size_t            dest_pitch;
    size_t            width_bytes, height;
};

/* ---- constants: SHMEMI_CU_X is cuda.h's; tests/simcuda compares them all ---- */

/* X(OURS, NAME IN CUDA.H, VALUE) */
/* clang-format off */
#define SHMEMI_CUDA_CONSTANTS(X) \
    X(SUCCESS,                    CUDA_SUCCESS,                               0) \
    X(INVALID_VALUE,              CUDA_ERROR_INVALID_VALUE,                   1) \
    X(OUT_OF_MEMORY,              CUDA_ERROR_OUT_OF_MEMORY,                   2) \
    X(NOT_INITIALIZED,            CUDA_ERROR_NOT_INITIALIZED,                 3) \
    X(DEINITIALIZED,              CUDA_ERROR_DEINITIALIZED,                   4) \
    X(STUB_LIBRARY,               CUDA_ERROR_STUB_LIBRARY,                   34) \
    X(NO_DEVICE,                  CUDA_ERROR_NO_DEVICE,                     100) \
    X(INVALID_DEVICE,             CUDA_ERROR_INVALID_DEVICE,                101) \
    X(INVALID_IMAGE,              CUDA_ERROR_INVALID_IMAGE,                 200) \
    X(INVALID_CONTEXT,            CUDA_ERROR_INVALID_CONTEXT,               201) \
    X(PEER_ACCESS_UNSUPPORTED,    CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,       217) \
    X(OPERATING_SYSTEM,           CUDA_ERROR_OPERATING_SYSTEM,              304) \
    X(INVALID_HANDLE,             CUDA_ERROR_INVALID_HANDLE,                400) \
    X(NOT_FOUND,                  CUDA_ERROR_NOT_FOUND,                     500) \
    X(NOT_READY,                  CUDA_ERROR_NOT_READY,                     600) \
    X(ILLEGAL_ADDRESS,            CUDA_ERROR_ILLEGAL_ADDRESS,               700) \
    X(PEER_ACCESS_ALREADY_ENABLED, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,  704) \
    X(HOST_MEMORY_ALREADY_REGISTERED, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712) \
    X(HOST_MEMORY_NOT_REGISTERED, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,    713) \
    X(LAUNCH_FAILED,              CUDA_ERROR_LAUNCH_FAILED,                 719) \
    X(COOPERATIVE_LAUNCH_TOO_LARGE, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720) \
    X(NOT_PERMITTED,              CUDA_ERROR_NOT_PERMITTED,                 800) \
    X(NOT_SUPPORTED,              CUDA_ERROR_NOT_SUPPORTED,                 801) \
    X(SYSTEM_DRIVER_MISMATCH,     CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,        803) \
    X(UNKNOWN,                    CUDA_ERROR_UNKNOWN,                       999) \
    X(DEVICE_MAX_THREADS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1) \
    X(DEVICE_MULTIPROCESSORS,     CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,  16) \
    X(DEVICE_INTEGRATED,          CU_DEVICE_ATTRIBUTE_INTEGRATED,            18) \
    X(DEVICE_CAN_MAP_HOST,        CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY,   19) \
    X(DEVICE_COMPUTE_MODE,        CU_DEVICE_ATTRIBUTE_COMPUTE_MODE,          20) \
    X(DEVICE_PCI_BUS,             CU_DEVICE_ATTRIBUTE_PCI_BUS_ID,            33) \
    X(DEVICE_PCI_DEVICE,          CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID,         34) \
    X(DEVICE_UNIFIED_ADDRESSING,  CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING,    41) \
    X(DEVICE_PCI_DOMAIN,          CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID,         50) \
    X(DEVICE_COMPUTE_MAJOR,       CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75) \
    X(DEVICE_COMPUTE_MINOR,       CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76) \
    X(DEVICE_HOST_POINTER_SAME,   CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 91) \
    X(DEVICE_COOPERATIVE_LAUNCH,  CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH,    95) \
    X(DEVICE_CAN_FLUSH_REMOTE_WRITES, CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES, 98) \
    X(DEVICE_HOST_REGISTER,       CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 99) \
    X(DEVICE_VIRTUAL_MEMORY,      CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 102) \
    X(DEVICE_EXPORT_FD,           CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 103) \
    X(DEVICE_RDMA_VIRTUAL_MEMORY, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED, 110) \
    X(DEVICE_RDMA,                CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED, 116) \
    X(DEVICE_RDMA_FLUSH_OPTIONS,  CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS, 117) \
    X(DEVICE_RDMA_WRITES_ORDERING, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING, 118) \
    X(DEVICE_STREAM_MEM_OPS_64,   CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 122) \
    X(DEVICE_STREAM_WAIT_NOR,     CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR, 123) \
    X(DEVICE_DMA_BUF,             CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED,    124) \
    X(DEVICE_EXPORT_FABRIC,       CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED, 128) \
    X(P2P_PERFORMANCE_RANK,       CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK,   1) \
    X(P2P_ACCESS,                 CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED,   2) \
    X(P2P_NATIVE_ATOMICS,         CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, 3) \
    X(KIND_HOST,                  CU_MEMORYTYPE_HOST,                         1) \
    X(KIND_DEVICE,                CU_MEMORYTYPE_DEVICE,                       2) \
    X(KIND_UNIFIED,               CU_MEMORYTYPE_UNIFIED,                      4) \
    X(POINTER_CONTEXT,            CU_POINTER_ATTRIBUTE_CONTEXT,               1) \
    X(POINTER_KIND,               CU_POINTER_ATTRIBUTE_MEMORY_TYPE,           2) \
    X(POINTER_DEVICE,             CU_POINTER_ATTRIBUTE_DEVICE_POINTER,        3) \
    X(POINTER_HOST,               CU_POINTER_ATTRIBUTE_HOST_POINTER,          4) \
    X(POINTER_SYNC_MEMOPS,        CU_POINTER_ATTRIBUTE_SYNC_MEMOPS,           6) \
    X(POINTER_BUFFER_ID,          CU_POINTER_ATTRIBUTE_BUFFER_ID,             7) \
    X(POINTER_IS_MANAGED,         CU_POINTER_ATTRIBUTE_IS_MANAGED,            8) \
    X(POINTER_ORDINAL,            CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,        9) \
    X(POINTER_RANGE_START,        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,     11) \
    X(POINTER_RANGE_BYTES,        CU_POINTER_ATTRIBUTE_RANGE_SIZE,           12) \
    X(POINTER_MAPPED,             CU_POINTER_ATTRIBUTE_MAPPED,               13) \
    X(POINTER_HANDLE_TYPES,       CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, 14) \
    X(POINTER_RDMA_CAPABLE,       CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE, 15) \
    X(MEMORY_PINNED,              CU_MEM_ALLOCATION_TYPE_PINNED,              1) \
    X(LOCATION_DEVICE,            CU_MEM_LOCATION_TYPE_DEVICE,                1) \
    X(LOCATION_HOST,              CU_MEM_LOCATION_TYPE_HOST,                  2) \
    X(HANDLE_NONE,                CU_MEM_HANDLE_TYPE_NONE,                    0) \
    X(HANDLE_FD,                  CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,   1) \
    X(HANDLE_FABRIC,              CU_MEM_HANDLE_TYPE_FABRIC,                  8) \
    X(RANGE_HANDLE_DMA_BUF,       CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD,        1) \
    X(GRANULARITY_MINIMUM,        CU_MEM_ALLOC_GRANULARITY_MINIMUM,           0) \
    X(GRANULARITY_RECOMMENDED,    CU_MEM_ALLOC_GRANULARITY_RECOMMENDED,       1) \
    X(ACCESS_NONE,                CU_MEM_ACCESS_FLAGS_PROT_NONE,              0) \
    X(ACCESS_READ,                CU_MEM_ACCESS_FLAGS_PROT_READ,              1) \
    X(ACCESS_READWRITE,           CU_MEM_ACCESS_FLAGS_PROT_READWRITE,         3) \
    X(HOST_ALLOC_PORTABLE,        CU_MEMHOSTALLOC_PORTABLE,                   1) \
    X(HOST_ALLOC_DEVICEMAP,       CU_MEMHOSTALLOC_DEVICEMAP,                  2) \
    X(HOST_REGISTER_PORTABLE,     CU_MEMHOSTREGISTER_PORTABLE,                1) \
    X(HOST_REGISTER_DEVICEMAP,    CU_MEMHOSTREGISTER_DEVICEMAP,               2) \
    X(STREAM_NON_BLOCKING,        CU_STREAM_NON_BLOCKING,                     1) \
    X(EVENT_DISABLE_TIMING,       CU_EVENT_DISABLE_TIMING,                    2) \
    X(WAIT_GEQ,                   CU_STREAM_WAIT_VALUE_GEQ,                   0) \
    X(WAIT_EQ,                    CU_STREAM_WAIT_VALUE_EQ,                    1) \
    X(WAIT_AND,                   CU_STREAM_WAIT_VALUE_AND,                   2) \
    X(WAIT_NOR,                   CU_STREAM_WAIT_VALUE_NOR,                   3) \
    X(WAIT_FLUSH,                 CU_STREAM_WAIT_VALUE_FLUSH,         0x40000000) \
    X(WRITE_DEFAULT,              CU_STREAM_WRITE_VALUE_DEFAULT,              0) \
    X(FUNC_MAX_THREADS_PER_BLOCK, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,    0) \
    X(FUNC_SHARED_BYTES,          CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,        1) \
    X(FUNC_REGISTERS,             CU_FUNC_ATTRIBUTE_NUM_REGS,                 4) \
    X(FUNC_MAX_DYNAMIC_SHARED_BYTES, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8)
/* clang-format on */

#define SHMEMI_CUDA_CONSTANT(OURS, THEIRS, VALUE) SHMEMI_CU_##OURS = VALUE,
enum shmemi_cuda_constant { SHMEMI_CUDA_CONSTANTS(SHMEMI_CUDA_CONSTANT) };
#undef SHMEMI_CUDA_CONSTANT

/* ---- the driver ---- */

struct shmemi_cuda {
#define SHMEMI_CUDA(SLOT, SYMBOL, PARAMETERS) unsigned(*SLOT) PARAMETERS;
#include "runtime/base/cuda.def"
#undef SHMEMI_CUDA
    int version; /* of the driver: 12040 is CUDA 12.4 */
};

/* The first driver whose entry points all are there. */
#define SHMEMI_CUDA_VERSION_MIN 11070

/*
 * The driver, initialised; the same table on each call. NULL where there is none that can be used, and then one line into why: the text of the
 * report's line. Where no device file of a GPU is there, nothing is looked for, so a machine without GPUs pays one access(2). POSTERN_CUDA=0
 * forbids, POSTERN_CUDA=1 opens the library without that look. Control plane: may block for seconds (the driver starts the GPUs).
 * Once opened the library stays until the process ends: contexts and exit handlers of the program may use it.
 */
const struct shmemi_cuda *shmemi_cuda_open(char *why, size_t why_bytes);

/* What a result means, as "CUDA_ERROR_OUT_OF_MEMORY (out of memory)", into buffer; returns buffer. */
const char *shmemi_cuda_text(const struct shmemi_cuda *cuda, unsigned result, char *buffer, size_t buffer_bytes);
/* The negative errno that is nearest; 0 for success. */
int shmemi_cuda_errno(unsigned result);

#endif
