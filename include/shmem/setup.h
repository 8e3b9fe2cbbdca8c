/* SPDX-License-Identifier: Apache-2.0
 *
 * Setup, exit and queries.
 * Spec: OpenSHMEM 1.6 §9.1.
 */
#ifndef SHMEMI_SETUP_H
#define SHMEMI_SETUP_H

#include "constants.h"
#include "types.h"

SHMEMI_BEGIN

/*
 * Start and end OpenSHMEM.  Both are collective over all PEs of the job.  Calls nest: only the
 * finalize that matches the first init ends it, all others act as shmem_barrier_all.  After the
 * last finalize the program may init again.  The last finalize completes communication, destroys
 * teams and shareable contexts and releases the symmetric heap; the process lives on.
 * shmem_init has no error result: where it cannot start, it says why and ends the program.
 * Spec: §9.1.1, §9.1.4.
 */
SHMEMI_DECLARE(void, shmem_init, (void))
SHMEMI_DECLARE(void, shmem_finalize, (void))

/*
 * *initialized becomes 1 while at least one init has not met its finalize, else 0.
 * May be called at any time by any thread, also before init and after finalize.  Spec: §9.1.5.
 */
SHMEMI_DECLARE(void, shmem_query_initialized, (int *initialized))

/*
 * End the whole job with this exit status, from one PE, whatever the others are doing.  Does not
 * return.  Output is flushed as by exit.  Where several PEs call it, one status wins.  Spec: §9.1.6.
 */
SHMEMI_DECLARE(SHMEMI_DECLARE_NORETURN void, shmem_global_exit, (int status))

/* The number of this PE in the job, and how many there are: 0 <= my_pe < n_pes.  Spec: §9.1.2, §9.1.3. */
SHMEMI_DECLARE(int, shmem_my_pe, (void))
SHMEMI_DECLARE(int, shmem_n_pes, (void))

/*
 * 1 where this PE can reach that PE, else 0; and 1 where addr is symmetric (heap, or a static
 * object of the executable) and reachable at that PE, else 0.  Any address may be asked about.
 * Spec: §9.1.7, §9.1.8.
 */
SHMEMI_DECLARE(int, shmem_pe_accessible, (int pe))
SHMEMI_DECLARE(int, shmem_addr_accessible, (const void *addr, int pe))

/*
 * A local address of the symmetric object dest of another PE, for plain loads and stores, or NULL
 * where that PE's memory cannot be mapped.  pe is a number in the world team, or in team.
 * The address is valid as long as dest is; it is not a symmetric address.
 * SHMEM_TEAM_INVALID gives NULL.  Spec: §9.1.9, §9.1.10.
 */
SHMEMI_DECLARE(void *, shmem_ptr, (const void *dest, int pe))
SHMEMI_DECLARE(void *, shmem_team_ptr, (shmem_team_t team, const void *dest, int pe))

/*
 * The version of the standard, and SHMEM_VENDOR_STRING.  name has room for SHMEM_MAX_NAME_LEN
 * bytes, NUL included.  Spec: §9.1.11, §9.1.12.
 */
SHMEMI_DECLARE(void, shmem_info_get_version, (int *major, int *minor))
SHMEMI_DECLARE(void, shmem_info_get_name, (char *name))

SHMEMI_END

#endif
