/* SPDX-License-Identifier: Apache-2.0
 *
 * What travels between the PEs of a job with a unique id and its rank 0, over one TCP connection each.
 *
 *   first, both prove that they know the secret S of the id; T() is a tag under S (uid_mac.h), over a struct uid_proof:
 *     rank 0 -> PE   hello    nonce a
 *     PE -> rank 0   join     rank, npes, nonce b, T("join", a, b, rank, npes)
 *     rank 0 -> PE   welcome  verdict, T("welcome", a, b, rank, npes, verdict); zeros in place of the tag where the join's was wrong
 *   then frames, each followed by its `bytes` of body:
 *     PE -> rank 0   GATHER LEAVING LEAVE ABORT
 *     rank 0 -> PE   GATHERED FAILURE END BYE
 *
 * The nonces are new for each connection, so nothing that was listened to is of use later. What follows is neither signed nor
 * encrypted: the tags keep strangers out, not somebody who sits on the wire (decision 10). Words are little-endian, as both ends are.
 */
#ifndef SHMEMB_UID_WIRE_H
#define SHMEMB_UID_WIRE_H

#include "runtime/bootstrap/uid_mac.h"

#include <assert.h>
#include <stdint.h>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the words of the wire are little-endian");

#define UID_MAGIC "PSTNUID1"
enum { UID_NONCE_BYTES = 16, UID_MAGIC_BYTES = 8, UID_SECRET_BYTES = 16 };

struct uid_hello {
    char    magic[UID_MAGIC_BYTES];
    uint8_t nonce[UID_NONCE_BYTES];
};

struct uid_join {
    char     magic[UID_MAGIC_BYTES];
    uint32_t pe, npes;
    uint8_t  nonce[UID_NONCE_BYTES];
    uint8_t  tag[SHMEMI_UID_MAC_BYTES];
};

enum uid_verdict {
    UID_WELCOME,
    UID_WRONG_SECRET,
    UID_WRONG_NPES, /* `npes` is the right number              */
    UID_TAKEN,      /* this rank has joined already             */
    UID_OVER,       /* the job is ending, or could not start    */
};

struct uid_welcome {
    uint32_t verdict, npes;
    uint8_t  tag[SHMEMI_UID_MAC_BYTES];
};

/* What a tag is over. */
struct uid_proof {
    char     what[8]; /* "join", "welcome" */
    uint8_t  server_nonce[UID_NONCE_BYTES], client_nonce[UID_NONCE_BYTES];
    uint32_t pe, npes, verdict, unused;
};

enum uid_kind {
    UID_GATHER = 1, /* number: limit in ns, or -1; body: this PE's part                              */
    UID_LEAVING,    /* number: barriers so far; value: status of exit()                              */
    UID_LEAVE,      /* value: enum uid_left                                                          */
    UID_ABORT,      /* value: exit status; body: struct uid_text, `what` is the reason, "": none      */
    UID_GATHERED,   /* body: the parts in order of PE                                                */
    UID_FAILURE,    /* value: exit status; number: errno of an exchange under way; body: struct uid_text */
    UID_END,        /* value: exit status                                                            */
    UID_BYE,        /* rank 0 has left in good order: the end of this connection is none of the job  */
};

enum uid_left { UID_LEFT, UID_LEFT_UNSTARTED };

struct uid_frame {
    uint32_t kind;
    int32_t  value;
    uint64_t bytes; /* of the body */
    int64_t  number;
};

/* A message in its three parts. */
struct uid_text {
    char what[176], why[208], fix[128];
};

#define UID_GATHER_BYTES_MAX ((uint64_t)1 << 30) /* of one part: a frame that says more is none of ours */

#endif
