/* SPDX-License-Identifier: Apache-2.0
 *
 * Overlap of operands, found by comparing addresses of this process: the remote operand has up to two here, the program's own (where the
 * PE is the caller) and the one in the node's mapping (where the PE is of this node). Memory of other nodes has none, and overlaps nothing.
 */
#include "runtime/operands.h"

#include "runtime/service.h"

enum { VIEWS_MAX = 2 };

/* Where the bytes of a place can be addressed here. Returns how many views there are. */
static size_t views_of(const struct shmemi_place *place, const void *symmetric, uintptr_t views_out[VIEWS_MAX])
{
    const struct shmemt_job *job   = &shmemi_state.job;
    int                      local = shmemi_state.peers[place->pe].local;
    size_t                   count = 0;
    if (place->pe == shmemi_state.my_pe) views_out[count++] = (uintptr_t)symmetric;
    if (local >= 0 && job->node_map[place->segment].base)
        views_out[count++] =
            (uintptr_t)job->node_map[place->segment].base + (size_t)local * job->node_map[place->segment].stride + place->offset;
    return count;
}

/* Both go upwards, so one walk along the two finds blocks that meet: those of an array's even and odd elements do not. */
static bool blocks_meet(uintptr_t a, const struct shmemi_operand *first, uintptr_t b, const struct shmemi_operand *second)
{
    for (size_t i = 0, j = 0; i < first->blocks && j < second->blocks;) {
        if (a + first->bytes <= b) {
            a += (uintptr_t)first->stride;
            i++;
        } else if (b + second->bytes <= a) {
            b += (uintptr_t)second->stride;
            j++;
        } else {
            return true;
        }
    }
    return false;
}

static bool same_blocks(uintptr_t a, const struct shmemi_operand *first, uintptr_t b, const struct shmemi_operand *second)
{
    return a == b && first->blocks == second->blocks && first->bytes == second->bytes && first->stride == second->stride;
}

static SHMEMI_COLD void overlap(const char *call, int pe, const struct shmemi_operand *remote, const struct shmemi_operand *local)
{
    char text[80];
    shmemi_service_fatal(call,
                         "%s and %s overlap" WHY
                         "%s is at %s of PE %d, and %s at %p is in part the same memory; what a call writes "
                         "may be no other argument of it" FIX "use other memory for one of the two",
                         remote->name, local->name, remote->name, shmemi_route_describe(remote->address, text, sizeof text), pe,
                         local->name, local->address);
}

void shmemi_operands_check(const char *call, const struct shmemi_place *place, const struct shmemi_operand *remote,
                           const struct shmemi_operand *local)
{
    uintptr_t views[VIEWS_MAX];
    if (!local->address)
        shmemi_service_fatal(call,
                             "%s is NULL" WHY "only a call that moves nothing may pass NULL" FIX
                             "look at how the address is made, and at the number of elements",
                             local->name);
    size_t count = views_of(place, remote->address, views);
    for (size_t i = 0; i < count; i++) {
        uintptr_t here = (uintptr_t)local->address;
        if (local->may_be_same && same_blocks(views[i], remote, here, local)) continue;
        if (blocks_meet(views[i], remote, here, local)) overlap(call, place->pe, remote, local);
    }
}
