/* SPDX-License-Identifier: Apache-2.0
 *
 * The PEs of one node, through memory that the runtime has mapped: a peer's address is arithmetic.
 *
 * Usually map() is all that is called, and the runtime's own loads and stores do the rest. The posted slots work too: each does
 * its copy before it returns, so nothing is ever under way, fence and quiet are only barriers, and -EAGAIN never comes.
 *
 * Contract: transports/transport.h, docs/transports.md.  Tests: tests/transport/.
 */
#include "runtime/base/log.h"
#include "transports/mapped.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

struct shm {
    struct shmemt            tp;
    const struct shmemt_job *job;
    /* [local_pes * SHMEMT_SEGMENTS_MAX] bytes of each PE's region: the mapping's until a key says how many are in use. */
    size_t *region_bytes;
    /* [npes] Atomic, as another thread may be putting when a PE is lost; relaxed, as nothing else depends on it. */
    _Atomic bool *lost;
};

struct shm_ctx {
    struct shmemt_ctx ctx;
    struct shm       *shm;
};

/* What a key of this transport holds. */
struct shm_key {
    uint64_t secret; /* the job's: a key of another job is refused */
    uint64_t bytes;
    int32_t  segment;
    int32_t  pe;
};
static_assert(sizeof(struct shm_key) <= sizeof(((struct shmemt_key *)NULL)->data), "a shm key must fit");

static void fill_traits(const struct shmemt_job *job, struct shmemt_traits *traits_out)
{
    *traits_out = (struct shmemt_traits){
        .caps = SHMEMT_CAP_MAP_HOST | SHMEMT_CAP_POSTED | SHMEMT_CAP_AMO | SHMEMT_CAP_AMO_CPU | SHMEMT_CAP_PUT_ORDER |
                SHMEMT_CAP_PROGRESS,
        .copy_bytes_max = SIZE_MAX,
        .bytes_max      = SIZE_MAX,
        .pieces_max     = SIZE_MAX,
        .agents         = 1u << SHMEMT_AGENT_CPU,
    };
    snprintf(traits_out->detail, sizeof traits_out->detail, "%d PE%s in one mapping", job->local_pes,
             job->local_pes == 1 ? "" : "s");
}

static int probe_node(const struct shmemt_job *job, struct shmemt_traits *traits_out)
{
    fill_traits(job, traits_out);
    return 0;
}

static size_t *region_bytes_of(struct shm *shm, int pe, int segment)
{
    assert(segment >= 0 && segment < SHMEMT_SEGMENTS_MAX);
    return &shm->region_bytes[(size_t)shm->job->local_of[pe] * SHMEMT_SEGMENTS_MAX + (size_t)segment];
}

static int open_node(const struct shmemt_job *job, struct shmemt **tp_out)
{
    int         err = -ENOMEM;
    struct shm *shm = malloc(sizeof *shm);
    if (!shm) goto out;
    *shm = (struct shm){.tp.ops = &shmemt_shm_ops, .job = job};
    fill_traits(job, &shm->tp.traits);
    shm->region_bytes = calloc((size_t)job->local_pes, SHMEMT_SEGMENTS_MAX * sizeof *shm->region_bytes);
    shm->lost         = calloc((size_t)job->npes, sizeof *shm->lost);
    if (!shm->region_bytes || !shm->lost) goto free_arrays;
    for (size_t i = 0; i < (size_t)job->local_pes * SHMEMT_SEGMENTS_MAX; i++)
        shm->region_bytes[i] = job->node_map[i % SHMEMT_SEGMENTS_MAX].bytes;
    *tp_out = &shm->tp;
    return 0;

free_arrays:
    free(shm->region_bytes);
    free((void *)shm->lost);
    free(shm);
out:
    shmemi_error("could not open the shm transport: out of memory" WHY "malloc failed" FIX
                 "start fewer PEs, or give this machine or container more memory");
    return err;
}

static void close_node(struct shmemt *tp)
{
    struct shm *shm = (struct shm *)tp;
    if (!shm) return;
    free(shm->region_bytes);
    free((void *)shm->lost);
    free(shm);
}

static bool on_node(const struct shm *shm, int pe)
{
    return pe >= 0 && pe < shm->job->npes && shm->job->local_of[pe] >= 0;
}

static int add_local_peer(struct shmemt *tp, int pe, const struct shmemt_address *address)
{
    (void)address;
    return on_node((struct shm *)tp, pe) ? 0 : -EHOSTUNREACH;
}

