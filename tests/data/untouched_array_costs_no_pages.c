/* SPDX-License-Identifier: Apache-2.0
 *
 * 1 GiB of untouched static array: install, fork and removal copy what is in use only. Pages are counted; times are printed.
 */
#include "tests/data/job.h"

#include "runtime/base/num.h"

#include <sys/resource.h>

static volatile char array[1 << 30];

static const size_t few_bytes = 4 << 20;

static double milliseconds(int64_t since_ns)
{
    return (double)(shmemi_now_ns() - since_ns) / 1e6;
}

/* Private memory of this process. */
static size_t anonymous_bytes(void)
{
    size_t kib = 0;
    char   line[256];
    FILE  *file = fopen("/proc/self/smaps_rollup", "r");
    if (!file) {
        printf("skipped: /proc/self/smaps_rollup cannot be read\n");
        exit(77);
    }
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "Anonymous: %zu kB", &kib) == 1) break;
    }
    fclose(file);
    return kib << 10;
}

int main(void)
{
    array[123456789] = 'a';
    struct job *job  = job_find();
    CHECK(job->data.bytes >= sizeof array);
    job_open(job);
    size_t before = anonymous_bytes();

    int64_t start = shmemi_now_ns();
    CHECK(shmemi_data_install(&job->data, job->fd, job->offset) == 0);
    printf("install: %.2f ms\n", milliseconds(start));
    CHECK(job_file_bytes(job) < few_bytes);
    CHECK(array[123456789] == 'a');
    *(volatile char *)job_peer(job, &array[987654321]) = 'b';

    start       = shmemi_now_ns();
    pid_t child = fork();
    if (child == 0) {
        CHECK(array[123456789] == 'a' && array[987654321] == 'b');
        _exit(anonymous_bytes() < before + few_bytes ? 0 : 1);
    }
    printf("fork: %.2f ms\n", milliseconds(start));
    CHECK(job_wait(child) == 0);
    CHECK(job_file_bytes(job) < few_bytes);

    start = shmemi_now_ns();
    shmemi_data_remove();
    printf("remove: %.2f ms\n", milliseconds(start));
    CHECK(array[123456789] == 'a'); /* the peer's page stays untouched until it is installed again */
    CHECK(anonymous_bytes() < before + few_bytes);
    CHECK(job_file_bytes(job) < few_bytes);

    job_close(job);
    job_open(job);
    start = shmemi_now_ns();
    CHECK(shmemi_data_install(&job->data, job->fd, job->offset) == 0);
    printf("install again: %.2f ms\n", milliseconds(start));
    CHECK(job_file_bytes(job) < few_bytes);
    CHECK(*(volatile char *)job_peer(job, &array[987654321]) == 'b');
    CHECK(array[123456789] == 'a' && array[987654321] == 'b' && array[555555555] == 0);
    return 0;
}
