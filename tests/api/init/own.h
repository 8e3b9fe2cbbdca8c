/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests of jobs that a program starts itself: no oshrun, this program forks the processes and is what a serving system would be. It carries
 * the unique id in a page that all share, and an allgather function goes through memory that all share.
 *
 *     static int pe(int rank, int npes) { ...; return api_result(); }      the program of one process
 *     struct own job = own_begin(3, pe);                                   start it three times
 *     own_end(&job);                                                       wait for all: status and standard error of each
 */
#ifndef POSTERN_TESTS_API_INIT_OWN_H
#define POSTERN_TESTS_API_INIT_OWN_H

#include "../api.h"

#include <errno.h>
#include <pthread.h>
#include <shmemx.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OWN_PES_MAX = 8, OWN_PART_BYTES = 1 << 18, OWN_GUARD_S = 60 };

struct own_pe {
    pid_t pid;
    int   out;
    int   status;     /* exit status; 128 + signal */
    char  said[8192]; /* standard error            */
};

struct own {
    int           npes;
    struct own_pe pe[OWN_PES_MAX];
};

/* What all processes share. */
struct own_page {
    _Atomic int       id_there, step;
    shmemx_uniqueid_t id;
    pthread_barrier_t gate;
    char              part[OWN_PES_MAX][OWN_PART_BYTES];
};
static struct own_page *own_page;

/* A page without an id, and a gate for so many. In the program that starts the others, before each job. */
static inline void own_prepare(int npes)
{
    pthread_barrierattr_t shared;
    if (!own_page)
        own_page = mmap(NULL, sizeof *own_page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (own_page == MAP_FAILED) exit(99);
    own_page->id_there = own_page->step = 0;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&own_page->gate, &shared, (unsigned)npes);
}

/* Wait for a step of the story; the guard of the process ends a wait that does not end. */
static inline void own_await(_Atomic int *word, int value)
{
    while (atomic_load(word) < value) usleep(2000);
}

/* One more process, of that rank. */
static inline void own_add(struct own *job, int rank, int npes, int (*run)(int rank, int npes))
{
    struct own_pe *pe = &job->pe[job->npes++];
    int            ends[2];
    if (pipe(ends) != 0) exit(99);
    fflush(NULL);
    pe->pid = fork();
    if (pe->pid == 0) {
        alarm(OWN_GUARD_S);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* the test was killed: nothing of it is left */
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        for (int i = 0; i < job->npes - 1; i++) close(job->pe[i].out);
        api_known_pe = rank;
        exit(run(rank, npes));
    }
    close(ends[1]);
    pe->out = ends[0];
}

static inline struct own own_begin(int npes, int (*run)(int rank, int npes))
{
    struct own job = {.npes = 0};
    own_prepare(npes);
    for (int rank = 0; rank < npes; rank++) own_add(&job, rank, npes, run);
    return job;
}

static inline void own_end(struct own *job)
{
    for (int i = 0; i < job->npes; i++) {
        struct own_pe *pe   = &job->pe[i];
        size_t         used = 0;
        for (;;) {
            char    more[512];
            ssize_t got = read(pe->out, more, sizeof more);
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) break;
            size_t room = sizeof pe->said - 1 - used, take = (size_t)got < room ? (size_t)got : room;
            memcpy(pe->said + used, more, take);
            used += take;
        }
        pe->said[used] = '\0';
        close(pe->out);
        int how;
        pe->status = -1;
        if (waitpid(pe->pid, &how, 0) == pe->pid) pe->status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    }
}

/* Process i must have ended with this status and have said this (NULL: nothing at all). */
static inline void own_expect(const struct own *job, int i, int status, const char *wanted)
{
    const struct own_pe *pe   = &job->pe[i];
    bool                 said = wanted ? strstr(pe->said, wanted) != NULL : pe->said[0] == '\0';
    if (pe->status == status && said) return;
    fprintf(stderr, "process %d: status %d, expected %d and \"%s\"; standard error:\n%s\n", i, pe->status, status,
            wanted ? wanted : "", pe->said);
    api_failures++;
}

static inline int own_count(const char *text, const char *word)
{
    int count = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) count++;
    return count;
}

/* ---- in the processes ---- */

/* Rank 0 makes the id, the others get it. */
static inline shmemx_uniqueid_t own_id(int rank)
{
    if (rank == 0) {
        if (shmemx_get_uniqueid(&own_page->id) != 0) exit(98);
        own_page->id_there = 1;
    }
    own_await(&own_page->id_there, 1);
    return own_page->id;
}

/* 0 or what shmemx_init_attr says. timeout_s as there. */
static inline int own_init(int rank, int npes, const shmemx_uniqueid_t *id, double timeout_s)
{
    shmemx_init_attr_t attr = SHMEMX_INIT_ATTR_INITIALIZER;
    attr.rank               = rank;
    attr.npes               = npes;
    attr.uniqueid           = id;
    attr.timeout_s          = timeout_s;
    return shmemx_init_attr(&attr);
}

/* An allgather function: *user is the process's place. */
static inline int own_allgather(void *user, const void *mine, size_t bytes, void *all)
{
    const int *place = user;
    int        npes  = place[1];
    if (bytes > OWN_PART_BYTES) return 77;
    memcpy(own_page->part[place[0]], mine, bytes);
    pthread_barrier_wait(&own_page->gate);
    for (int i = 0; i < npes; i++) memcpy((char *)all + (size_t)i * bytes, own_page->part[i], bytes);
    pthread_barrier_wait(&own_page->gate);
    return 0;
}

/* A little of everything: a put around the ring, atomics on PE 0, static data. The library runs. */
static inline void own_work(int rank, int npes)
{
    static long arrived, from_left;
    long       *sum = shmem_malloc(sizeof *sum);
    CHECK_EQUAL(shmem_my_pe(), rank);
    CHECK_EQUAL(shmem_n_pes(), npes);
    *sum = arrived = from_left = 0;
    shmem_barrier_all();
    shmem_long_p(&from_left, rank + 100, (rank + 1) % npes);
    shmem_long_atomic_add(sum, rank + 1, 0);
    shmem_barrier_all();
    CHECK_EQUAL(from_left, (rank + npes - 1) % npes + 100);
    if (rank == 0) CHECK_EQUAL(*sum, npes * (npes + 1) / 2);
    shmem_long_atomic_inc(&arrived, 0);
    shmem_barrier_all();
    if (rank == 0) CHECK_EQUAL(arrived, npes);
    shmem_free(sum);
}

#endif
