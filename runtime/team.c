/* SPDX-License-Identifier: Apache-2.0
 *
 * Teams: the predefined ones, splitting, queries. A predefined handle is a small integer, so that it can stand in a static initialiser;
 * any other is the address of a struct shmemi_team.
 *
 * A team is arithmetic (start, stride, size), whatever its size, over world numbers or over the list of this node's PEs. To meet, its members
 * need a slot that is free on all of them. Creation is one collective round on the parent: each PE gives the set of its free slots (none, if
 * it has no memory), all get the intersection and take the same one. A slot is cleared before it is given back, so it is ready for its next
 * team as soon as its number is known: members may use the new team while others are still in the call.
 * Spec: OpenSHMEM 1.6 §9.1.10 shmem_team_ptr, §9.4 Team Management Routines.  Tests: tests/api/team/.
 */
#include "runtime/team.h"

#include "runtime/base/log.h"
#include "runtime/base/num.h"
#include "runtime/coll/coll.h"
#include "runtime/coll/hier.h"
#include "runtime/ctx.h"
#include "runtime/device.h"
#include "runtime/order.h"
#include "runtime/gpu/gpu.h"
#include "runtime/route.h"
#include "runtime/service.h"
#include "runtime/sync.h"

#include <errno.h>
#include <shmem.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { CENTRAL_SIZE_MIN = 3 }; /* with more PEs than cores: two meet in one round anyway */

/* ---- slots ---- */

enum { WORD_BITS = 64, WINDOW_WORDS = SHMEMI_BOX_BYTES / (WORD_BITS / 8) };

/* Bit set: free. Lock: several threads may create and destroy teams at once. */
static struct {
    pthread_mutex_t lock;
    uint64_t       *free_words;
    size_t          words;
} slots = {.lock = PTHREAD_MUTEX_INITIALIZER};

void shmemi_team_plan_slots(void)
{
    struct shmemi_state *state = &shmemi_state;
    state->slot_rounds         = 2;
    for (long reach = 1; reach < state->npes; reach *= 2) state->slot_rounds++;
    state->slot_count = (int)shmemi_options.teams;
    state->slot_bytes =
        sizeof(struct shmemi_slot) + (size_t)state->slot_rounds * sizeof(struct shmemi_round) + shmemi_hier_slot_bytes();
    state->ctrl_bytes = sizeof(struct shmemi_ctrl) + (size_t)state->slot_count * state->slot_bytes;
}

static int init_slots(void)
{
    slots.words      = ((size_t)shmemi_state.slot_count + WORD_BITS - 1) / WORD_BITS;
    slots.free_words = calloc(slots.words, sizeof *slots.free_words);
    if (!slots.free_words) {
        shmemi_error("could not get memory for %d teams" WHY "malloc gave none" FIX "raise `ulimit -v`", shmemi_state.slot_count);
        return -ENOMEM;
    }
    for (int slot = SHMEMI_SLOT_FIRST_FREE; slot < shmemi_state.slot_count; slot++)
        slots.free_words[slot / WORD_BITS] |= UINT64_C(1) << slot % WORD_BITS;
    return 0;
}

/* True if the slot was free and is taken now. */
static bool take_slot(int slot)
{
    uint64_t bit = UINT64_C(1) << slot % WORD_BITS;
    pthread_mutex_lock(&slots.lock);
    bool taken = (slots.free_words[slot / WORD_BITS] & bit) != 0;
    slots.free_words[slot / WORD_BITS] &= ~bit;
    pthread_mutex_unlock(&slots.lock);
    return taken;
}

static void give_slot_back(int slot)
{
    if (slot < 0) return;
    pthread_mutex_lock(&slots.lock);
    slots.free_words[slot / WORD_BITS] |= UINT64_C(1) << slot % WORD_BITS;
    pthread_mutex_unlock(&slots.lock);
}

static void copy_free_slots(size_t first_word, uint64_t *words_out)
{
    pthread_mutex_lock(&slots.lock);
    for (size_t i = 0; i < WINDOW_WORDS; i++) words_out[i] = first_word + i < slots.words ? slots.free_words[first_word + i] : 0;
    pthread_mutex_unlock(&slots.lock);
}

