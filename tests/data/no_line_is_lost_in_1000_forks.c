/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread prints while the main thread forks 1,000 times: every line arrives once and whole. In a static executable the C library's
 * stream and its lock would be shared with the child, were they part of the range.
 */
#include "tests/data/job.h"

#include <pthread.h>
#include <stdatomic.h>

enum { FORKS = 1000 };

static atomic_int  stop;
static atomic_long lines;

static void *print_lines(void *arg)
{
    FILE *out = arg;
    for (long i = 0; !stop; i++) {
        fprintf(out, "line %ld\n", i);
        lines = i + 1;
        if (i % 64 == 0) usleep(10);
    }
    return NULL;
}

static void *count_lines(void *arg)
{
    FILE *in = arg;
    long  number, expected = 0;
    char  line[64];
    while (fgets(line, sizeof line, in)) {
        CHECK(sscanf(line, "line %ld\n", &number) == 1 && number == expected);
        expected++;
    }
    return (void *)expected;
}

int main(void)
{
    struct job *job = job_start();
    pthread_t   printer, counter;
    int         ends[2];
    void       *counted;
    (void)job;
    CHECK(pipe2(ends, 0) == 0);
    /* The C library's own stream, so it lies where the library's data lie. */
    CHECK(dup2(ends[1], STDOUT_FILENO) == STDOUT_FILENO);
    CHECK(close(ends[1]) == 0);
    FILE *in = fdopen(ends[0], "r");
    CHECK(in);
    CHECK(pthread_create(&counter, NULL, count_lines, in) == 0);
    CHECK(pthread_create(&printer, NULL, print_lines, stdout) == 0);
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        if (child == 0) _exit(0);
        CHECK(job_wait(child) == 0);
    }
    stop = 1;
    CHECK(pthread_join(printer, NULL) == 0);
    CHECK(fflush(stdout) == 0);
    CHECK(dup2(STDERR_FILENO, STDOUT_FILENO) == STDOUT_FILENO);
    CHECK(pthread_join(counter, &counted) == 0);
    CHECK((long)counted == lines);
    printf("%ld lines\n", lines);
    return 0;
}
