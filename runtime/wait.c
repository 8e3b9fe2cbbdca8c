/* SPDX-License-Identifier: Apache-2.0
 *
 * Spin, then sleep. wait.h explains the order of stores that makes this safe.
 *
 * Several threads of a PE may sleep at once. They share one watched range, the union of theirs, and one futex word;
 * a wake-up wakes all. `asleep` means "somebody went to sleep since the last wake-up": the writer that clears
 * it does the system call, all later writers see 0.
 * Tests: tests/api/wait/, tests/stress/sleep.c.
 */
#include "runtime/wait.h"

#include "runtime/base/num.h"
#include "runtime/post.h"
#include "runtime/progress.h"
#include "runtime/route.h"
#include "runtime/service.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SHORT_NAPS = 8, LONG_NAP = 8 };
enum { CLOCK_EVERY = 32, REPORTED_THREADS_MAX = 64 };
/* The clock costs a quarter of a yield. The rest: how many waits sleep at once. */
enum { YIELDS_PER_CLOCK = 4, YIELDS_SKIP_MIN = 4, YIELDS_SKIP_MAX = 256 };

#if defined(__x86_64__)
#define CPU_PAUSE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define CPU_PAUSE() __asm__ __volatile__("yield")
#else
#define CPU_PAUSE() atomic_signal_fence(memory_order_seq_cst)
#endif

/* ---- who waits for what ---- */

enum record_state { RECORD_FREE, RECORD_CLAIMED, RECORD_VALID };

static struct record {
    _Atomic int        state; /* enum record_state */
    struct shmemi_wait wait;
    int64_t            since_ns;
} records[REPORTED_THREADS_MAX];

/* More waiting threads than records: the rest waits unreported. */
static struct record *record_open(const struct shmemi_wait *wait)
{
    for (size_t i = 0; i < REPORTED_THREADS_MAX; i++) {
        int expected = RECORD_FREE;
        if (!atomic_compare_exchange_strong_explicit(&records[i].state, &expected, RECORD_CLAIMED, memory_order_acquire,
                                                     memory_order_relaxed))
            continue;
        records[i].wait     = *wait;
        records[i].since_ns = shmemi_now_ns();
        atomic_store_explicit(&records[i].state, RECORD_VALID, memory_order_release); /* pairs with report_one */
        return &records[i];
    }
    return NULL;
}

static void record_close(struct record *record)
{
    if (record) atomic_store_explicit(&record->state, RECORD_FREE, memory_order_release);
}

/* Formatting without stdio, because a signal handler runs it. */
struct line {
    char   text[320];
    size_t used;
};

static void put_text(struct line *line, const char *text)
{
    while (*text && line->used < sizeof line->text - 1) line->text[line->used++] = *text++;
}