/* Numbers of up to `wanted` set bits: the first ones past `skip` of them, or before these where there are no more. */
static int pick_slots(const uint64_t *words, size_t first_word, unsigned skip, int wanted, int *slots_out)
{
    unsigned set = 0, seen = 0;
    int      found = 0;
    for (size_t i = 0; i < WINDOW_WORDS; i++) set += (unsigned)__builtin_popcountll(words[i]);
    if (set > 0) skip %= set;
    for (int turn = 0; turn < 2; turn++, seen = 0)
        for (size_t i = 0; i < WINDOW_WORDS; i++)
            for (uint64_t left = words[i]; left && found < wanted; left &= left - 1, seen++)
                if ((seen >= skip) == (turn == 0)) slots_out[found++] = (int)((first_word + i) * WORD_BITS) + __builtin_ctzll(left);
    return found;
}

/*
 * Collective on parent: numbers of `wanted` slots that are free on all its members, past the first `skip` of them where there are enough.
 * 0, or -EAGAIN where some PE has none or gives up (able is false). The same result on all.
 */
static int find_common_slots(const char *call, struct shmemi_team *parent, bool able, unsigned skip, int wanted, int *slots_out)
{
    for (size_t first = 0; first < slots.words; first += WINDOW_WORDS) {
        uint64_t words[WINDOW_WORDS] = {0};
        if (able) copy_free_slots(first, words);
        shmemi_coll_and(call, parent, words, sizeof words);
        if (pick_slots(words, first, skip, wanted, slots_out) == wanted) return 0;
    }
    return -EAGAIN;
}

/* Bits of a number that differ for parents that are at the same PE at once: they have different slots. */
static unsigned skip_of(const struct shmemi_team *parent, unsigned turn)
{
    return turn == 0 ? 0 : ((unsigned)parent->slot + 1) * 2654435761u * turn >> 16;
}

/*
 * Collective on parent: take `wanted` slots on the members for which `mine` says so. Where several threads create teams at once, two of them may
 * be offered the same slot, and each get it on some PEs. So all agree on whether each got it, and else try again, from a place that differs
 * from parent to parent: the two do not meet again and again. -EBUSY where they did all the same, TURNS_MAX times; then
 * other threads take the places as fast as they become free.
 */
enum { TURNS_MAX = 64 };
static int take_common_slots(const char *call, struct shmemi_team *parent, bool able, int wanted, const bool *mine, int *slots_out)
{
    for (unsigned turn = 0; turn < TURNS_MAX; turn++) {
        int err = find_common_slots(call, parent, able, skip_of(parent, turn), wanted, slots_out);
        if (err) return err;
        uint64_t got         = 1;
        bool     taken_of[2] = {false, false};
        for (int i = 0; i < wanted; i++) {
            if (!mine[i]) continue;
            taken_of[i] = take_slot(slots_out[i]);
            if (!taken_of[i]) got = 0;
        }
        if (shmemi_state.thread_level == SHMEM_THREAD_MULTIPLE) shmemi_coll_and(call, parent, &got, sizeof got);
        if (got) return 0;
        for (int i = 0; i < wanted; i++)
            if (taken_of[i]) give_slot_back(slots_out[i]);
    }
    return -EBUSY;
}

/* ---- geometry ---- */

static bool all_mapped(const struct shmemi_team *team)
{
    if (!shmemi_state.same_transports) return false;
    if (!shmemi_state.posted) return true;
    for (int pe = 0; pe < team->size; pe++)
        if (shmemi_state.peers[shmemi_team_world_pe(team, pe)].mapped == SHMEMI_NOT_MAPPED) return false;
    return true;
}

/* What follows from who the members are. The same on all of them. Whether it is layered: hier.c, where it has or gets a slot. */
static void choose_ways(struct shmemi_team *team)
{
    team->mapped      = all_mapped(team);
    team->oneway_left = SHMEMI_ONEWAY_BOXES;
    team->central =
        team->mapped && (shmemi_options.coll_sync == SHMEMI_SYNC_CENTRAL ||
                         (shmemi_options.coll_sync == SHMEMI_SYNC_AUTO && shmemi_state.crowded && team->size >= CENTRAL_SIZE_MIN));
}

