/* SPDX-License-Identifier: Apache-2.0
 *
 * Checked mode: do the operands of one call lie in different memory?
 *
 * What a call writes must not overlap its other arguments. That is about memory, not about pointers: dest and source may be the same
 * pointer where dest is another PE's, and different pointers may be one place (shmem_ptr). A transfer of bytes onto themselves is let through:
 * put(data, data, n, next) becomes one in a job of one PE, and it changes nothing.
 * Spec: OpenSHMEM 1.6 §3 (overlap of arguments).  Tests: tests/api/rma/, tests/api/signal/, tests/api/amo/.
 */
#ifndef SHMEMI_OPERANDS_H
#define SHMEMI_OPERANDS_H

#include "runtime/route.h"

/* One argument: blocks of `bytes`, `stride` bytes from start to start, which is not negative. Contiguous: one block. */
struct shmemi_operand {
    const char *name; /* "dest", as the standard calls it */
    const void *address;
    size_t      blocks, bytes;
    ptrdiff_t   stride;
    bool        may_be_same; /* local operand: may be the very bytes of the remote one, block for block */
};

/*
 * End the job with a message where the local operand is NULL, or shares memory with the one at `place`.
 *
 * place  where shmemi_route_find() found the remote operand, whose address is the symmetric one
 */
void shmemi_operands_check(const char *call, const struct shmemi_place *place, const struct shmemi_operand *remote,
                           const struct shmemi_operand *local);

#endif
