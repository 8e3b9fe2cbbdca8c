/* SPDX-License-Identifier: Apache-2.0
 *
 * Random programs of teams, contexts and collectives against a sequential model. From one seed every PE derives the same program: a list of
 * steps, each on a random team. It plays every step on models of all PEs' memory, and does its own part for real. After each round, every
 * byte of its memory is compared.
 *
 * So that the result is defined: sources are filled before the round and not changed in it. What a step writes is a fresh part of the memory
 * (of `out`, or of `mix` where it works in place), so a fast PE may write into the memory of one that lags many steps behind. Between
 * steps nobody synchronizes; some PEs sleep now and then.
 * Replay: STRESS_SEED. Longer: STRESS_SECONDS or STRESS_ROUNDS.
 *
 * Spec: OpenSHMEM 1.6 §9.4 shmem_team_split_strided, §9.10 collectives
 * PES: 1 2 3 5 8 16
 */
#include "stress.h"

enum {
    PES_MAX   = 16,
    TEAMS     = 7,
    STEPS     = 14,
    SETS      = STEPS, /* active sets: a pSync for each step, since a pSync may not be used again before all have left */
    IN_BYTES  = 48 << 10,
    OUT_BYTES = 192 << 10,
    SUMS      = 4,
};

/* A team as every PE knows it, member or not. */
struct team {
    bool         used;
    int          size, members[PES_MAX]; /* world numbers */
    shmem_team_t handle;                 /* SHMEM_TEAM_INVALID where this PE is outside */
};

static struct team    teams[TEAMS];           /* [0] is the world and stays */
static unsigned char *in, *out, *mix, *small; /* symmetric: sources; results; in place; small numbers as doubles */
static uint64_t       sums[SUMS];
static long           psync[SETS][SHMEM_SYNC_SIZE];
static int            work[SETS][IN_BYTES / 8 + SHMEM_REDUCE_MIN_WRKDATA_SIZE];

static unsigned char *model_out[PES_MAX], *model_mix[PES_MAX];
static uint64_t       model_sums[PES_MAX][SUMS];
static size_t         out_used, mix_used;
static uint64_t       round_number;
static int            me, n;

/* ---- contents ---- */

static unsigned char in_byte(int pe, size_t i)
{
    uint64_t x = round_number * 1000003 + (uint64_t)pe * 7919 + i * 31 + (i >> 8) * 17;
    return (unsigned char)(x ^ (x >> 7) ^ (x >> 15));
}

static void in_bytes(int pe, size_t at, void *to, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) ((unsigned char *)to)[i] = in_byte(pe, at + i);
}

/* Small whole numbers: sums of doubles are exact in any order. */
static double small_number(int pe, size_t i)
{
    return (double)((round_number * 13 + (uint64_t)pe * 5 + i * 3) % 1001) - 500;
}

static void fill(void)
{
    memset(out, 0, OUT_BYTES);
    in_bytes(me, 0, in, IN_BYTES);
    in_bytes(me, 0, mix, IN_BYTES);
    for (size_t i = 0; i < IN_BYTES / sizeof(double); i++) ((double *)(void *)small)[i] = small_number(me, i);
    for (int pe = 0; pe < n; pe++) {
        memset(model_out[pe], 0, OUT_BYTES);
        in_bytes(pe, 0, model_mix[pe], IN_BYTES);
        for (int i = 0; i < SUMS; i++) model_sums[pe][i] = 0;
    }
    memset(sums, 0, sizeof sums);
    out_used = mix_used = 0;
}

static bool same(const char *what, const void *is, const void *wanted, size_t bytes)
{
    const unsigned char *a = is, *b = wanted;
    for (size_t i = 0; i < bytes; i++) {
        if (a[i] == b[i]) continue;
        fprintf(stderr, "PE %d: %s: byte %zu of %zu is %d, expected %d\n", me, what, i, bytes, a[i], b[i]);
        return CHECK(!"memory is as in the model");
    }
    return true;
}

/* ---- choices ---- */

static size_t pick_count(struct stress_numbers *numbers)
{
    static const size_t counts[] = {0, 1, 2, 3, 7, 13, 14, 15, 16, 17, 30, 31, 64, 100, 257, 700, 1500};
    return counts[stress_pick(numbers, sizeof counts / sizeof *counts)];
}

