/* SPDX-License-Identifier: Apache-2.0
 *
 * The whole library over the simulated NIC, seed by seed: PEs that know only shmem.h, their progress threads, their sleeps, all under the
 * scheduler's token. Each PE is a node of its own, so all goes through the ibverbs transport.
 *
 *     job --path FOLDER [--pes N] [--seeds COUNT] [--from SEED] [--seed SEED] [--sets N] [--set KEY=VALUE,...] [--kill]
 *         [--must-catch] [--verbose]
 *
 * A seed forks fresh processes, which start the job by an exchange of their own. In each round a PE sends to each other one in all
 * ways, in an order of its own: data, and what vouches for them. Checked by the receiver in the moment that it sees this:
 *
 *   - a signal that is seen (put_signal, set and add, blocking and not, striped or not) implies all its bytes, and its word never has
 *     another value than that before or that after: a counted signal is neither early nor double;
 *   - what is put before a fence is there when what is put, or added, after it is seen;
 *   - after quiet the target has all of it, and a get brings it back;
 *   - fetch-and-adds of all PEs on one word each get a value of their own, and none is lost, of both agents;
 *   - collectives have the right results; bytes beside what was sent stay as they were; every call returns;
 *   - with --kill, one process is killed at some step, inside whatever call: all others end their job by themselves, in bounded
 *     time, with a message.
 */
#include "runner.h"
#include "simverbs.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <shmem.h>
#include <shmemx.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PES_MAX    = 4,
    ROUNDS     = 3,
    PLACE      = 12 << 10,
    GUARD      = 64,
    FRESH      = 0x5a,
    CARDS      = 64 << 10, /* of one exchange, of one PE                                                          */
    STEPS_MAX  = 3000000,
    KILL_STEPS = 6000, /* after all have started: somewhere in here a process is killed                          */
};

enum kind { SIGNAL_SET, SIGNAL_ADD, FENCE_PUT, FENCE_AMO, QUIET_NOTE, KINDS };

static struct {
    const char *path, *set;
    int         pes;
    uint64_t    from, seeds;
    int         sets;
    bool        kill, must_catch, verbose;
} settings = {.pes = 2, .from = 1, .seeds = 50};

/* What the processes of a set share. */
static struct world {
    _Atomic uint32_t exchanges[PES_MAX];      /* done by each */
    _Atomic uint32_t noted[PES_MAX][PES_MAX]; /* [to][from]: rounds that are quiet */
    uint64_t         trace, steps;
    unsigned char    cards[2][PES_MAX][CARDS];
} * world;

/* One PE. All that is symmetric is allocated, since each PE of a seed is a fork of one parent. */
static struct pe {
    int                me, npes;
    uint64_t           seed, random;
    const char        *phase;
    struct runner_set *set;
    unsigned char     *places; /* [from][kind] of PLACE, with GUARD before and behind all of them */
    uint64_t          *words;  /* [from][kind]                                                    */
    long              *counter;
    int               *half;
    long              *sums;
    unsigned char     *mine; /* source, symmetric for some rounds */
} pe;

static unsigned char own[PLACE], back[PLACE];
static bool          progress_thread; /* the library has one in this seed */

static _Noreturn void __attribute__((format(printf, 1, 2))) fail(const char *format, ...)
{
    char    why[500];
    va_list args;

    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    runner_fail(pe.set, RUNNER_WRONG, "PE %d: %s", pe.me, why);
    _exit(1);
}

/* ---- chance ---- */

static unsigned below(unsigned limit)
{
    return (unsigned)(runner_draw(&pe.random) % limit);
}

static const char *pick(uint64_t *state, const char *const *texts, unsigned count)
{
    return texts[runner_draw(state) % count];
}

/* ---- the start of a job ---- */