/* For a team that gets its slot later, in hier_out. 0 or -ENOMEM. */
static int layers_for(const struct shmemi_team *plan, struct shmemi_hier **hier_out)
{
    struct shmemi_team team = *plan;
    choose_ways(&team);
    return shmemi_hier_make(&team, hier_out);
}

/* Members start, start + stride, ... of parent. */
static struct shmemi_team part_of(const struct shmemi_team *parent, int start, int stride, int size)
{
    struct shmemi_team team = {
        .size   = size,
        .start  = parent->start + start * parent->stride,
        .stride = stride * parent->stride,
        .list   = parent->list,
        .slot   = -1,
        .alive  = true,
    };
    team.me = shmemi_team_find(&team, shmemi_state.my_pe);
    return team;
}

int shmemi_team_find(const struct shmemi_team *team, int world_pe)
{
    int place = world_pe;
    if (team->list) { /* the node's list, for which there is an inverse */
        place = world_pe >= 0 && world_pe < shmemi_state.npes ? shmemi_state.node.local_of[world_pe] : -1;
        if (place < 0) return -1;
    }
    int distance = place - team->start;
    if (team->size == 1) return distance == 0 ? 0 : -1;
    if (distance % team->stride != 0) return -1;
    int pe = distance / team->stride;
    return pe >= 0 && pe < team->size ? pe : -1;
}

/* ---- predefined ---- */

int shmemi_team_init(void)
{
    struct shmemi_state *state = &shmemi_state;
    struct shmemi_hier  *hier  = NULL;
    int                  err   = init_slots();
    if (!err) err = shmemi_hier_init();
    if (err) return err;
    state->world =
        (struct shmemi_team){.size = state->npes, .me = state->my_pe, .stride = 1, .slot = SHMEMI_SLOT_WORLD, .alive = true};
    choose_ways(&state->world);
    err = shmemi_hier_make(&state->world, &hier);
    if (err) {
        shmemi_error("could not get memory for start-up" WHY "malloc gave none" FIX "raise `ulimit -v`, or start fewer PEs");
        return err;
    }
    shmemi_hier_attach(hier, &state->world);

    /* SPEC §9.4: SHMEM_TEAM_SHARED holds the PEs with mutual non-null shmem_ptr, at least the caller. */
    if (state->peers[state->my_pe].mapped == SHMEMI_NOT_MAPPED) {
        state->shared = (struct shmemi_team){.size = 1, .start = state->my_pe, .stride = 1, .slot = -1, .alive = true};
    } else {
        state->shared = (struct shmemi_team){
            .size   = state->node.count,
            .me     = state->node.me,
            .stride = 1,
            .list   = state->node.pes,
            .slot   = SHMEMI_SLOT_SHARED,
            .alive  = true,
        };
    }
    choose_ways(&state->shared);
    return 0;
}

struct shmemi_team *shmemi_team_of(shmem_team_t handle)
{
    if (handle == SHMEM_TEAM_INVALID) return NULL;
    if (handle == SHMEM_TEAM_WORLD) return &shmemi_state.world;
    if (handle == SHMEM_TEAM_SHARED) return &shmemi_state.shared;
    return handle;
}

shmem_team_t shmemi_team_handle(const struct shmemi_team *team)
{
    if (team == &shmemi_state.world) return SHMEM_TEAM_WORLD;
    if (team == &shmemi_state.shared) return SHMEM_TEAM_SHARED;
    return (shmem_team_t)(uintptr_t)team;
}

/* SHMEM_TEAM_INVALID has a defined result in these calls: NULL, without a message. */
static struct shmemi_team *queried(const char *call, shmem_team_t team)
{
    return team == SHMEM_TEAM_INVALID ? NULL : shmemi_coll_team(call, team);
}

/* ---- active sets ---- */

static SHMEMI_COLD void no_such_set(const char *call, int start, int log_stride, int size)
{
    shmemi_service_fatal(call,
                         "there is no active set of %d PEs from PE %d on with logPE_stride %d" WHY
                         "the job has PEs 0 to %d, and the set needs PE_start + i * 2^logPE_stride" FIX
                         "look at PE_start, logPE_stride and PE_size",
                         size, start, log_stride, shmemi_state.npes - 1);
}

