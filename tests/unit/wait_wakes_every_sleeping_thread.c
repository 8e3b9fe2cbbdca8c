/* SPDX-License-Identifier: Apache-2.0
 *
 * The protocol of sleep and store with threads in place of PEs, for the thread sanitizer: some sleep as threads of one PE, others
 * store as its peers. Sleeps have a bound of 20 s here, so that a lost wake-up is a wait that no machine's load explains.
 * Writers fence, since the sanitizer knows no membarrier; then, outside of it, the same with membarrier.
 */
#include "runtime/wait.c"

#include "tests/unit/unit.h"

enum { SLEEPERS = 3, ROUNDS = 3000, WORDS = 64 };

struct shmemi_state shmemi_state;

static struct shmemi_ctrl ctrl;
static _Atomic uint64_t   words[SLEEPERS][WORDS], answers[SLEEPERS];

bool shmemi_route_segment(const void *address, int *segment_out, uint64_t *offset_out)
{
    *segment_out = SHMEMT_SEGMENT_HEAP;
    *offset_out  = (uintptr_t)address - (uintptr_t)words;
    return *offset_out < sizeof words;
}

bool shmemi_route_mapped_position(unsigned local, const void *mapped, uint64_t *position_out)
{
    (void)local;
    *position_out = shmemi_route_position(SHMEMT_SEGMENT_HEAP, (uintptr_t)mapped - (uintptr_t)words);
    return true;
}

void shmemi_post_progress(void) {}
void shmemi_progress_take_over(void) {}

void shmemi_service_fatal(const char *call, const char *format, ...)
{
    fprintf(stderr, "%s: %s\n", call, format);
    abort();
}

void shmemi_service_outside(const char *call)
{
    shmemi_service_fatal(call, "outside");
}

bool shmemi_service_ends_here(void)
{
    return false;
}

struct wish {
    _Atomic uint64_t *word;
    uint64_t          value;
};

static bool granted(void *argument)
{
    const struct wish *wish = argument;
    return atomic_load_explicit(wish->word, memory_order_acquire) >= wish->value;
}

static void *sleep_thread(void *argument)
{
    int which = *(int *)argument;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        struct wish              wish = {.word = &words[which][round % WORDS], .value = round};
        const struct shmemi_wait wait = {.call = "test", .address = wish.word, .bytes = 8, .width = 8, .pe = -1};
        shmemi_wait_for(&wait, granted, &wish);
        atomic_store_explicit(&answers[which], round, memory_order_release);
    }
    return NULL;
}

static void *write_thread(void *argument)
{
    int which = *(int *)argument;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        while (atomic_load_explicit(&answers[which], memory_order_acquire) != round - 1) sched_yield();
        int64_t until_ns = shmemi_now_ns() + (int64_t)(round * 7919 % 8000);
        while (shmemi_now_ns() < until_ns) continue;
        _Atomic uint64_t *word = &words[which][round % WORDS];
        atomic_store_explicit(word, round, memory_order_release);
        shmemi_wait_stored(0, (void *)(uintptr_t)word, sizeof *word);
    }
    return NULL;
}

static void *sleep_once_thread(void *argument)
{
    int                      which = *(int *)argument;
    struct wish              wish  = {.word = &words[which][0], .value = 1};
    const struct shmemi_wait wait  = {.call = "test", .address = wish.word, .bytes = 8, .width = 8, .pe = -1};
    shmemi_wait_for(&wait, granted, &wish);
    atomic_store_explicit(&answers[which], 1, memory_order_release);
    return NULL;
}

static void start(bool writers_fence)
{
    memset(&ctrl, 0, sizeof ctrl);
    memset(words, 0, sizeof words);
    memset(answers, 0, sizeof answers);
    shmemi_state = (struct shmemi_state){
        .npes            = 2,
        .ctrl            = &ctrl,
        .ctrl_map        = (char *)&ctrl,
        .ctrl_stride     = sizeof ctrl,
        .writers_fence   = writers_fence,
        .sleep_ns        = INT64_C(20000000000),
        .wait_timeout_ns = -1,
    };
}

static void run(bool writers_fence)
{
    pthread_t sleepers[SLEEPERS], writers[SLEEPERS];
    int       which[SLEEPERS];
    start(writers_fence);
    int64_t start_ns = shmemi_now_ns();
    for (int i = 0; i < SLEEPERS; i++) {
        which[i] = i;
        CHECK(pthread_create(&sleepers[i], NULL, sleep_thread, &which[i]) == 0);
        CHECK(pthread_create(&writers[i], NULL, write_thread, &which[i]) == 0);
    }
    for (int i = 0; i < SLEEPERS; i++) {
        CHECK(pthread_join(sleepers[i], NULL) == 0);
        CHECK(pthread_join(writers[i], NULL) == 0);
    }
    CHECK(atomic_load(&shmemi_state.counters.unwoken) == 0);
    CHECK(atomic_load(&ctrl.asleep) == 0);
    printf("%s: %d waits, %llu sleeps, %llu wake-ups, %.1f s\n", writers_fence ? "writers fence" : "membarrier", SLEEPERS * ROUNDS,
           (unsigned long long)atomic_load(&shmemi_state.counters.sleeps),
           (unsigned long long)atomic_load(&shmemi_state.counters.wakes), (double)(shmemi_now_ns() - start_ns) / 1e9);
}

/* Number of threads woken; `wake_count` stays as it is. */
static long wake_silently(void)
{
    return syscall(SYS_futex, (void *)&ctrl.wake_count, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* A writer that was stopped before its system call wakes a later sleep too early. That sleep was not missed by anybody. */
static void late_wake_up(void)
{
    pthread_t sleeper;
    int       which = 0;
    start(true);
    CHECK(pthread_create(&sleeper, NULL, sleep_once_thread, &which) == 0);
    while (wake_silently() == 0) sched_yield();                   /* it has slept once, for nothing */
    atomic_store_explicit(&words[0][0], 1, memory_order_release); /* and nobody is told */
    while (atomic_load_explicit(&answers[0], memory_order_acquire) == 0) wake_silently();
    CHECK(pthread_join(sleeper, NULL) == 0);
    CHECK(atomic_load(&shmemi_state.counters.unwoken) == 0);
}

int main(void)
{
    late_wake_up();
    run(true);
#if !defined(__SANITIZE_THREAD__)
    if (shmemi_wait_register()) run(false);
#endif
    return unit_result();
}
