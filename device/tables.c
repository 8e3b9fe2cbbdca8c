/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables that kernels search by handle: open addressing, twice as many places as entries, so that a search is a read or two. An entry is
 * filled first and gets its handle last; one that is given back keeps its place, so that searches go on past it.
 *
 * A kernel that uses a handle was started after the handle was made, so it finds it; what other handles come and go meanwhile only
 * moves entries that it does not look for.  Tests: tests/api/device/.
 */
#include "device/tables.h"

#include "runtime/team.h"

#include <assert.h>
#include <pthread.h>
#include <shmem.h>
#include <stdatomic.h>
#include <string.h>

static_assert((SHMEMD_TEAMS_TABLE & (SHMEMD_TEAMS_TABLE - 1)) == 0, "a search wraps by a mask");
static_assert(SHMEMD_TEAMS_TABLE == 128 && SHMEMD_CONTEXTS_TABLE == 128, "SHMEMD_HASH gives 7 bits");

static struct {
    pthread_mutex_t       lock;
    struct shmemd_team    teams[SHMEMD_TEAMS_TABLE]; /* list: that of the runtime, or NULL */
    struct shmemd_context contexts[SHMEMD_CONTEXTS_TABLE];
    int                   team_count, context_count;
    uint32_t              contexts_made;
} master = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Both kinds of entry begin with their handle. */
static uint64_t *handle_at(void *table, size_t entry_bytes, uint32_t place)
{
    return (uint64_t *)(void *)((char *)table + place * entry_bytes);
}

/* Place of the handle, or, where it is not there, a place for it. There always is one: the caller counts. */
static uint32_t place_for(void *table, size_t entry_bytes, uint64_t handle)
{
    uint32_t mask = SHMEMD_TEAMS_TABLE - 1, place = SHMEMD_HASH(handle), usable = UINT32_MAX;
    for (uint32_t i = 0; i <= mask; i++, place = (place + 1) & mask) {
        uint64_t there = *handle_at(table, entry_bytes, place);
        if (there == handle) return place;
        if ((there == 0 || there == SHMEMD_GONE) && usable == UINT32_MAX) usable = place;
        if (there == 0) break;
    }
    return usable;
}

/* Store an entry so that who finds its handle finds all of it. */
static void publish(void *table, size_t entry_bytes, uint32_t place, const void *entry)
{
    uint64_t *handle = handle_at(table, entry_bytes, place);
    memcpy(handle + 1, (const uint64_t *)entry + 1, entry_bytes - sizeof *handle);
    atomic_store_explicit((_Atomic uint64_t *)handle, *(const uint64_t *)entry, memory_order_release);
}

static void withdraw(void *table, size_t entry_bytes, uint32_t place)
{
    atomic_store_explicit((_Atomic uint64_t *)handle_at(table, entry_bytes, place), SHMEMD_GONE, memory_order_release);
}

static struct shmemd_side *open_side(int kind)
{
    struct shmemd_side *side = &shmemd_side_all[kind];
    return atomic_load_explicit(&side->live, memory_order_acquire) ? side : NULL;
}

/* ---- teams ---- */

struct shmemd_team shmemd_tables_describe(const struct shmemi_team *team, const int32_t *list)
{
    bool has_area = team->slot >= 0 && team->slot < SHMEMD_TEAMS_MAX;
    return (struct shmemd_team){
        .handle = (uint64_t)(uintptr_t)shmemi_team_handle(team),
        .n      = team->size,
        .me     = team->me,
        .start  = team->start,
        .stride = team->stride,
        .list   = team->list ? list : NULL,
        .slot   = has_area ? team->slot : -1,
    };
}

static void place_team(struct shmemd_side *side, struct shmemd_team entry)
{
    if (entry.list) entry.list = side->state.shared.list;
    publish(side->teams, sizeof entry, place_for(side->teams, sizeof entry, entry.handle), &entry);
}

