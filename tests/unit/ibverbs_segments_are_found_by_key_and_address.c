/* SPDX-License-Identifier: Apache-2.0
 *
 * Segments: what a key tells a peer, which keys are refused, that own segments are found by address, and how GPU memory is registered. Also the
 * rings of slots.
 */
#include "transports/ibverbs/memory.h"

#include "tests/unit/ibverbs_fake.h"
#include "tests/unit/unit.h"

static struct shmemt_job job = {.my_pe = 3, .npes = 8, .secret = 42};
static unsigned          asked;
static int               refusal;

static int note_access(const void *base, size_t bytes, unsigned access)
{
    (void)base, (void)bytes;
    asked = access;
    return refusal;
}

static struct ib_memory *open_memory(enum ibv_atomic_cap atomics, uint64_t largest)
{
    const struct ib_port port = {.device = "fake", .limits = {.atomic_cap = atomics, .max_mr_size = largest}};
    struct ib_memory    *memory;
    CHECK_EQ_I64(shmemt_ibverbs_memory_open(&job, NULL, &port, &memory), 0);
    return memory;
}

static char heap[65536], data[4096];

static const struct shmemt_region heap_region = {.segment = SHMEMT_SEGMENT_HEAP, .base = heap, .bytes = sizeof heap, .fd = -1};
static const struct shmemt_region data_region = {
    .segment = SHMEMT_SEGMENT_DATA, .base = data + 16, .bytes = sizeof data - 16, .fd = -1};

static void check_keys(void)
{
    struct ib_memory *memory = open_memory(IBV_ATOMIC_HCA, 0);
    struct shmemt_key key, none = {.bytes = 0};
    struct ib_remote  remote;
    struct ib_local   at;
    CHECK_EQ_I64(shmemt_ibverbs_memory_export(memory, &heap_region, &key), 0);
    CHECK_EQ_I64(shmemt_ibverbs_memory_import(&job, 3, SHMEMT_SEGMENT_HEAP, &key, &remote), 0);
    CHECK(remote.known && remote.host);
    CHECK_EQ_U64(remote.base, (uintptr_t)heap);
    CHECK_EQ_U64(remote.bytes, sizeof heap);
    CHECK(shmemt_ibverbs_memory_symmetric(memory, heap, 1, &at));
    CHECK_EQ_U64(remote.rkey, at.lkey + 1000000); /* of the same registration */

    CHECK_EQ_I64(shmemt_ibverbs_memory_import(&job, 4, SHMEMT_SEGMENT_HEAP, &key, &remote), -EINVAL);
    CHECK_EQ_I64(shmemt_ibverbs_memory_import(&job, 3, SHMEMT_SEGMENT_DATA, &key, &remote), -EINVAL);
    CHECK_EQ_I64(shmemt_ibverbs_memory_import(&job, 8, SHMEMT_SEGMENT_HEAP, &key, &remote), -EINVAL);
    CHECK_EQ_I64(shmemt_ibverbs_memory_import(&job, 3, SHMEMT_SEGMENTS_MAX, &key, &remote), -EINVAL);
    struct shmemt_job other = job;
    other.secret++;
    CHECK_EQ_I64(shmemt_ibverbs_memory_import(&other, 3, SHMEMT_SEGMENT_HEAP, &key, &remote), -EINVAL);
    key.bytes--;
    CHECK_EQ_I64(shmemt_ibverbs_memory_import(&job, 3, SHMEMT_SEGMENT_HEAP, &key, &remote), -EINVAL);
    CHECK(remote.known); /* a refusal changes nothing */
    CHECK_EQ_I64(shmemt_ibverbs_memory_import(&job, 3, SHMEMT_SEGMENT_HEAP, &none, &remote), 0);
    CHECK(!remote.known);
    shmemt_ibverbs_memory_close(memory);
    CHECK_EQ_I64(fake_registered, 0);
}

