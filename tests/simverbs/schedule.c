/* SPDX-License-Identifier: Apache-2.0
 *
 * The token. All that is here lies in the fabric and is changed only by who holds the token, so nothing is atomic but the
 * words that threads sleep on.
 *
 * A thread that has looked some times and found nothing is not chosen until something happens in its process: looking again
 * would tell nothing, and most of the time would go into it. What happens outside the simulator (a word in shared memory) it
 * sees when nobody has anything else to do, or by chance before that.
 *
 * Time passes with every choice, a little; when nobody has anything to do but to look again, it goes on to the next moment
 * at which a NIC has something to do, in steps of at most a millisecond, since programs have clocks of their own.
 */
#include "schedule.h"
#include "simverbs.h"

#include <assert.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TURN_NONE, TURN_RUN, TURN_STOP };
enum { STEP_NS_MIN = 20, STEP_NS_MAX = 120, IDLE_NS = 1000000 };
enum { LOOKS = 4 /* a look may be several calls */, ODD_LOOK = 64 /* one choice in so many is among all threads */ };

static struct sim_schedule *schedule;
static unsigned             my_process;
static _Thread_local int    me = -1; /* number of this thread; -1: takes no part */
static _Thread_local bool   starts_nic;
/* The scheduler, whose own calls nobody is to catch. Volatile: libc declares that what it has calls nothing of ours. */
static _Thread_local volatile bool inside;
static bool                        killed; /* this process, as soon as the token is with another one */

void (*sim_watch)(const char *what, uint32_t qpn, uint32_t message, uint64_t where, uint64_t bytes);

/* ---- sleeping for the token ---- */

static void futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
    bool before = inside;

    inside = true;
    syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
    inside = before;
}

static void wait_for(_Atomic uint32_t *word, uint32_t while_value)
{
    while (atomic_load_explicit(word, memory_order_acquire) == while_value) futex(word, FUTEX_WAIT, while_value);
}

static void set(_Atomic uint32_t *word, uint32_t value)
{
    atomic_store_explicit(word, value, memory_order_release);
    futex(word, FUTEX_WAKE, INT_MAX);
}

static uint32_t wait_for_turn(struct sim_actor *actor)
{
    wait_for(&actor->turn, TURN_NONE);
    uint32_t turn = atomic_load_explicit(&actor->turn, memory_order_acquire);
    atomic_store_explicit(&actor->turn, TURN_NONE, memory_order_relaxed);
    return turn;
}

/* ---- chance and time ---- */

