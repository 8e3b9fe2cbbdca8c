/* SPDX-License-Identifier: Apache-2.0
 *
 * fork fails: the objects stay shared, later forks work, and no memory or lock is kept.
 */
#include "tests/data/job.h"
#include "tests/data/refuse.h"

static volatile long value = 1;
static volatile char array[64 << 20];

static size_t mapped_pages(void)
{
    size_t pages = 0;
    FILE  *file  = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%zu", &pages) == 1);
    fclose(file);
    return pages;
}

int main(void)
{
    array[0]        = 1;
    struct job *job = job_start();
    refuse(SYS_clone, EAGAIN);
    CHECK(fork() == -1 && errno == EAGAIN);
    size_t before = mapped_pages();
    for (int i = 0; i < 50; i++) CHECK(fork() == -1 && errno == EAGAIN);
    CHECK(mapped_pages() < before + sizeof array / job_page());
    value = 2;
    CHECK(*(volatile long *)job_peer(job, &value) == 2);
    shmemi_data_remove();
    CHECK(value == 2);
    _exit(0); /* a leak checker needs what is refused here */
}