static void lose_local_peer(struct shmemt *tp, int pe)
{
    struct shm *shm = (struct shm *)tp;
    if (pe >= 0 && pe < shm->job->npes) atomic_store_explicit(&shm->lost[pe], true, memory_order_relaxed);
}

static bool is_lost(struct shm *shm, int pe)
{
    return pe >= 0 && pe < shm->job->npes && atomic_load_explicit(&shm->lost[pe], memory_order_relaxed);
}

/* The memory is mapped already; the key only says how much of it is in use. */
static int export_mapped(struct shmemt *tp, const struct shmemt_region *mine, struct shmemt_key *key_out)
{
    const struct shmemt_job *job = ((struct shm *)tp)->job;
    if (mine->segment < 0 || mine->segment >= SHMEMT_SEGMENTS_MAX) return -EINVAL;
    struct shm_key key = {.secret = job->secret, .bytes = mine->bytes, .segment = mine->segment, .pe = job->my_pe};
    *key_out           = (struct shmemt_key){.bytes = sizeof key};
    memcpy(key_out->data, &key, sizeof key);
    return 0;
}

static void unexport_mapped(struct shmemt *tp, int segment)
{
    (void)tp, (void)segment; /* nothing was registered */
}

static int import_mapped(struct shmemt *tp, int pe, int segment, const struct shmemt_key *key)
{
    struct shm    *shm = (struct shm *)tp;
    struct shm_key theirs;
    if (!on_node(shm, pe)) return -EHOSTUNREACH;
    if (segment < 0 || segment >= SHMEMT_SEGMENTS_MAX) return -EINVAL;
    if (key->bytes == 0) {
        *region_bytes_of(shm, pe, segment) = 0;
        return 0;
    }
    memcpy(&theirs, key->data, sizeof theirs);
    if (key->bytes != sizeof theirs || theirs.secret != shm->job->secret || theirs.pe != pe || theirs.segment != segment) {
        shmemi_error("cannot use the key that PE %d sent for segment %d" WHY "it was made by another job, PE or version" FIX
                     "start all PEs of the job with the same library",
                     pe, segment);
        return -EINVAL;
    }
    if (theirs.bytes > shm->job->node_map[segment].bytes) {
        shmemi_error("cannot reach segment %d of PE %d" WHY "it has %llu bytes, but %zu are mapped here" FIX
                     "start all PEs with the same program and the same SHMEM_SYMMETRIC_SIZE",
                     segment, pe, (unsigned long long)theirs.bytes, shm->job->node_map[segment].bytes);
        return -EINVAL;
    }
    *region_bytes_of(shm, pe, segment) = theirs.bytes;
    return 0;
}

static void *map_segment(struct shmemt *tp, int pe, int segment)
{
    struct shm              *shm = (struct shm *)tp;
    const struct shmemt_job *job = shm->job;
    if (!on_node(shm, pe) || segment < 0 || segment >= SHMEMT_SEGMENTS_MAX) return NULL;
    if (!job->node_map[segment].base || *region_bytes_of(shm, pe, segment) == 0) return NULL;
    return job->node_map[segment].base + (size_t)job->local_of[pe] * job->node_map[segment].stride;
}

static int open_ctx(struct shmemt *tp, unsigned options, struct shmemt_ctx **ctx_out)
{
    (void)options;
    struct shm_ctx *ctx = malloc(sizeof *ctx);
    if (!ctx) return -ENOMEM;
    *ctx     = (struct shm_ctx){.ctx.tp = tp, .shm = (struct shm *)tp};
    *ctx_out = &ctx->ctx;
    return 0;
}

static void close_ctx(struct shmemt_ctx *ctx)
{
    free(ctx);
}

/* ---- data plane ---- */

static struct shm *shm_of(struct shmemt_ctx *ctx)
{
    return ((struct shm_ctx *)ctx)->shm;
}

/* A PE sleeps on memory, not on operations: each piece that has changed is reported. */
static void wake_pieces(const struct shmemt_job *job, int pe, char *base, const struct shmemt_xfer *xfer)
{
    if (!job->wake) return;
    for (size_t i = 0; i < shmemt_mapped_pieces(xfer); i++) {
        struct shmemt_piece piece = shmemt_mapped_piece(xfer, i);
        if (piece.bytes > 0) job->wake(job->local_of[pe], base + piece.remote_offset, piece.bytes);
    }
}

/* Where (pe, segment) lies, after the checks that both directions share. */
static int find_target(struct shm *shm, int pe, const struct shmemt_xfer *xfer, char **base_out)
{
    char *base = map_segment(&shm->tp, pe, xfer->segment);
    if (is_lost(shm, pe)) return -EHOSTDOWN;
    if (!base) return -ENXIO;
    int err = shmemt_mapped_check(xfer, *region_bytes_of(shm, pe, xfer->segment), &shm->tp.traits);
    if (err) return err;
    *base_out = base;
    return 0;
}

