/* SPDX-License-Identifier: Apache-2.0
 *
 * A job whose last PE dies at a certain step, for cases_failures.py: die STEP HOW. The others are at that step with it, and would never
 * come to an end by themselves.
 *
 *   STEP   begin      before shmem_init, the others are in it
 *          init       in shmem_init, at a random moment
 *          idle       the others compute, and call nothing
 *          put        the others put to it, with a quiet each time
 *          get        the others read from it
 *          atomic     the others add to a word of it
 *          wait       the others wait for a word that it would set
 *          barrier    the others are in a barrier
 *          reduce     the others are in a reduction
 *          lock       it has a lock that the others ask for
 *          finalize   the others are in shmem_finalize
 *   HOW    kill       by SIGKILL
 *          exit       by exit(0), without shmem_finalize
 *          abort      by abort()
 *          never      it stays, computing, until somebody kills it; says so first
 */
#include "../api/api.h"

#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long  word, source = 1, results[2];
static long  lock;
static char *step, *how;

static _Noreturn void compute(void)
{
    for (;;) usleep(1000);
}

static void die(void)
{
    struct timespec moment = {.tv_nsec = 200 * 1000 * 1000}; /* the others are on their way into the step */
    if (strcmp(step, "begin") != 0) nanosleep(&moment, NULL);
    if (strcmp(how, "exit") == 0) exit(0);
    if (strcmp(how, "abort") == 0) abort();
    if (strcmp(how, "kill") == 0) raise(SIGKILL);
    printf("the victim is ready\n");
    fflush(stdout);
    compute();
}

static bool is(const char *name)
{
    return strcmp(step, name) == 0;
}

/* What the others do with the victim. Returns only from a step that ends by itself. */
static void live(int victim)
{
    if (is("idle")) compute();
    while (is("put")) {
        shmem_long_put(&word, &source, 1, victim);
        shmem_quiet();
    }
    while (is("get")) shmem_long_get(results, &word, 1, victim);
    while (is("atomic")) shmem_long_atomic_fetch_add(&word, 1, victim);
    if (is("wait")) shmem_long_wait_until(&word, SHMEM_CMP_EQ, 99);
    if (is("barrier")) shmem_barrier_all();
    if (is("reduce")) shmem_long_sum_reduce(SHMEM_TEAM_WORLD, results, &source, 1);
    if (is("lock")) shmem_set_lock(&lock);
    if (is("finalize")) shmem_finalize();
}

int main(int count, char **args)
{
    if (count != 3) return 2;
    step             = args[1];
    how              = args[2];
    const char *rank = getenv("PMIX_RANK"), *pes = getenv("DIE_PES");
    bool        last = rank && pes && atoi(rank) == atoi(pes) - 1;
    if (is("begin") && last) die();
    if (is("init") && last) {
        srand((unsigned)getpid());
        struct itimerval soon = {.it_value.tv_usec = 1000 + rand() % 30000};
        signal(SIGALRM, SIG_DFL); /* ends the process as SIGKILL would */
        setitimer(ITIMER_REAL, &soon, NULL);
    }
    shmem_init();
    if (is("init") && last) raise(SIGKILL); /* quicker than the clock */
    int me = shmem_my_pe(), n = shmem_n_pes();
    if (me == n - 1 && is("lock")) shmem_set_lock(&lock);
    shmem_barrier_all();
    if (me == 0) {
        printf("all PEs have begun\n");
        fflush(stdout);
    }
    if (me == n - 1) die();
    live(n - 1);
    printf("PE %d has come out of %s\n", me, step);
    return 0;
}
