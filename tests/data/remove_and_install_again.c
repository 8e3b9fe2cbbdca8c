/* SPDX-License-Identifier: Apache-2.0
 *
 * After removal the contents are as before, and stores reach neither the file nor, in a child of fork, the parent; a later install
 * shares them through another file.
 */
#include "tests/data/job.h"

static volatile long early = 1;
static volatile long late[100000];

int main(void)
{
    struct job *job = job_start();
    for (long round = 0; round < 3; round++) {
        *(volatile long *)job_peer(job, &late[60000]) = 10 + round;
        early++;
        shmemi_data_remove();
        CHECK(early == 2 + round && late[60000] == 10 + round && late[70000] == 0);
        late[80000] = 77 + round;
        CHECK(*(volatile long *)job_peer(job, &late[80000]) == (round == 0 ? 0 : 76 + round));
        shmemi_data_remove();
        CHECK(late[80000] == 77 + round);

        pid_t child = fork();
        if (child == 0) {
            late[60000] = late[90000] = 50;
            _exit(early == 2 + round ? 0 : 1);
        }
        CHECK(job_wait(child) == 0);
        CHECK(late[60000] == 10 + round && late[90000] == 0);
        CHECK(*(volatile long *)job_peer(job, &late[60000]) == 10 + round && *(volatile long *)job_peer(job, &late[90000]) == 0);

        job_close(job);
        job_open(job);
        CHECK(shmemi_data_install(&job->data, job->fd, job->offset) == 0);
        CHECK(*(volatile long *)job_peer(job, &early) == 2 + round);
        CHECK(*(volatile long *)job_peer(job, &late[60000]) == 10 + round);
    }
    return 0;
}
