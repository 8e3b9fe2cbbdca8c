/* SPDX-License-Identifier: Apache-2.0
 *
 * The program closes every descriptor that it does not know and opens others under the same numbers: fork and removal still copy the
 * objects, and do not touch the program's files.
 */
#include "tests/data/job.h"

#include <fcntl.h>

static volatile long value = 1;
static volatile char array[1 << 20];

int main(void)
{
    struct job *job = job_start();
    int         other[20];
    for (int fd = 3; fd < 64; fd++) close(fd);
    for (int i = 0; i < 20; i++) {
        other[i] = memfd_create("other", 0);
        CHECK(other[i] >= 0 && ftruncate(other[i], (off_t)(8 * job->data.bytes)) == 0);
    }
    value                                           = 2;
    *(volatile char *)job_peer(job, &array[500000]) = 'a';
    pid_t child                                     = fork();
    if (child == 0) {
        CHECK(value == 2 && array[500000] == 'a' && array[0] == 0);
        value = 3;
        for (int i = 0; i < 20; i++) CHECK(fcntl(other[i], F_GETFD) == 0);
        _exit(0);
    }
    CHECK(job_wait(child) == 0);
    CHECK(value == 2);
    shmemi_data_remove();
    CHECK(value == 2 && array[500000] == 'a');
    for (int i = 0; i < 20; i++) CHECK(fcntl(other[i], F_GETFD) == 0);
    *(volatile long *)job_peer(job, &value) = 5;
    CHECK(value == 2);
    return 0;
}