/* Settings of this seed, the same on all PEs but for the node. */
static void configure(void)
{
    static const char *const limits[]  = {"qp_wr=16,srq_wr=16,cqe=256,reads=1,inline=64", "qp_wr=32,srq_wr=64,reads=2,inline=64",
                                          "qp_wr=32,srq_wr=32,reads=16,inline=256", "qp_wr=64,srq_wr=48,reads=4,inline=100"};
    static const char *const packets[] = {"packet=256", "packet=1024", "packet=4096"};
    static const char *const delays[]  = {"delay=0", "delay=500", "delay=5000", "delay=100000"};
    static const char *const faults[]  = {"rnr=0", "rnr=0", "rnr=100", "ud_loss=300", "rnr=50,ud_loss=100"};
    static const char *const queues[]  = {"1", "2", "2", "3"};
    static const char *const stripes[] = {"256", "512", "1024", "1m"};
    uint64_t                 state     = pe.seed * UINT64_C(0x2545f4914f6cdd1d) + 29;
    char                     text[300], node[8];

    snprintf(text, sizeof text, "chaos=1,%s,%s,%s,%s%s%s", pick(&state, limits, 4), pick(&state, packets, 3),
             pick(&state, delays, 4), pick(&state, faults, 5), settings.set ? "," : "", settings.set ? settings.set : "");
    snprintf(node, sizeof node, "n%d", pe.me);
    setenv("SIMVERBS", text, 1);
    setenv("POSTERN_QPS", pick(&state, queues, 4), 1);
    setenv("POSTERN_IB_STRIPE", pick(&state, stripes, 4), 1);
    setenv("POSTERN_IB_TIMEOUT", "12", 1);
    setenv("POSTERN_AMO", runner_draw(&state) & 1 ? "nic" : "cpu", 1);
    progress_thread = runner_draw(&state) % 4 != 0;
    setenv("POSTERN_PROGRESS", progress_thread ? "1" : "0", 1);
    setenv("POSTERN_NODE", node, 1);
    setenv("POSTERN_TRANSPORTS", "shm,ibverbs", 1);
    setenv("POSTERN_TRANSPORT_PATH", settings.path, 1);
    setenv("SHMEM_SYMMETRIC_SIZE", "1M", 1);
    setenv("SIMVERBS_CPUS", runner_draw(&state) % 2 ? "1" : "8", 1);
    if (settings.kill) setenv("POSTERN_WAIT_TIMEOUT", "4", 1);
    if (settings.verbose && pe.me == 0)
        fprintf(stderr, "seed %llu: SIMVERBS=%s POSTERN_QPS=%s POSTERN_IB_STRIPE=%s POSTERN_AMO=%s POSTERN_PROGRESS=%s CPUs=%s\n",
                (unsigned long long)pe.seed, text, getenv("POSTERN_QPS"), getenv("POSTERN_IB_STRIPE"), getenv("POSTERN_AMO"),
                getenv("POSTERN_PROGRESS"), getenv("SIMVERBS_CPUS"));
}

static void guard(void)
{
    if (simverbs_steps() > STEPS_MAX)
        fail("the seed has no end: %llu steps, at %s", (unsigned long long)simverbs_steps(), pe.phase);
}

static int allgather(void *unused, const void *part, size_t bytes, void *all)
{
    uint32_t round = atomic_load(&world->exchanges[pe.me]);

    (void)unused;
    if (bytes > CARDS) return 1;
    memcpy(world->cards[round & 1][pe.me], part, bytes);
    atomic_store(&world->exchanges[pe.me], round + 1);
    for (int i = 0; i < pe.npes; i++) {
        while (atomic_load(&world->exchanges[i]) <= round) {
            simverbs_yield();
            guard();
        }
        memcpy((char *)all + (size_t)i * bytes, world->cards[round & 1][i], bytes);
    }
    return 0;
}

/* The library ends the job: as it must where a PE is lost, and must not otherwise. */
static void end_job(void *unused, int status, const char *reason)
{
    (void)unused;
    if (!settings.kill) fail("the library ends the job: status %d, %s", status, reason ? reason : "no reason");
    if (status == 0) fail("the job of a killed PE ends with status 0");
    world->trace = simverbs_trace();
    world->steps = simverbs_steps();
    simverbs_gone();
    _exit(0);
}

static void start(void)
{
    shmemx_init_attr_t attr = SHMEMX_INIT_ATTR_INITIALIZER;

    attr.rank      = pe.me;
    attr.npes      = pe.npes;
    attr.allgather = allgather;
    attr.abort     = end_job;
    if (shmemx_init_attr(&attr) != 0) {
        runner_fail(pe.set, RUNNER_NOT_RUN, "PE %d: the job does not start", pe.me);
        _exit(1);
    }
    pe.places  = shmem_malloc(2 * GUARD + (size_t)PLACE * KINDS * (size_t)pe.npes);
    pe.words   = shmem_calloc((size_t)(KINDS * pe.npes), sizeof *pe.words);
    pe.counter = shmem_calloc(1, sizeof *pe.counter);
    pe.half    = shmem_calloc(1, sizeof *pe.half);
    pe.sums    = shmem_calloc((size_t)pe.npes + 2, sizeof *pe.sums);
    pe.mine    = shmem_malloc(PLACE);
    if (!pe.places || !pe.words || !pe.counter || !pe.half || !pe.sums || !pe.mine) fail("no memory");
    memset(pe.places, FRESH, 2 * GUARD + (size_t)PLACE * KINDS * (size_t)pe.npes);
    shmem_barrier_all();
}