static int copy_to(struct shmemt_ctx *ctx, int pe, const struct shmemt_xfer *xfer)
{
    struct shm *shm = shm_of(ctx);
    char       *base;
    int         err = find_target(shm, pe, xfer, &base);
    if (err) return err;
    shmemt_mapped_xfer(SHMEMT_MAPPED_PUT, base, xfer);
    /* CAP_PUT_ORDER: stores of the next put come after these (on x86 a compiler barrier). Pairs with the reader's acquire. */
    atomic_thread_fence(memory_order_release);
    wake_pieces(shm->job, pe, base, xfer);
    shmemt_mapped_done(xfer->done);
    return 0;
}

static int copy_from(struct shmemt_ctx *ctx, int pe, const struct shmemt_xfer *xfer)
{
    char *base;
    int   err = find_target(shm_of(ctx), pe, xfer, &base);
    if (err) return err;
    shmemt_mapped_xfer(SHMEMT_MAPPED_GET, base, xfer);
    shmemt_mapped_done(xfer->done);
    return 0;
}

static int find_word(struct shm *shm, int pe, const struct shmemt_amo *amo, char **word_out)
{
    char *base = map_segment(&shm->tp, pe, amo->segment);
    if (is_lost(shm, pe)) return -EHOSTDOWN;
    if (!base) return -ENXIO;
    int err = shmemt_mapped_check_amo(amo, *region_bytes_of(shm, pe, amo->segment));
    if (err) return err;
    *word_out = base + amo->remote_offset;
    return 0;
}

static void update_word(struct shm *shm, int pe, char *word, const struct shmemt_amo *amo)
{
    uint64_t old = shmemt_mapped_amo(word, amo); /* its release puts earlier puts before it */
    if (shm->job->wake && amo->op != SHMEMT_AMO_FETCH) shm->job->wake(shm->job->local_of[pe], word, amo->bytes);
    shmemt_mapped_fetched(amo, old);
}

static int update(struct shmemt_ctx *ctx, int pe, const struct shmemt_amo *amo)
{
    struct shm *shm = shm_of(ctx);
    char       *word;
    int         err = find_word(shm, pe, amo, &word);
    if (err) return err;
    update_word(shm, pe, word, amo);
    return 0;
}

static int copy_and_signal(struct shmemt_ctx *ctx, int pe, const struct shmemt_xfer *xfer, const struct shmemt_amo *signal)
{
    struct shm *shm = shm_of(ctx);
    char       *word;
    int         err = find_word(shm, pe, signal, &word); /* before the put: accepted whole or not at all */
    if (err) return err;
    if (shmemt_mapped_pieces(xfer) > 0) { /* a signal without data is legal */
        err = copy_to(ctx, pe, xfer);
        if (err) return err;
    } else {
        shmemt_mapped_done(xfer->done);
    }
    update_word(shm, pe, word, signal);
    return 0;
}

static int order(struct shmemt_ctx *ctx, int pe)
{
    (void)ctx, (void)pe;
    /* Nothing is under way: only this CPU's stores remain to be put in order. Pairs with the acquire of the target's wait. */
    atomic_thread_fence(memory_order_release);
    return 0;
}

static int complete(struct shmemt_ctx *ctx, int pe)
{
    /* seq_cst: what is done is visible before anything that the caller reads or tells others afterwards. */
    atomic_thread_fence(memory_order_seq_cst);
    return is_lost(shm_of(ctx), pe) ? -EHOSTDOWN : 0;
}

static int nothing_to_do(struct shmemt_ctx *ctx)
{
    (void)ctx;
    return 0;
}

const struct shmemt_ops shmemt_shm_ops = {
    .version         = SHMEMT_VERSION,
    .name            = "shm",
    .probe           = probe_node,
    .open            = open_node,
    .close           = close_node,
    .add_peer        = add_local_peer,
    .lose_peer       = lose_local_peer,
    .export_region   = export_mapped,
    .unexport_region = unexport_mapped,
    .import_region   = import_mapped,
    .map             = map_segment,
    .ctx_open        = open_ctx,
    .ctx_close       = close_ctx,
    .put             = copy_to,
    .get             = copy_from,
    .amo             = update,
    .put_signal      = copy_and_signal,
    .fence           = order,
    .quiet           = complete,
    .progress        = nothing_to_do,
};
