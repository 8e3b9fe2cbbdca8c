/* SPDX-License-Identifier: Apache-2.0
 *
 * The old place of shmemx.h, deprecated since OpenSHMEM 1.1.
 */
#include "../shmemx.h"