/* ---- what is sent ---- */

struct shape {
    size_t   first, bytes, stride; /* stride 0: one block; else 8-byte elements so far apart */
    uint64_t value;
};

static struct shape shape_of(int from, int to, enum kind kind, unsigned round)
{
    static const size_t sizes[] = {0, 1, 4, 8, 24, 100, 256, 300, 700, 1504, 3000, 5000, 9000, 11000};
    uint64_t            state   = pe.seed * 1000003 + (unsigned)from * 101 + (unsigned)to * 11 + (unsigned)kind * 7 + round;
    uint64_t            r       = runner_draw(&state);
    struct shape        s       = {.first = r >> 40 & 63, .bytes = sizes[r % (sizeof sizes / sizeof sizes[0])]};

    static const uint64_t values[] = {1, 3, 1000, UINT64_C(0x123456789abcdef), UINT64_MAX, UINT64_C(1) << 40};
    s.value                        = values[runner_draw(&state) % 6] + 16 * (uint64_t)round;
    if ((kind == FENCE_PUT || kind == FENCE_AMO) && r >> 56 & 1) s.bytes = 11000; /* in parts: what a fence has to wait for */
    if (kind == QUIET_NOTE && r >> 50 & 1 && s.bytes <= 1504) {
        s.first &= 56;
        s.bytes &= ~(size_t)7;
        s.stride = 2 + (r >> 52 & 3);
    }
    return s;
}

static uint64_t word_after(int from, int to, enum kind kind, unsigned round)
{
    uint64_t sum = 0;

    if (round == 0) return 0;
    if (kind == SIGNAL_SET) return shape_of(from, to, kind, round).value;
    if (kind == FENCE_PUT) return UINT64_C(0x1000000000) + round;
    if (kind == FENCE_AMO) return 5 * (uint64_t)round;
    for (unsigned i = 1; i <= round; i++) sum += shape_of(from, to, kind, i).value;
    return sum;
}

static unsigned char byte_of(int from, enum kind kind, unsigned round, size_t i)
{
    return (unsigned char)runner_mix((uint64_t)from << 56 ^ (uint64_t)kind << 48 ^ (uint64_t)round << 32 ^ i);
}

static unsigned char *place_of(int from, enum kind kind)
{
    return pe.places + GUARD + (size_t)PLACE * (size_t)(from * KINDS + (int)kind);
}

static uint64_t *word_of(int from, enum kind kind)
{
    return &pe.words[from * KINDS + (int)kind];
}

/* Where byte i of a shape lies in its place. */
static size_t offset_of(const struct shape *s, size_t i)
{
    return s->stride ? s->first + i / 8 * s->stride * 8 + i % 8 : s->first + i;
}

static void check_place(int from, int to, enum kind kind, unsigned round, const unsigned char *place, const char *when)
{
    struct shape s = shape_of(from, to, kind, round);

    for (size_t i = 0; i < s.bytes; i++)
        if (place[offset_of(&s, i)] != byte_of(from, kind, round, offset_of(&s, i)))
            fail("%s, kind %d, from PE %d to %d, round %u: byte %zu of %zu is 0x%02x, not 0x%02x", when, (int)kind, from, to, round,
                 i, s.bytes, place[offset_of(&s, i)], byte_of(from, kind, round, offset_of(&s, i)));
}

/* ---- sending ---- */

static void put(unsigned char *to, const unsigned char *from, const struct shape *s, int peer, bool now)
{
    if (s->stride) shmem_iput64(to + s->first, from + s->first, (ptrdiff_t)s->stride, (ptrdiff_t)s->stride, s->bytes / 8, peer);
    else if (now) shmem_putmem(to + s->first, from + s->first, s->bytes, peer);
    else shmem_putmem_nbi(to + s->first, from + s->first, s->bytes, peer);
}