/* A fresh part of out, or (size_t)-1 where it is full. Of bytes on every PE, at an aligned place. */
static size_t fresh(size_t *used, size_t limit, size_t bytes)
{
    size_t at = (*used + 15) & ~(size_t)15;
    if (at + bytes > limit) return (size_t)-1;
    *used = at + bytes;
    return at;
}

static size_t pick_source(struct stress_numbers *numbers, size_t bytes)
{
    return bytes >= IN_BYTES ? 0 : stress_pick(numbers, (IN_BYTES - bytes) / 8 + 1) * 8;
}

static int my_index(const struct team *team)
{
    for (int i = 0; i < team->size; i++)
        if (team->members[i] == me) return i;
    return -1;
}

static void dawdle(struct stress_numbers *numbers)
{
    size_t who = stress_pick(numbers, (size_t)n * 6), us = stress_pick(numbers, 300);
    if ((int)who != me) return;
    struct timespec nap = {.tv_nsec = (long)us * 1000};
    nanosleep(&nap, NULL);
}

/* ---- teams ---- */

static void record_member(struct team *team, int world_pe)
{
    team->members[team->size++] = world_pe;
}

static void check_team(const struct team *team)
{
    int index = my_index(team);
    CHECK_EQUAL(shmem_team_my_pe(team->handle), index);
    CHECK_EQUAL(shmem_team_n_pes(team->handle), index < 0 ? -1 : team->size);
    if (index < 0) return;
    int other = (index * 7 + 3) % team->size;
    CHECK_EQUAL(shmem_team_translate_pe(team->handle, other, SHMEM_TEAM_WORLD), team->members[other]);
    CHECK_EQUAL(shmem_team_translate_pe(SHMEM_TEAM_WORLD, team->members[other], team->handle), other);
}

static void drop_team(int slot)
{
    if (slot == 0 || !teams[slot].used) return;
    shmem_team_destroy(teams[slot].handle);
    teams[slot].used = false;
}

static void split_strided(struct stress_numbers *numbers, const struct team *parent, int slot)
{
    int size   = 1 + (int)stress_pick(numbers, (size_t)parent->size);
    int limit  = size > 1 ? (parent->size - 1) / (size - 1) : 1;
    int stride = limit > 0 ? 1 + (int)stress_pick(numbers, (size_t)limit) : 1;
    int span   = (size - 1) * stride;
    int start  = (int)stress_pick(numbers, (size_t)(parent->size - span));
    if (stress_pick(numbers, 2)) { /* backwards */
        start += span;
        stride = -stride;
    }
    struct team made = {.used = true};
    for (int i = 0; i < size; i++) record_member(&made, parent->members[start + i * stride]);
    if (my_index(parent) >= 0) {
        CHECK_EQUAL(shmem_team_split_strided(parent->handle, start, stride, size, NULL, 0, &made.handle), 0);
    } else {
        made.handle = SHMEM_TEAM_INVALID;
    }
    teams[slot] = made;
    check_team(&teams[slot]);
}

/* Of the many teams of a 2D split one is kept: all PEs know the row or the column of the same PE. */
static void split_2d(struct stress_numbers *numbers, const struct team *parent, int slot)
{
    int  xrange = 1 + (int)stress_pick(numbers, (size_t)parent->size + 2), kept = (int)stress_pick(numbers, (size_t)parent->size);
    bool rows         = stress_pick(numbers, 2);
    int  width        = xrange > parent->size ? parent->size : xrange;
    struct team  made = {.used = true, .handle = SHMEM_TEAM_INVALID};
    shmem_team_t row = SHMEM_TEAM_INVALID, column = SHMEM_TEAM_INVALID;
    for (int i = 0; i < parent->size; i++)
        if (rows ? i / width == kept / width : i % width == kept % width) record_member(&made, parent->members[i]);
    if (my_index(parent) >= 0) {
        CHECK_EQUAL(shmem_team_split_2d(parent->handle, xrange, NULL, 0, &row, NULL, 0, &column), 0);
        CHECK_EQUAL(shmem_team_my_pe(row), my_index(parent) % width);
        CHECK_EQUAL(shmem_team_my_pe(column), my_index(parent) / width);
        bool inside = my_index(&made) >= 0;
        if (inside) made.handle = rows ? row : column;
        if (!inside || !rows) shmem_team_destroy(row);
        if (!inside || rows) shmem_team_destroy(column);
    }
    teams[slot] = made;
    check_team(&teams[slot]);
}

