/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that registers private memory by its operations, and unmaps and maps again, in any order, whatever no operation uses. Each mapping
 * of a page has a number of its own, and a registration holds the numbers that it found. The key that an operation gets must belong to
 * the pages that are there now.
 */
#include "transports/ibverbs/memory.h"

#include "tests/unit/ibverbs_fake.h"
#include "tests/unit/unit.h"

#include <sys/mman.h>
#include <unistd.h>

enum { PAGES = 24, OPS = 12, STEPS = 200000, KEYS = 1 << 10 };

static char  *space;
static size_t page;

static unsigned mapping[PAGES]; /* number of the mapping that is at each page now */
static unsigned in_use[PAGES];  /* operations under way there                     */

/* What the device would touch with a key. */
static struct registered {
    uint32_t key;
    int      first, count;
    unsigned mapping[PAGES];
} registered[KEYS];

static struct op {
    bool            active;
    int             first, count;
    struct ib_local local;
} ops[OPS];

static uint64_t seed = 1;

static unsigned chance(unsigned below)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (unsigned)(seed >> 20) % below;
}

/* The next registration gets the next key; this is where it finds its pages. */
static int note_registration(const void *base, size_t bytes, unsigned access)
{
    (void)access;
    uint32_t           key = (uint32_t)atomic_load(&fake_keys) + 1;
    struct registered *at  = &registered[key % KEYS];
    CHECK((const char *)base >= space && (size_t)((const char *)base - space) + bytes <= PAGES * page);
    *at = (struct registered){
        .key = key, .first = (int)((size_t)((const char *)base - space) / page), .count = (int)((bytes + page - 1) / page)};
    for (int i = 0; i < at->count; i++) at->mapping[i] = mapping[at->first + i];
    return 0;
}

static void start(struct ib_memory *memory, struct op *op)
{
    op->first     = (int)chance(PAGES);
    op->count     = 1 + (int)chance((unsigned)(PAGES - op->first) < 6 ? (unsigned)(PAGES - op->first) : 6);
    size_t offset = chance((unsigned)page), bytes = (size_t)op->count * page - offset;
    bytes   = bytes > 1 ? bytes - chance((unsigned)(page - offset < bytes ? page - offset : bytes)) : bytes;
    int err = shmemt_ibverbs_memory_local(memory, space + (size_t)op->first * page + offset, bytes, SHMEMT_MEMORY_HOST,
                                          chance(2) == 0, &op->local);
    CHECK_EQ_I64(err, 0);
    if (err) return;
    op->active                  = true;
    const struct registered *at = &registered[op->local.lkey % KEYS];
    CHECK_EQ_U64(at->key, op->local.lkey);
    CHECK(op->first >= at->first && op->first + op->count <= at->first + at->count);
    for (int i = op->first; i < op->first + op->count; i++) {
        CHECK_EQ_U64(at->mapping[i - at->first], mapping[i]);
        in_use[i]++;
    }
}

static void end(struct ib_memory *memory, struct op *op)
{
    shmemt_ibverbs_memory_release(memory, op->local.hold);
    for (int i = op->first; i < op->first + op->count; i++) in_use[i]--;
    op->active = false;
}

int main(void)
{
    static const struct shmemt_job job  = {.npes = 1};
    const struct ib_port           port = {.device = "fake"};
    struct ib_memory              *memory;
    unsigned                       mappings = 0;
    page                                    = (size_t)sysconf(_SC_PAGESIZE);
    space = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED) return unit_skip("no address space");
    fake_refusal = note_registration;
    CHECK_EQ_I64(shmemt_ibverbs_memory_open(&job, NULL, &port, &memory), 0);
    for (int step = 0; step < STEPS; step++) {
        struct op *op = &ops[chance(OPS)];
        int        at = (int)chance(PAGES);
        if (chance(3) == 0 && in_use[at] == 0) mapping[at] = ++mappings; /* unmapped, and something else mapped there */
        if (op->active) end(memory, op);
        else start(memory, op);
    }
    struct ib_memory_counts counts = shmemt_ibverbs_memory_counts(memory);
    CHECK(counts.hits > STEPS / 100); /* else this has shown nothing */
    CHECK(mappings > STEPS / 100);
    for (int i = 0; i < OPS; i++)
        if (ops[i].active) end(memory, &ops[i]);
    counts = shmemt_ibverbs_memory_counts(memory);
    CHECK_EQ_U64(counts.private_bytes, 0);
    CHECK_EQ_U64(counts.pinned_bytes, 0);
    CHECK_EQ_I64(fake_registered, 0); /* nothing outlives its operations */
    shmemt_ibverbs_memory_close(memory);
    return unit_result();
}