static int first_outside(const struct shmemi_team *set)
{
    int pe = 0;
    while (shmemi_team_find(set, pe) >= 0) pe++;
    return pe;
}

/*
 * The standard leaves it undefined. Old programs let all PEs call for a set of some, and with the libraries that they were written for it did no
 * harm. So it does none here, and one PE says so.
 */
static SHMEMI_COLD void not_in_set(const char *call, int log_stride, const struct shmemi_team *set)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    if (shmemi_state.check)
        shmemi_service_fatal(call,
                             "PE %d is not in the active set (PE_start %d, logPE_stride %d, PE_size %d)" WHY
                             "only PEs of the set call" FIX "look at the condition around the call",
                             shmemi_state.my_pe, set->start, log_stride, set->size);
    if (first_outside(set) == shmemi_state.my_pe && !atomic_flag_test_and_set(&told))
        shmemi_warn("%s: PE %d is not in the active set (PE_start %d, logPE_stride %d, PE_size %d)" WHY
                    "only PEs of the set call; for others the call does nothing" FIX "look at the condition around the call",
                    call, shmemi_state.my_pe, set->start, log_stride, set->size);
}

/* Semaphores hold 0, 1, or 2 while a fast PE is ahead; the count of a central meeting up to the number of PEs. */
static void check_psync(const char *call, const long *psync)
{
    for (int i = 0; i < SHMEMI_ROUNDS_MAX; i++) {
        long value = atomic_load_explicit((const _Atomic long *)&psync[i], memory_order_relaxed);
        if (value >= SHMEM_SYNC_VALUE && value <= SHMEM_SYNC_VALUE + 2) continue;
        shmemi_service_fatal(call,
                             "pSync[%d] is %ld" WHY
                             "pSync must hold SHMEM_SYNC_VALUE on all PEs before its first use, and no PE may store to it" FIX
                             "set all SHMEM_SYNC_SIZE elements on each PE, then call shmem_barrier_all before the first use",
                             i, value);
    }
}

bool shmemi_team_active_set(const char *call, int start, int log_stride, int size, long *psync, struct shmemi_team *set_out)
{
    const struct shmemi_state *state = &shmemi_state;
    if (SHMEMI_UNLIKELY(!shmemi_state_running())) shmemi_service_outside(call);
    if (start < 0 || size < 1 || log_stride < 0 || log_stride > 30 || start + ((int64_t)(size - 1) << log_stride) >= state->npes) {
        no_such_set(call, start, log_stride, size);
        return false;
    }
    struct shmemi_team team = {.size = size, .start = start, .stride = 1 << log_stride, .slot = -1, .psync = psync};
    if (SHMEMI_UNLIKELY(state->gpu) && shmemi_gpu_is_heap(psync)) shmemi_gpu_refuse(call, "pSync", psync);
    team.me = shmemi_team_find(&team, state->my_pe);
    if (SHMEMI_UNLIKELY(team.me < 0)) {
        not_in_set(call, log_stride, &team);
        return false;
    }
    if (SHMEMI_UNLIKELY(state->check)) {
        struct shmemi_place unused; /* the careful path has the messages */
        shmemi_route_find(&state->ctx_default, call, psync, SHMEM_SYNC_SIZE * sizeof *psync, state->my_pe, &unused);
        check_psync(call, psync);
    }
    choose_ways(&team);
    *set_out = team;
    return true;
}

/* ---- creation ---- */

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;

/* Places of destroyed teams, the oldest first: the longer a place rests, the longer a stale handle is seen to be one. */
static struct shmemi_team *retired_first, *retired_last;

static struct shmemi_team *get_place(void)
{
    pthread_mutex_lock(&list_lock);
    struct shmemi_team *place = retired_first;
    if (place) retired_first = place->next;
    if (!retired_first) retired_last = NULL;
    pthread_mutex_unlock(&list_lock);
    return place ? place : calloc(1, sizeof *place);
}

