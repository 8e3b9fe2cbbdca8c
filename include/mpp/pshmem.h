/* SPDX-License-Identifier: Apache-2.0
 *
 * The old place of pshmem.h, deprecated since OpenSHMEM 1.1.
 */
#include "../pshmem.h"