uint64_t sim_schedule_random(void)
{
    schedule->random += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = schedule->random;
    z          = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z          = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t sim_schedule_now_ns(void)
{
    return schedule->now_ns;
}

bool sim_schedule_on(void)
{
    return schedule != NULL;
}

bool sim_schedule_takes_part(void)
{
    return me >= 0;
}

void sim_schedule_busy(void)
{
    if (!schedule) return;
    for (unsigned i = 0; i < schedule->threads; i++)
        if (schedule->thread[i].process == my_process) schedule->thread[i].looked = 0;
}

void sim_schedule_nic_due(unsigned slot, uint64_t due_ns)
{
    if (schedule && due_ns < schedule->nic[slot].due_ns) schedule->nic[slot].due_ns = due_ns;
}

void sim_schedule_nic_done(uint64_t due_ns)
{
    schedule->nic[my_process].due_ns = due_ns;
}

bool sim_schedule_alive(unsigned slot)
{
    return schedule->nic[slot].present && !schedule->nic[slot].vanished;
}

/* ---- the choice ---- */

static bool is_due(const struct sim_actor *nic)
{
    return nic->present && !nic->vanished && nic->due_ns <= schedule->now_ns;
}

static bool has_to_look(const struct sim_actor *thread)
{
    return thread->present && thread->key == 0 && thread->looked < LOOKS;
}

static struct sim_actor *actor(unsigned number)
{
    return number < SIM_PROCESSES_MAX ? &schedule->nic[number] : &schedule->thread[number - SIM_PROCESSES_MAX];
}

static bool may_go_on(unsigned number)
{
    return number < SIM_PROCESSES_MAX ? is_due(actor(number)) : has_to_look(actor(number));
}

/* When a NIC, or somebody who sleeps, has something to do. */
static uint64_t next_due(void)
{
    uint64_t due = UINT64_MAX;

    for (unsigned i = 0; i < schedule->threads; i++)
        if (schedule->thread[i].present && schedule->thread[i].due_ns < due) due = schedule->thread[i].due_ns;
    for (unsigned i = 0; i < schedule->processes; i++) {
        const struct sim_actor *nic = &schedule->nic[i];
        if (nic->present && !nic->vanished && nic->due_ns < due) due = nic->due_ns;
    }
    return due;
}

static void note(unsigned number)
{
    schedule->last  = number;
    schedule->trace = (schedule->trace ^ number ^ schedule->now_ns << 9) * UINT64_C(0x100000001b3);
    schedule->steps++;
}

/* Those who may be chosen, by number. */
struct candidates {
    unsigned nics[SIM_PROCESSES_MAX], threads[SIM_THREADS_MAX];
    unsigned nic_count, thread_count, present;
};

static void find_candidates(struct candidates *c, bool all_threads)
{
    c->nic_count = c->thread_count = c->present = 0;
    for (unsigned i = 0; i < schedule->processes; i++)
        if (is_due(&schedule->nic[i])) c->nics[c->nic_count++] = i;
    for (unsigned i = 0; i < schedule->threads; i++) {
        struct sim_actor *thread = &schedule->thread[i];
        c->present += thread->present;
        if (thread->due_ns <= schedule->now_ns) {
            thread->due_ns = UINT64_MAX;
            thread->key    = 0;
            thread->looked = 0;
        }
        if (all_threads ? thread->present && thread->key == 0 : has_to_look(thread))
            c->threads[c->thread_count++] = SIM_PROCESSES_MAX + i;
    }
}

/* Nobody has anything to do: on to the next moment at which a NIC has, and all may look again. */
static void skip_idle_time(void)
{
    uint64_t due   = next_due();
    uint64_t ahead = due > schedule->now_ns ? due - schedule->now_ns : 0;

    bool awake = false;

    schedule->now_ns += ahead < IDLE_NS ? ahead : IDLE_NS;
    for (unsigned i = 0; i < schedule->threads; i++) {
        schedule->thread[i].looked = 0;
        awake |= schedule->thread[i].present && schedule->thread[i].key == 0;
    }
    if (awake || due != UINT64_MAX) return;
    fprintf(stderr, "simverbs: all threads sleep, and nobody is left to wake them (step %llu, in process %u)\n",
            (unsigned long long)schedule->steps, my_process);
    for (unsigned i = 0; i < schedule->threads; i++)
        if (schedule->thread[i].present)
            fprintf(stderr, "    thread %u of process %u sleeps for key 0x%llx\n", i, schedule->thread[i].process,
                    (unsigned long long)schedule->thread[i].key);
    abort();
}

/* The seed wants this process dead. Its threads all wait, or it is the own one, which gives the token away first. */
static void kill_victim(void)
{
    unsigned victim = schedule->victim;

    schedule->kill_step           = 0;
    schedule->nic[victim].present = false;
    for (unsigned i = 0; i < schedule->threads; i++)
        if (schedule->thread[i].process == victim) schedule->thread[i].present = false;
    if (victim == my_process) killed = true;
    else kill(schedule->pid[victim], SIGKILL);
}

static void give(struct sim_actor *next)
{
    if (next) set(&next->turn, TURN_RUN);
    if (killed) raise(SIGKILL);
}

/* A NIC that has work, or a thread; NULL: there is neither. */
static struct sim_actor *choose(void)
{
    struct candidates c;
    uint64_t          r = sim_schedule_random();

    /* Where wires and rates are measured, programs take no time. */
    if (!sim_options.wire_ns && !sim_options.rate_mbits) schedule->now_ns += STEP_NS_MIN + (r >> 40) % (STEP_NS_MAX - STEP_NS_MIN);
    if (schedule->kill_step && schedule->steps >= schedule->kill_step) kill_victim();
    bool odd = (r >> 8) % ODD_LOOK == 0;
    if ((r & 7) < schedule->stay && !odd && may_go_on(schedule->last)) {
        note(schedule->last);
        return actor(schedule->last);
    }
    for (find_candidates(&c, odd); c.nic_count + c.thread_count == 0; find_candidates(&c, false)) {
        if (c.present == 0) return NULL;
        skip_idle_time();
    }
    bool nic = c.thread_count == 0 || (c.nic_count > 0 && (r >> 3 & 7) < schedule->nic_of8);
    note(nic ? c.nics[(r >> 16) % c.nic_count] : c.threads[(r >> 16) % c.thread_count]);
    return actor(schedule->last);
}

static void run_nic(void)
{
    while (pthread_mutex_trylock(&sim.lock)) sched_yield(); /* a thread that takes no part has it */
    sim_engine_step();
    pthread_mutex_unlock(&sim.lock);
}

/* Who is next? The own NIC's steps are taken here, without a change of threads. NULL: nobody is left. */
static struct sim_actor *choose_other(const struct sim_actor *self)
{
    for (;;) {
        struct sim_actor *chosen = choose();
        if (chosen == self || chosen != &schedule->nic[my_process]) return chosen;
        run_nic();
    }
}

static void pass_on(struct sim_actor *self)
{
    inside                 = true;
    struct sim_actor *next = choose_other(self);
    if (next != self) {
        give(next);
        wait_for_turn(self);
    }
    inside = false;
}

void sim_schedule_yield(void)
{
    if (me < 0 || inside) return;
    schedule->thread[me].looked++;
    pass_on(&schedule->thread[me]);
}

/* ---- sleep ---- */

bool simverbs_sleep(uint64_t key, uint64_t until_ns)
{
    struct sim_actor *self = &schedule->thread[me];

    self->key    = key;
    self->due_ns = until_ns;
    pass_on(self);
    bool woken   = self->due_ns != UINT64_MAX || until_ns == UINT64_MAX;
    self->due_ns = UINT64_MAX;
    return woken;
}

void simverbs_wait(uint64_t until_ns)
{
    struct sim_actor *self = &schedule->thread[me];

    self->looked = LOOKS;
    self->due_ns = until_ns;
    pass_on(self);
    self->due_ns = UINT64_MAX;
}

unsigned simverbs_wake(uint64_t key, unsigned count)
{
    unsigned woken = 0;
    unsigned first = (unsigned)(sim_schedule_random() % schedule->threads);

    for (unsigned i = 0; i < schedule->threads && woken < count; i++) {
        struct sim_actor *thread = &schedule->thread[(first + i) % schedule->threads];
        if (!thread->present || thread->key != key) continue;
        thread->key    = 0;
        thread->looked = 0;
        woken++;
    }
    return woken;
}

/* ---- the NIC's thread ---- */

void sim_schedule_nic_start(void)
{
    struct sim_actor *nic = &schedule->nic[my_process];

    nic->due_ns  = UINT64_MAX;
    nic->present = true;
}

/* Steps, one at each turn, until sim_schedule_nic_stop(). */
void sim_schedule_nic_run(void)
{
    struct sim_actor *nic = &schedule->nic[my_process];

    while (wait_for_turn(nic) == TURN_RUN) {
        struct sim_actor *next;
        do {
            run_nic();
            next = choose();
        } while (next == nic);
        give(next);
    }
}

void sim_schedule_nic_stop(void)
{
    struct sim_actor *nic = &schedule->nic[my_process];

    nic->present = false;
    set(&nic->turn, TURN_STOP);
}

int sim_schedule_create_nic(pthread_t *thread_out, void *(*run)(void *))
{
    starts_nic = true;
    int err    = pthread_create(thread_out, NULL, run, NULL);
    starts_nic = false;
    return err;
}

bool simverbs_starts_nic(void)
{
    return starts_nic;
}

/* ---- threads that come later, processes that go ---- */

unsigned simverbs_spawn(void)
{
    assert(schedule->threads < SIM_THREADS_MAX);
    schedule->thread[schedule->threads] = (struct sim_actor){.present = true, .process = my_process, .due_ns = UINT64_MAX};
    return schedule->threads++;
}

void simverbs_enter(unsigned number)
{
    inside = true;
    me     = (int)number;
    wait_for_turn(&schedule->thread[me]);
    inside = false;
}

void simverbs_kill_at(unsigned process, uint64_t step)
{
    schedule->victim    = process;
    schedule->kill_step = step;
}

bool simverbs_alive(unsigned process)
{
    return sim_schedule_alive(process);
}

void simverbs_gone(void)
{
    schedule->nic[my_process].present = false;
    for (unsigned i = 0; i < schedule->threads; i++)
        if (schedule->thread[i].process == my_process) schedule->thread[i].present = false;
    simverbs_end();
}

/* ---- what programs call ---- */

void simverbs_attach(unsigned process, unsigned processes, unsigned threads)
{
    my_process = process;
    if (processes > SIM_PROCESSES_MAX || processes * threads > SIM_THREADS_MAX || sim_fabric_attach(process, &schedule)) {
        fprintf(stderr, "simverbs: cannot take part in a schedule of %u processes\n", processes);
        abort();
    }
    schedule->processes     = processes;
    schedule->first_threads = processes * threads;
    schedule->threads       = processes * threads;
}

static void reset(uint64_t seed)
{
    schedule->random  = seed * UINT64_C(0xd1342543de82ef95) + 7;
    schedule->now_ns  = 1000000000;
    schedule->steps   = 0;
    schedule->threads = schedule->first_threads;
    schedule->trace   = UINT64_C(0xcbf29ce484222325);
    schedule->last    = SIM_PROCESSES_MAX;
    /* Some seeds change who runs at each step, some let each run on for a while. One thread alone has its turn every other step. */
    static const unsigned stays[] = {1, 5, 7, 7}, nics[] = {2, 4, 6};
    schedule->stay      = schedule->threads > 1 ? stays[sim_schedule_random() % 4] : 0;
    schedule->nic_of8   = schedule->threads > 1 ? nics[sim_schedule_random() % 3] : 4;
    schedule->kill_step = 0;
    for (unsigned i = 0; i < schedule->processes; i++) schedule->nic[i] = (struct sim_actor){.due_ns = UINT64_MAX};
    for (unsigned i = 0; i < schedule->threads; i++)
        schedule->thread[i] =
            (struct sim_actor){.present = true, .process = i / (schedule->threads / schedule->processes), .due_ns = UINT64_MAX};
    sim_fabric_reset();
}

void simverbs_begin(unsigned thread, uint64_t seed)
{
    unsigned threads = schedule->first_threads / schedule->processes;

    inside = true;
    if (thread == 0) schedule->pid[my_process] = (int)getpid();
    me                      = (int)(my_process * threads + thread);
    struct sim_actor *first = &schedule->thread[0];
    if (atomic_fetch_add(&schedule->arrived, 1) + 1 == schedule->first_threads) {
        atomic_store(&schedule->arrived, 0);
        reset(seed);
        set(&first->turn, TURN_RUN);
    }
    wait_for_turn(&schedule->thread[me]);
    inside = false;
    if (thread == 0) sim_engine_begin_seed();
}

void simverbs_end(void)
{
    struct sim_actor *self = &schedule->thread[me];

    inside                 = true;
    self->present          = false;
    struct sim_actor *next = choose_other(self);
    me                     = -1;
    inside                 = false;
    give(next);
}

void simverbs_yield(void)
{
    sim_schedule_yield();
}

bool simverbs_takes_part(void)
{
    return me >= 0 && !inside;
}

uint64_t simverbs_now_ns(void)
{
    return sim_now_ns();
}

void simverbs_watch(void (*tell)(const char *what, uint32_t qpn, uint32_t message, uint64_t where, uint64_t bytes))
{
    sim_watch = tell;
}

uint64_t simverbs_steps(void)
{
    return schedule->steps;
}

uint64_t simverbs_trace(void)
{
    return schedule->trace;
}

void simverbs_vanish(unsigned process)
{
    schedule->nic[process].vanished = true;
}

void simverbs_describe(void)
{
    fprintf(stderr, "  at %llu ns, NIC due at %lld\n", (unsigned long long)schedule->now_ns,
            (long long)schedule->nic[my_process].due_ns);
    for (const struct sim_qp *qp = sim.qp_list; qp; qp = qp->next) {
        fprintf(
            stderr,
            "  queue pair %u, state %d: posted %u sent %u+%llu done %u+%llu polled %u, reads %u, timer %lld, RNR until %lld%s\n",
            qp->ex.qp_base.qp_num, (int)qp->ex.qp_base.state, qp->posted, qp->sent, (unsigned long long)qp->sent_bytes, qp->done,
            (unsigned long long)qp->done_bytes, qp->polled, qp->reads, (long long)qp->timer_ns, (long long)qp->rnr_until_ns,
            qp->nobody ? ", nobody answers" : "");
        fprintf(stderr,
                "    expects %u+%llu, landings %u, responses %s, acknowledgement %s, refusal %s, receives %u, arrivals %s\n",
                qp->expected, (unsigned long long)qp->expected_bytes, qp->landing_count, qp->responses ? "yes" : "no",
                qp->ack_due ? "due" : "no", qp->nak_due ? "due" : "no",
                qp->ex.qp_base.srq
                    ? ((struct sim_srq *)qp->ex.qp_base.srq)->receives.head - ((struct sim_srq *)qp->ex.qp_base.srq)->receives.tail
                    : qp->receives.head - qp->receives.tail,
                qp->arrivals.first ? "held" : "none");
    }
}
