/* SPDX-License-Identifier: Apache-2.0
 *
 * Meeting: barrier and sync of all PEs, of a team, of an active set.
 *
 * Dissemination: in round r every member tells the member 2^r after it, and waits for the member 2^r before it; ceil(log2 n) rounds, one
 * line per round and PE, one writer per line. Works over any route, since a notification is an atomic on a control word.
 * Central: with more PEs than cores, each waiting round costs a sleep and a context switch. Then all count up one word of the team's
 * first member, and the last to arrive tells everybody: one sleep per PE.
 * In layers: the members of each node tell its first one by shared memory, these disseminate, and let the others go (coll/hier.h).
 * Words of a slot only grow (number of synchronizations so far), so nothing is reset and a fast PE may be one synchronization ahead.
 *
 * Active sets meet in the caller's pSync, which must read SHMEM_SYNC_VALUE again afterwards. There word r is a semaphore: the PE before adds 1,
 * and the waiting PE takes 1 off. A fast PE may add its second 1 before the first is taken, so barriers on one pSync may follow each other.
 * A central meeting counts in the pSync of the set's first PE. A set on several nodes disseminates among all its PEs.
 * Spec: OpenSHMEM 1.6 §9.10.1 to §9.10.4.  Tests: tests/api/sync/.
 */
#include "runtime/sync.h"

#include "runtime/coll/coll.h"
#include "runtime/coll/hier.h"
#include "runtime/device.h"
#include "runtime/gpu/gpu.h"
#include "runtime/post.h"
#include "runtime/route.h"
#include "runtime/service.h"
#include "runtime/team.h"

#include <shmem.h>

struct arrival {
    _Atomic uint64_t *word;
    uint64_t          wanted;
};

static bool arrived(void *argument)
{
    const struct arrival *wait = argument;
    /* Acquire: pairs with the release of the notifying PE, whose earlier stores must be visible now. */
    return atomic_load_explicit(wait->word, memory_order_acquire) >= wait->wanted;
}

static SHMEMI_COLD void wait_longer(const char *call, _Atomic uint64_t *word, uint64_t wanted, int pe)
{
    struct arrival           wait        = {.word = word, .wanted = wanted};
    const struct shmemi_wait description = {
        .call    = call,
        .address = word,
        .bytes   = sizeof *word,
        .width   = sizeof *word,
        .cmp     = SHMEM_CMP_GE,
        .wanted  = wanted,
        .pe      = pe,
    };
    shmemi_wait_longer(&description, arrived, &wait);
}

void shmemi_sync_wait(const char *call, _Atomic uint64_t *word, uint64_t wanted, int pe)
{
    /* Acquire: as in arrived(). */
    for (unsigned looks = shmemi_wait_looks(); looks > 0; looks--)
        if (atomic_load_explicit(word, memory_order_acquire) >= wanted) return;
    wait_longer(call, word, wanted, pe);
}

void shmemi_sync_notify(int pe, size_t offset, uint64_t value)
{
    const struct shmemi_peer *peer = &shmemi_state.peers[pe];
    if (SHMEMI_LIKELY(peer->mapped != SHMEMI_NOT_MAPPED)) {
        char *word = (char *)shmemi_state_ctrl((unsigned)peer->local) + offset;
        atomic_store_explicit((_Atomic uint64_t *)(void *)word, value, memory_order_release);
        shmemi_wait_stored(peer->local, word, sizeof(uint64_t));
        return;
    }
    /* ADD, not SET: two notifications that overtake each other must not turn the word back. */
    const struct shmemi_place at  = {.transport = peer->posted, .pe = pe, .segment = SHMEMT_SEGMENT_CTRL, .offset = offset};
    const struct shmemt_amo   amo = {.op = SHMEMT_AMO_ADD, .bytes = sizeof(uint64_t), .value = 1};
    shmemi_post_amo(&shmemi_state.ctx_default, &at, &amo, SHMEMI_POST_LOCAL);
}

/* ---- in a slot ---- */

/*
 * The note goes to the line that the notification is about to take anyway, and before it. Two of them, since the member before may be one synchronization ahead
 * of the one that reads; it is not two ahead before it has heard from that one again.
 */
