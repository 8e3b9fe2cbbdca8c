/* SPDX-License-Identifier: Apache-2.0
 *
 * The ring: how a kernel asks for what it cannot do by loads and stores of its own. Many producers (threads of kernels), one consumer (the
 * library's proxy thread, device/proxy.c), 64-byte descriptors in host memory.
 *
 *   producer                                             proxy
 *     ticket = fetch-add(next)
 *     wait until ticket - credit < slots      <--------    credit = tickets whose slot is free again   (release)
 *     fill descriptor[ticket % slots]
 *     turn = ticket + 1                       -------->    turn == head + 1?                           (release, acquire)
 *     (only if it asked for a reply)                       does it; later:
 *     wait until reply.turn == ticket + 1     <--------    reply.value, then reply.turn = ticket + 1   (release)
 *     reads reply.value
 *     taken = ticket + 1                      -------->    only then the slot counts as free
 *
 * Four orders are owed, and each has one release and one acquire: the descriptor before its turn; the descriptor's bytes read before credit; the
 * value before reply.turn; the value read before `taken`. A kernel's own stores to the source of a put come before its turn too: whoever
 * publishes for other threads has met them before (__syncwarp, __syncthreads), and the release is at system scope.
 *
 * A turn is never the same twice (64 bits), so no slot needs clearing. The proxy takes tickets in order and hands them to the runtime in that order, on
 * the runtime's context of the descriptor's ctx: so puts, signals, fences and quiets of one ctx keep the order in which their threads published them.
 * A producer that has taken a ticket must publish it: who comes behind waits for it. So nothing between the ticket and the turn may
 * give up, other than for the end of the job.
 *
 * This file is the layout, for both sides. The producer is ring.cuh, the consumer device/consumer.c.
 * Design: docs/decisions/0018-ring-and-proxy.md  Tests: tests/unit/ring_*.
 */
#ifndef SHMEMD_RING_H
#define SHMEMD_RING_H

#include "state.h"

enum shmemd_op {
    SHMEMD_OP_PUT = 1,    /* bytes from local to remote                                                              */
    SHMEMD_OP_PUT_INLINE, /* up to SHMEMD_INLINE_MAX bytes, which are in the descriptor from `local` on              */
    SHMEMD_OP_GET,        /* bytes from remote to local                                                              */
    SHMEMD_OP_IPUT,       /* count = argument[0] elements of `bytes` (1, 2, 4, 8 or 16); argument[1]: local stride, argument[2]: */
    SHMEMD_OP_IGET,       /* remote stride, both in elements and signed                                              */
    SHMEMD_OP_PUT_SIGNAL, /* as PUT; then the signal at (segments >> 4, argument[0]) by value argument[1]            */
    SHMEMD_OP_AMO,        /* at remote, `bytes` 4 or 8: argument[0] value, argument[1] compare; reply: the old value */
    SHMEMD_OP_FENCE,      /* all before it on ctx is visible before all after it                                     */
    SHMEMD_OP_QUIET,      /* reply: all before it on ctx is done and visible. Always asks for one                    */
};

/* Operations of SHMEMD_OP_AMO, in `detail`, and of shmemd_atomic() in mem.cuh. Who wants the old value asks for a reply. */
enum shmemd_atomic_op {
    SHMEMD_ATOMIC_FETCH = 1, /* read                             */
    SHMEMD_ATOMIC_SET,       /* write                            */
    SHMEMD_ATOMIC_SWAP,      /* write, and give the old value    */
    SHMEMD_ATOMIC_CSWAP,     /* write where it equals compare    */
    SHMEMD_ATOMIC_ADD,
    SHMEMD_ATOMIC_AND,
    SHMEMD_ATOMIC_OR,
    SHMEMD_ATOMIC_XOR,
};

/* Of SHMEMD_OP_PUT_SIGNAL, in `detail`. */
enum shmemd_signal { SHMEMD_SIGNAL_SET, SHMEMD_SIGNAL_ADD };

/* In `op`, beside the operation: the producer waits for a reply, which comes when the operation is done (a put: visible at its target). */
enum { SHMEMD_OP_REPLY = 0x80, SHMEMD_OP_MASK = 0x7f };

enum { SHMEMD_INLINE_MAX = 32, SHMEMD_CONTEXTS = 4 };

struct shmemd_descriptor {
    uint64_t turn; /* ticket + 1, stored last */
    int32_t  pe;   /* world number */
    uint8_t  op;
    uint8_t  detail;
    uint8_t  segments; /* of remote: low 4 bits, of the signal: high 4 bits; enum shmemd_segment_id */
    uint8_t  ctx;      /* below SHMEMD_CONTEXTS; 0: the default */
    uint64_t remote;   /* offset in its segment */
    uint64_t bytes;
    uint64_t local; /* address as the kernel uses it */
    uint64_t argument[3];
};

struct shmemd_reply {
    uint64_t turn, value; /* proxy    */
    uint64_t taken;       /* producer */
    uint64_t unused;
};

struct shmemd_credit {
    uint64_t free; /* tickets below free + slots may be filled */
    char     unused[56];
};

/* Only producers read and write these; each in a line of its own. */
struct shmemd_producers {
    uint64_t next; /* the next ticket */
    char     unused1[120];
    uint64_t credit; /* the newest credit.free that any of them has seen: spares them the way to host memory */
    char     unused2[120];
    uint64_t report_claims; /* state.h: struct shmemd_report */
    char     unused3[120];
};

SHMEMD_SAME(descriptor, sizeof(struct shmemd_descriptor) == 64);
SHMEMD_SAME(reply, sizeof(struct shmemd_reply) == 32);
SHMEMD_SAME(credit, sizeof(struct shmemd_credit) == 64);
SHMEMD_SAME(producers, sizeof(struct shmemd_producers) == 384);

#endif