/* Static data lie in the node's mapping, and where the program has them. */
static void check_alias(void)
{
    struct ib_memory    *memory = open_memory(IBV_ATOMIC_HCA, 0);
    struct shmemt_region region = data_region;
    struct shmemt_key    key;
    struct ib_local      local;
    static char          elsewhere[sizeof data];
    region.alias = elsewhere;
    CHECK_EQ_I64(shmemt_ibverbs_memory_export(memory, &region, &key), 0);
    CHECK_EQ_I64(shmemt_ibverbs_memory_local(memory, elsewhere + 5, 100, SHMEMT_MEMORY_HOST, true, &local), 0);
    CHECK(local.hold == NULL && local.address == (char *)data_region.base + 5);
    CHECK(shmemt_ibverbs_memory_symmetric(memory, (char *)data_region.base + 5, 100, &local));
    CHECK(local.address == (char *)data_region.base + 5);
    CHECK(!shmemt_ibverbs_memory_symmetric(memory, elsewhere + 1, data_region.bytes, &local)); /* one byte too far */
    CHECK_EQ_U64(shmemt_ibverbs_memory_counts(memory).registrations, 0);
    CHECK_EQ_U64(shmemt_ibverbs_memory_counts(memory).pinned_bytes, data_region.bytes);
    shmemt_ibverbs_memory_close(memory);
}

static void check_addresses(void)
{
    struct ib_memory *memory = open_memory(IBV_ATOMIC_HCA, 0);
    struct shmemt_key key;
    struct ib_local   local, at, heap_at = {0}, data_at = {0};
    CHECK(!shmemt_ibverbs_memory_symmetric(memory, heap, 1, &at));
    CHECK_EQ_I64(shmemt_ibverbs_memory_export(memory, &heap_region, &key), 0);
    CHECK_EQ_I64(shmemt_ibverbs_memory_export(memory, &data_region, &key), 0);
    CHECK(shmemt_ibverbs_memory_symmetric(memory, heap, sizeof heap, &heap_at));
    CHECK(shmemt_ibverbs_memory_symmetric(memory, data + sizeof data - 8, 8, &data_at));
    CHECK(heap_at.lkey != data_at.lkey);
    CHECK(!shmemt_ibverbs_memory_symmetric(memory, heap + 1, sizeof heap, &at)); /* one byte too far */
    CHECK(!shmemt_ibverbs_memory_symmetric(memory, data + 15, 2, &at));          /* one too early */
    CHECK(!shmemt_ibverbs_memory_symmetric(memory, heap + 1, SIZE_MAX, &at));
    CHECK_EQ_I64(shmemt_ibverbs_memory_local(memory, heap + 5, 100, SHMEMT_MEMORY_HOST, true, &local), 0);
    CHECK_EQ_U64(local.lkey, heap_at.lkey);
    CHECK(local.hold == NULL);
    CHECK_EQ_U64(shmemt_ibverbs_memory_counts(memory).pinned_bytes, sizeof heap + sizeof data - 16);
    shmemt_ibverbs_memory_unexport(memory, SHMEMT_SEGMENT_HEAP);
    shmemt_ibverbs_memory_unexport(memory, SHMEMT_SEGMENT_HEAP); /* twice is nothing */
    CHECK(!shmemt_ibverbs_memory_symmetric(memory, heap, 1, &at));
    CHECK(shmemt_ibverbs_memory_symmetric(memory, data + 16, 1, &at));
    CHECK_EQ_U64(shmemt_ibverbs_memory_counts(memory).pinned_bytes, sizeof data - 16);
    shmemt_ibverbs_memory_close(memory);
    CHECK_EQ_I64(fake_registered, 0);
}

