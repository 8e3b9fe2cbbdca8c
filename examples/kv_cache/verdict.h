/* SPDX-License-Identifier: Apache-2.0
 *
 * All PEs go on, or none: an error that only one of them sees must not leave the others waiting.
 */
#ifndef KV_VERDICT_H
#define KV_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether all PEs are well. Collective.
 *
 * good    this PE is well; if not, problem() holds its message, and the lowest PE that has one prints it
 * digest  of what all PEs must have read alike: requests and sizes
 */
bool verdict(bool good, uint64_t digest);

#endif