static void retire_place(struct shmemi_team *place)
{
    if (!place) return;
    place->alive = false;
    place->next  = NULL;
    pthread_mutex_lock(&list_lock);
    if (retired_last) retired_last->next = place;
    else retired_first = place;
    retired_last = place;
    pthread_mutex_unlock(&list_lock);
}

static void link_team(struct shmemi_team *team)
{
    pthread_mutex_lock(&list_lock);
    team->next = shmemi_state.team_list;
    team->prev = NULL;
    if (team->next) team->next->prev = team;
    shmemi_state.team_list = team;
    pthread_mutex_unlock(&list_lock);
}

static void unlink_team(struct shmemi_team *team)
{
    pthread_mutex_lock(&list_lock);
    if (team->next) team->next->prev = team->prev;
    if (team->prev) team->prev->next = team->next;
    else shmemi_state.team_list = team->next;
    pthread_mutex_unlock(&list_lock);
}

bool shmemi_team_is_alive(const struct shmemi_team *team)
{
    if (team == &shmemi_state.world || team == &shmemi_state.shared) return true;
    pthread_mutex_lock(&list_lock);
    const struct shmemi_team *found = shmemi_state.team_list;
    while (found && found != team) found = found->next;
    pthread_mutex_unlock(&list_lock);
    return found != NULL;
}

static int asked_contexts(const shmem_team_config_t *config, long config_mask)
{
    return config_mask & SHMEM_TEAM_NUM_CONTEXTS ? config->num_contexts : 0;
}

/* All members of the parent get the same answer; its first one says why. */
static SHMEMI_COLD void cannot_split(const struct shmemi_team *parent, const char *format, ...)
{
    va_list args;
    if (parent->me != 0) return;
    va_start(args, format);
    shmemi_log_v(SHMEMI_LOG_WARN, format, args);
    va_end(args);
}

static bool config_is_right(const char *call, const struct shmemi_team *parent, const shmem_team_config_t *config, long config_mask)
{
    if (config_mask & ~(long)SHMEM_TEAM_NUM_CONTEXTS)
        cannot_split(parent,
                     "%s: config_mask 0x%lx has unknown bits" WHY "SHMEM_TEAM_NUM_CONTEXTS is the only one" FIX "pass that, or 0",
                     call, (unsigned long)config_mask);
    else if (config_mask && !config)
        cannot_split(parent,
                     "%s: config is NULL although config_mask selects a field" WHY "the field is read from it" FIX
                     "pass a shmem_team_config_t, or the mask 0",
                     call);
    else if (asked_contexts(config, config_mask) < 0)
        cannot_split(parent, "%s: num_contexts is %d" WHY "it counts contexts" FIX "pass 0 or more", call,
                     asked_contexts(config, config_mask));
    else return true;
    return false;
}

/* Collective: make the teams of which this PE is a member. Both of them or none, on all PEs alike. 0 or nonzero. */
static int create_teams(const char *call, struct shmemi_team *parent, int wanted, const struct shmemi_team *plans,
                        shmem_team_t **handles_out)
{
    struct shmemi_team *made[2] = {NULL, NULL};
    struct shmemi_hier *hier[2] = {NULL, NULL};
    bool                needs_slot[2], able = true;
    int                 slot[2];
    for (int i = 0; i < wanted; i++) {
        needs_slot[i] = plans[i].me >= 0 && plans[i].size > 1;
        if (plans[i].me >= 0 && !(made[i] = get_place())) able = false;
        if (needs_slot[i] && layers_for(&plans[i], &hier[i]) != 0) able = false;
    }
    int err = take_common_slots(call, parent, able, wanted, needs_slot, slot);
    if (err) {
        cannot_split(parent,
                     "%s: the team could not be made" WHY "%s%d of each PE is free on all PEs of the parent team%s" FIX
                     "destroy teams that are no longer used, or raise POSTERN_TEAMS",
                     call,
                     err == -EBUSY ? "other threads make teams too, and took each place that was tried; hardly one of the "
                                   : "no place of the ",
                     shmemi_state.slot_count, err == -EBUSY ? "" : ", or one of them has no memory");
        for (int i = 0; i < wanted; i++) {
            shmemi_hier_drop(hier[i]);
            retire_place(made[i]);
        }
        return ENOMEM;
    }
    for (int i = 0; i < wanted; i++) {
        if (!made[i]) continue;
        *made[i] = plans[i];
        if (needs_slot[i]) made[i]->slot = slot[i];
        choose_ways(made[i]);
        shmemi_hier_attach(hier[i], made[i]);
        link_team(made[i]);
        shmemi_device_team_made(made[i]);
        *handles_out[i] = shmemi_team_handle(made[i]);
    }
    return 0;
}

