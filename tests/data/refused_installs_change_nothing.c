/* SPDX-License-Identifier: Apache-2.0
 *
 * A file that is too short, an offset that is no page boundary, a descriptor that is none, a range of another executable.
 */
#include "tests/data/job.h"

static volatile long value = 1;

int main(void)
{
    struct job *job = job_find();
    job_open(job);
    off_t              room  = job->offset + (off_t)(4 * job_page());
    struct shmemi_data other = job->data;
    other.base += job_page();
    CHECK(shmemi_data_install(&job->data, job->fd, room + (off_t)job_page()) == -EINVAL);
    CHECK(shmemi_data_install(&job->data, job->fd, job->offset + 1) == -EINVAL);
    CHECK(shmemi_data_install(&job->data, -1, job->offset) == -EBADF);
    CHECK(shmemi_data_install(&other, job->fd, job->offset) == -EINVAL);
    shmemi_data_remove();
    value = 2;
    CHECK(*(volatile long *)job_peer(job, &value) == 0);
    CHECK(job_file_bytes(job) <= job_page());
    CHECK(shmemi_data_install(&job->data, job->fd, job->offset) == 0);
    CHECK(*(volatile long *)job_peer(job, &value) == 2);
    return 0;
}
