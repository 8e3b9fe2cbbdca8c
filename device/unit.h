/* SPDX-License-Identifier: Apache-2.0
 *
 * The units of device code that have registered themselves.
 */
#ifndef SHMEMD_UNIT_H
#define SHMEMD_UNIT_H

#include "device/side.h"

/* The unit that can start kernels, for shmemx_collective_launch; NULL: none. */
const struct shmemd_unit *shmemd_unit_launcher(void);

#endif
