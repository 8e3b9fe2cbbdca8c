/* SPDX-License-Identifier: Apache-2.0
 *
 * Random operations against a sequential model. From one seed every PE derives what all PEs do in a phase, and plays it on
 * models of all PEs' memory; then it does its own part for real. After each phase every byte of the own memory is compared.
 *
 * So that the result is defined: of two areas one is written in a phase while the other is read; the written one is cut into
 * a stripe for each writer, who never writes a byte twice in a phase. Counters that all PEs add to, words that only one PE uses,
 * signals of one PE, and a signal word that all change by signals and by atomics are apart. Between phases, blocks of the heap are
 * allocated, resized, filled, read by others, and freed.
 * Replay: STRESS_SEED.
 */
#include "stress.h"

enum {
    PES_MAX    = 16,
    STRIPE     = 3000,
    AREA       = PES_MAX * STRIPE,
    OPERATIONS = 40,
    SUMS       = 6,
    CONTEXTS   = 3,
    BLOCKS     = 5,
    BLOCK_MAX  = 20000,
    RESULTS    = OPERATIONS * 1200,
};

struct memory {
    unsigned char area[2][AREA];
    uint64_t      sums[SUMS]; /* all PEs add             */
    uint32_t      sums4[SUMS];
    uint64_t      own[PES_MAX]; /* [a] is used by PE a only */
    uint32_t      own4[PES_MAX];
    uint64_t      signals[PES_MAX]; /* [a] counts PE a's       */
    uint64_t      common;           /* all PEs signal and add  */
};

static struct memory  fixed; /* area 1 of it is used, and the words; area 0 is on the heap */
static unsigned char *heap_area;
static struct memory *models; /* [n] */
static unsigned char  source[STRIPE * 2], results[RESULTS];
static shmem_ctx_t    contexts[CONTEXTS];
static int            me, n;

/* A result of a nonblocking get or of one that was read, compared once it must be there. */
struct pending {
    size_t               at, bytes;
    const unsigned char *model;
};
static struct pending pending[OPERATIONS];
static size_t         pending_count, results_used;

static unsigned char *area_here(int which)
{
    return which == 0 ? heap_area : fixed.area[1];
}

