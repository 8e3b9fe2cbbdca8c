/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of PEs, the ports behind which they are, and those of them that are partners.
 *
 * Keys. Each PE gets a key of every region at start-up, and would keep a hundred bytes of each PE if it kept them. So of the segments that exist at
 * the start only a bit is kept, that they were imported; the partner tells of them again in its first datagram. Regions that come
 * later are few; their keys are kept, with a partner.
 */
#include "transports/ibverbs/peer.h"

#include "transports/ibverbs/verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PORTS_MIN = 16 };

/* Stands for every PE that was lost before there was a word with it. It is never written. */
static struct partner lost_stranger = {.lost = true};

/* ---- ports ---- */

static uint32_t hash_of(const struct ib_endpoint *endpoint)
{
    const unsigned char *bytes = (const unsigned char *)endpoint;
    uint32_t             hash  = 2166136261u;
    for (size_t i = 0; i < sizeof *endpoint; i++) hash = (hash ^ bytes[i]) * 16777619u;
    return hash;
}

/* Where its place is, or belongs. */
static uint32_t *slot_of(const struct ib_ports *ports, const struct ib_endpoint *endpoint)
{
    uint32_t size = 2 * ports->room, at = hash_of(endpoint) % size;
    while (ports->slots[at] && memcmp(&ports->all[ports->slots[at] - 1], endpoint, sizeof *endpoint) != 0) at = (at + 1) % size;
    return &ports->slots[at];
}

static int grow_ports(struct ib_ports *ports)
{
    struct ib_ports more = {.count = ports->count, .room = ports->room ? 2 * ports->room : PORTS_MIN};
    more.slots           = calloc(2 * (size_t)more.room, sizeof *more.slots);
    more.all             = more.slots ? realloc(ports->all, more.room * sizeof *more.all) : NULL;
    if (!more.all) {
        free(more.slots);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < more.count; i++) *slot_of(&more, &more.all[i]) = i + 1;
    free(ports->slots);
    *ports = more;
    return 0;
}

static int enter_port(struct ib_ports *ports, const struct ib_endpoint *endpoint, uint32_t *place_out)
{
    if (ports->count == ports->room) {
        int err = grow_ports(ports);
        if (err) return err;
    }
    uint32_t *slot = slot_of(ports, endpoint);
    if (!*slot) {
        ports->all[ports->count++] = *endpoint;
        *slot                      = ports->count;
    }
    *place_out = *slot - 1;
    return 0;
}

const struct ib_endpoint *shmemt_ibverbs_peer_endpoint(const struct verbs *verbs, int pe)
{
    return &verbs->ports.all[verbs->peers[pe].port];
}

/* ---- the table ---- */

int shmemt_ibverbs_peer_open(struct verbs *verbs)
{
    verbs->peers = calloc((size_t)verbs->job->npes, sizeof *verbs->peers);
    return verbs->peers ? 0 : -ENOMEM;
}

void shmemt_ibverbs_peer_close(struct verbs *verbs)
{
    for (struct partner *partner = verbs->partners, *next; partner; partner = next) {
        next = partner->next;
        for (unsigned i = 0; i < LANES_MAX; i++) shmemt_ibverbs_connect_destroy_link(partner->links[i]);
        free(partner);
    }
    free(verbs->ports.all);
    free(verbs->ports.slots);
    free(verbs->peers);
}

int shmemt_ibverbs_peer_add(struct verbs *verbs, int pe, const struct ib_address *address)
{
    struct peer *peer = &verbs->peers[pe];
    uint32_t     port;
    int          err = enter_port(&verbs->ports, &address->endpoint, &port);
    if (err) return err;
    peer->port   = port;
    peer->ud_qpn = address->ud_qpn & 0xffffff;
    peer->serves = address->serves != 0;
    peer->known  = true;
    if (pe != verbs->job->my_pe) return 0;
    /* Of itself a PE knows all at once: what follows finds a partner, and puts the keys there. */
    struct partner *self = shmemt_ibverbs_peer_meet(verbs, pe);
    if (!self) return -ENOMEM;
    atomic_store_explicit(&self->heard, true, memory_order_release);
    return 0;
}

/* ---- partners ---- */

struct partner *shmemt_ibverbs_peer_meet(struct verbs *verbs, int pe)
{
    struct partner *partner = peer_partner(&verbs->peers[pe]);
    if (partner) return partner;
    partner = calloc(1, sizeof *partner);
    if (!partner) return NULL;
    partner->pe     = pe;
    partner->next   = verbs->partners;
    verbs->partners = partner;
    atomic_store_explicit(&verbs->peers[pe].partner, partner, memory_order_release); /* pairs with peer_partner() */
    return partner;
}

int shmemt_ibverbs_peer_import(struct verbs *verbs, int pe, int segment, const struct ib_remote *remote)
{
    struct peer    *peer    = &verbs->peers[pe];
    struct partner *partner = peer_partner(peer);
    if (partner == &lost_stranger) return 0;
    if (segment < SHMEMT_SEGMENT_USER) {
        unsigned bits  = remote->known ? peer->imported | 1u << segment : peer->imported & ~(1u << segment);
        peer->imported = bits & ((1u << SHMEMT_SEGMENT_USER) - 1);
    } else if (!partner && remote->known) {
        partner = shmemt_ibverbs_peer_meet(verbs, pe);
        if (!partner) return -ENOMEM;
    }
    if (partner) partner->remotes[segment] = *remote;
    return 0;
}

bool shmemt_ibverbs_peer_imported(const struct verbs *verbs, int pe, int segment)
{
    const struct peer    *peer    = &verbs->peers[pe];
    const struct partner *partner = peer_partner(peer);
    if (!peer->known) return false;
    return segment < SHMEMT_SEGMENT_USER ? peer->imported >> segment & 1 : partner && partner->remotes[segment].known;
}

/* What has been imported since the partner is one is newer than what a datagram may say. */
void shmemt_ibverbs_peer_hear(struct verbs *verbs, struct partner *partner, const struct ib_told *regions)
{
    if (peer_heard(partner)) return;
    for (int segment = 0; segment < SHMEMT_SEGMENT_USER; segment++) {
        const struct ib_told *told = &regions[segment];
        if (!told->known || partner->remotes[segment].known || !shmemt_ibverbs_peer_imported(verbs, partner->pe, segment)) continue;
        partner->remotes[segment] = (struct ib_remote){
            .base = told->base, .bytes = told->bytes, .rkey = told->rkey, .known = true, .host = told->host != 0};
    }
    atomic_store_explicit(&partner->heard, true, memory_order_release);
}

struct partner *shmemt_ibverbs_peer_lose(struct verbs *verbs, int pe)
{
    struct partner *partner = peer_partner(&verbs->peers[pe]);
    if (!partner) {
        atomic_store_explicit(&verbs->peers[pe].partner, &lost_stranger, memory_order_release);
        return NULL;
    }
    if (partner == &lost_stranger) return NULL;
    atomic_store_explicit(&partner->lost, true, memory_order_release);
    return partner;
}