void shmemd_tables_team_made(const struct shmemi_team *team)
{
    struct shmemd_team entry = shmemd_tables_describe(team, team->list);
    pthread_mutex_lock(&master.lock);
    if (master.team_count < SHMEMD_TEAMS_MAX) { /* else kernels do not know it, and say so */
        master.team_count++;
        publish(master.teams, sizeof entry, place_for(master.teams, sizeof entry, entry.handle), &entry);
        for (int kind = 0; kind < SHMEMD_SIDES; kind++)
            if (open_side(kind)) place_team(open_side(kind), entry);
    }
    pthread_mutex_unlock(&master.lock);
}

void shmemd_tables_team_gone(const struct shmemi_team *team)
{
    uint64_t handle = (uint64_t)(uintptr_t)shmemi_team_handle(team);
    pthread_mutex_lock(&master.lock);
    uint32_t place = place_for(master.teams, sizeof *master.teams, handle);
    if (place != UINT32_MAX && master.teams[place].handle == handle) {
        master.team_count--;
        withdraw(master.teams, sizeof *master.teams, place);
        for (int kind = 0; kind < SHMEMD_SIDES; kind++) {
            struct shmemd_side *side = open_side(kind);
            if (side) withdraw(side->teams, sizeof *side->teams, place_for(side->teams, sizeof *side->teams, handle));
        }
    }
    pthread_mutex_unlock(&master.lock);
}

/* ---- contexts ---- */

void shmemd_tables_ctx_made(const struct shmemi_ctx *ctx)
{
    struct shmemd_context entry = {
        .handle  = (uint64_t)(uintptr_t)ctx,
        .team    = (uint64_t)(uintptr_t)shmemi_team_handle(ctx->team),
        .options = (uint32_t)ctx->options,
    };
    pthread_mutex_lock(&master.lock);
    if (master.context_count < SHMEMD_CONTEXTS_MAX) {
        master.context_count++;
        entry.ctx = 1 + master.contexts_made++ % (SHMEMD_CONTEXTS - 1);
        publish(master.contexts, sizeof entry, place_for(master.contexts, sizeof entry, entry.handle), &entry);
        for (int kind = 0; kind < SHMEMD_SIDES; kind++) {
            struct shmemd_side *side = open_side(kind);
            if (side) publish(side->contexts, sizeof entry, place_for(side->contexts, sizeof entry, entry.handle), &entry);
        }
    }
    pthread_mutex_unlock(&master.lock);
}

void shmemd_tables_ctx_gone(const struct shmemi_ctx *ctx)
{
    uint64_t handle = (uint64_t)(uintptr_t)ctx;
    size_t   bytes  = sizeof *master.contexts;
    pthread_mutex_lock(&master.lock);
    uint32_t place = place_for(master.contexts, bytes, handle);
    if (place != UINT32_MAX && master.contexts[place].handle == handle) {
        master.context_count--;
        withdraw(master.contexts, bytes, place);
        for (int kind = 0; kind < SHMEMD_SIDES; kind++) {
            struct shmemd_side *side = open_side(kind);
            if (side) withdraw(side->contexts, bytes, place_for(side->contexts, bytes, handle));
        }
    }
    pthread_mutex_unlock(&master.lock);
}

/* ---- sides ---- */

void shmemd_tables_fill(struct shmemd_side *side, const int32_t *list)
{
    pthread_mutex_lock(&master.lock);
    memcpy(side->contexts, master.contexts, sizeof master.contexts);
    memcpy(side->teams, master.teams, sizeof master.teams);
    for (int i = 0; i < SHMEMD_TEAMS_TABLE; i++)
        if (side->teams[i].list) side->teams[i].list = list;
    /* Under the lock, so that a team is either in the copy or comes to the side by place_team(). */
    atomic_store_explicit(&side->live, true, memory_order_release);
    pthread_mutex_unlock(&master.lock);
}

void shmemd_tables_clear(void)
{
    pthread_mutex_lock(&master.lock);
    memset(master.teams, 0, sizeof master.teams);
    memset(master.contexts, 0, sizeof master.contexts);
    master.team_count = master.context_count = 0;
    pthread_mutex_unlock(&master.lock);
}
