/* SPDX-License-Identifier: Apache-2.0
 *
 * One descriptor becomes one call of the runtime, on a context of the proxy's own. Everything is started and nothing waited for, but what the
 * runtime must have at once: so a batch of requests is under way together, and one quiet completes it.
 *
 * Kernels check what they can before they ask, so what is refused here is a fault of the header or a stray store into the ring.
 */
#include "device/proxy.h"

#include "runtime/service.h"

#include <pshmem.h>
#include <shmem.h>
#include <string.h>

/* Made at first use: most jobs use one. Private to the proxy's thread. */
static shmem_ctx_t contexts[SHMEMD_CONTEXTS];

static SHMEMI_COLD void no_sense(const struct shmemd_descriptor *d, const char *what)
{
    shmemi_service_fatal("kernel",
                         "request %llu of the ring makes no sense: %s" WHY
                         "op %u, detail %u, segments 0x%x, context %u, PE %d, offset 0x%llx, %llu bytes" FIX
                         "look for stray stores; if there are none, report this as a fault of Postern",
                         (unsigned long long)d->turn, what, d->op, d->detail, d->segments, d->ctx, d->pe,
                         (unsigned long long)d->remote, (unsigned long long)d->bytes);
}

static shmem_ctx_t context_of(const struct shmemd_descriptor *d)
{
    if (d->ctx >= SHMEMD_CONTEXTS) no_sense(d, "no such context");
    shmem_ctx_t *ctx = &contexts[d->ctx];
    if (*ctx != SHMEM_CTX_INVALID) return *ctx;
    if (pshmem_ctx_create(SHMEM_CTX_PRIVATE, ctx) != 0)
        shmemi_service_fatal("kernel", "could not make a context for the requests of kernels" WHY "the transport refused it" FIX
                                       "look at the report (POSTERN_REPORT=1)");
    return *ctx;
}

void shmemd_perform_quiet(void)
{
    for (int i = 0; i < SHMEMD_CONTEXTS; i++)
        if (contexts[i] != SHMEM_CTX_INVALID) pshmem_ctx_quiet(contexts[i]);
}

void shmemd_perform_finish(void)
{
    for (int i = 0; i < SHMEMD_CONTEXTS; i++) {
        if (contexts[i] != SHMEM_CTX_INVALID) pshmem_ctx_destroy(contexts[i]);
        contexts[i] = SHMEM_CTX_INVALID;
    }
}

/* ---- addresses ---- */

/* My own address of (segment, offset), which names that of any PE. */
static char *symmetric(const struct shmemd_side *side, const struct shmemd_descriptor *d, unsigned segment, uint64_t offset,
                       uint64_t bytes)
{
    if (segment >= SHMEMD_SEGMENTS) no_sense(d, "in no segment");
    const struct shmemd_window *window = &side->window[segment];
    if (offset > window->bytes || bytes > window->bytes - offset) no_sense(d, "outside of symmetric memory");
    return window->base + offset;
}

static char *remote_of(const struct shmemd_side *side, const struct shmemd_descriptor *d, uint64_t bytes)
{
    return symmetric(side, d, d->segments & 0xfu, d->remote, bytes);
}

/* A kernel's address of local memory as this CPU, or its driver, names it: different only where symmetric host memory is registered elsewhere. */
static char *local_of(const struct shmemd_side *side, const struct shmemd_descriptor *d)
{
    for (int i = 0; i < SHMEMD_SEGMENTS; i++) {
        uint64_t offset = d->local - side->state.segment[i].base;
        if (offset < side->state.segment[i].bytes) return side->window[i].base + offset;
    }
    return (char *)(uintptr_t)d->local;
}

/* ---- operations ---- */