static void show_note(const struct shmemi_team *team, uint64_t epoch, uint64_t note)
{
    int                 next = shmemi_team_world_pe(team, (team->me + 1) % team->size);
    char               *ctrl = (char *)shmemi_state_ctrl((unsigned)shmemi_state.peers[next].local);
    struct shmemi_slot *slot = (struct shmemi_slot *)(void *)(ctrl + shmemi_state_slot_offset(team->slot));
    /* Relaxed: the notification that follows releases it. */
    atomic_store_explicit(&slot->round[0].note[epoch % 2], note, memory_order_relaxed);
}

/* Inline: each of the places that call it has a use for part of it only. `with` is NULL where nothing goes with the meeting. */
SHMEMI_INLINE void disseminate(const char *call, const struct shmemi_team *team, uint64_t epoch, struct shmemi_sync_meeting *with)
{
    size_t              slot_offset = shmemi_state_slot_offset(team->slot);
    struct shmemi_slot *slot        = shmemi_coll_slot(team);
    int                 n = team->size, me = team->me;
    for (int round = 0, distance = 1; distance < n; round++, distance *= 2) {
        size_t offset = slot_offset + offsetof(struct shmemi_slot, round) + (size_t)round * sizeof slot->round[0];
        int    to = me < n - distance ? me + distance : me - (n - distance); /* without a division: others wait for what follows */
        int    from = me >= distance ? me - distance : me + (n - distance);
        if (with && round == 0) show_note(team, epoch, with->mine);
        shmemi_sync_notify(shmemi_team_world_pe(team, to), offset, epoch);
        if (with && round == 0 && with->work) with->work(with->argument);
        shmemi_sync_wait(call, &slot->round[round].arrived, epoch, shmemi_team_world_pe(team, from));
        /* Relaxed: the wait has acquired it. */
        if (with && round == 0) with->theirs = atomic_load_explicit(&slot->round[0].note[epoch % 2], memory_order_relaxed);
    }
}

/* All members count epochs, so that the leaders agree on them. */
static void meet_in_layers(const char *call, struct shmemi_team *team, struct shmemi_hier *hier)
{
    uint64_t epoch = ++team->epoch;
    if (shmemi_hier_gather(call, hier)) disseminate(call, &hier->leaders, epoch, NULL);
    shmemi_hier_release(call, hier);
    team->oneway_left = SHMEMI_ONEWAY_BOXES;
}

/* What the last to arrive does before it lets the others go. */
struct last_work {
    shmemi_sync_work *work; /* or NULL */
    void             *argument;
};

static void do_last_work(const struct last_work *last)
{
    if (last->work) last->work(last->argument);
}

static void gather_centrally(const char *call, struct shmemi_team *team, uint64_t epoch, const struct last_work *last)
{
    size_t              slot_offset = shmemi_state_slot_offset(team->slot);
    int                 first       = shmemi_team_world_pe(team, 0);
    char               *ctrl        = (char *)shmemi_state_ctrl((unsigned)shmemi_state.peers[first].local);
    struct shmemi_slot *slot        = (struct shmemi_slot *)(void *)(ctrl + slot_offset);
    /* Acquire and release: the last to arrive passes on everybody's stores. */
    uint64_t before = atomic_fetch_add_explicit(&slot->central_arrived, 1, memory_order_acq_rel);
    if (before + 1 == epoch * (uint64_t)team->size) {
        do_last_work(last);
        for (int i = 1; i < team->size; i++) {
            int member = (team->me + i) % team->size;
            shmemi_sync_notify(shmemi_team_world_pe(team, member), slot_offset + offsetof(struct shmemi_slot, central_epoch),
                               epoch);
        }
    } else {
        shmemi_sync_wait(call, &shmemi_coll_slot(team)->central_epoch, epoch, -1);
    }
}

/* ---- in a pSync ---- */

/* Behind the semaphores of the rounds: those of a central meeting. */
enum { PSYNC_ARRIVED = SHMEMI_ROUNDS_MAX, PSYNC_RELEASED };

