/* SPDX-License-Identifier: Apache-2.0
 *
 * A shared library of the program's own, with a static object.
 */
#include "tests/data/own_library.h"

static volatile long count = 1;

__attribute__((visibility("default"))) volatile long *own_library_count(void)
{
    return &count;
}
