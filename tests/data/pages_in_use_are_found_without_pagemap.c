/* SPDX-License-Identifier: Apache-2.0
 *
 * /proc/self/pagemap cannot be opened, then mincore is refused too: everything is copied that must be, and an untouched array
 * still takes no memory of the file.
 */
#include "tests/data/job.h"
#include "tests/data/refuse.h"

static volatile long early = 1;
static volatile char array[64 << 20];

/* What was in use is there for the peer, and little else takes memory. */
static void install_and_check(struct job *job)
{
    job_open(job);
    CHECK(shmemi_data_install(&job->data, job->fd, job->offset) == 0);
    CHECK(job_file_bytes(job) < 4 << 20);
    CHECK(early == 1 && *(volatile long *)job_peer(job, &early) == 1);
    for (size_t i = 0; i < sizeof array; i += 8 << 20) CHECK(*(volatile char *)job_peer(job, &array[i]) == 'a');
    shmemi_data_remove();
    job_close(job);
}

int main(void)
{
    for (size_t i = 0; i < sizeof array; i += 8 << 20) array[i] = 'a';
    struct job *job = job_find();
    refuse(SYS_openat, EACCES);
#ifdef SYS_open
    refuse(SYS_open, EACCES);
#endif
    install_and_check(job);
    refuse(SYS_mincore, EPERM);
    install_and_check(job);
    _exit(0); /* a leak checker needs what is refused here */
}
