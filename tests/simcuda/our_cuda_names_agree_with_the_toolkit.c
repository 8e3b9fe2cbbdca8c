/* SPDX-License-Identifier: Apache-2.0
 *
 * runtime/base/cuda.h declares the driver's interface itself. Here both are seen at once, and the compiler compares: every function's type, the
 * place and size of every field, every constant. That it compiles is the test.
 */
#include "runtime/base/cuda.h"

#include <cuda.h>

#define SHMEMI_CUDA_SAME(OURS, THEIRS, VALUE) _Static_assert((long long)SHMEMI_CU_##OURS == (long long)THEIRS, #OURS);
SHMEMI_CUDA_CONSTANTS(SHMEMI_CUDA_SAME)

#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(ours) == sizeof(theirs), #ours)
SAME_SIZE(shmemi_cu_device, CUdevice);
SAME_SIZE(shmemi_cu_pointer, CUdeviceptr);
SAME_SIZE(shmemi_cu_memory, CUmemGenericAllocationHandle);
SAME_SIZE(shmemi_cu_uint64, cuuint64_t);
SAME_SIZE(struct shmemi_cu_uuid, CUuuid);
SAME_SIZE(struct shmemi_cu_location, CUmemLocation);
SAME_SIZE(struct shmemi_cu_memory_kind, CUmemAllocationProp);
SAME_SIZE(struct shmemi_cu_access, CUmemAccessDesc);
SAME_SIZE(struct shmemi_cu_copy2d, CUDA_MEMCPY2D);

#define SAME_FIELD(ours, field, theirs, their_field)                                                 \
    _Static_assert(offsetof(struct ours, field) == offsetof(theirs, their_field), #ours "." #field); \
    _Static_assert(sizeof(((struct ours *)0)->field) == sizeof(((theirs *)0)->their_field), #ours "." #field)
SAME_FIELD(shmemi_cu_location, type, CUmemLocation, type);
SAME_FIELD(shmemi_cu_location, id, CUmemLocation, id);
SAME_FIELD(shmemi_cu_memory_kind, type, CUmemAllocationProp, type);
SAME_FIELD(shmemi_cu_memory_kind, handle_types, CUmemAllocationProp, requestedHandleTypes);
SAME_FIELD(shmemi_cu_memory_kind, location, CUmemAllocationProp, location);
SAME_FIELD(shmemi_cu_memory_kind, metadata, CUmemAllocationProp, win32HandleMetaData);
SAME_FIELD(shmemi_cu_memory_kind, flags.compression, CUmemAllocationProp, allocFlags.compressionType);
SAME_FIELD(shmemi_cu_memory_kind, flags.rdma_capable, CUmemAllocationProp, allocFlags.gpuDirectRDMACapable);
SAME_FIELD(shmemi_cu_memory_kind, flags.usage, CUmemAllocationProp, allocFlags.usage);
SAME_FIELD(shmemi_cu_access, location, CUmemAccessDesc, location);
SAME_FIELD(shmemi_cu_access, flags, CUmemAccessDesc, flags);
SAME_FIELD(shmemi_cu_copy2d, source_x_bytes, CUDA_MEMCPY2D, srcXInBytes);
SAME_FIELD(shmemi_cu_copy2d, source_y, CUDA_MEMCPY2D, srcY);
SAME_FIELD(shmemi_cu_copy2d, source_kind, CUDA_MEMCPY2D, srcMemoryType);
SAME_FIELD(shmemi_cu_copy2d, source_host, CUDA_MEMCPY2D, srcHost);
SAME_FIELD(shmemi_cu_copy2d, source_device, CUDA_MEMCPY2D, srcDevice);
SAME_FIELD(shmemi_cu_copy2d, source_array, CUDA_MEMCPY2D, srcArray);
SAME_FIELD(shmemi_cu_copy2d, source_pitch, CUDA_MEMCPY2D, srcPitch);
SAME_FIELD(shmemi_cu_copy2d, dest_x_bytes, CUDA_MEMCPY2D, dstXInBytes);
SAME_FIELD(shmemi_cu_copy2d, dest_y, CUDA_MEMCPY2D, dstY);
SAME_FIELD(shmemi_cu_copy2d, dest_kind, CUDA_MEMCPY2D, dstMemoryType);
SAME_FIELD(shmemi_cu_copy2d, dest_host, CUDA_MEMCPY2D, dstHost);
SAME_FIELD(shmemi_cu_copy2d, dest_device, CUDA_MEMCPY2D, dstDevice);
SAME_FIELD(shmemi_cu_copy2d, dest_array, CUDA_MEMCPY2D, dstArray);
SAME_FIELD(shmemi_cu_copy2d, dest_pitch, CUDA_MEMCPY2D, dstPitch);
SAME_FIELD(shmemi_cu_copy2d, width_bytes, CUDA_MEMCPY2D, WidthInBytes);
SAME_FIELD(shmemi_cu_copy2d, height, CUDA_MEMCPY2D, Height);

/* Now our rows are read with the toolkit's structs in place of ours; its enums are unsigned, and its handles have our tags. */
#define shmemi_cu_uuid        CUuuid_st
#define shmemi_cu_location    CUmemLocation_st
#define shmemi_cu_memory_kind CUmemAllocationProp_st
#define shmemi_cu_access      CUmemAccessDesc_st
#define shmemi_cu_copy2d      CUDA_MEMCPY2D_st

/* A pointer to an enum of theirs is no pointer to unsigned; these two rows have one. */
#define cuPointerGetAttributes ((unsigned (*)(unsigned, unsigned *, void **, CUdeviceptr))cuPointerGetAttributes)
#define cuStreamIsCapturing    ((unsigned (*)(CUstream, unsigned *))cuStreamIsCapturing)

#define SHMEMI_CUDA(SLOT, SYMBOL, PARAMETERS) \
    _Static_assert(__builtin_types_compatible_p(unsigned(*) PARAMETERS, __typeof__(&*SYMBOL)), #SYMBOL);
#include "runtime/base/cuda.def"

int main(void)
{
    return 0;
}
