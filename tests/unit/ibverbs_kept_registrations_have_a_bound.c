/* SPDX-License-Identifier: Apache-2.0
 *
 * Private memory that stays registered: found again, bounded in bytes and number, the longest unused goes first, and what is in use stays. And
 * what happens where the kernel has no room.
 */
#include "transports/ibverbs/memory.h"

#include "tests/unit/ibverbs_fake.h"
#include "tests/unit/unit.h"

#include <sys/mman.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static const struct shmemt_job job = {.npes = 1};

static struct ib_memory *open_memory(const char *cache, bool odp)
{
    const struct ib_port port = {.device = "fake", .odp = odp};
    struct ib_memory    *memory;
    setenv("POSTERN_IB_REG_CACHE", cache, 1);
    setenv("POSTERN_IB_ODP", odp ? "1" : "0", 1);
    CHECK_EQ_I64(shmemt_ibverbs_memory_open(&job, NULL, &port, &memory), 0);
    return memory;
}

/* Buffers of 1 MiB each; nothing looks into them. */
static char *buffer(unsigned index)
{
    return (char *)(uintptr_t)(UINT64_C(1) << 40) + index * MIB;
}

static int take(struct ib_memory *memory, unsigned index, struct ib_local *local_out)
{
    return shmemt_ibverbs_memory_local(memory, buffer(index), MIB, SHMEMT_MEMORY_HOST, true, local_out);
}

/* One operation from start to end; its key. */
static uint32_t use(struct ib_memory *memory, unsigned index)
{
    struct ib_local local = {.lkey = 0};
    CHECK_EQ_I64(take(memory, index, &local), 0);
    shmemt_ibverbs_memory_release(memory, local.hold);
    return local.lkey;
}

static void check_lru(void)
{
    struct ib_memory *memory = open_memory("3m", false);
    uint32_t          a = use(memory, 0), b = use(memory, 1);
    use(memory, 2);
    CHECK_EQ_U64(use(memory, 0), a); /* found again, and now the youngest */
    use(memory, 3);                  /* the bound: 1 goes, as the longest unused */
    CHECK_EQ_I64(fake_registered, 3);
    CHECK_EQ_U64(use(memory, 0), a);
    CHECK(use(memory, 1) != b);
    struct ib_memory_counts counts = shmemt_ibverbs_memory_counts(memory);
    CHECK_EQ_U64(counts.registrations, 5);
    CHECK_EQ_U64(counts.hits, 2);
    CHECK_EQ_U64(counts.evictions, 2);
    CHECK_EQ_U64(counts.private_bytes, 3 * MIB);
    shmemt_ibverbs_memory_close(memory);
    CHECK_EQ_I64(fake_registered, 0);
}

/* Part of what is registered needs nothing new; more than that does. */
static void check_ranges(void)
{
    struct ib_memory *memory = open_memory("16m", false);
    struct ib_local   whole, part, more;
    CHECK_EQ_I64(take(memory, 0, &whole), 0);
    CHECK_EQ_I64(shmemt_ibverbs_memory_local(memory, buffer(0) + 4096, 8192, SHMEMT_MEMORY_HOST, true, &part), 0);
    CHECK_EQ_U64(part.lkey, whole.lkey);
    CHECK_EQ_I64(shmemt_ibverbs_memory_local(memory, buffer(0) + 4096, MIB, SHMEMT_MEMORY_HOST, true, &more), 0);
    CHECK(more.lkey != whole.lkey);
    shmemt_ibverbs_memory_release(memory, whole.hold);
    shmemt_ibverbs_memory_release(memory, part.hold);
    shmemt_ibverbs_memory_release(memory, more.hold);
    CHECK_EQ_I64(shmemt_ibverbs_memory_local(memory, buffer(0), 0, SHMEMT_MEMORY_HOST, true, &more), -EFAULT);
    CHECK_EQ_I64(shmemt_ibverbs_memory_local(memory, (char *)UINTPTR_MAX - 10, 20, SHMEMT_MEMORY_HOST, true, &more), -EFAULT);
    shmemt_ibverbs_memory_close(memory);
}

/* More operations at the same time than there are records for. */
static void check_number(void)
{
    struct ib_memory      *memory = open_memory("none", false);
    static struct ib_local locals[1000];
    unsigned               count = 0;
    while (count < 1000 && take(memory, 2 * count, &locals[count]) == 0) count++;
    CHECK(count >= 100 && count < 1000);
    struct ib_local local;
    CHECK_EQ_I64(take(memory, 2 * count, &local), -EAGAIN);
    shmemt_ibverbs_memory_release(memory, locals[0].hold);
    CHECK_EQ_I64(take(memory, 2 * count, &locals[0]), 0);
    for (unsigned i = 0; i < count; i++) shmemt_ibverbs_memory_release(memory, locals[i].hold);
    CHECK_EQ_I64(fake_registered, 0);
    shmemt_ibverbs_memory_close(memory);
}

