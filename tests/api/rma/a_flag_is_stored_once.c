/* SPDX-License-Identifier: Apache-2.0
 *
 * A put of one element stores it once. A second store of the same value, at whatever time after the first, would bring a flag back that its
 * reader has seen and reset. A signal handler that comes often and stays a while opens that gap: flags are put in bursts, the reader resets
 * each as soon as it is there, and after the burst none may be up. A transport owes this for 4 and 8 bytes, mapped memory for 2 as well.
 * Spec: OpenSHMEM 1.6 §9.6.1.1 shmem_put, §9.6.1.2 shmem_p
 * PES: 2
 * ENV: POSTERN_CHAOS_DELAY=2us
 * NOVALGRIND: two PEs
 */
#include "../api.h"

#include <sched.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

enum { FLAGS_MAX = 2048, FLAGS_POSTED = 200, BURSTS = 200, BURSTS_POSTED = 3, TIMER_US = 20, HANDLER_NS = 3000 };

enum { LONG_PUT, PUTMEM_8, PUT32, PUTMEM_4, PUT16, KINDS };
static const char *const names[KINDS] = {"long_put", "putmem of 8", "put32", "putmem of 4", "put16"};

static uint64_t flags8[FLAGS_MAX], burst_put, burst_seen;
static uint32_t flags4[FLAGS_MAX];
static uint16_t flags2[FLAGS_MAX];
static int      flags = FLAGS_MAX;

static volatile sig_atomic_t interrupting;

static void interrupt_in(int us)
{
    const struct itimerval timer = {.it_value = {.tv_usec = us}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

/*
 * As a program's handler that has something to do: the reader has time to see the flag and to reset it. The next one comes some time after
 * this one's end, so that puts go on however slow the machine is.
 */
static void stay_a_while(int signal_number)
{
    struct timespec start, now;
    (void)signal_number;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - start.tv_sec) * 1000000000L + now.tv_nsec - start.tv_nsec < HANDLER_NS);
    if (interrupting) interrupt_in(TIMER_US);
}

static void interrupt(bool on)
{
    interrupting = on;
    interrupt_in(on ? TIMER_US : 0);
}

static void put_flags(int kind)
{
    const uint64_t up8 = 1;
    const long     up  = 1;
    const uint32_t up4 = 1;
    const uint16_t up2 = 1;
    for (int i = 0; i < flags; i++) switch (kind) {
        case LONG_PUT: shmem_long_put((long *)&flags8[i], &up, 1, 1); break;
        case PUTMEM_8: shmem_putmem(&flags8[i], &up8, sizeof up8, 1); break;
        case PUT32: shmem_put32(&flags4[i], &up4, 1, 1); break;
        case PUT16: shmem_put16(&flags2[i], &up2, 1, 1); break;
        default: shmem_putmem(&flags4[i], &up4, sizeof up4, 1); break;
        }
}

static uint64_t flag_at(int kind, int i)
{
    switch (kind) {
    case LONG_PUT:
    case PUTMEM_8: return __atomic_load_n(&flags8[i], __ATOMIC_ACQUIRE);
    case PUT16: return __atomic_load_n(&flags2[i], __ATOMIC_ACQUIRE);
    default: return __atomic_load_n(&flags4[i], __ATOMIC_ACQUIRE);
    }
}

static void reset(int kind, int i)
{
    switch (kind) {
    case LONG_PUT:
    case PUTMEM_8: __atomic_store_n(&flags8[i], 0, __ATOMIC_RELAXED); break;
    case PUT16: __atomic_store_n(&flags2[i], 0, __ATOMIC_RELAXED); break;
    default: __atomic_store_n(&flags4[i], 0, __ATOMIC_RELAXED); break;
    }
}

static void take_flags(int kind)
{
    for (int i = 0; i < flags; i++) {
        for (unsigned tries = 1; flag_at(kind, i) == 0; tries++)
            if (tries % 4096 == 0) sched_yield();
        reset(kind, i);
    }
}

int main(void)
{
    struct sigaction action = {.sa_handler = stay_a_while, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    shmem_init();
    int  me = shmem_my_pe(), back[KINDS] = {0};
    bool mapped = shmem_ptr(flags8, 1 - me) != NULL;
    if (!mapped) flags = FLAGS_POSTED;
    uint64_t bursts = KINDS * (mapped ? BURSTS : BURSTS_POSTED);
    shmem_barrier_all();
    for (uint64_t burst = 1; burst <= bursts; burst++) {
        int kind = (int)(burst % KINDS);
        if (me == 0) {
            interrupt(true);
            put_flags(kind);
            interrupt(false);
            shmem_quiet();
            shmem_uint64_p(&burst_put, burst, 1);
            shmem_uint64_wait_until(&burst_seen, SHMEM_CMP_EQ, burst);
        } else {
            take_flags(kind);
            shmem_uint64_wait_until(&burst_put, SHMEM_CMP_EQ, burst); /* all stores of the burst are done */
            for (int i = 0; i < flags; i++)
                if (flag_at(kind, i) != 0) {
                    back[kind]++;
                    reset(kind, i);
                }
            shmem_uint64_p(&burst_seen, burst, 0);
        }
    }
    for (int kind = 0; kind < KINDS; kind++) {
        if (kind == PUT16 && !mapped) continue;
        if (!CHECK_EQUAL(back[kind], 0)) fprintf(stderr, "by %s: came back after they were reset\n", names[kind]);
    }
    shmem_finalize();
    return api_result();
}
