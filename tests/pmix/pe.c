/* SPDX-License-Identifier: Apache-2.0
 *
 * A PE for the tests of this folder: it does what its arguments say, one after the other.
 *
 *   @N:WORD      WORD on PE N only; @-N: on all but PE N. Before init the launcher's variables tell which PE this is
 *   init finalize barrier
 *   ring         each PE puts its number and the round to its right neighbour and checks what it gets
 *   alone        the job must have one PE
 *   sleep=MS say=TEXT print=TEXT   print leaves the text in the buffer of standard output
 *   kill=SIGNAL  to itself
 *   exit=N _exit=N global=N
 *   fork=MS      a child that ends after so long by exit(0); the PE goes on
 *   fork_term    a child that is ended by SIGTERM
 *   run=COMMAND  by the shell; its status must be 0
 *   die_in_us=N  a timer ends this process then
 *   wait         for a flag that nobody sets
 *   mpi_init mpi_finalize mpi_barrier   where built with MPI
 */
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

static int me = -1;

static void nap(long ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0) continue;
}

static int launched_as(void)
{
    const char *text = getenv("PMIX_RANK");
    if (!text) text = getenv("POSTERN_PE");
    return text ? atoi(text) : 0;
}

static void ring(void)
{
    static long round;
    static long got[2]; /* symmetric */
    int         npes = shmem_n_pes(), right = (me + 1) % npes, left = (me + npes - 1) % npes;
    long        give = 1000 * ++round + me;
    shmem_barrier_all();
    shmem_long_put(&got[round % 2], &give, 1, right);
    shmem_barrier_all();
    if (got[round % 2] == 1000 * round + left) return;
    printf("PE %d: got %ld, expected %ld\n", me, got[round % 2], 1000 * round + left);
    exit(9);
}

static void die_by(const char *number)
{
    kill(getpid(), atoi(number));
}

/* By a signal whose usual effect is the end. */
static void die_in(long us)
{
    struct itimerval timer = {.it_value = {.tv_sec = us / 1000000, .tv_usec = us % 1000000}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void end_child_by_term(void)
{
    int   status = 0;
    pid_t child  = fork();
    if (child == 0) {
        nap(60000);
        exit(1);
    }
    kill(child, SIGTERM);
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGTERM) exit(7);
}

static int is_word(const char *word, const char *name, const char **value_out)
{
    size_t length = strlen(name);
    if (strncmp(word, name, length) != 0) return 0;
    *value_out = word + length;
    return name[length - 1] == '=' || word[length] == '\0';
}

static void step(const char *word)
{
    const char *value;
    static long never; /* symmetric */
    if (is_word(word, "init", &value)) {
        shmem_init();
        me = shmem_my_pe();
    } else if (is_word(word, "finalize", &value)) shmem_finalize();
    else if (is_word(word, "barrier", &value)) shmem_barrier_all();
    else if (is_word(word, "ring", &value)) ring();
    else if (is_word(word, "wait", &value)) shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
    else if (is_word(word, "sleep=", &value)) nap(atol(value));
    else if (is_word(word, "kill=", &value)) die_by(value);
    else if (is_word(word, "exit=", &value)) exit(atoi(value));
    else if (is_word(word, "_exit=", &value)) _exit(atoi(value));
    else if (is_word(word, "global=", &value)) shmem_global_exit(atoi(value));
    else if (is_word(word, "print=", &value)) printf("%s of PE %d\n", value, me);
    else if (is_word(word, "say=", &value)) {
        printf("%s of PE %d\n", value, me);
        fflush(stdout);
    } else if (is_word(word, "alone", &value)) {
        if (shmem_n_pes() != 1) exit(8);
    } else if (is_word(word, "die_in_us=", &value)) {
        die_in(atol(value));
    } else if (is_word(word, "fork_term", &value)) {
        end_child_by_term();
    } else if (is_word(word, "run=", &value)) {
        if (system(value) != 0) exit(6);
    } else if (is_word(word, "fork=", &value)) {
        if (fork() == 0) {
            nap(atol(value));
            exit(0);
        }
    }
#ifdef WITH_MPI
    else if (is_word(word, "mpi_init", &value))
        MPI_Init(NULL, NULL);
    else if (is_word(word, "mpi_finalize", &value)) MPI_Finalize();
    else if (is_word(word, "mpi_barrier", &value)) MPI_Barrier(MPI_COMM_WORLD);
#endif
    else {
        fprintf(stderr, "pe: unknown word %s\n", word);
        exit(2);
    }
}

int main(int count, char **words)
{
    static char buffer[4096];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer); /* lines stay in it until it is flushed, also on a terminal */
    for (int i = 1; i < count; i++) {
        const char *word = words[i];
        if (*word == '@') {
            char *rest;
            int   except = word[1] == '-';
            long  pe     = strtol(word + 1 + except, &rest, 10);
            int   mine   = me >= 0 ? me : launched_as();
            if (*rest != ':' || (except ? pe == mine : pe != mine)) continue;
            word = rest + 1;
        }
        step(word);
    }
    return 0;
}