static void add_one(const char *call, const struct shmemi_team *team, long *word, int member)
{
    struct shmemi_place place;
    shmemi_route_find(&shmemi_state.ctx_default, call, word, sizeof *word, shmemi_team_world_pe(team, member), &place);
    shmemi_route_by_agent(&place);
    if (place.mapped) {
        /* Release: who takes it sees what this PE stored before. */
        atomic_fetch_add_explicit((_Atomic long *)place.mapped, 1, memory_order_release);
        shmemi_wait_stored((int)place.local, place.mapped, sizeof *word);
    } else {
        const struct shmemt_amo amo = {.op = SHMEMT_AMO_ADD, .bytes = sizeof *word, .value = 1};
        shmemi_post_amo(&shmemi_state.ctx_default, &place, &amo, SHMEMI_POST_LOCAL);
    }
}

/* A network device adds to the word, so it takes off as well. */
static SHMEMI_COLD void take_by_device(const char *call, long *word)
{
    struct shmemi_place place;
    uint64_t            before;
    shmemi_route_find(&shmemi_state.ctx_default, call, word, sizeof *word, shmemi_state.my_pe, &place);
    shmemi_route_by_agent(&place);
    const struct shmemt_amo amo = {.op = SHMEMT_AMO_ADD, .bytes = sizeof *word, .value = UINT64_MAX, .fetch = &before};
    shmemi_post_amo(&shmemi_state.ctx_default, &place, &amo, SHMEMI_POST_LOCAL);
}

void shmemi_sync_take(const char *call, const struct shmemi_team *team, long *word, int member)
{
    shmemi_sync_wait(call, (_Atomic uint64_t *)(void *)word, 1, member < 0 ? -1 : shmemi_team_world_pe(team, member));
    if (SHMEMI_UNLIKELY(shmemi_state.job.agent == SHMEMT_AGENT_NIC && shmemi_state.peers[shmemi_state.my_pe].posted >= 0)) {
        take_by_device(call, word);
        return;
    }
    /* Relaxed: only this PE takes off, and what the other stored was acquired by the wait. */
    atomic_fetch_sub_explicit((_Atomic long *)(void *)word, 1, memory_order_relaxed);
}

static void disseminate_in_psync(const char *call, struct shmemi_team *team)
{
    int n = team->size, me = team->me;
    for (int round = 0, distance = 1; distance < n; round++, distance *= 2) {
        add_one(call, team, &team->psync[round], (int)(((long)me + distance) % n));
        shmemi_sync_take(call, team, &team->psync[round], (int)(((long)me - distance + n) % n));
    }
}

/* The last to arrive takes everybody off the count before it releases anybody, so the next meeting counts from 0 again. */
static void gather_in_psync(const char *call, struct shmemi_team *team, const struct last_work *last)
{
    int                 n = team->size;
    struct shmemi_place place;
    shmemi_route_find(&shmemi_state.ctx_default, call, &team->psync[PSYNC_ARRIVED], sizeof(long), shmemi_team_world_pe(team, 0),
                      &place);
    _Atomic long *count = place.mapped;
    /* Acquire and release: the last to arrive passes on everybody's stores. */
    if (atomic_fetch_add_explicit(count, 1, memory_order_acq_rel) + 1 == n) {
        do_last_work(last);
        atomic_fetch_sub_explicit(count, n, memory_order_relaxed); /* add_one() releases it */
        for (int i = 1; i < n; i++) add_one(call, team, &team->psync[PSYNC_RELEASED], (team->me + i) % n);
    } else {
        shmemi_sync_take(call, team, &team->psync[PSYNC_RELEASED], -1);
    }
}

/* ---- all ---- */

static void meet_centrally(const char *call, struct shmemi_team *team, const struct last_work *last)
{
    if (team->psync) {
        gather_in_psync(call, team, last);
        return;
    }
    gather_centrally(call, team, ++team->epoch, last);
    team->oneway_left = SHMEMI_ONEWAY_BOXES;
}

void shmemi_sync_gather(const char *call, struct shmemi_team *team, shmemi_sync_work *work, void *argument)
{
    meet_centrally(call, team, &(struct last_work){.work = work, .argument = argument});
}

