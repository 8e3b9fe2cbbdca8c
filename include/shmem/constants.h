/* SPDX-License-Identifier: Apache-2.0
 *
 * The constants of OpenSHMEM.  Flags are of type long and combine with |; operators are of type int
 * and start at 1, so that a forgotten (zero) operator is found by the checks.
 * Spec: OpenSHMEM 1.6 §6 (constants), §7 (handles).
 */
#ifndef SHMEMI_CONSTANTS_H
#define SHMEMI_CONSTANTS_H

#include "types.h"

/* clang-format off */

/* The version of the standard, and the name of this library (its NUL is within the limit). */
#define SHMEM_MAJOR_VERSION 1
#define SHMEM_MINOR_VERSION 6
#define SHMEM_MAX_NAME_LEN  64
#define SHMEM_VENDOR_STRING "Postern 0.1.0"

/* Thread levels, §9.2: each allows what those above it allow. */
#define SHMEM_THREAD_SINGLE     0 /* the process has one thread                             */
#define SHMEM_THREAD_FUNNELED   1 /* only the thread that called shmem_init_thread calls us */
#define SHMEM_THREAD_SERIALIZED 2 /* any thread, never two at once                          */
#define SHMEM_THREAD_MULTIPLE   3 /* any thread at any time                                 */

/* Hints of shmem_malloc_with_hints, §9.3.5: who will use the memory, and how. */
#define SHMEM_MALLOC_ATOMICS_REMOTE (1L << 0) /* other PEs will update it by atomics      */
#define SHMEM_MALLOC_SIGNAL_REMOTE  (1L << 1) /* other PEs will update it as signal words */

/* Teams, §9.4.  The handles are addresses that no object has. */
#define SHMEM_TEAM_INVALID      ((shmem_team_t)0)
#define SHMEM_TEAM_WORLD        ((shmem_team_t)1) /* all PEs of the job                                   */
#define SHMEM_TEAM_SHARED       ((shmem_team_t)2) /* the PEs that can load and store each other's memory  */
#define SHMEM_TEAM_NUM_CONTEXTS (1L << 0)         /* config mask: num_contexts is set                     */

/* Contexts, §9.5.  The options are promises of the program. */
#define SHMEM_CTX_INVALID    ((shmem_ctx_t)0)
#define SHMEM_CTX_DEFAULT    ((shmem_ctx_t)1) /* world team, no options: what calls without a context use */
#define SHMEM_CTX_SERIALIZED (1L << 0)        /* shareable between threads, never used by two at once     */
#define SHMEM_CTX_PRIVATE    (1L << 1)        /* used by the creating thread only                         */
#define SHMEM_CTX_NOSTORE    (1L << 2)        /* fence and quiet need not care for plain CPU stores       */

/* Sessions, §9.9: the option, and the config mask. */
#define SHMEM_CTX_SESSION_BATCH     (1L << 0) /* many operations follow, so gathering them pays */
#define SHMEM_CTX_SESSION_TOTAL_OPS (1L << 0) /* config mask: total_ops is set                  */

/* How a signal word is updated, §9.8.2. */
#define SHMEM_SIGNAL_SET 1 /* word = signal  */
#define SHMEM_SIGNAL_ADD 2 /* word += signal */

/* Comparisons of wait and test, §9.11: the word at ivar against the value given. */
#define SHMEM_CMP_EQ 1
#define SHMEM_CMP_NE 2
#define SHMEM_CMP_GT 3
#define SHMEM_CMP_GE 4
#define SHMEM_CMP_LT 5
#define SHMEM_CMP_LE 6

/*
 * Work arrays of the collectives over an active set, §9.10: the longs in pSync, what they hold before the
 * first use, and the fewest elements in pWrk (of max(nreduce / 2 + 1, this)).  All deprecated since 1.5.
 */
#define SHMEM_SYNC_VALUE              0L
#define SHMEM_SYNC_SIZE               64 /* enough for all */
#define SHMEM_BARRIER_SYNC_SIZE       64
#define SHMEM_BCAST_SYNC_SIZE         64
#define SHMEM_COLLECT_SYNC_SIZE       64
#define SHMEM_REDUCE_SYNC_SIZE        64
#define SHMEM_ALLTOALL_SYNC_SIZE      64
#define SHMEM_ALLTOALLS_SYNC_SIZE     64
#define SHMEM_REDUCE_MIN_WRKDATA_SIZE 8

/* The same by their first names, deprecated since 1.3. */
#define _SHMEM_MAJOR_VERSION           SHMEM_MAJOR_VERSION
#define _SHMEM_MINOR_VERSION           SHMEM_MINOR_VERSION
#define _SHMEM_MAX_NAME_LEN            SHMEM_MAX_NAME_LEN
#define _SHMEM_VENDOR_STRING           SHMEM_VENDOR_STRING
#define _SHMEM_CMP_EQ                  SHMEM_CMP_EQ
#define _SHMEM_CMP_NE                  SHMEM_CMP_NE
#define _SHMEM_CMP_GT                  SHMEM_CMP_GT
#define _SHMEM_CMP_GE                  SHMEM_CMP_GE
#define _SHMEM_CMP_LT                  SHMEM_CMP_LT
#define _SHMEM_CMP_LE                  SHMEM_CMP_LE
#define _SHMEM_SYNC_VALUE              SHMEM_SYNC_VALUE
#define _SHMEM_BARRIER_SYNC_SIZE       SHMEM_BARRIER_SYNC_SIZE
#define _SHMEM_BCAST_SYNC_SIZE         SHMEM_BCAST_SYNC_SIZE
#define _SHMEM_COLLECT_SYNC_SIZE       SHMEM_COLLECT_SYNC_SIZE
#define _SHMEM_REDUCE_SYNC_SIZE        SHMEM_REDUCE_SYNC_SIZE
#define _SHMEM_REDUCE_MIN_WRKDATA_SIZE SHMEM_REDUCE_MIN_WRKDATA_SIZE

/* clang-format on */

#endif