static void play_split(struct stress_numbers *numbers)
{
    int slot   = 1 + (int)stress_pick(numbers, TEAMS - 1);
    int parent = (int)stress_pick(numbers, TEAMS);
    if (parent == slot || !teams[parent].used) parent = 0;
    drop_team(slot);
    if (stress_pick(numbers, 3)) split_strided(numbers, &teams[parent], slot);
    else split_2d(numbers, &teams[parent], slot);
}

/* ---- puts and atomics through a context of a team ---- */

static void play_puts(struct stress_numbers *numbers, const struct team *team)
{
    int         from      = (int)stress_pick(numbers, (size_t)team->size);
    bool        mine      = team->members[from] == me;
    long        options[] = {0, SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE};
    long        option    = options[stress_pick(numbers, 3)];
    shmem_ctx_t ctx       = SHMEM_CTX_INVALID;
    if (mine) CHECK_EQUAL(shmem_team_create_ctx(team->handle, option, &ctx), 0);
    for (int i = 0; i < 3; i++) {
        int    to = (int)stress_pick(numbers, (size_t)team->size), target = team->members[to];
        size_t bytes = pick_count(numbers), source = pick_source(numbers, bytes), at = fresh(&out_used, OUT_BYTES, bytes);
        size_t sum = stress_pick(numbers, SUMS), value = stress_next(numbers) >> 40;
        model_sums[target][sum] += value;
        if (at != (size_t)-1) in_bytes(team->members[from], source, model_out[target] + at, bytes);
        if (!mine) continue;
        if (at != (size_t)-1) shmem_ctx_putmem_nbi(ctx, out + at, in + source, bytes, to);
        shmem_ctx_uint64_atomic_add(ctx, &sums[sum], value, to);
    }
    if (mine) shmem_ctx_destroy(ctx);
}

/* ---- collectives ---- */

static void play_broadcast(struct stress_numbers *numbers, const struct team *team, int index)
{
    size_t bytes = pick_count(numbers) * (1 + stress_pick(numbers, 12)), source = pick_source(numbers, bytes);
    int    root = (int)stress_pick(numbers, (size_t)team->size);
    size_t at   = fresh(&out_used, OUT_BYTES, bytes);
    if (at == (size_t)-1 || source + bytes > IN_BYTES) return;
    for (int i = 0; i < team->size; i++) in_bytes(team->members[root], source, model_out[team->members[i]] + at, bytes);
    if (index >= 0) CHECK_EQUAL(shmem_broadcastmem(team->handle, out + at, in + source, bytes, root), 0);
}

/* Many small ones, so that those who only send get far ahead of those who lag. */
static void play_burst(struct stress_numbers *numbers, const struct team *team, int index)
{
    int root = (int)stress_pick(numbers, (size_t)team->size), turns = 4 + (int)stress_pick(numbers, 30);
    for (int turn = 0; turn < turns; turn++) {
        size_t bytes = stress_pick(numbers, 140), source = pick_source(numbers, bytes), at = fresh(&out_used, OUT_BYTES, bytes);
        if (at == (size_t)-1) return;
        for (int i = 0; i < team->size; i++) in_bytes(team->members[root], source, model_out[team->members[i]] + at, bytes);
        if (turn == 0) dawdle(numbers);
        if (index >= 0) CHECK_EQUAL(shmem_broadcastmem(team->handle, out + at, in + source, bytes, root), 0);
    }
}