static void strided(const struct shmemd_side *side, const struct shmemd_descriptor *d)
{
    shmem_ctx_t ctx   = context_of(d);
    bool        put   = (d->op & SHMEMD_OP_MASK) == SHMEMD_OP_IPUT;
    size_t      count = d->argument[0];
    ptrdiff_t   local = (ptrdiff_t)d->argument[1], there = (ptrdiff_t)d->argument[2];
    char       *remote = remote_of(side, d, 0), *mine = local_of(side, d);
    ptrdiff_t   to = put ? there : local, from = put ? local : there;
    void       *dest = put ? remote : mine, *source = put ? mine : remote;
    switch (d->bytes) {
    case 1: (put ? pshmem_ctx_iput8 : pshmem_ctx_iget8)(ctx, dest, source, to, from, count, d->pe); break;
    case 2: (put ? pshmem_ctx_iput16 : pshmem_ctx_iget16)(ctx, dest, source, to, from, count, d->pe); break;
    case 4: (put ? pshmem_ctx_iput32 : pshmem_ctx_iget32)(ctx, dest, source, to, from, count, d->pe); break;
    case 8: (put ? pshmem_ctx_iput64 : pshmem_ctx_iget64)(ctx, dest, source, to, from, count, d->pe); break;
    case 16: (put ? pshmem_ctx_iput128 : pshmem_ctx_iget128)(ctx, dest, source, to, from, count, d->pe); break;
    default: no_sense(d, "no such element");
    }
}

static void put_signal(const struct shmemd_side *side, const struct shmemd_descriptor *d)
{
    uint64_t *signal = (uint64_t *)(void *)symmetric(side, d, d->segments >> 4, d->argument[0], sizeof *signal);
    int       op     = d->detail == SHMEMD_SIGNAL_ADD ? SHMEM_SIGNAL_ADD : SHMEM_SIGNAL_SET;
    pshmem_ctx_putmem_signal_nbi(context_of(d), remote_of(side, d, d->bytes), local_of(side, d), d->bytes, signal, d->argument[1],
                                 op, d->pe);
}

static void amo64(shmem_ctx_t ctx, uint64_t *at, const struct shmemd_descriptor *d, bool fetch, uint64_t *old)
{
    uint64_t value = d->argument[0];
    switch (d->detail) {
    case SHMEMD_ATOMIC_FETCH: pshmem_ctx_uint64_atomic_fetch_nbi(ctx, old, at, d->pe); break;
    case SHMEMD_ATOMIC_SET: pshmem_ctx_uint64_atomic_set(ctx, at, value, d->pe); break;
    case SHMEMD_ATOMIC_SWAP: pshmem_ctx_uint64_atomic_swap_nbi(ctx, old, at, value, d->pe); break;
    case SHMEMD_ATOMIC_CSWAP: pshmem_ctx_uint64_atomic_compare_swap_nbi(ctx, old, at, d->argument[1], value, d->pe); break;
    case SHMEMD_ATOMIC_ADD:
        if (fetch) pshmem_ctx_uint64_atomic_fetch_add_nbi(ctx, old, at, value, d->pe);
        else pshmem_ctx_uint64_atomic_add(ctx, at, value, d->pe);
        break;
    case SHMEMD_ATOMIC_AND:
        if (fetch) pshmem_ctx_uint64_atomic_fetch_and_nbi(ctx, old, at, value, d->pe);
        else pshmem_ctx_uint64_atomic_and(ctx, at, value, d->pe);
        break;
    case SHMEMD_ATOMIC_OR:
        if (fetch) pshmem_ctx_uint64_atomic_fetch_or_nbi(ctx, old, at, value, d->pe);
        else pshmem_ctx_uint64_atomic_or(ctx, at, value, d->pe);
        break;
    case SHMEMD_ATOMIC_XOR:
        if (fetch) pshmem_ctx_uint64_atomic_fetch_xor_nbi(ctx, old, at, value, d->pe);
        else pshmem_ctx_uint64_atomic_xor(ctx, at, value, d->pe);
        break;
    default: no_sense(d, "no such atomic");
    }
}

