/* SPDX-License-Identifier: Apache-2.0
 *
 * On which CPUs the progress thread runs: near the network device, within those that the PE may use, unless POSTERN_PROGRESS_CPUS says otherwise.
 */
#ifndef SHMEMI_PROGRESS_PLACE_H
#define SHMEMI_PROGRESS_PLACE_H

#include <stddef.h>

/* Once the transports are open: choose. 0; -EINVAL: the option makes no sense, logged. */
int shmemi_progress_place_choose(void);

/* For the report: ", on CPUs 0-3 near its device", or "". */
void shmemi_progress_place_describe(char *text, size_t bytes);

/* By the thread itself. Where the kernel refuses, a warning says so, and it runs where the PE does. */
void shmemi_progress_place_go(void);

#endif
