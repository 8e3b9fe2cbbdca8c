/* SPDX-License-Identifier: Apache-2.0
 *
 * After removal, what only a peer wrote lies in the old file, and this process may never have touched it. The next install must find
 * it: as things are, without pagemap, where there is no memory for the list of such pages, and when it is given the old file again.
 */
#include "tests/data/job.h"
#include "tests/data/refuse.h"

static volatile long early = 1;
static volatile char array[64 << 20];

/* Pages that the program never touches. */
static void peer_writes(struct job *job)
{
    for (size_t i = 0; i < sizeof array; i += 4 << 20)
        *(volatile char *)job_peer(job, &array[i]) = (char)('a' + i / (4 << 20) % 26);
    *(volatile long *)job_peer(job, &early) = 2;
}

static void check_peer(struct job *job)
{
    for (size_t i = 0; i < sizeof array; i += 4 << 20) {
        CHECK(*(volatile char *)job_peer(job, &array[i]) == (char)('a' + i / (4 << 20) % 26));
    }
    CHECK(*(volatile char *)job_peer(job, &array[(2 << 20) + 5]) == 'z');
    CHECK(*(volatile long *)job_peer(job, &early) == 3);
    CHECK(job_file_bytes(job) < 4 << 20);
}

enum { PLAIN, NO_PAGEMAP, NO_LIST, NO_LIST_NO_PAGEMAP, CASES };

/* In a child, as what is refused stays refused. */
static int one_case(int which)
{
    struct job *job = job_start();
    peer_writes(job);
    if (which == NO_LIST || which == NO_LIST_NO_PAGEMAP) refuse_if(SYS_mmap, 4, (unsigned)-1, ENOMEM); /* memory without a file */
    shmemi_data_remove();
    early++;
    array[(2 << 20) + 5] = 'z';
    if (which == NO_PAGEMAP || which == NO_LIST_NO_PAGEMAP) {
        refuse(SYS_openat, EACCES);
#ifdef SYS_open
        refuse(SYS_open, EACCES);
#endif
    }
    job_close(job);
    job_open(job);
    CHECK(shmemi_data_install(&job->data, job->fd, job->offset) == 0);
    check_peer(job);
    return 0;
}

static int same_file(void)
{
    struct job *job = job_start();
    peer_writes(job);
    shmemi_data_remove();
    early++;
    array[(2 << 20) + 5] = 'z';
    CHECK(shmemi_data_install(&job->data, job->fd, job->offset) == 0);
    check_peer(job);
    CHECK(early == 3 && array[(2 << 20) + 5] == 'z' && array[4 << 20] == 'b');
    return 0;
}

int main(void)
{
    for (int which = 0; which <= CASES; which++) {
        pid_t child = fork();
        if (child == 0) _exit(which == CASES ? same_file() : one_case(which));
        int status = job_wait(child);
        if (status == 77) return 77;
        if (status != 0) fprintf(stderr, "case %d ended with status %d\n", which, status);
        CHECK(status == 0);
    }
    return 0;
}