static void amo32(shmem_ctx_t ctx, uint32_t *at, const struct shmemd_descriptor *d, bool fetch, uint32_t *old)
{
    uint32_t value = (uint32_t)d->argument[0];
    switch (d->detail) {
    case SHMEMD_ATOMIC_FETCH: pshmem_ctx_uint32_atomic_fetch_nbi(ctx, old, at, d->pe); break;
    case SHMEMD_ATOMIC_SET: pshmem_ctx_uint32_atomic_set(ctx, at, value, d->pe); break;
    case SHMEMD_ATOMIC_SWAP: pshmem_ctx_uint32_atomic_swap_nbi(ctx, old, at, value, d->pe); break;
    case SHMEMD_ATOMIC_CSWAP:
        pshmem_ctx_uint32_atomic_compare_swap_nbi(ctx, old, at, (uint32_t)d->argument[1], value, d->pe);
        break;
    case SHMEMD_ATOMIC_ADD:
        if (fetch) pshmem_ctx_uint32_atomic_fetch_add_nbi(ctx, old, at, value, d->pe);
        else pshmem_ctx_uint32_atomic_add(ctx, at, value, d->pe);
        break;
    case SHMEMD_ATOMIC_AND:
        if (fetch) pshmem_ctx_uint32_atomic_fetch_and_nbi(ctx, old, at, value, d->pe);
        else pshmem_ctx_uint32_atomic_and(ctx, at, value, d->pe);
        break;
    case SHMEMD_ATOMIC_OR:
        if (fetch) pshmem_ctx_uint32_atomic_fetch_or_nbi(ctx, old, at, value, d->pe);
        else pshmem_ctx_uint32_atomic_or(ctx, at, value, d->pe);
        break;
    case SHMEMD_ATOMIC_XOR:
        if (fetch) pshmem_ctx_uint32_atomic_fetch_xor_nbi(ctx, old, at, value, d->pe);
        else pshmem_ctx_uint32_atomic_xor(ctx, at, value, d->pe);
        break;
    default: no_sense(d, "no such atomic");
    }
}

static void amo(const struct shmemd_side *side, const struct shmemd_descriptor *d, uint64_t *value)
{
    bool  fetch = (d->op & SHMEMD_OP_REPLY) != 0;
    void *at    = remote_of(side, d, d->bytes);
    *value      = 0;
    if (d->bytes == sizeof(uint64_t)) amo64(context_of(d), at, d, fetch, value);
    else if (d->bytes == sizeof(uint32_t)) amo32(context_of(d), at, d, fetch, (uint32_t *)(void *)value);
    else no_sense(d, "an atomic has 4 or 8 bytes");
}

void shmemd_perform(struct shmemd_side *side, const struct shmemd_descriptor *d, uint64_t *value)
{
    int  op       = d->op & SHMEMD_OP_MASK;
    bool names_pe = op != SHMEMD_OP_FENCE && op != SHMEMD_OP_QUIET;
    if (names_pe && (d->pe < 0 || d->pe >= shmemi_state.npes)) no_sense(d, "no such PE");
    switch (op) {
    case SHMEMD_OP_PUT:
        pshmem_ctx_putmem_nbi(context_of(d), remote_of(side, d, d->bytes), local_of(side, d), d->bytes, d->pe);
        break;
    case SHMEMD_OP_PUT_INLINE:
        if (d->bytes > SHMEMD_INLINE_MAX) no_sense(d, "too many bytes in the descriptor");
        /* Blocking: the bytes lie in a copy that goes. It waits for no more than for room. */
        pshmem_ctx_putmem(context_of(d), remote_of(side, d, d->bytes), &d->local, d->bytes, d->pe);
        break;
    case SHMEMD_OP_GET:
        pshmem_ctx_getmem_nbi(context_of(d), local_of(side, d), remote_of(side, d, d->bytes), d->bytes, d->pe);
        break;
    case SHMEMD_OP_IPUT:
    case SHMEMD_OP_IGET: strided(side, d); break;
    case SHMEMD_OP_PUT_SIGNAL: put_signal(side, d); break;
    case SHMEMD_OP_AMO: amo(side, d, value); break;
    case SHMEMD_OP_FENCE: pshmem_ctx_fence(context_of(d)); break;
    case SHMEMD_OP_QUIET: break; /* whoever asks for a reply gets it after a quiet */
    default: no_sense(d, "no such operation");
    }
}
