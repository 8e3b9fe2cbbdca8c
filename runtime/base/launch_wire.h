/* SPDX-License-Identifier: Apache-2.0
 *
 * What oshrun and a PE say to each other (runtime/bootstrap/local.c on the PE's side, runtime/tools/oshrun_wire.c on the other).
 *
 * Each PE inherits two connected Unix sockets, also through a shell script or a debugger that stands between:
 *   call    SOCK_STREAM: one request of the PE at a time and its answer, struct launch_call followed by its bytes
 *   notice  SOCK_SEQPACKET: single messages both ways that nobody answers, struct launch_notice cut after its text
 * Both ends run on one machine and come from one build, so the structs travel as they lie in memory; LAUNCH_VERSION guards that.
 *
 * POSTERN_OSHRUN in the PE's environment holds LAUNCH_FORMAT. The inode numbers tell whether the descriptors are still those sockets.
 */
#ifndef SHMEMI_LAUNCH_WIRE_H
#define SHMEMI_LAUNCH_WIRE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define LAUNCH_VARIABLE "POSTERN_OSHRUN"
#define LAUNCH_VERSION  3
/* version, call descriptor, notice descriptor, their inodes, PE, PEs, local rank, local size */
#define LAUNCH_FORMAT     "%d:%d:%d:%lu:%lu:%d:%d:%d:%d"
#define LAUNCH_FIELDS     9
#define LAUNCH_NPES_MAX   (1 << 20)
#define LAUNCH_TEXT_BYTES 1024
/* Numbers of barriers are compared modulo this. */
#define LAUNCH_BARRIERS_MAX (1 << 22)

enum launch_call_kind {
    /* PE to oshrun */
    LAUNCH_GATHER = 1, /* bytes of this PE; answered by GATHERED when all PEs have sent theirs, or by ENDED     */
    LAUNCH_ASK,        /* who is missing? answered by MISSING while this PE's GATHER waits, else not at all      */
    /* oshrun to PE */
    LAUNCH_GATHERED = 16, /* the bytes of all PEs in order                                                       */
    LAUNCH_MISSING,       /* two texts, each with its NUL: the PEs, and what is known about them                 */
    LAUNCH_ENDED,         /* the job ends; no answer will come                                                   */
};

struct launch_call {
    uint32_t kind;
    uint32_t first; /* MISSING: 1 for the PE that asked first; it alone prints, so that N PEs do not say the same */
    uint64_t bytes; /* that follow */
};
static_assert(sizeof(struct launch_call) == 16, "sent as it lies in memory");

enum launch_notice_kind {
    /* PE to oshrun */
    LAUNCH_HELLO = 1, /* the PE has joined: from now on it must leave with LEAVE                                 */
    LAUNCH_LEAVING,   /* the PE goes into the barrier of its last finalize. status: 256 * number of its barriers so far + the
                       * exit status, if it is in exit() */
    LAUNCH_LEAVE,     /* the PE has left in good order; status: enum launch_leave; a HELLO may follow            */
    LAUNCH_ABORT,     /* end the job with this status; text: the reason, or empty                                */
    /* oshrun to PE */
    LAUNCH_END = 16, /* a PE called shmem_global_exit                                                           */
    LAUNCH_FAILURE,  /* something died; text says what                                                          */
};

enum launch_leave {
    LAUNCH_LEFT,           /* no more is known                                                                    */
    LAUNCH_LEFT_FINALIZED, /* it has come out of the barrier of its last finalize, so all PEs have sent LEAVING   */
    LAUNCH_LEFT_UNSTARTED, /* its start failed, and why has been printed                                          */
};

struct launch_notice {
    uint32_t kind;
    int32_t  status;
    char     text[LAUNCH_TEXT_BYTES]; /* NUL at its end */
};
#define LAUNCH_NOTICE_HEAD offsetof(struct launch_notice, text)

#endif
