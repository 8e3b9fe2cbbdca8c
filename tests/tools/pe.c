/* SPDX-License-Identifier: Apache-2.0
 *
 * A PE that speaks only to its bootstrap, and does what its arguments say, one after the other:
 *
 *   open close          join and leave the job           gather=B   exchange B bytes and check all of them
 *   sleep=S             seconds                          exit=N _exit=N return=N raise=SIGNAL
 *   abort=N abort=N,why end the job, then exit(N)        wait       until the job ends
 *   print=TEXT puts=TEXT  without and with a newline     cat        copy stdin to stdout
 *   env=NAME            print a variable                 fork=S     a child that sleeps S s, in the same process group
 *   ignore=SIGNAL       ignore it                        report=SIGNAL  print a line when it comes, and go on
 *   deadline=S          limit of later exchanges         child      a forked child tries to close and abort, and ends
 *   lines=N,B           N lines of B bytes, in odd-sized writes
 *   cpus                processors this PE may use         system=COMMAND  as the C function
 *   poll=signal         sleep until a reported signal came sleeps=S   sleep on after a signal
 *   try=B               as gather, and go on if it fails
 *   identity            what the bootstrap says            eputs=TEXT a line on stderr
 *   leaving=N[,STATUS]  into the last barrier, after N     fail       leave, because the start failed
 *   deaf                no thread waits for events         event      wait for one and print it
 *   late                a request whose bytes come after its head has been answered
 *
 * "@K:command" is for PE K only, "!K:command" for all others. A thread waits for events, as the library's service thread does.
 */
#include "runtime/base/launch_wire.h"
#include "runtime/base/log.h"
#include "runtime/base/options.h"
#include "runtime/bootstrap/bootstrap.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static struct shmemb        *job;
static volatile sig_atomic_t signals_seen;
static pthread_t             service;
static bool                  deaf;
static char                  launch_text[256];
static int64_t               timeout_ns = 60000000000;

static void *serve(void *arg)
{
    struct shmemb_event event;
    job->ops->next_event(job, &event);
    if (event.kind == SHMEMB_EVENT_NONE) return arg;
    fprintf(stderr, "pe %d: event %s status %d: %s\n", job->pe, event.kind == SHMEMB_EVENT_END ? "end" : "failure", event.status,
            event.text);
    fflush(stdout);
    _exit(event.status);
}

static void open_job(void)
{
    if (shmemi_options_load() != 0 || shmemi_bootstrap_open(&job) != 0) exit(3);
    shmemi_log_set_pe(job->pe);
    if (!deaf) pthread_create(&service, NULL, serve, NULL);
}

static void close_job(bool started)
{
    job->ops->close(job, started);
    if (!deaf) pthread_join(service, NULL);
}

static void gather(size_t bytes, bool may_fail)
{
    static unsigned round;
    unsigned char  *mine = malloc(bytes + 1), *all = malloc(bytes * (size_t)job->npes + 1);
    round++;
    for (size_t i = 0; i < bytes; i++) mine[i] = (unsigned char)((unsigned)job->pe * 7 + round * 13 + i);
    int err = job->ops->allgather(job, mine, bytes, all, timeout_ns);
    if (err) fprintf(stderr, "pe %d: allgather: %s\n", job->pe, strerror(-err));
    for (size_t k = 0; !err && k < (size_t)job->npes * bytes; k++) {
        if (all[k] == (unsigned char)(k / bytes * 7 + round * 13 + k % bytes)) continue;
        fprintf(stderr, "pe %d: wrong byte %zu in round %u\n", job->pe, k, round);
        exit(5);
    }
    free(mine);
    free(all);
    if (err && !may_fail) exit(4);
}

static void await_event(void)
{
    struct shmemb_event event;
    job->ops->next_event(job, &event);
    printf("event %d status %d: %s\n", (int)event.kind, event.status, event.text);
    fflush(stdout);
}

/* Begin an exchange when the job ends: the head, what oshrun says to it, and only then the bytes. */
static void request_late(void)
{
    struct launch_call head = {.kind = LAUNCH_GATHER, .bytes = 8};
    int                fd   = -1;
    sscanf(launch_text, "%*d:%d", &fd);
    if (send(fd, &head, sizeof head, MSG_NOSIGNAL) != sizeof head) exit(8);
    if (recv(fd, &head, sizeof head, MSG_WAITALL) != sizeof head) exit(8);
    ssize_t sent = send(fd, "8 bytes", 8, MSG_NOSIGNAL);
    printf("answer %s, then sent %zd\n", head.kind == LAUNCH_ENDED ? "ended" : "unknown", sent);
    fflush(stdout);
}

static void on_signal(int number)
{
    char text[] = "signal 00\n";
    signals_seen++;
    text[7] = (char)('0' + number / 10);
    text[8] = (char)('0' + number % 10);
    (void)!write(STDOUT_FILENO, text, sizeof text - 1);
}

static void write_lines(long lines, long bytes)
{
    char  pe   = (char)('a' + (job != NULL ? job->pe : atoi(getenv("POSTERN_PE"))) % 26);
    char *line = malloc((size_t)bytes + 1);
    memset(line, pe, (size_t)bytes);
    line[bytes] = '\n';
    for (long i = 0; i < lines; i++) {
        long first = bytes * (i % 7) / 7; /* two writes per line, torn at different places */
        if (first > 0 && write(STDOUT_FILENO, line, (size_t)first) != first) exit(6);
        if (write(STDOUT_FILENO, line + first, (size_t)(bytes + 1 - first)) != bytes + 1 - first) exit(6);
    }
    free(line);
}

