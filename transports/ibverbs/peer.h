/* SPDX-License-Identifier: Apache-2.0
 *
 * What is known of the other PEs. Most of them a PE never talks to, and a job may have very many: of each there are 16 bytes. How it is
 * reached, its port, is kept once for all the PEs behind it; the rest comes with the first word, a *partner*: the keys of its memory are told in the
 * handshake, and the links to it hang there.
 *
 * Guarded by verbs.lock, but for what the data plane reads of a partner, and its links, which have their lanes' locks. A partner stays until close.
 * Tests: tests/simverbs/idle_peers.c.
 */
#ifndef SHMEMT_IBVERBS_PEER_H
#define SHMEMT_IBVERBS_PEER_H

#include "transports/ibverbs/device.h"
#include "transports/ibverbs/memory.h"
#include "transports/transport.h"

#include <assert.h>

enum { LANES_MAX = 256 };

struct link;
struct verbs;

/* What a PE tells of itself at start-up; its struct shmemt_address. */
struct ib_address {
    uint64_t           cookie; /* of the job */
    struct ib_endpoint endpoint;
    uint32_t           ud_qpn;
    uint8_t            serves; /* a thread answers while the PE computes */
    uint8_t            unused[3];
};

/* A region of a PE as it tells of it in the handshake. */
struct ib_told {
    uint64_t base, bytes;
    uint32_t rkey;
    uint8_t  known, host;
    uint8_t  unused[2];
};

/* A PE that there has been a word with, or to which there will be one now. */
struct partner {
    _Atomic bool     lost;
    _Atomic bool     heard;                        /* it has told of its regions; release, after `remotes` */
    struct ib_remote remotes[SHMEMT_SEGMENTS_MAX]; /* those that were imported                            */
    struct link     *links[LANES_MAX];             /* NULL: nothing over this lane yet                    */
    int              pe;
    struct partner  *next; /* all of them */
};

/* All that there is of a PE before the first word with it. */
struct peer {
    struct partner *_Atomic partner;     /* NULL: none yet. Release, after what it points to */
    uint32_t                port;        /* place in the table of ports */
    uint32_t                ud_qpn : 24; /* all that a queue pair's number has */
    uint32_t                known : 1, serves : 1;
    uint32_t                imported : SHMEMT_SEGMENT_USER; /* segments of the start, one bit each */
};
static_assert(sizeof(void *) != 8 || sizeof(struct peer) == 16, "a job may have very many PEs");

/* The ports that PEs are reached through, each once, found by a hash. */
struct ib_ports {
    struct ib_endpoint *all;
    uint32_t            count, room;
    uint32_t           *slots; /* [2 * room] place + 1; 0: empty */
};

int  shmemt_ibverbs_peer_open(struct verbs *verbs);
void shmemt_ibverbs_peer_close(struct verbs *verbs); /* and the links */

/* As the slots say; the address and the region have been looked at. verbs.lock is held, as for all that follows. */
int shmemt_ibverbs_peer_add(struct verbs *verbs, int pe, const struct ib_address *address);
int shmemt_ibverbs_peer_import(struct verbs *verbs, int pe, int segment, const struct ib_remote *remote);

/* Was the segment imported? Also of a PE that has not told of its regions. */
bool                      shmemt_ibverbs_peer_imported(const struct verbs *verbs, int pe, int segment);
const struct ib_endpoint *shmemt_ibverbs_peer_endpoint(const struct verbs *verbs, int pe);
/* Its partner, made where there is none. NULL: no memory. */
struct partner *shmemt_ibverbs_peer_meet(struct verbs *verbs, int pe);
/* It has told of its regions. */
void shmemt_ibverbs_peer_hear(struct verbs *verbs, struct partner *partner, const struct ib_told *regions);
/* No more words with it. The partner that it had, or NULL. */
struct partner *shmemt_ibverbs_peer_lose(struct verbs *verbs, int pe);

/* NULL: nobody has said a word. */
static inline struct partner *peer_partner(const struct peer *peer)
{
    return atomic_load_explicit(&peer->partner, memory_order_acquire);
}

static inline bool peer_is_lost(const struct peer *peer)
{
    const struct partner *partner = peer_partner(peer);
    return partner && atomic_load_explicit(&partner->lost, memory_order_relaxed);
}

/* Are its regions known? Pairs with the release in peer_hear(). */
static inline bool peer_heard(const struct partner *partner)
{
    return partner && atomic_load_explicit(&partner->heard, memory_order_acquire);
}

#endif