/* SPEC §9.4.6: "start, stride and size" count PEs of the parent. No wrap-around; stride 0 only for one PE. */
static bool triplet_fits(int parent_size, int start, int stride, int size)
{
    if (size < 1 || start < 0 || start >= parent_size) return false;
    if (stride == 0) return size == 1;
    int64_t last = start + (int64_t)(size - 1) * stride;
    return last >= 0 && last < parent_size;
}

int pshmem_team_split_strided(shmem_team_t parent_team, int start, int stride, int size, const shmem_team_config_t *config,
                              long config_mask, shmem_team_t *new_team)
{
    const char         *call   = "shmem_team_split_strided";
    struct shmemi_team *parent = queried(call, parent_team);
    *new_team                  = SHMEM_TEAM_INVALID;
    if (!parent || !config_is_right(call, parent, config, config_mask)) return EINVAL;
    if (!triplet_fits(parent->size, start, stride, size)) {
        cannot_split(parent,
                     "%s: start %d, stride %d, size %d is no part of the parent team" WHY
                     "the parent has PEs 0 to %d; there is no wrap-around, and stride 0 needs size 1" FIX
                     "look at the three numbers",
                     call, start, stride, size, parent->size - 1);
        return EINVAL;
    }
    if (stride == 0) stride = 1;
    struct shmemi_team plan    = part_of(parent, start, stride, size);
    shmem_team_t      *outs[1] = {new_team};
    plan.num_contexts          = asked_contexts(config, config_mask);
    shmemi_coll_enter(&(struct shmemi_coll_call){.call  = call,
                                                 .kind  = SHMEMI_COLL_SPLIT,
                                                 .shape = {(uint64_t)start, (uint64_t)stride, (uint64_t)size}},
                      parent);
    return create_teams(call, parent, 1, &plan, outs);
}
SHMEMI_EXPORT(shmem_team_split_strided)

int pshmem_team_split_2d(shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config, long xaxis_mask,
                         shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config, long yaxis_mask,
                         shmem_team_t *yaxis_team)
{
    const char         *call   = "shmem_team_split_2d";
    struct shmemi_team *parent = queried(call, parent_team);
    *xaxis_team = *yaxis_team = SHMEM_TEAM_INVALID;
    if (!parent || !config_is_right(call, parent, xaxis_config, xaxis_mask) ||
        !config_is_right(call, parent, yaxis_config, yaxis_mask))
        return EINVAL;
    if (xrange < 1) {
        cannot_split(parent, "%s: xrange is %d" WHY "it is the number of PEs in a row" FIX "pass 1 or more", call, xrange);
        return EINVAL;
    }
    if (xrange > parent->size) xrange = parent->size;
    int x = parent->me % xrange, y = parent->me / xrange;
    int row_size    = parent->size - y * xrange < xrange ? parent->size - y * xrange : xrange;
    int column_size = (parent->size - x + xrange - 1) / xrange;

    struct shmemi_team plans[2] = {part_of(parent, y * xrange, 1, row_size), part_of(parent, x, xrange, column_size)};
    shmem_team_t      *outs[2]  = {xaxis_team, yaxis_team};
    plans[0].num_contexts       = asked_contexts(xaxis_config, xaxis_mask);
    plans[1].num_contexts       = asked_contexts(yaxis_config, yaxis_mask);
    shmemi_coll_enter(&(struct shmemi_coll_call){.call = call, .kind = SHMEMI_COLL_SPLIT, .shape = {(uint64_t)xrange}}, parent);
    return create_teams(call, parent, 2, plans, outs);
}
SHMEMI_EXPORT(shmem_team_split_2d)

