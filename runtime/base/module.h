/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the library's own modules are: files transport_NAME.so and bootstrap_NAME.so, which need libraries that not every machine has.
 */
#ifndef SHMEMI_MODULE_H
#define SHMEMI_MODULE_H

#include <stddef.h>

/*
 * The folder "postern" beside libpostern.so.0, in a build tree and in an installed one. Returns buffer, or NULL where this code is not in
 * that library (a program that contains it, linked from libpostern.a).
 */
const char *shmemi_module_folder(char *buffer, size_t buffer_bytes);

#endif