static void put_number(struct line *line, uint64_t value, unsigned base)
{
    char   digits[20];
    size_t count = 0;
    do {
        digits[count++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    while (count > 0 && line->used < sizeof line->text - 1) line->text[line->used++] = digits[--count];
}

static void put_signed(struct line *line, int64_t value)
{
    if (value < 0) put_text(line, "-");
    put_number(line, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 10);
}

static void put_address(struct line *line, const void *address)
{
    static const char *const names[] = {"ctrl", "static", "heap", "gpu"};
    int                      segment;
    uint64_t                 offset;
    if (shmemi_route_segment(address, &segment, &offset) && segment <= SHMEMT_SEGMENT_GPU) {
        put_text(line, names[segment]);
        put_text(line, "+0x");
        put_number(line, offset, 16);
    } else {
        put_text(line, "0x");
        put_number(line, (uintptr_t)address, 16);
    }
}

static int64_t value_seen(const struct shmemi_wait *wait)
{
    switch (wait->width) {
    case 2: return __atomic_load_n((const int16_t *)wait->address, __ATOMIC_RELAXED);
    case 4: return __atomic_load_n((const int32_t *)wait->address, __ATOMIC_RELAXED);
    default: return __atomic_load_n((const int64_t *)wait->address, __ATOMIC_RELAXED);
    }
}

static const char *cmp_name(int cmp)
{
    switch (cmp) {
    case SHMEM_CMP_EQ: return " == ";
    case SHMEM_CMP_NE: return " != ";
    case SHMEM_CMP_GT: return " > ";
    case SHMEM_CMP_GE: return " >= ";
    case SHMEM_CMP_LT: return " < ";
    default: return " <= ";
    }
}

static bool is_our_word(const void *address)
{
    int      segment;
    uint64_t offset;
    return address && shmemi_route_segment(address, &segment, &offset) && segment == SHMEMT_SEGMENT_CTRL;
}

/* Whose meeting place an address is in; nothing for other words of ours. */
static void put_team(struct line *line, const void *address)
{
    uintptr_t offset = (uintptr_t)address - (uintptr_t)shmemi_state.ctrl;
    if (offset < shmemi_state_slot_offset(0)) return;
    size_t slot = (offset - shmemi_state_slot_offset(0)) / shmemi_state.slot_bytes;
    if (slot == SHMEMI_SLOT_WORLD) return;
    put_text(line, slot == SHMEMI_SLOT_SHARED ? " of SHMEM_TEAM_SHARED" : " of team number ");
    if (slot != SHMEMI_SLOT_SHARED) put_number(line, slot, 10);
}

static void report_one(int fd, const struct record *record)
{
    const struct shmemi_wait *wait = &record->wait;
    struct line               line = {.used = 0};
    put_text(&line, "postern: PE ");
    put_signed(&line, shmemi_state.my_pe);
    put_text(&line, ": waits in ");
    put_text(&line, wait->call);
    if (is_our_word(wait->address)) {
        put_text(&line, wait->pe >= 0 ? "" : " for other PEs"); /* a barrier: what it counts means nothing to a user */
        put_team(&line, wait->address);
    } else if (wait->address && wait->width) {
        put_text(&line, " for ");
        put_address(&line, wait->address);
        put_text(&line, cmp_name(wait->cmp));
        put_signed(&line, (int64_t)wait->wanted);
        put_text(&line, ", sees ");
        put_signed(&line, value_seen(wait));
    } else if (wait->address) {
        put_text(&line, " on ");
        put_number(&line, wait->bytes, 10);
        put_text(&line, " bytes from ");
        put_address(&line, wait->address);
    }
    if (wait->pe >= 0) {
        put_text(&line, ", depends on PE ");
        put_signed(&line, wait->pe);
    }
    int64_t tenths = (shmemi_now_ns() - record->since_ns) / 100000000;
    put_text(&line, ", for ");
    put_signed(&line, tenths / 10);
    put_text(&line, ".");
    put_signed(&line, tenths % 10);
    put_text(&line, " s\n");
    if (write(fd, line.text, line.used) < 0) return; /* nobody reads: nothing to do about it */
}

int shmemi_wait_report(int fd)
{
    int lines = 0;
    for (size_t i = 0; i < REPORTED_THREADS_MAX; i++) {
        if (atomic_load_explicit(&records[i].state, memory_order_acquire) != RECORD_VALID) continue;
        report_one(fd, &records[i]);
        lines++;
    }
    return lines;
}

static void on_signal(int number)
{
    (void)number;
    int saved_errno = errno;
    if (shmemi_wait_report(STDERR_FILENO) == 0) {
        struct line line = {.used = 0};
        put_text(&line, "postern: PE ");
        put_signed(&line, shmemi_state.my_pe);
        put_text(&line, ": waits in no SHMEM call\n");
        if (write(STDERR_FILENO, line.text, line.used) < 0) errno = saved_errno;
    }
    errno = saved_errno;
}

static bool signal_installed;

void shmemi_wait_signal_install(void)
{
    struct sigaction before;
    if (sigaction(SIGUSR2, NULL, &before) != 0 || (before.sa_flags & SA_SIGINFO) || before.sa_handler != SIG_DFL) return;
    struct sigaction ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&ours.sa_mask);
    signal_installed = sigaction(SIGUSR2, &ours, NULL) == 0;
}

void shmemi_wait_signal_remove(void)
{
    struct sigaction now;
    if (!signal_installed) return;
    signal_installed = false;
    if (sigaction(SIGUSR2, NULL, &now) == 0 && now.sa_handler == on_signal) signal(SIGUSR2, SIG_DFL);
}

/* ---- sleeping ---- */

static struct {
    pthread_mutex_t lock;
    unsigned        sleepers;
    uint64_t        first, last; /* union of the sleepers' ranges */
    uint32_t        segments;    /* SHMEMI_WATCH() of these        */
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool shmemi_wait_register(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0 &&
           syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0;
}

/*
 * Range of positions of a wait, and its segment's bit. One that watches nothing symmetric (first > last) is woken by a progress thread or by
 * time.
 */
static uint32_t wait_range(const struct shmemi_wait *wait, uint64_t *first_out, uint64_t *last_out)
{
    int      segment;
    uint64_t offset;
    *first_out = UINT64_MAX;
    *last_out  = 0;
    if (!wait->address || !shmemi_route_segment(wait->address, &segment, &offset)) return SHMEMI_WATCH_NOTHING;
    *first_out = shmemi_route_position(segment, offset);
    *last_out  = *first_out + wait->bytes - 1;
    return SHMEMI_WATCH(segment);
}

static void publish_sleep(uint64_t first, uint64_t last, uint32_t segment)
{
    struct shmemi_ctrl *ctrl = shmemi_state.ctrl;
    pthread_mutex_lock(&watch.lock);
    if (watch.sleepers++ == 0) {
        watch.first    = first;
        watch.last     = last;
        watch.segments = segment;
    } else {
        if (first < watch.first) watch.first = first;
        if (last > watch.last) watch.last = last;
        watch.segments |= segment;
    }
    /* Relaxed: the membarrier that follows orders all three before our second look at the word. */
    atomic_store_explicit(&ctrl->watch_first, watch.first, memory_order_relaxed);
    atomic_store_explicit(&ctrl->watch_last, watch.last, memory_order_relaxed);
    atomic_store_explicit(&ctrl->asleep, watch.segments, memory_order_relaxed);
    pthread_mutex_unlock(&watch.lock);

    /* Without this about 1 wake-up in 80 is lost. Pairs with shmemi_route_stored(). */
    if (shmemi_state.writers_fence || syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) != 0)
        atomic_thread_fence(memory_order_seq_cst);
}

static void withdraw_sleep(void)
{
    pthread_mutex_lock(&watch.lock);
    if (--watch.sleepers == 0) atomic_store_explicit(&shmemi_state.ctrl->asleep, 0, memory_order_relaxed);
    pthread_mutex_unlock(&watch.lock);
}

/* Whether the bound ended it: a signal, or a late wake-up meant for an earlier sleep, ends it sooner. The futex is shared, not FUTEX_PRIVATE. */
static bool futex_sleep(_Atomic uint32_t *word, uint32_t seen, int64_t limit_ns)
{
    struct timespec limit = {.tv_sec = limit_ns / 1000000000, .tv_nsec = limit_ns % 1000000000};
    return syscall(SYS_futex, (void *)word, FUTEX_WAIT, seen, &limit, NULL, 0) != 0 && errno == ETIMEDOUT;
}

/*
 * The bound of one nap. A timer a thousand times a second is 2 % of a core in a virtual machine, so a wait that has lasted long naps longer: it
 * concerns only writers that never look. Where these are the rule (posted routes without a progress thread), the bound stays short.
 */
static int64_t nap_bound(unsigned naps)
{
    return naps < SHORT_NAPS || shmemi_state.silent_writers ? shmemi_state.sleep_ns : shmemi_state.sleep_ns * LONG_NAP;
}

/* Sleep until woken or the bound is over; repeat while nothing changed. Publishing again is only owed after a wake-up. */
static void sleep_until_touched(const struct shmemi_wait *wait, shmemi_wait_ready *ready, void *argument, int64_t deadline_ns)
{
    struct shmemi_ctrl *ctrl = shmemi_state.ctrl;
    uint64_t            first, last;
    uint32_t            segment = wait_range(wait, &first, &last);

    /* Read before publishing: a writer that sees our flag changes it afterwards, and the futex then refuses to sleep. */
    uint32_t seen = atomic_load_explicit(&ctrl->wake_count, memory_order_acquire);
    publish_sleep(first, last, segment);
    atomic_fetch_add_explicit(&shmemi_state.counters.sleeps, 1, memory_order_relaxed);
    if (shmemi_state.posted) shmemi_progress_take_over();
    bool     timed_out = false, over = false;
    unsigned naps = 0;
    while (!(over = ready(argument))) {
        timed_out = futex_sleep(&ctrl->wake_count, seen, nap_bound(naps++));
        if (atomic_load_explicit(&ctrl->wake_count, memory_order_relaxed) != seen) break;
        if (shmemi_state.posted) shmemi_post_progress();
        if (shmemi_now_ns() > deadline_ns) break;
    }
    /* With `asleep` still up nobody was about to wake us. tests/stress/sleep.c tells lost wake-ups by this count. */
    if (timed_out && over && atomic_load_explicit(&ctrl->asleep, memory_order_relaxed))
        atomic_fetch_add_explicit(&shmemi_state.counters.unwoken, 1, memory_order_relaxed);
    withdraw_sleep();
}

void shmemi_wait_wake(unsigned local, const void *mapped, size_t bytes)
{
    struct shmemi_ctrl *ctrl = shmemi_state_ctrl(local);
    uint64_t            position;

    /* The range was published before `asleep`, or is being widened by a second sleeper, whose membarrier then covers it. */
    atomic_thread_fence(memory_order_acquire);
    if (shmemi_route_mapped_position(local, mapped, &position)) {
        uint64_t first = atomic_load_explicit(&ctrl->watch_first, memory_order_relaxed);
        uint64_t last  = atomic_load_explicit(&ctrl->watch_last, memory_order_relaxed);
        if (position > last || position + bytes - 1 < first) return;
    }
    if (atomic_exchange_explicit(&ctrl->asleep, 0, memory_order_acq_rel) == 0) return; /* another writer wakes */
    atomic_fetch_add_explicit(&ctrl->wake_count, 1, memory_order_release);
    syscall(SYS_futex, (void *)&ctrl->wake_count, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    atomic_fetch_add_explicit(&shmemi_state.counters.wakes, 1, memory_order_relaxed);
}

void shmemi_wait_wake_own(void)
{
    struct shmemi_ctrl *ctrl = shmemi_state.ctrl;
    /* The transport's stores come before the look: this side of the protocol pays, since it runs seldom. */
    atomic_thread_fence(memory_order_seq_cst);
    if (!(atomic_load_explicit(&ctrl->asleep, memory_order_relaxed) & SHMEMI_WATCH_NOTHING)) return;
    if (atomic_exchange_explicit(&ctrl->asleep, 0, memory_order_acq_rel) == 0) return; /* another writer wakes */
    atomic_fetch_add_explicit(&ctrl->wake_count, 1, memory_order_release);
    syscall(SYS_futex, (void *)&ctrl->wake_count, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void shmemi_wait_stored(int local, const void *mapped, size_t bytes)
{
    if (shmemi_state.writers_fence) atomic_thread_fence(memory_order_seq_cst);
    shmemi_route_stored((struct shmemi_spot){.at = (void *)(uintptr_t)mapped, .local = (unsigned)local, .watch = UINT32_MAX},
                        bytes);
}

/* ---- the wait ---- */

static SHMEMI_COLD void give_up(const struct shmemi_wait *wait)
{
    shmemi_wait_report(STDERR_FILENO);
    shmemi_service_fatal(wait->call,
                         "waited longer than POSTERN_WAIT_TIMEOUT (%.3f s)" WHY
                         "what it waits for has not happened; the line above tells what that is" FIX
                         "look for the PE that should have done it, or raise POSTERN_WAIT_TIMEOUT",
                         (double)shmemi_state.wait_timeout_ns / 1e9);
}

static bool spin_for(shmemi_wait_ready *ready, void *argument, int64_t start_ns)
{
    do {
        for (int i = 0; i < CLOCK_EVERY; i++) {
            if (ready(argument)) return true;
            if (shmemi_state.posted) shmemi_post_progress();
            CPU_PAUSE();
        }
    } while (shmemi_now_ns() - start_ns < shmemi_state.spin_ns);
    return false;
}

/*
 * Waits that sleep at once, as the last that gave its core away got it back late, and how many the next such one brings. Both relaxed: a count that
 * two threads change at once is off by one, and concerns speed alone.
 */
static _Atomic uint32_t yields_skipped, yields_skip = YIELDS_SKIP_MIN;

/*
 * More PEs than cores: the PE that we wait for probably has no core. To give ours away costs 1 us, to sleep and be woken several, with
 * a system call on either side. Bounded, since a waiting PE must not keep a core warm for nothing.
 *
 * That holds where the others wait as we do. A thread that computes keeps the core for its whole time slice, and the scheduler puts who has given
 * it away behind all of these, while who slept comes sooner. So after yields that took that long the next waits sleep at once: a few, and twice as
 * many each time until yields are quick again (decision 26).
 */
static bool yield_for(shmemi_wait_ready *ready, void *argument, int64_t start_ns)
{
    uint32_t skipped = atomic_load_explicit(&yields_skipped, memory_order_relaxed);
    if (skipped > 0) {
        atomic_store_explicit(&yields_skipped, skipped - 1, memory_order_relaxed);
        return false;
    }
    int64_t now_ns = start_ns, before_ns;
    do {
        for (int i = 0; i < YIELDS_PER_CLOCK; i++) {
            if (ready(argument)) return true;
            if (shmemi_state.posted) shmemi_post_progress();
            sched_yield();
        }
        before_ns = now_ns;
        now_ns    = shmemi_now_ns();
    } while (now_ns - start_ns < shmemi_state.yield_ns);

    uint32_t skip = YIELDS_SKIP_MIN;
    if (now_ns - before_ns >= shmemi_state.yield_ns) { /* the last yields alone took all the time */
        skip = atomic_load_explicit(&yields_skip, memory_order_relaxed);
        atomic_store_explicit(&yields_skipped, skip, memory_order_relaxed);
        if (skip < YIELDS_SKIP_MAX) skip *= 2;
    }
    atomic_store_explicit(&yields_skip, skip, memory_order_relaxed);
    return false;
}

void shmemi_wait_for(const struct shmemi_wait *wait, shmemi_wait_ready *ready, void *argument)
{
    enum { LOOKS_MAX = 256 }; /* some take microseconds each */
    unsigned looks = shmemi_wait_looks() < LOOKS_MAX ? shmemi_wait_looks() : LOOKS_MAX;
    for (; looks > 0; looks--)
        if (ready(argument)) return;
    shmemi_wait_longer(wait, ready, argument);
}

void shmemi_wait_longer(const struct shmemi_wait *wait, shmemi_wait_ready *ready, void *argument)
{
    if (SHMEMI_UNLIKELY(shmemi_state.npes == 0)) shmemi_service_outside(wait->call);
    int64_t start_ns = shmemi_now_ns();
    if (shmemi_state.spin_ns > 0 && spin_for(ready, argument, start_ns)) return;
    if (shmemi_state.yield_ns > 0 && yield_for(ready, argument, start_ns)) return;
    if (SHMEMI_UNLIKELY(shmemi_service_ends_here())) exit(1); /* an exit handler of a job that ends: nobody will answer */

    int64_t        deadline_ns = shmemi_state.wait_timeout_ns < 0 ? INT64_MAX : start_ns + shmemi_state.wait_timeout_ns;
    struct record *record      = record_open(wait);
    while (!ready(argument)) {
        if (shmemi_now_ns() > deadline_ns) give_up(wait);
        sleep_until_touched(wait, ready, argument, deadline_ns);
    }
    record_close(record);
}
