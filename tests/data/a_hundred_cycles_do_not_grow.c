/* SPDX-License-Identifier: Apache-2.0
 *
 * Install and removal again and again: descriptors, mappings, address space, memory and old files do not grow. After a removal
 * no descriptor is kept.
 */
#include "tests/data/job.h"

#include <dirent.h>

static volatile char array[64 << 20];

struct use {
    size_t descriptors, mappings, files, virtual_kib, resident_kib;
};

static size_t count_descriptors(void)
{
    size_t count = 0;
    DIR   *dir   = opendir("/proc/self/fd");
    CHECK(dir);
    while (readdir(dir)) count++;
    CHECK(closedir(dir) == 0);
    return count;
}

static struct use look(void)
{
    struct use use = {.descriptors = count_descriptors()};
    char       line[512];
    FILE      *maps = fopen("/proc/self/maps", "r");
    CHECK(maps);
    while (fgets(line, sizeof line, maps)) {
        use.mappings++;
        use.files += strstr(line, "postern-test") != NULL;
    }
    fclose(maps);
    FILE *status = fopen("/proc/self/status", "r");
    CHECK(status);
    while (fgets(line, sizeof line, status)) {
        sscanf(line, "VmSize: %zu", &use.virtual_kib);
        sscanf(line, "VmRSS: %zu", &use.resident_kib);
    }
    fclose(status);
    return use;
}

static void cycle(struct job *job, int round)
{
    job_open(job);
    CHECK(shmemi_data_install(&job->data, job->fd, job->offset) == 0);
    for (size_t i = 0; i < 4 << 20; i += 4096) array[i]++;
    *(volatile char *)job_peer(job, &array[32 << 20]) = (char)round;
    shmemi_data_remove();
    CHECK(array[32 << 20] == (char)round);
    for (size_t i = 2 << 20; i < 6 << 20; i += 4096) array[i]++;
    job_close(job);
}

int main(void)
{
    struct job *job    = job_find();
    size_t      before = count_descriptors();
    for (int round = 0; round < 10; round++) cycle(job, round);
    CHECK(count_descriptors() == before);

    struct use first = look();
    for (int round = 0; round < 100; round++) cycle(job, round);
    struct use last = look();
    printf("descriptors %zu, mappings %zu to %zu, of files %zu to %zu, virtual %zu to %zu KiB, resident %zu to %zu KiB\n",
           last.descriptors, first.mappings, last.mappings, first.files, last.files, first.virtual_kib, last.virtual_kib,
           first.resident_kib, last.resident_kib);
    CHECK(last.descriptors == first.descriptors);
    CHECK(last.files == first.files);
    CHECK(last.mappings <= first.mappings + 4);
    CHECK(last.virtual_kib < first.virtual_kib + 1024);
    CHECK(last.resident_kib < first.resident_kib + 4096);
    return 0;
}
