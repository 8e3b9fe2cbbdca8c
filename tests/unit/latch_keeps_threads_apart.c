/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads change plain words under a latch, some hold it over a nap, some only try it: no change is lost, and nobody is inside with another.
 */
#include "runtime/base/latch.h"

#include "tests/unit/unit.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 200000, NAPS_ONE_IN = 4096 };

static struct shmemi_latch latch;
static pthread_barrier_t   start;
static _Atomic int         inside;
static uint64_t            words[2]; /* plain: under the latch they are always equal */
static uint64_t            changes[THREADS];

static void change(uint64_t chance)
{
    CHECK_EQ_I64(atomic_fetch_add_explicit(&inside, 1, memory_order_relaxed), 0);
    CHECK_EQ_U64(words[0], words[1]);
    words[0]++;
    if (chance % NAPS_ONE_IN == 0) nanosleep(&(const struct timespec){.tv_nsec = 1000}, NULL);
    words[1]++;
    atomic_fetch_sub_explicit(&inside, 1, memory_order_relaxed);
}

static void *work(void *argument)
{
    unsigned number = (unsigned)(uintptr_t)argument;
    uint64_t seed   = number + 1;
    pthread_barrier_wait(&start);
    for (int round = 0; round < ROUNDS; round++) {
        seed            = seed * 6364136223846793005u + 1442695040888963407u;
        uint64_t chance = seed >> 33;
        if (chance % 3 > 0) shmemi_latch_take(&latch);
        else if (!shmemi_latch_try(&latch)) continue;
        change(chance / 3);
        shmemi_latch_give(&latch);
        changes[number]++;
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    uint64_t  sum = 0;
    CHECK(shmemi_latch_try(&latch));
    CHECK(!shmemi_latch_try(&latch));
    shmemi_latch_give(&latch);
    pthread_barrier_init(&start, NULL, THREADS);
    for (uintptr_t i = 0; i < THREADS; i++) CHECK_EQ_I64(pthread_create(&threads[i], NULL, work, (void *)i), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum += changes[i];
    }
    CHECK_EQ_U64(words[0], sum);
    CHECK_EQ_U64(words[1], sum);
    return unit_result();
}
