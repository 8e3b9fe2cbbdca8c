/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads of several contexts ask for local memory at the same time, private and symmetric, while a segment comes and goes: everybody gets a
 * registration that covers the range and is alive.
 */
#include "transports/ibverbs/memory.h"

#include "tests/unit/ibverbs_fake.h"
#include "tests/unit/unit.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 4000, BUFFERS = 8, KEYS = 1 << 16 };
#define BUFFER_BYTES ((size_t)65536)

static struct ib_memory *memory;
static char              heap[4096], user[4096];
static _Atomic int       users[KEYS]; /* by key: operations that use it now */
static _Atomic bool      stop;

static void forget_registration(const struct fake_mr *mr)
{
    CHECK(atomic_load(&users[mr->mr.lkey % KEYS]) == 0); /* nobody was using it */
}

static void *ask(void *argument)
{
    uint64_t seed = (uintptr_t)argument + 1;
    for (int round = 0; round < ROUNDS; round++) {
        struct ib_local local;
        seed         = seed * 6364136223846793005u + 1442695040888963407u;
        char *buffer = (char *)(uintptr_t)(UINT64_C(1) << 40) + (seed >> 40) % BUFFERS * BUFFER_BYTES;
        CHECK_EQ_I64(shmemt_ibverbs_memory_local(memory, buffer, BUFFER_BYTES, SHMEMT_MEMORY_HOST, true, &local), 0);
        atomic_fetch_add(&users[local.lkey % KEYS], 1);
        struct ib_local symmetric;
        CHECK(shmemt_ibverbs_memory_symmetric(memory, heap, sizeof heap, &symmetric));
        shmemt_ibverbs_memory_symmetric(memory, user, sizeof user, &symmetric);
        atomic_fetch_sub(&users[local.lkey % KEYS], 1);
        shmemt_ibverbs_memory_release(memory, local.hold);
    }
    return NULL;
}

static void *come_and_go(void *argument)
{
    const struct shmemt_region region = {.segment = SHMEMT_SEGMENT_USER, .base = user, .bytes = sizeof user, .fd = -1};
    struct shmemt_key          key;
    (void)argument;
    for (int round = 0; round < 200 && !atomic_load(&stop); round++) {
        CHECK_EQ_I64(shmemt_ibverbs_memory_export(memory, &region, &key), 0);
        shmemt_ibverbs_memory_unexport(memory, SHMEMT_SEGMENT_USER);
    }
    return NULL;
}

static void run(const char *cache)
{
    static const struct shmemt_job job    = {.npes = 1};
    const struct ib_port           port   = {.device = "fake"};
    const struct shmemt_region     region = {.segment = SHMEMT_SEGMENT_HEAP, .base = heap, .bytes = sizeof heap, .fd = -1};
    struct shmemt_key              key;
    pthread_t                      threads[THREADS], owner;
    setenv("POSTERN_IB_REG_CACHE", cache, 1);
    atomic_store(&stop, false);
    CHECK_EQ_I64(shmemt_ibverbs_memory_open(&job, NULL, &port, &memory), 0);
    CHECK_EQ_I64(shmemt_ibverbs_memory_export(memory, &region, &key), 0);
    for (size_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, ask, (void *)i);
    pthread_create(&owner, NULL, come_and_go, NULL);
    for (size_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    atomic_store(&stop, true);
    pthread_join(owner, NULL);
    shmemt_ibverbs_memory_unexport(memory, SHMEMT_SEGMENT_HEAP);
    struct ib_memory_counts counts = shmemt_ibverbs_memory_counts(memory);
    CHECK_EQ_U64(counts.pinned_bytes, counts.private_bytes);
    CHECK_EQ_U64(counts.registrations + counts.hits, THREADS * ROUNDS);
    shmemt_ibverbs_memory_close(memory);
    CHECK_EQ_I64(fake_registered, 0);
}

int main(void)
{
    fake_forgotten = forget_registration;
    run("none");
    run("256k"); /* half of the buffers stay, and push each other out */
    return unit_result();
}