static void play_collect(struct stress_numbers *numbers, const struct team *team, int index)
{
    bool   equal = stress_pick(numbers, 2);
    size_t most = pick_count(numbers), lengths[PES_MAX], total = 0, source = pick_source(numbers, most * 8);
    for (int i = 0; i < team->size; i++) {
        lengths[i] = equal ? most : stress_pick(numbers, most + 1);
        total += lengths[i];
    }
    size_t at = fresh(&out_used, OUT_BYTES, total * 8), offset = 0;
    if (at == (size_t)-1) return;
    for (int i = 0; i < team->size; i++) {
        for (int j = 0; j < team->size; j++)
            in_bytes(team->members[i], source, model_out[team->members[j]] + at + offset, lengths[i] * 8);
        offset += lengths[i] * 8;
    }
    if (index < 0) return;
    uint64_t       *dest = (uint64_t *)(void *)(out + at);
    const uint64_t *from = (const uint64_t *)(const void *)(in + source);
    if (equal) CHECK_EQUAL(shmem_uint64_fcollect(team->handle, dest, from, most), 0);
    else CHECK_EQUAL(shmem_uint64_collect(team->handle, dest, from, lengths[index]), 0);
}

static void play_alltoall(struct stress_numbers *numbers, const struct team *team, int index)
{
    size_t nelems = stress_pick(numbers, 4) ? stress_pick(numbers, 20) : stress_pick(numbers, 200), size = (size_t)team->size;
    size_t dst = 1 + stress_pick(numbers, 3), sst = 1 + stress_pick(numbers, 3);
    bool   strided = stress_pick(numbers, 2);
    if (!strided) dst = sst = 1;
    size_t source = pick_source(numbers, sst * nelems * size * 4);
    if (source + sst * nelems * size * 4 > IN_BYTES) return;
    size_t at = fresh(&out_used, OUT_BYTES, dst * nelems * size * 4);
    if (at == (size_t)-1) return;
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < size; j++)
            for (size_t k = 0; k < nelems; k++)
                in_bytes(team->members[i], source + sst * (j * nelems + k) * 4,
                         model_out[team->members[j]] + at + dst * (i * nelems + k) * 4, 4);
    if (index < 0) return;
    uint32_t       *dest = (uint32_t *)(void *)(out + at);
    const uint32_t *from = (const uint32_t *)(const void *)(in + source);
    if (strided) CHECK_EQUAL(shmem_uint32_alltoalls(team->handle, dest, from, (ptrdiff_t)dst, (ptrdiff_t)sst, nelems), 0);
    else CHECK_EQUAL(shmem_uint32_alltoall(team->handle, dest, from, nelems), 0);
}

enum reduction { SUM, PROD, XOR, MAX, MIN, INSCAN, EXSCAN, REDUCTIONS };

static uint64_t join(enum reduction kind, uint64_t a, uint64_t b)
{
    switch (kind) {
    case SUM:
    case INSCAN:
    case EXSCAN: return a + b;
    case PROD: return a * b;
    case XOR: return a ^ b;
    case MAX: return a > b ? a : b;
    default: return a < b ? a : b;
    }
}

static int reduce(enum reduction kind, shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nelems)
{
    switch (kind) {
    case SUM: return shmem_uint64_sum_reduce(team, dest, source, nelems);
    case PROD: return shmem_uint64_prod_reduce(team, dest, source, nelems);
    case XOR: return shmem_uint64_xor_reduce(team, dest, source, nelems);
    case MAX: return shmem_uint64_max_reduce(team, dest, source, nelems);
    case MIN: return shmem_uint64_min_reduce(team, dest, source, nelems);
    case INSCAN: return shmem_uint64_sum_inscan(team, dest, source, nelems);
    default: return shmem_uint64_sum_exscan(team, dest, source, nelems);
    }
}

/* models: of the memory that dest is in. */
static void model_reduce(enum reduction kind, const struct team *team, unsigned char *const *models, size_t at, size_t source,
                         size_t nelems)
{
    for (size_t k = 0; k < nelems; k++) {
        uint64_t all = 0, before = 0;
        for (int i = 0; i < team->size; i++) {
            uint64_t value;
            in_bytes(team->members[i], source + k * 8, &value, 8);
            all = i == 0 ? value : join(kind, all, value);
            if (kind == INSCAN) memcpy(models[team->members[i]] + at + k * 8, &all, 8);
            if (kind == EXSCAN) memcpy(models[team->members[i]] + at + k * 8, &before, 8);
            before = all;
        }
        for (int i = 0; i < team->size && kind < INSCAN; i++) memcpy(models[team->members[i]] + at + k * 8, &all, 8);
    }
}