void shmemi_sync_team(const char *call, struct shmemi_team *team)
{
    /*
     * Earlier stores become visible (spec: shmem_team_sync): each notification releases them, each wait acquires what it was released with. A
     * load after the meeting reads what any member stored before it, so no full fence is owed, and it would wait for the stores' lines.
     */
    if (SHMEMI_UNLIKELY(team->size <= 1)) {
        if (team->size == 0) shmemi_service_outside(call);
        return;
    }
    if (team->central) {
        meet_centrally(call, team, &(struct last_work){.work = NULL});
        return;
    }
    if (SHMEMI_UNLIKELY(team->psync != NULL)) {
        disseminate_in_psync(call, team);
        return;
    }
    struct shmemi_hier *hier = shmemi_hier_of(team);
    if (SHMEMI_UNLIKELY(hier != NULL)) {
        meet_in_layers(call, team, hier);
        return;
    }
    disseminate(call, team, ++team->epoch, NULL);
    team->oneway_left = SHMEMI_ONEWAY_BOXES;
}

/* The quiet of a barrier: on mapped routes the meeting that follows does what is left of it. */
static void complete_default(void)
{
    if (SHMEMI_UNLIKELY(shmemi_state.device)) shmemi_device_quiet(); /* what kernels have left in the ring */
    if (SHMEMI_UNLIKELY(shmemi_state.gpu)) shmemi_gpu_complete();
    if (SHMEMI_UNLIKELY(shmemi_state.posted)) shmemi_post_quiet(&shmemi_state.ctx_default, SHMEMT_ALL_PES);
}

/* In checked mode: do all members call the same? */
static void check_call(const char *call, enum shmemi_coll_kind kind, struct shmemi_team *team)
{
    const struct shmemi_coll_call what = {.call = call, .kind = kind};
    if (SHMEMI_UNLIKELY(shmemi_state.check)) shmemi_coll_check(&what, team);
}

static void sync_checked(const char *call, enum shmemi_coll_kind kind, struct shmemi_team *team)
{
    check_call(call, kind, team);
    shmemi_sync_team(call, team);
}

void shmemi_sync_barrier(const char *call, int kind)
{
    complete_default();
    sync_checked(call, (enum shmemi_coll_kind)kind, &shmemi_state.world);
}

void shmemi_sync_barrier_with(const char *call, int kind, struct shmemi_sync_meeting *meeting)
{
    struct shmemi_team *team = &shmemi_state.world;
    complete_default();
    check_call(call, (enum shmemi_coll_kind)kind, team);
    /* As in shmemi_sync_team(): the world has a slot and no pSync, and members that map each other are not layered. */
    meeting->compared = team->size > 1 && team->mapped && !team->central;
    if (SHMEMI_UNLIKELY(!meeting->compared)) {
        if (meeting->work) meeting->work(meeting->argument);
        shmemi_sync_team(call, team);
        return;
    }
    disseminate(call, team, ++team->epoch, meeting);
    team->oneway_left = SHMEMI_ONEWAY_BOXES;
}

void pshmem_barrier_all(void)
{
    shmemi_sync_barrier("shmem_barrier_all", SHMEMI_COLL_BARRIER);
}
SHMEMI_EXPORT(shmem_barrier_all)

void pshmem_sync_all(void)
{
    sync_checked("shmem_sync_all", SHMEMI_COLL_SYNC, &shmemi_state.world);
}
SHMEMI_EXPORT(shmem_sync_all)

int pshmem_team_sync(shmem_team_t team)
{
    struct shmemi_team *found = shmemi_coll_team("shmem_team_sync", team);
    if (!found) return -1;
    sync_checked("shmem_team_sync", SHMEMI_COLL_SYNC, found);
    return 0;
}
SHMEMI_EXPORT(shmem_team_sync)

void pshmem_barrier(int PE_start, int logPE_stride, int PE_size, long *pSync)
{
    struct shmemi_team set;
    if (!shmemi_team_active_set("shmem_barrier", PE_start, logPE_stride, PE_size, pSync, &set)) return;
    complete_default();
    shmemi_sync_team("shmem_barrier", &set);
}
SHMEMI_EXPORT(shmem_barrier)

void pshmem_sync(int PE_start, int logPE_stride, int PE_size, long *pSync)
{
    struct shmemi_team set;
    if (!shmemi_team_active_set("shmem_sync", PE_start, logPE_stride, PE_size, pSync, &set)) return;
    shmemi_sync_team("shmem_sync", &set);
}
SHMEMI_EXPORT(shmem_sync)
