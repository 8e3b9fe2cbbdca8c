/* SPDX-License-Identifier: Apache-2.0
 *
 * The units of device code that have registered themselves.
 */
#ifndef SHMEMD_UNIT_H
#define SHMEMD_UNIT_H

#include "device/side.h"

/* Open the side of the GPU, if it is not, and give its state. Between start and stop. 0 or a negative errno, logged. */
int shmemd_unit_gpu_state(struct shmemd_state *state_out);

/* The unit that can start kernels, for shmemx_collective_launch; NULL: none. */
const struct shmemd_unit *shmemd_unit_launcher(void);

#endif