static void play_reduce(struct stress_numbers *numbers, const struct team *team, int index)
{
    enum reduction kind   = (enum reduction)stress_pick(numbers, REDUCTIONS);
    size_t         nelems = pick_count(numbers), bytes = nelems * 8;
    if (stress_pick(numbers, 3) == 0) { /* in place */
        size_t at = fresh(&mix_used, IN_BYTES, bytes);
        if (at == (size_t)-1) return;
        model_reduce(kind, team, model_mix, at, at, nelems);
        uint64_t *both = (uint64_t *)(void *)(mix + at);
        if (index >= 0) CHECK_EQUAL(reduce(kind, team->handle, both, both, nelems), 0);
        return;
    }
    size_t source = pick_source(numbers, bytes), at = fresh(&out_used, OUT_BYTES, bytes);
    if (at == (size_t)-1) return;
    model_reduce(kind, team, model_out, at, source, nelems);
    if (index >= 0)
        CHECK_EQUAL(
            reduce(kind, team->handle, (uint64_t *)(void *)(out + at), (const uint64_t *)(const void *)(in + source), nelems), 0);
}

static void play_double_sum(struct stress_numbers *numbers, const struct team *team, int index)
{
    size_t nelems = pick_count(numbers), source = pick_source(numbers, nelems * 8), at = fresh(&out_used, OUT_BYTES, nelems * 8);
    if (at == (size_t)-1) return;
    for (size_t k = 0; k < nelems; k++) {
        double sum = 0;
        for (int i = 0; i < team->size; i++) sum += small_number(team->members[i], source / 8 + k);
        for (int i = 0; i < team->size; i++) memcpy(model_out[team->members[i]] + at + k * 8, &sum, 8);
    }
    if (index >= 0)
        CHECK_EQUAL(shmem_double_sum_reduce(team->handle, (double *)(void *)(out + at),
                                            (const double *)(const void *)(small + source), nelems),
                    0);
}

/* ---- active sets ---- */

static void play_set(struct stress_numbers *numbers, int step)
{
    int         log_stride = (int)stress_pick(numbers, 3), stride = 1 << log_stride, start = (int)stress_pick(numbers, (size_t)n);
    int         size = 1 + (int)stress_pick(numbers, (size_t)((n - 1 - start) / stride + 1)), kind = (int)stress_pick(numbers, 5);
    int         root = (int)stress_pick(numbers, (size_t)size), index = -1;
    struct team set = {.used = true};
    for (int i = 0; i < size; i++) record_member(&set, start + i * stride);
    index         = my_index(&set);
    size_t nelems = stress_pick(numbers, 300), lengths[PES_MAX], total = 0;
    for (int i = 0; i < size; i++) {
        lengths[i] = kind == 2 ? stress_pick(numbers, nelems + 1) : nelems;
        total += lengths[i];
    }
    size_t source = pick_source(numbers, total * 4), at = fresh(&out_used, OUT_BYTES, total * 4), offset = 0;
    if (at == (size_t)-1 || source + total * 4 > IN_BYTES) return;
    long *sync = psync[step];
    void *dest = out + at, *from = in + source;

    for (int i = 0; i < size; i++) {
        for (int j = 0; j < size; j++) {
            unsigned char *model = model_out[set.members[j]] + at;
            if (kind == 0 && i == root && j != root) in_bytes(set.members[i], source, model, nelems * 4);
            if (kind == 1 || kind == 2) in_bytes(set.members[i], source, model + offset, lengths[i] * 4);
            if (kind == 3) in_bytes(set.members[i], source + (size_t)j * nelems * 4, model + (size_t)i * nelems * 4, nelems * 4);
            if (kind == 4)
                for (size_t k = 0; k < nelems; k++) {
                    unsigned value, so_far = 0;
                    in_bytes(set.members[i], source + k * 4, &value, 4);
                    if (i > 0) memcpy(&so_far, model + k * 4, 4);
                    so_far ^= value;
                    memcpy(model + k * 4, &so_far, 4);
                }
        }
        offset += lengths[i] * 4;
    }
    if (index < 0) return;
    switch (kind) {
    case 0: shmem_broadcast32(dest, from, nelems, root, start, log_stride, size, sync); break;
    case 1: shmem_fcollect32(dest, from, nelems, start, log_stride, size, sync); break;
    case 2: shmem_collect32(dest, from, lengths[index], start, log_stride, size, sync); break;
    case 3: shmem_alltoall32(dest, from, nelems, start, log_stride, size, sync); break;
    default: shmem_int_xor_to_all(dest, from, (int)nelems, start, log_stride, size, work[step], sync); break;
    }
}

