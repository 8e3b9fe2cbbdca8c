/* SPDX-License-Identifier: Apache-2.0
 *
 * What the calls on a stream share (stream.c, stream_coll.c).
 */
#ifndef SHMEMI_GPU_STREAM_H
#define SHMEMI_GPU_STREAM_H

#include "runtime/gpu/agent.h"

#include <stdbool.h>

/* The library runs and this PE has a GPU, or the job ends with a message. */
void shmemi_gpu_stream_begin(const char *call);

/* Write a word on the stream, if the driver can reach it: memory of a GPU that is mapped here, or pinned host memory. */
bool shmemi_gpu_stream_wrote(const char *call, void *mapped, uint64_t value, void *stream);

#endif
