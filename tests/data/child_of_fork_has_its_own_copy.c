/* SPDX-License-Identifier: Apache-2.0
 *
 * A child sees the objects as they were at the fork: no later store of the parent or a peer reaches it, and none of its own reaches them.
 */
#include "tests/data/job.h"

volatile long        first = 1;
static volatile long touched_by_peer[1 << 16];
static volatile long touched_later[1 << 16];

static int child_main(int go, int done)
{
    char byte;
    if (first != 2 || touched_by_peer[40000] != 3) return 10;
    first                = 20;
    touched_later[50000] = 21;
    CHECK(write(done, "x", 1) == 1);
    CHECK(read(go, &byte, 1) == 1);
    if (first != 20 || touched_later[50000] != 21) return 11;
    if (touched_by_peer[40000] != 3 || touched_later[100] != 0) return 12;
    shmemi_data_remove();
    if (first != 20 || touched_by_peer[40000] != 3) return 13;
    pid_t grandchild = fork();
    if (grandchild == 0) _exit(first == 20 ? 0 : 14);
    return job_wait(grandchild);
}

int main(void)
{
    struct job *job = job_start();
    int         go[2], done[2];
    char        byte;
    CHECK(pipe(go) == 0 && pipe(done) == 0);
    first                                                    = 2;
    *(volatile long *)job_peer(job, &touched_by_peer[40000]) = 3;

    pid_t child = fork();
    if (child == 0) _exit(child_main(go[0], done[1]));

    CHECK(read(done[0], &byte, 1) == 1);
    CHECK(first == 2 && touched_later[50000] == 0);
    CHECK(*(volatile long *)job_peer(job, &first) == 2);
    first                                                = 4;
    touched_by_peer[40000]                               = 5;
    *(volatile long *)job_peer(job, &touched_later[100]) = 6;
    CHECK(write(go[1], "x", 1) == 1);
    CHECK(job_wait(child) == 0);

    CHECK(first == 4 && touched_later[50000] == 0);
    *(volatile long *)job_peer(job, &first) = 7;
    CHECK(first == 7);
    return 0;
}