static void get_back(int peer, enum kind kind, unsigned round, const struct shape *s)
{
    memset(back, FRESH, sizeof back);
    if (s->stride)
        shmem_iget64(back + s->first, place_of(pe.me, kind) + s->first, (ptrdiff_t)s->stride, (ptrdiff_t)s->stride, s->bytes / 8,
                     peer);
    else shmem_getmem(back + s->first, place_of(pe.me, kind) + s->first, s->bytes, peer);
    check_place(pe.me, peer, kind, round, back, "got back");
}

static void send_round(int peer, enum kind kind, unsigned round)
{
    struct shape   s      = shape_of(pe.me, peer, kind, round);
    unsigned char *to     = place_of(pe.me, kind);
    unsigned char *source = below(2) ? own : pe.mine;
    uint64_t      *word   = word_of(pe.me, kind);
    bool           now    = kind == FENCE_PUT || kind == FENCE_AMO ? below(4) == 0 : below(2);

    for (size_t i = 0; i < PLACE; i++) source[i] = byte_of(pe.me, kind, round, i);
    if (kind == SIGNAL_SET || kind == SIGNAL_ADD) {
        int op = kind == SIGNAL_SET ? SHMEM_SIGNAL_SET : SHMEM_SIGNAL_ADD;
        if (now) shmem_putmem_signal(to + s.first, source + s.first, s.bytes, word, s.value, op, peer);
        else shmem_putmem_signal_nbi(to + s.first, source + s.first, s.bytes, word, s.value, op, peer);
    } else {
        put(to, source, &s, peer, now);
        if (kind == FENCE_PUT || kind == FENCE_AMO) shmem_fence();
        if (kind == FENCE_PUT) shmem_uint64_p(word, word_after(pe.me, peer, kind, round), peer);
        if (kind == FENCE_AMO) shmem_uint64_atomic_add(word, 5, peer);
    }
    if (!now || kind == QUIET_NOTE) shmem_quiet(); /* the source is used again */
    if (kind != QUIET_NOTE) return;
    atomic_store(&world->noted[peer][pe.me], round);
    get_back(peer, kind, round, &s);
}

static void take_ticket(int peer, uint64_t *seen)
{
    long ticket = shmem_long_atomic_fetch_inc(pe.counter, peer);

    shmem_int_atomic_add(pe.half, 3, peer);
    if (ticket < 0 || ticket >= 64) fail("a fetch-and-add at PE %d fetched %ld", peer, ticket);
    if (seen[peer] >> ticket & 1) fail("two of my fetch-and-adds at PE %d both fetched %ld", peer, ticket);
    seen[peer] |= UINT64_C(1) << ticket;
}

/* ---- receiving ---- */

static void receive_round(int from, enum kind kind, unsigned round)
{
    uint64_t before = word_after(from, pe.me, kind, round - 1), after = word_after(from, pe.me, kind, round), seen;

    if (kind == QUIET_NOTE) {
        while (atomic_load(&world->noted[pe.me][from]) < round) {
            if (!progress_thread || settings.kill) shmem_uint64_test(pe.words, SHMEM_CMP_EQ, 1); /* or nobody serves the sender */
            if (!simverbs_alive((unsigned)from)) return;                                         /* what comes next tells it */
            simverbs_yield();
            guard();
        }
        check_place(from, pe.me, kind, round, place_of(from, kind), "after the sender's quiet");
        return;
    }
    if (kind == SIGNAL_SET || kind == SIGNAL_ADD) seen = shmem_signal_wait_until(word_of(from, kind), SHMEM_CMP_NE, before);
    else {
        shmem_uint64_wait_until(word_of(from, kind), SHMEM_CMP_NE, before);
        seen = __atomic_load_n(word_of(from, kind), __ATOMIC_ACQUIRE);
    }
    if (seen != after)
        fail("the word of kind %d from PE %d is 0x%llx, neither 0x%llx (before round %u) nor 0x%llx", (int)kind, from,
             (unsigned long long)seen, (unsigned long long)before, round, (unsigned long long)after);
    check_place(from, pe.me, kind, round, place_of(from, kind), "when its signal was seen");
    guard();
}

/* ---- a job ---- */

static void shuffle(unsigned *order, unsigned count)
{
    for (unsigned i = 0; i < count; i++) order[i] = i;
    for (unsigned i = count; i > 1; i--) {
        unsigned k = below(i), other = order[k];
        order[k]     = order[i - 1];
        order[i - 1] = other;
    }
}