/* ---- a round ---- */

static void play_step(struct stress_numbers *numbers, int step)
{
    int slot = (int)stress_pick(numbers, TEAMS);
    if (!teams[slot].used) slot = 0;
    const struct team *team  = &teams[slot];
    int                index = my_index(team);
    dawdle(numbers);
    switch (stress_pick(numbers, 12)) {
    case 0: play_split(numbers); break;
    case 1: play_puts(numbers, team); break;
    case 2:
    case 3: play_broadcast(numbers, team, index); break;
    case 4: play_collect(numbers, team, index); break;
    case 5: play_alltoall(numbers, team, index); break;
    case 6:
    case 7: play_reduce(numbers, team, index); break;
    case 8: play_double_sum(numbers, team, index); break;
    case 9: play_set(numbers, step); break;
    case 10: play_burst(numbers, team, index); break;
    default:
        if (index >= 0) CHECK_EQUAL(shmem_team_sync(team->handle), 0);
    }
}

static void play_round(struct stress_numbers *numbers)
{
    fill();
    shmem_barrier_all();
    for (int step = 0; step < STEPS; step++) play_step(numbers, step);
    shmem_barrier_all();
    same("results", out, model_out[me], OUT_BYTES);
    same("in place", mix, model_mix[me], IN_BYTES);
    for (int i = 0; i < SUMS; i++) CHECK_EQUAL(sums[i], model_sums[me][i]);
    for (int i = 0; i < SETS; i++)
        for (int k = 0; k < SHMEM_SYNC_SIZE; k++)
            if (!CHECK_EQUAL(psync[i][k], SHMEM_SYNC_VALUE)) return;
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    n  = shmem_n_pes();
    if (!CHECK(n <= PES_MAX)) shmem_global_exit(1);
    uint64_t              seed    = stress_seed();
    struct stress_numbers numbers = {seed};
    in                            = shmem_malloc(IN_BYTES);
    out                           = shmem_malloc(OUT_BYTES);
    mix                           = shmem_malloc(IN_BYTES);
    small                         = shmem_malloc(IN_BYTES);
    if (!CHECK(in && out && mix && small)) shmem_global_exit(1);
    for (int pe = 0; pe < n; pe++) {
        model_out[pe] = malloc(OUT_BYTES);
        model_mix[pe] = malloc(IN_BYTES);
        if (!CHECK(model_out[pe] && model_mix[pe])) shmem_global_exit(1);
    }
    teams[0] = (struct team){.used = true, .size = n, .handle = SHMEM_TEAM_WORLD};
    for (int pe = 0; pe < n; pe++) teams[0].members[pe] = pe;
    for (int i = 0; i < SETS; i++)
        for (int k = 0; k < SHMEM_SYNC_SIZE; k++) psync[i][k] = SHMEM_SYNC_VALUE;

    double start_s = stress_now_s();
    do {
        round_number++;
        play_round(&numbers);
        if (api_result() != 0) {
            fprintf(stderr, "PE %d: round %" PRIu64 " of STRESS_SEED=%" PRIu64 "\n", me, round_number, seed);
            shmem_global_exit(1);
        }
    } while (stress_go_on((long)round_number, start_s));
    if (me == 0) printf("%" PRIu64 " rounds of %d steps by %d PEs\n", round_number, STEPS, n);
    for (int slot = 1; slot < TEAMS; slot++) drop_team(slot);
    for (int pe = 0; pe < n; pe++) {
        free(model_out[pe]);
        free(model_mix[pe]);
    }
    shmem_finalize();
    return api_result();
}