/* Words of symmetric memory are polled: strict order always, and no right to atomics that the device does not have. */
static void check_access(void)
{
    struct shmemt_key key;
    struct ib_memory *memory = open_memory(IBV_ATOMIC_HCA, 0);
    setenv("POSTERN_IB_RELAXED_ORDERING", "1", 1);
    CHECK_EQ_I64(shmemt_ibverbs_memory_export(memory, &heap_region, &key), 0);
    CHECK_EQ_U64(asked, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
    shmemt_ibverbs_memory_close(memory);
    memory = open_memory(IBV_ATOMIC_NONE, 0);
    CHECK_EQ_I64(shmemt_ibverbs_memory_export(memory, &heap_region, &key), 0);
    CHECK_EQ_U64(asked, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    shmemt_ibverbs_memory_close(memory);
}

static void check_sizes(void)
{
    struct ib_memory    *memory = open_memory(IBV_ATOMIC_HCA, sizeof heap - 1);
    struct shmemt_region empty = {.segment = SHMEMT_SEGMENT_GPU, .fd = -1}, wrong = heap_region;
    struct shmemt_key    key = {.bytes = 7};
    struct ib_remote     remote;
    CHECK_EQ_I64(shmemt_ibverbs_memory_export(memory, &heap_region, &key), -EFBIG); /* more than the device registers at once */
    CHECK_EQ_U64(key.bytes, 7);
    CHECK_EQ_I64(shmemt_ibverbs_memory_export(memory, &empty, &key), 0);
    CHECK_EQ_I64(shmemt_ibverbs_memory_import(&job, 3, SHMEMT_SEGMENT_GPU, &key, &remote), 0);
    CHECK(remote.known);
    CHECK_EQ_U64(remote.bytes, 0);
    wrong.segment = SHMEMT_SEGMENTS_MAX;
    CHECK_EQ_I64(shmemt_ibverbs_memory_export(memory, &wrong, &key), -EINVAL);
    refusal = ENOMEM;
    CHECK_EQ_I64(shmemt_ibverbs_memory_export(memory, &data_region, &key), -ENOMEM);
    refusal = 0;
    CHECK_EQ_I64(fake_registered, 0);
    shmemt_ibverbs_memory_close(memory);
}

static void check_gpu(void)
{
    struct ib_memory          *memory = open_memory(IBV_ATOMIC_HCA, 0);
    const struct shmemt_region gpu    = {
           .segment = SHMEMT_SEGMENT_GPU, .memory = SHMEMT_MEMORY_CUDA, .base = heap, .bytes = sizeof heap, .fd = 5};
    struct shmemt_key key;
    struct ib_remote  remote;
    CHECK_EQ_I64(shmemt_ibverbs_memory_export(memory, &gpu, &key), 0);
    CHECK_EQ_I64(shmemt_ibverbs_memory_import(&job, 3, SHMEMT_SEGMENT_GPU, &key, &remote), 0);
    CHECK(remote.known && !remote.host);
    CHECK_EQ_U64(remote.base, (uintptr_t)heap);
    fake_dmabuf_error = EOPNOTSUPP; /* then by address, which works where nvidia_peermem is loaded */
    CHECK_EQ_I64(shmemt_ibverbs_memory_export(memory, &gpu, &key), 0);
    refusal = EFAULT;
    CHECK_EQ_I64(shmemt_ibverbs_memory_export(memory, &gpu, &key), -ENOTSUP);
    refusal           = 0;
    fake_dmabuf_error = 0;
    shmemt_ibverbs_memory_close(memory);
    CHECK_EQ_I64(fake_registered, 0);
}

static void check_ring(void)
{
    struct ib_memory *memory = open_memory(IBV_ATOMIC_HCA, 0);
    struct ib_ring    ring   = {.base = NULL};
    char             *slots[4];
    CHECK_EQ_I64(shmemt_ibverbs_memory_ring_create(memory, 8192, 0, &ring), -EINVAL);
    CHECK_EQ_I64(shmemt_ibverbs_memory_ring_create(memory, SIZE_MAX / 2, 4, &ring), -EINVAL);
    refusal = ENOMEM;
    CHECK_EQ_I64(shmemt_ibverbs_memory_ring_create(memory, 8192, 4, &ring), -ENOMEM);
    refusal = 0;
    CHECK(ring.base == NULL);
    CHECK_EQ_I64(shmemt_ibverbs_memory_ring_create(memory, 8192, 4, &ring), 0);
    for (int i = 0; i < 4; i++) {
        slots[i] = shmemt_ibverbs_memory_take_slot(&ring);
        CHECK(slots[i] == ring.base + i * 8192);
    }
    CHECK(shmemt_ibverbs_memory_take_slot(&ring) == NULL);
    shmemt_ibverbs_memory_give_slot(&ring, slots[2] + 100); /* anywhere in it */
    CHECK(shmemt_ibverbs_memory_take_slot(&ring) == slots[2]);
    CHECK_EQ_U64(shmemt_ibverbs_memory_counts(memory).pinned_bytes, 4 * 8192);
    shmemt_ibverbs_memory_ring_destroy(memory, &ring);
    shmemt_ibverbs_memory_ring_destroy(memory, &ring); /* zeroed: nothing */
    CHECK_EQ_U64(shmemt_ibverbs_memory_counts(memory).pinned_bytes, 0);
    shmemt_ibverbs_memory_close(memory);
    CHECK_EQ_I64(fake_registered, 0);
}

int main(void)
{
    fake_refusal = note_access;
    check_keys();
    check_addresses();
    check_alias();
    check_access();
    check_sizes();
    check_gpu();
    check_ring();
    return unit_result();
}