static void run_round(unsigned round, uint64_t *seen)
{
    unsigned order[PES_MAX * KINDS], count = (unsigned)(KINDS * pe.npes);

    shuffle(order, count);
    for (unsigned i = 0; i < count; i++) {
        int peer = (int)(order[i] / KINDS);
        if (peer != pe.me) send_round(peer, (enum kind)(order[i] % KINDS), round);
        if (below(4) == 0) take_ticket((int)below((unsigned)pe.npes), seen);
    }
    shuffle(order, count);
    for (unsigned i = 0; i < count; i++)
        if ((int)(order[i] / KINDS) != pe.me) receive_round((int)(order[i] / KINDS), (enum kind)(order[i] % KINDS), round);
    pe.sums[0] = (long)pe.me + round;
    if (shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &pe.sums[1], &pe.sums[0], 1) != 0) fail("a reduction fails");
    if (pe.sums[1] != (long)pe.npes * (pe.npes - 1) / 2 + (long)round * pe.npes) fail("a sum is %ld", pe.sums[1]);
    shmem_barrier_all();
}

/* No PE has the ticket of another one, and none is lost. */
static void check_tickets(const uint64_t *seen)
{
    long *all   = shmem_calloc((size_t)pe.npes * (size_t)pe.npes, sizeof *all);
    long *taken = shmem_calloc((size_t)pe.npes, sizeof *taken);

    for (int i = 0; i < pe.npes; i++) taken[i] = (long)seen[i];
    if (shmem_long_alltoall(SHMEM_TEAM_WORLD, all, taken, 1) != 0) fail("an alltoall fails");
    uint64_t together = 0;
    for (int i = 0; i < pe.npes; i++) {
        if (together & (uint64_t)all[i]) fail("two PEs have the same ticket of mine: 0x%llx", (unsigned long long)all[i]);
        together |= (uint64_t)all[i];
    }
    shmem_barrier_all();
    long count = shmem_long_atomic_fetch(pe.counter, pe.me);
    if (together != (count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX))
        fail("%ld fetch-and-adds, tickets 0x%llx", count, (unsigned long long)together);
    if (shmem_int_atomic_fetch(pe.half, pe.me) != 3 * (int)count) fail("a counter of 4 bytes has lost something");
}

static void check_gaps(void)
{
    static bool sent[PLACE];

    for (int i = 0; i < GUARD; i++)
        if (pe.places[i] != FRESH || pe.places[GUARD + PLACE * KINDS * pe.npes + i] != FRESH)
            fail("memory beside the places was changed");
    for (int from = 0; from < pe.npes; from++)
        for (int kind = 0; kind < KINDS; kind++) {
            memset(sent, 0, sizeof sent);
            for (unsigned round = 1; round <= ROUNDS && from != pe.me; round++) {
                struct shape s = shape_of(from, pe.me, (enum kind)kind, round);
                for (size_t i = 0; i < s.bytes; i++) sent[offset_of(&s, i)] = true;
            }
            for (size_t i = 0; i < PLACE; i++)
                if (!sent[i] && place_of(from, (enum kind)kind)[i] != FRESH)
                    fail("byte %zu beside what PE %d sent (kind %d) was changed", i, from, kind);
        }
}

static _Noreturn void run_pe(uint64_t seed)
{
    uint64_t seen[PES_MAX] = {0};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pe.seed   = seed;
    pe.random = seed * 977 + (uint64_t)pe.me * UINT64_C(0x9e3779b97f4a7c15);
    configure();
    simverbs_attach((unsigned)pe.me, (unsigned)pe.npes, 1);
    simverbs_begin(0, seed);
    pe.phase = "the start";
    start();
    pe.phase = "the rounds";
    if (settings.kill && pe.me == 0)
        simverbs_kill_at((unsigned)(runner_mix(seed) % (unsigned)pe.npes), simverbs_steps() + runner_mix(seed + 1) % KILL_STEPS);
    for (unsigned round = 1; round <= ROUNDS; round++) run_round(round, seen);
    check_tickets(seen);
    check_gaps();
    pe.phase = "the end";
    shmem_finalize();
    world->trace = simverbs_trace(); /* the last one to end says it */
    world->steps = simverbs_steps();
    simverbs_end();
    _exit(0);
}

/* ---- seeds ---- */