/* Idle ones make room for others when the records are all taken, in whatever order. */
static void check_idle_make_room(void)
{
    struct ib_memory *memory = open_memory("4g", false);
    for (unsigned i = 0; i < 1000; i++) use(memory, 2 * i);
    CHECK(fake_registered < 1000);
    CHECK_EQ_U64(shmemt_ibverbs_memory_counts(memory).registrations, 1000);
    shmemt_ibverbs_memory_close(memory);
    CHECK_EQ_I64(fake_registered, 0);
}

static unsigned refused;
static size_t   room;

static int refuse_beyond_room(const void *base, size_t bytes, unsigned access)
{
    (void)base, (void)bytes, (void)access;
    if ((size_t)fake_registered * MIB + bytes <= room) return 0;
    refused++;
    return ENOMEM;
}

static void check_kernel_without_room(void)
{
    struct ib_memory *memory = open_memory("1g", false);
    struct ib_local   first, second;
    fake_refusal = refuse_beyond_room;
    room         = 3 * MIB;
    for (unsigned i = 0; i < 3; i++) use(memory, 2 * i);
    CHECK_EQ_I64(take(memory, 10, &first), -ENOMEM); /* what was idle has been given up */
    CHECK_EQ_I64(fake_registered, 0);
    CHECK_EQ_I64(take(memory, 10, &first), 0);
    room = MIB;
    CHECK_EQ_I64(take(memory, 20, &second), -EAGAIN); /* once the first has ended there may be room */
    shmemt_ibverbs_memory_release(memory, first.hold);
    room = 0;
    CHECK_EQ_I64(take(memory, 20, &second), -ENOMEM); /* never */
    CHECK_EQ_U64(shmemt_ibverbs_memory_counts(memory).private_bytes, 0);
    fake_refusal = NULL;
    shmemt_ibverbs_memory_close(memory);
}

static unsigned asked;

static int refuse_writing(const void *base, size_t bytes, unsigned access)
{
    (void)base, (void)bytes;
    asked = access;
    return access & IBV_ACCESS_LOCAL_WRITE ? EFAULT : 0;
}

/* A source in read-only memory can be sent from, and is not kept. */
static void check_read_only(void)
{
    struct ib_memory *memory = open_memory("1g", false);
    struct ib_local   local;
    fake_refusal = refuse_writing;
    CHECK_EQ_I64(take(memory, 0, &local), -EFAULT);
    CHECK_EQ_I64(shmemt_ibverbs_memory_local(memory, buffer(0), MIB, SHMEMT_MEMORY_HOST, false, &local), 0);
    CHECK_EQ_I64(take(memory, 0, &local), -EFAULT); /* nor is it good for reading into */
    CHECK_EQ_I64(fake_registered, 1);
    shmemt_ibverbs_memory_release(memory, local.hold);
    CHECK_EQ_I64(fake_registered, 0);
    fake_refusal = NULL;
    shmemt_ibverbs_memory_close(memory);
}

static int note_access(const void *base, size_t bytes, unsigned access)
{
    (void)base, (void)bytes;
    asked = access;
    return 0;
}

static void check_on_demand(void)
{
    fake_refusal             = note_access;
    struct ib_memory *memory = open_memory("none", true);
    uint32_t          key    = use(memory, 0);
    CHECK(asked & IBV_ACCESS_ON_DEMAND);
    CHECK(asked & IBV_ACCESS_RELAXED_ORDERING);
    CHECK(!(asked & (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)));
    CHECK_EQ_U64(use(memory, 0), key); /* kept: it follows the program's pages */
    CHECK_HAS(shmemt_ibverbs_memory_describe(memory), "on demand");
    shmemt_ibverbs_memory_close(memory);

    memory = open_memory("none", false);
    key    = use(memory, 0);
    CHECK(!(asked & IBV_ACCESS_ON_DEMAND));
    CHECK(use(memory, 0) != key);
    CHECK_HAS(shmemt_ibverbs_memory_describe(memory), "per operation");
    shmemt_ibverbs_memory_close(memory);
    fake_refusal = NULL;
}

int main(void)
{
    check_lru();
    check_ranges();
    check_number();
    check_idle_make_room();
    check_kernel_without_room();
    check_read_only();
    check_on_demand();
    return unit_result();
}