static void print_cpus(void)
{
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    printf("cpus");
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET((size_t)cpu, &set)) printf(" %d", cpu);
    }
    printf("\n");
}

static void child_interferes(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        job->ops->abort(job, 9, "a child speaks");
        job->ops->close(job, true);
        _exit(job->ops->allgather(job, NULL, 0, NULL, 1000000000) == -EPERM ? 0 : 1);
    }
    int status;
    waitpid(pid, &status, 0);
    if (status != 0) exit(7);
}

static void copy_stdin(void)
{
    char    bytes[4096];
    ssize_t got;
    while ((got = read(STDIN_FILENO, bytes, sizeof bytes)) > 0) {
        if (write(STDOUT_FILENO, bytes, (size_t)got) != got) exit(6);
    }
}

static void run(const char *command, const char *value)
{
    const char *comma = strchr(value, ',');
    if (strcmp(command, "open") == 0) open_job();
    else if (strcmp(command, "close") == 0) close_job(true);
    else if (strcmp(command, "fail") == 0) close_job(false);
    else if (strcmp(command, "leaving") == 0) job->ops->leaving(job, (uint64_t)atol(value), comma ? atoi(comma + 1) : 0);
    else if (strcmp(command, "deaf") == 0) deaf = true;
    else if (strcmp(command, "event") == 0) await_event();
    else if (strcmp(command, "late") == 0) request_late();
    else if (strcmp(command, "gather") == 0) gather((size_t)atol(value), false);
    else if (strcmp(command, "try") == 0) gather((size_t)atol(value), true);
    else if (strcmp(command, "deadline") == 0) timeout_ns = (int64_t)(atof(value) * 1e9);
    else if (strcmp(command, "sleep") == 0) {
        fflush(stdout);
        usleep((useconds_t)(atof(value) * 1e6));
    } else if (strcmp(command, "sleeps") == 0) {
        for (int i = atoi(value) * 100; i > 0; i--) usleep(10000);
    } else if (strcmp(command, "poll") == 0) {
        fflush(stdout);
        while (signals_seen == 0) usleep(10000);
    } else if (strcmp(command, "system") == 0) {
        fflush(stdout);
        if (system(value) != 0) exit(8);
    } else if (strcmp(command, "exit") == 0) exit(atoi(value));
    else if (strcmp(command, "_exit") == 0) _exit(atoi(value));
    else if (strcmp(command, "raise") == 0) {
        signal(atoi(value), SIG_DFL);
        raise(atoi(value));
    } /* sanitizers catch some */
    else if (strcmp(command, "abort") == 0) {
        job->ops->abort(job, atoi(value), comma ? comma + 1 : NULL);
        exit(atoi(value));
    } else if (strcmp(command, "wait") == 0) {
        fflush(stdout);
        for (;;) pause();
    } else if (strcmp(command, "print") == 0) {
        printf("%s", value);
        fflush(stdout);
    } else if (strcmp(command, "puts") == 0) {
        printf("%s\n", value);
        fflush(stdout);
    } else if (strcmp(command, "eputs") == 0) fprintf(stderr, "%s\n", value);
    else if (strcmp(command, "cat") == 0) copy_stdin();
    else if (strcmp(command, "env") == 0) printf("%s=%s\n", value, getenv(value) ? getenv(value) : "(unset)");
    else if (strcmp(command, "identity") == 0)
        printf("pe %d of %d local %d of %d launcher %s\n", job->pe, job->npes, job->local_rank, job->local_size, job->launcher);
    else if (strcmp(command, "fork") == 0) {
        if (fork() == 0) {
            usleep((useconds_t)(atof(value) * 1e6));
            _exit(0);
        }
    } else if (strcmp(command, "ignore") == 0) signal(atoi(value), SIG_IGN);
    else if (strcmp(command, "report") == 0) signal(atoi(value), on_signal);
    else if (strcmp(command, "lines") == 0) write_lines(atol(value), comma ? atol(comma + 1) : 10);
    else if (strcmp(command, "cpus") == 0) print_cpus();
    else if (strcmp(command, "child") == 0) child_interferes();
    else {
        fprintf(stderr, "pe: unknown command %s\n", command);
        exit(99);
    }
}

int main(int argc, char **argv)
{
    const char *launch = getenv(LAUNCH_VARIABLE);
    snprintf(launch_text, sizeof launch_text, "%s", launch ? launch : "");
    for (int i = 1; i < argc; i++) {
        const char *word   = argv[i];
        const char *number = getenv("POSTERN_PE");
        int         me     = number != NULL ? atoi(number) : 0;
        if (word[0] == '@' || word[0] == '!') {
            bool is_me = atoi(word + 1) == me;
            if (is_me != (word[0] == '@')) continue;
            word = strchr(word, ':') + 1;
        }
        char   command[32];
        size_t length = strcspn(word, "=");
        snprintf(command, sizeof command, "%.*s", (int)length, word);
        run(command, word[length] == '=' ? word + length + 1 : "");
    }
    return 0;
}
