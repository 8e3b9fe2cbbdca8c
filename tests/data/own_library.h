/* SPDX-License-Identifier: Apache-2.0
 *
 * A shared library of the program's own.
 */
#ifndef TESTS_DATA_OWN_LIBRARY_H
#define TESTS_DATA_OWN_LIBRARY_H

volatile long *own_library_count(void);

#endif