/* ---- destruction ---- */

/* The slot as its next team must find it. */
static void clear_slot(struct shmemi_team *team)
{
    if (team->slot < 0) return;
    memset((void *)shmemi_coll_slot(team), 0, shmemi_state.slot_bytes);
    /* Release: whoever learns that the slot is free (through a collective round) stores to it after this. */
    atomic_thread_fence(memory_order_release);
    give_slot_back(team->slot);
}

void pshmem_team_destroy(shmem_team_t handle)
{
    const char *call = "shmem_team_destroy";
    if (handle == SHMEM_TEAM_INVALID) return; /* SPEC §9.4.8: no operation */
    if (handle == SHMEM_TEAM_WORLD || handle == SHMEM_TEAM_SHARED) {
        shmemi_warn("%s: SHMEM_TEAM_WORLD and SHMEM_TEAM_SHARED stay" WHY "predefined teams exist until shmem_finalize" FIX
                    "destroy only teams made by a split",
                    call);
        return;
    }
    struct shmemi_team *team = shmemi_coll_team(call, handle);
    if (!team) return;
    shmemi_coll_enter(&(struct shmemi_coll_call){.call = call, .kind = SHMEMI_COLL_DESTROY}, team);
    shmemi_ctx_destroy_of_team(team);
    /* Everything that members still send to each other's slots has arrived: nothing may land after they are cleared. */
    shmemi_order_quiet(&shmemi_state.ctx_default);
    shmemi_sync_team(call, team);
    shmemi_hier_drop(shmemi_hier_of(team));
    shmemi_device_team_gone(team);
    clear_slot(team);
    unlink_team(team);
    retire_place(team);
}
SHMEMI_EXPORT(shmem_team_destroy)

void shmemi_team_finish_all(void)
{
    while (shmemi_state.team_list) {
        struct shmemi_team *team = shmemi_state.team_list;
        unlink_team(team);
        free(team);
    }
    while (retired_first) {
        struct shmemi_team *place = retired_first;
        retired_first             = place->next;
        free(place);
    }
    retired_last = NULL;
    shmemi_hier_finish();
    free(slots.free_words);
    slots.free_words = NULL;
    slots.words      = 0;
}

/* ---- queries ---- */

int pshmem_team_my_pe(shmem_team_t team)
{
    const struct shmemi_team *found = queried("shmem_team_my_pe", team);
    return found ? found->me : -1;
}
SHMEMI_EXPORT(shmem_team_my_pe)

int pshmem_team_n_pes(shmem_team_t team)
{
    const struct shmemi_team *found = queried("shmem_team_n_pes", team);
    return found ? found->size : -1;
}
SHMEMI_EXPORT(shmem_team_n_pes)

int pshmem_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team)
{
    const struct shmemi_team *from = queried("shmem_team_translate_pe", src_team),
                             *to   = queried("shmem_team_translate_pe", dest_team);
    if (!from || !to || src_pe < 0 || src_pe >= from->size) return -1;
    return shmemi_team_find(to, shmemi_team_world_pe(from, src_pe));
}
SHMEMI_EXPORT(shmem_team_translate_pe)

int pshmem_team_get_config(shmem_team_t team, long config_mask, shmem_team_config_t *config)
{
    const struct shmemi_team *found = queried("shmem_team_get_config", team);
    if (!found) return -1;
    if (config_mask & ~(long)SHMEM_TEAM_NUM_CONTEXTS) return -1;
    if (config_mask & SHMEM_TEAM_NUM_CONTEXTS) {
        if (!config) return -1;
        config->num_contexts = found->num_contexts;
    }
    return 0;
}
SHMEMI_EXPORT(shmem_team_get_config)

void *pshmem_team_ptr(shmem_team_t team, const void *dest, int pe)
{
    const struct shmemi_team *found = queried("shmem_team_ptr", team);
    struct shmemi_place       place;
    if (!found || pe < 0 || pe >= found->size) return NULL;
    return shmemi_route_query(dest, shmemi_team_world_pe(found, pe), &place) ? place.mapped : NULL;
}
SHMEMI_EXPORT(shmem_team_ptr)
