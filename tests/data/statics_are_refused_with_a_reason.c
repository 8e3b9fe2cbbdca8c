/* SPDX-License-Identifier: Apache-2.0
 *
 * Executables whose statics cannot be symmetric: the range is empty, the reason says what to do, and an install is an error.
 */
#include "tests/data/job.h"

#include <sys/auxv.h>

static volatile long value = 1;

int main(void)
{
    struct job *job = job_find();
    printf("%s: %s\n", job->data.executable, job->data.reason);
    CHECK(job->data.bytes == 0 && job->data.base == 0);
    CHECK(strstr(job->data.reason, "oshcc"));
    /* A static executable has no dynamic linker. */
    CHECK(strstr(job->data.reason, getauxval(AT_BASE) ? "linked into the executable" : "static executable"));
    int fd = memfd_create("postern-test", MFD_CLOEXEC);
    CHECK(fd >= 0 && ftruncate(fd, 1 << 20) == 0);
    CHECK(shmemi_data_install(&job->data, fd, 0) == -EINVAL);
    pid_t child = fork();
    if (child == 0) {
        value = 2;
        _exit(0);
    }
    CHECK(job_wait(child) == 0);
    CHECK(value == 1);
    return 0;
}
