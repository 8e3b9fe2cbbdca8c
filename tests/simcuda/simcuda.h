/* SPDX-License-Identifier: Apache-2.0
 *
 * What the stand-in for the CUDA driver offers to programs that know of it. Found by dlsym in the libcuda.so.1 that is loaded.
 */
#ifndef SIMCUDA_H
#define SIMCUDA_H

#include <stddef.h>

/*
 * A kernel of this name: cuModuleGetFunction finds it in a module whose PTX has such an .entry. It runs once a launch, on the stream's thread, with
 * the launch's arguments. It may touch device memory only through simcuda_bytes where SIMCUDA_PROTECT=1.
 */
void simcuda_add_kernel(const char *name, void (*function)(void **arguments));

/* The bytes of device memory as this process may touch them, whatever the protection; NULL where the range is none. */
void *simcuda_bytes(unsigned long long pointer, size_t bytes);

/* How often the program has called this entry point. */
unsigned long simcuda_calls(const char *name);

/* What has been printed as misuse so far. */
unsigned long simcuda_misuses(void);

#endif
