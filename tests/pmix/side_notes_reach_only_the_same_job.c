/* SPDX-License-Identifier: Apache-2.0
 *
 * Notes between PEs of a machine: they reach the PE that they are for, not one with the same number of another job; a closed socket and a dead
 * process are seen to be gone; what is not from this job's code is thrown away.
 * Spec: none; the notes of runtime/bootstrap/pmix_side.c.
 */
#include "runtime/bootstrap/pmix_side.h"

#include "tests/unit/unit.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static char job[64], other_job[64];

static void answer_once(int pe, const char *name, int ready_fd)
{
    struct shmemi_pmix_side_note note = {.kind = 0}, reply = {.kind = SHMEMI_PMIX_SIDE_LEFT, .pe = pe};
    if (shmemi_pmix_side_open(name, pe) != 0 || write(ready_fd, "r", 1) != 1) _exit(1);
    while (!shmemi_pmix_side_receive(&note)) {
        struct pollfd fd = {.fd = shmemi_pmix_side_fd(), .events = POLLIN};
        poll(&fd, 1, -1);
    }
    snprintf(reply.text, sizeof reply.text, "got %.100s", note.text);
    if (!shmemi_pmix_side_send(0, &reply)) _exit(1);
    pause();
}

static pid_t start(int pe, const char *name)
{
    int   fds[2];
    char  byte;
    pid_t child;
    if (pipe(fds) != 0 || (child = fork()) < 0) exit(1);
    if (child == 0) {
        shmemi_pmix_side_close(); /* of PE 0, whose copy this is */
        alarm(60);
        answer_once(pe, name, fds[1]);
    }
    if (read(fds[0], &byte, 1) != 1) exit(1);
    close(fds[0]), close(fds[1]);
    return child;
}

static void end(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void await_note(struct shmemi_pmix_side_note *note)
{
    while (!shmemi_pmix_side_receive(note)) {
        struct pollfd fd = {.fd = shmemi_pmix_side_fd(), .events = POLLIN};
        poll(&fd, 1, -1);
    }
}

int main(void)
{
    struct shmemi_pmix_side_note note = {.kind = SHMEMI_PMIX_SIDE_END, .status = 3, .text = "the end"}, got = {.kind = 0};
    alarm(60); /* a guard against hangs */
    snprintf(job, sizeof job, "test of process %ld", (long)getpid());
    snprintf(other_job, sizeof other_job, "other test of process %ld", (long)getpid());
    CHECK(!shmemi_pmix_side_is_there(1)); /* nothing is open: nothing answers */
    CHECK_EQ_U64(shmemi_pmix_side_open(job, 0) == 0, true);
    pid_t mine = start(1, job), foreign = start(2, other_job);

    CHECK(shmemi_pmix_side_is_there(1));
    CHECK(!shmemi_pmix_side_is_there(2)); /* of another job */
    CHECK(!shmemi_pmix_side_send(2, &note));
    CHECK(shmemi_pmix_side_send(1, &note));
    await_note(&got);
    CHECK_EQ_U64(got.kind, SHMEMI_PMIX_SIDE_LEFT);
    CHECK_EQ_U64(got.pe, 1);
    CHECK_STR(got.text, "got the end");
    CHECK(shmemi_pmix_side_is_there(0)); /* a probe in our own queue, which is no note */
    CHECK(!shmemi_pmix_side_receive(&got));

    end(mine);
    end(foreign);
    CHECK(!shmemi_pmix_side_is_there(1));
    shmemi_pmix_side_close();
    CHECK(!shmemi_pmix_side_is_there(0));
    CHECK(!shmemi_pmix_side_receive(&got));
    return unit_result();
}