/* What PE a has in its source buffer in a phase. */
static unsigned char source_byte(uint64_t phase, int a, size_t i)
{
    return (unsigned char)((phase * 131 + (uint64_t)a * 29 + i * 7 + (i >> 7)) ^ (i >> 3));
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

/* ---- one operation: on the models, and for real where the actor is this PE ---- */

struct actor {
    int      pe;
    uint64_t phase;
    int      writes, reads; /* areas */
    size_t   used[PES_MAX]; /* of its stripe at each target */
};

static void play_put(struct actor *actor, struct stress_numbers *numbers, int target, shmem_ctx_t ctx, bool mine)
{
    static const size_t limits[] = {8, 40, 300, 1100};
    size_t              bytes = 1 + stress_pick(numbers, limits[stress_pick(numbers, 4)]), from = stress_pick(numbers, 1500),
           kind = stress_pick(numbers, 6);
    size_t at   = actor->used[target] + stress_pick(numbers, 9);
    if (at + 2 * bytes + 32 > STRIPE) return;
    size_t         start = (size_t)actor->pe * STRIPE + at;
    unsigned char *dest = area_here(actor->writes) + start, *model = models[target].area[actor->writes] + start;
    const void    *data = source + from;
    if (kind == 4 || kind == 5) { /* bytes to every second place; or blocks of 3 with 2 between */
        size_t block = kind == 4 ? 1 : 3, stride = kind == 4 ? 2 : 5, blocks = kind == 4 ? bytes : bytes / 5 + 1;
        for (size_t b = 0; b < blocks; b++)
            for (size_t i = 0; i < block; i++) model[b * stride + i] = source_byte(actor->phase, actor->pe, from + b * block + i);
        actor->used[target] = at + blocks * stride;
        if (mine && kind == 4) shmem_ctx_iput8(ctx, dest, data, 2, 1, blocks, target);
        if (mine && kind == 5) shmem_ctx_ibput8(ctx, dest, data, 5, 3, 3, blocks, target);
        return;
    }
    if (kind == 3) bytes = 1;
    for (size_t i = 0; i < bytes; i++) model[i] = source_byte(actor->phase, actor->pe, from + i);
    actor->used[target] = at + bytes;
    if (!mine) return;
    if (kind == 0) shmem_ctx_putmem(ctx, dest, data, bytes, target);
    else if (kind == 1) shmem_ctx_putmem_nbi(ctx, dest, data, bytes, target);
    else if (kind == 2) shmem_ctx_uchar_put(ctx, dest, data, bytes, target);
    else shmem_ctx_uchar_p(ctx, dest, *(const unsigned char *)data, target);
}

static void play_signal(struct actor *actor, struct stress_numbers *numbers, int target, shmem_ctx_t ctx, bool mine)
{
    size_t bytes = stress_pick(numbers, 700), from = stress_pick(numbers, 1500), at = actor->used[target];
    bool   nbi = stress_pick(numbers, 2), common = stress_pick(numbers, 3) == 0;
    if (at + bytes > STRIPE) bytes = 0;
    size_t         start = (size_t)actor->pe * STRIPE + at;
    unsigned char *model = models[target].area[actor->writes] + start, *dest = area_here(actor->writes) + start;
    for (size_t i = 0; i < bytes; i++) model[i] = source_byte(actor->phase, actor->pe, from + i);
    actor->used[target] += bytes;
    *(common ? &models[target].common : &models[target].signals[actor->pe]) += 3;
    if (!mine) return;
    uint64_t *signal = common ? &fixed.common : &fixed.signals[actor->pe];
    if (nbi) shmem_ctx_putmem_signal_nbi(ctx, dest, source + from, bytes, signal, 3, SHMEM_SIGNAL_ADD, target);
    else shmem_ctx_putmem_signal(ctx, dest, source + from, bytes, signal, 3, SHMEM_SIGNAL_ADD, target);
}

static void play_get(struct actor *actor, struct stress_numbers *numbers, int target, shmem_ctx_t ctx, bool mine)
{
    size_t bytes = 1 + stress_pick(numbers, stress_pick(numbers, 2) ? 20 : 1100),
           at    = stress_pick(numbers, (size_t)n * STRIPE - 2400);
    size_t kind  = stress_pick(numbers, 4);
    if (!mine) return;
    const unsigned char *from = area_here(actor->reads) + at, *model = models[target].area[actor->reads] + at;
    unsigned char       *to = results + results_used;
    memset(to, 0x5A, bytes);
    if (kind == 3) {
        shmem_ctx_iget8(ctx, to, from, 1, 2, bytes, target);
        for (size_t i = 0; i < bytes; i++)
            if (!CHECK_EQUAL(to[i], model[2 * i])) break;
        return;
    }
    if (kind == 0) shmem_ctx_getmem(ctx, to, from, bytes, target);
    else if (kind == 1) shmem_ctx_getmem_nbi(ctx, to, from, bytes, target);
    else if (bytes == 1) *to = shmem_ctx_uchar_g(ctx, from, target);
    else shmem_ctx_uchar_get(ctx, to, from, bytes, target);
    if (kind != 1) {
        same("get", to, model, bytes);
        return;
    }
    pending[pending_count++] = (struct pending){.at = results_used, .bytes = bytes, .model = model};
    results_used += bytes;
}

static void play_atomic(struct actor *actor, struct stress_numbers *numbers, int target, shmem_ctx_t ctx, bool mine)
{
    struct memory *model = &models[target];
    size_t         which = stress_pick(numbers, SUMS), kind = stress_pick(numbers, 9);
    uint64_t       value = stress_next(numbers), *own = &model->own[actor->pe], old = *own;
    uint32_t       value4 = (uint32_t)value, *own4 = &model->own4[actor->pe], old4 = *own4;
    uint64_t      *word  = &fixed.own[actor->pe];
    uint32_t      *word4 = &fixed.own4[actor->pe];
    switch (kind) {
    case 0:
        model->sums[which] += value;
        if (mine) shmem_ctx_uint64_atomic_add(ctx, &fixed.sums[which], value, target);
        break;
    case 1:
        model->sums4[which] += value4;
        if (mine) (void)shmem_ctx_uint32_atomic_fetch_add(ctx, &fixed.sums4[which], value4, target);
        break;
    case 2:
        model->sums[which]++;
        if (mine) shmem_ctx_ulong_atomic_inc(ctx, &fixed.sums[which], target);
        break;
    case 3:
        *own = value;
        if (mine) CHECK(shmem_ctx_uint64_atomic_swap(ctx, word, value, target) == old);
        break;
    case 4:
        *own += value;
        if (mine) CHECK(shmem_ctx_uint64_atomic_fetch_add(ctx, word, value, target) == old);
        break;
    case 5:
        if (value & 1) *own4 = value4;
        if (mine) CHECK(shmem_ctx_uint32_atomic_compare_swap(ctx, word4, value & 1 ? old4 : old4 + 1, value4, target) == old4);
        break;
    case 6:
        *own4 ^= value4;
        if (mine) CHECK(shmem_ctx_uint32_atomic_fetch_xor(ctx, word4, value4, target) == old4);
        break;
    case 7:
        model->common += value % 100;
        if (mine) shmem_ctx_uint64_atomic_add(ctx, &fixed.common, value % 100, target);
        break;
    default:
        if (mine) CHECK(shmem_ctx_uint64_atomic_fetch(ctx, word, target) == old);
        break;
    }
}

static void play(struct actor *actor, uint64_t seed)
{
    struct stress_numbers numbers = {seed + actor->phase * 1009 + (uint64_t)actor->pe * 7919};
    bool                  mine    = actor->pe == me;
    for (int i = 0; i < OPERATIONS; i++) {
        int         target = (int)stress_pick(&numbers, (size_t)n);
        size_t      kind = stress_pick(&numbers, 20), which = stress_pick(&numbers, CONTEXTS);
        shmem_ctx_t ctx = contexts[which];
        if (kind < 8) play_put(actor, &numbers, target, ctx, mine);
        else if (kind < 11) play_signal(actor, &numbers, target, ctx, mine);
        else if (kind < 15) play_get(actor, &numbers, target, ctx, mine);
        else if (kind < 19) play_atomic(actor, &numbers, target, ctx, mine);
        else if (mine && target % 2) shmem_ctx_fence(ctx);
        else if (mine) shmem_ctx_quiet(ctx);
    }
}

/* ---- a phase ---- */

static void phase_run(uint64_t phase, uint64_t seed)
{
    for (size_t i = 0; i < sizeof source; i++) source[i] = source_byte(phase, me, i);
    pending_count = results_used = 0;
    for (int pe = 0; pe < n; pe++) {
        struct actor actor = {.pe = pe, .phase = phase, .writes = (int)(phase % 2), .reads = (int)((phase + 1) % 2)};
        play(&actor, seed);
    }
    for (int i = 0; i < CONTEXTS; i++) shmem_ctx_quiet(contexts[i]);
    for (size_t i = 0; i < pending_count; i++) same("nonblocking get", results + pending[i].at, pending[i].model, pending[i].bytes);
    for (int pe = 0; pe < n; pe++)
        CHECK(shmem_signal_wait_until(&fixed.signals[pe], SHMEM_CMP_GE, models[me].signals[pe]) == models[me].signals[pe]);
    CHECK(shmem_signal_wait_until(&fixed.common, SHMEM_CMP_GE, models[me].common) == models[me].common);
    shmem_barrier_all();
    const struct memory *model = &models[me];
    same("area on the heap", heap_area, model->area[0], (size_t)n * STRIPE);
    same("static area", fixed.area[1], model->area[1], (size_t)n * STRIPE);
    same("8-byte sums", fixed.sums, model->sums, sizeof model->sums);
    same("4-byte sums", fixed.sums4, model->sums4, sizeof model->sums4);
    same("8-byte words", fixed.own, model->own, sizeof model->own);
    same("4-byte words", fixed.own4, model->own4, sizeof model->own4);
    same("signals", fixed.signals, model->signals, sizeof model->signals);
    same("the signal of all", &fixed.common, &model->common, sizeof model->common);
    shmem_barrier_all();
}

/* ---- the heap ---- */

static struct block {
    unsigned char *at;
    size_t         bytes;
    uint64_t       salt;
} blocks[BLOCKS];

static unsigned char block_byte(const struct block *block, int pe, size_t i)
{
    return (unsigned char)(block->salt + (uint64_t)pe * 13 + i * 3);
}

static void block_fill(const struct block *block, size_t from)
{
    for (size_t i = from; i < block->bytes; i++) block->at[i] = block_byte(block, me, i);
}

static void block_check(const struct block *block, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (!CHECK_EQUAL(block->at[i], block_byte(block, me, i))) return;
}

static void block_check_peer(const struct block *block, int pe)
{
    static unsigned char got[BLOCK_MAX];
    shmem_getmem(got, block->at, block->bytes, pe);
    for (size_t i = 0; i < block->bytes; i++)
        if (!CHECK_EQUAL(got[i], block_byte(block, pe, i))) return;
}

static void heap_step(struct stress_numbers *shared)
{
    struct block *block = &blocks[stress_pick(shared, BLOCKS)];
    size_t        bytes = 1 + stress_pick(shared, BLOCK_MAX), kind = stress_pick(shared, 3);
    if (block->at && kind == 0) {
        block_check(block, block->bytes);
        shmem_free(block->at);
        *block = (struct block){.at = NULL};
    } else if (block->at) {
        size_t kept = bytes < block->bytes ? bytes : block->bytes;
        block_check(block, block->bytes);
        block->at = shmem_realloc(block->at, bytes);
        if (!CHECK(block->at != NULL)) shmem_global_exit(1);
        block->bytes = bytes;
        block_check(block, kept);
        block_fill(block, kept);
    } else {
        size_t alignment = (size_t)8 << stress_pick(shared, 8);
        block->at        = kind == 1 ? shmem_align(alignment, bytes) : shmem_malloc(bytes);
        if (!CHECK(block->at != NULL)) shmem_global_exit(1);
        CHECK(kind != 1 || (uintptr_t)block->at % alignment == 0);
        block->bytes = bytes;
        block->salt  = stress_next(shared);
        block_fill(block, 0);
    }
    shmem_barrier_all();
    int peer = (int)((size_t)(me + 1) % (size_t)n);
    for (int k = 0; k < BLOCKS; k++)
        if (blocks[k].at) block_check_peer(&blocks[k], peer);
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    n  = shmem_n_pes();
    if (!CHECK(n <= PES_MAX)) shmem_global_exit(1);
    uint64_t              seed = stress_seed(), phase = 0;
    struct stress_numbers shared = {seed ^ 0x55};
    heap_area                    = shmem_calloc(1, AREA);
    models                       = calloc((size_t)n, sizeof *models);
    if (!CHECK(heap_area && models)) shmem_global_exit(1);
    contexts[0] = SHMEM_CTX_DEFAULT;
    CHECK_EQUAL(shmem_ctx_create(0, &contexts[1]), 0);
    CHECK_EQUAL(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &contexts[2]), 0);
    shmem_barrier_all();
    double start_s = stress_now_s();
    do {
        phase_run(++phase, seed);
        if (phase % 3 == 0) heap_step(&shared);
        if (api_result() != 0) {
            fprintf(stderr, "PE %d: phase %" PRIu64 " of STRESS_SEED=%" PRIu64 "\n", me, phase, seed);
            shmem_global_exit(1);
        }
    } while (stress_go_on((long)phase, start_s));
    if (me == 0) printf("%" PRIu64 " phases of %d operations by %d PEs\n", phase, OPERATIONS, n);
    shmem_ctx_destroy(contexts[1]);
    shmem_ctx_destroy(contexts[2]);
    free(models);
    shmem_finalize();
    return api_result();
}