/* All of a seed. The first that ends badly ends the others. */
static void await_all(const pid_t *pids)
{
    bool killed = false;

    for (int left = pe.npes; left > 0; left--) {
        int   status, i = 0;
        pid_t pid = wait(&status);
        while (i < pe.npes && pids[i] != pid) i++;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
        bool by_seed = settings.kill && !killed && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        killed |= by_seed;
        if (by_seed) continue;
        if (WIFSIGNALED(status)) runner_fail(pe.set, RUNNER_DIED, "PE %d was ended by signal %d", i, WTERMSIG(status));
        else runner_fail(pe.set, RUNNER_DIED, "PE %d ended with status %d", i, WEXITSTATUS(status));
        for (int k = 0; k < pe.npes; k++) kill(pids[k], SIGKILL);
    }
}

static void run_seeds(int unused, struct runner_set *set, uint64_t from, uint64_t step, uint64_t count)
{
    pid_t pids[PES_MAX];

    (void)unused;
    pe.set  = set;
    pe.npes = settings.pes;
    if (settings.kill && !settings.verbose) { /* each PE says what it has lost */
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDERR_FILENO);
    }
    for (uint64_t i = 0; i < count && atomic_load(&set->end) == RUNNER_GOOD; i++) {
        memset(world, 0, offsetof(struct world, cards));
        atomic_store(&set->seed, from + i * step);
        for (pe.me = 0; pe.me < pe.npes; pe.me++) {
            pids[pe.me] = fork();
            if (pids[pe.me] == 0) run_pe(from + i * step);
        }
        await_all(pids);
        atomic_fetch_add(&set->trace, runner_mix(world->trace + from + i * step));
        if (settings.verbose)
            fprintf(stderr, "seed %llu: %llu steps, trace %016llx\n", (unsigned long long)(from + i * step),
                    (unsigned long long)world->steps, (unsigned long long)world->trace);
    }
    if (atomic_load(&set->end) != RUNNER_GOOD) _exit(1);
}

static void make_world(void)
{
    world = mmap(NULL, sizeof *world, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (world == MAP_FAILED) _exit(2);
}

static bool parse(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--kill") == 0) settings.kill = true;
        else if (strcmp(argv[i], "--must-catch") == 0) settings.must_catch = true;
        else if (strcmp(argv[i], "--verbose") == 0) settings.verbose = true;
        else if (!value) return false;
        else if (strcmp(argv[i], "--path") == 0) settings.path = argv[++i];
        else if (strcmp(argv[i], "--set") == 0) settings.set = argv[++i];
        else if (strcmp(argv[i], "--pes") == 0) settings.pes = atoi(argv[++i]);
        else if (strcmp(argv[i], "--seeds") == 0) settings.seeds = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--sets") == 0) settings.sets = atoi(argv[++i]);
        else if (strcmp(argv[i], "--from") == 0) settings.from = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0) settings.from = strtoull(argv[++i], NULL, 10), settings.seeds = 1;
        else return false;
    }
    return settings.path && settings.pes >= 2 && settings.pes <= PES_MAX && settings.seeds > 0;
}

/* The same addresses in each run: tables of the library are searched by address. */
static void fix_addresses(char **argv)
{
    int now = personality(0xffffffff);

    if (now < 0 || now & ADDR_NO_RANDOMIZE || personality((unsigned long)now | ADDR_NO_RANDOMIZE) < 0) return;
    execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    char again[200], module[1000];

    if (!parse(argc, argv)) {
        fprintf(stderr,
                "usage: job --path FOLDER [--pes 2..%d] [--seeds COUNT] [--from SEED] [--seed SEED] [--sets N]\n"
                "           [--set KEY=VALUE,...] [--kill] [--must-catch] [--verbose]\n",
                PES_MAX);
        return 2;
    }
    fix_addresses(argv);
    snprintf(module, sizeof module, "%s/transport_ibverbs.so", settings.path);
    dlopen(module, RTLD_NOW); /* so that it need not be loaded for each seed */
    snprintf(again, sizeof again, "--pes %d%s%s%s", settings.pes, settings.kill ? " --kill" : "", settings.set ? " --set " : "",
             settings.set ? settings.set : "");
    return runner_main(&(struct runner){.pes        = settings.pes,
                                        .from       = settings.from,
                                        .seeds      = settings.seeds,
                                        .sets       = settings.sets,
                                        .again      = again,
                                        .must_catch = settings.must_catch,
                                        .forks      = true,
                                        .prepare    = make_world,
                                        .run        = run_seeds});
}
