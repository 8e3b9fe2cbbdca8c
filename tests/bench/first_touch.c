/* SPDX-License-Identifier: Apache-2.0
 *
 * What the first touch of a heap costs, for each kind of pages that this machine grants: us per 4 KiB, medians.
 *
 * usage: bench_first_touch [MIB [REPETITIONS]]     default: 1024 3
 *
 * Rows, in the order in which they are taken on one new file:
 *   owner populate   shmemi_pages_populate(), as an allocation does
 *   owner access     then a store to every 4 KiB
 *   owner again      populate once more: the range was freed and is allocated again
 *   peer access      another process maps the file and stores to every 4 KiB
 * and, on another new file:
 *   owner touch      a store to every 4 KiB without populate
 */
#include "runtime/pages.h"

#include "runtime/base/num.h"
#include "runtime/base/options.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEP_BYTES = 4096, REPETITIONS_MAX = 31 };

enum row { OWNER_POPULATE, OWNER_ACCESS, OWNER_AGAIN, PEER_ACCESS, OWNER_TOUCH, ROWS };
static const char *const row_names[ROWS] = {"owner populate", "owner access", "owner again", "peer access", "owner touch"};

static int64_t *shared_ns; /* where the peer writes its time */

static int64_t time_stores(char *map, size_t bytes)
{
    int64_t begin_ns = shmemi_now_ns();
    for (size_t at = 0; at < bytes; at += STEP_BYTES) *(volatile char *)(map + at) = 1;
    return shmemi_now_ns() - begin_ns;
}

static int64_t time_populate(char *map, size_t bytes)
{
    int64_t begin_ns = shmemi_now_ns();
    if (shmemi_pages_populate(map, bytes) != 0) return -1;
    return shmemi_now_ns() - begin_ns;
}

static char *map_file(int fd, size_t bytes)
{
    char *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) {
        perror("mmap");
        exit(EXIT_FAILURE);
    }
    return map;
}

static int64_t time_peer(int fd, size_t bytes)
{
    pid_t pid = fork();
    if (pid == 0) {
        *shared_ns = time_stores(map_file(fd, bytes), bytes);
        _exit(EXIT_SUCCESS);
    }
    int status;
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 ? *shared_ns : -1;
}

/* One repetition: a time for each row. false: this kind cannot be had. */
static bool measure(int mode, size_t bytes, int64_t ns[ROWS])
{
    struct shmemi_pages pages;
    if (shmemi_pages_create(mode, bytes, bytes, &pages) != 0) return false;
    char *map = map_file(pages.fd, bytes);
    shmemi_pages_forget(); /* of the last file, which may have lain here too */
    ns[OWNER_POPULATE] = time_populate(map, bytes);
    ns[OWNER_ACCESS]   = time_stores(map, bytes);
    ns[OWNER_AGAIN]    = time_populate(map, bytes);
    ns[PEER_ACCESS]    = time_peer(pages.fd, bytes);
    munmap(map, bytes);
    close(pages.fd);

    if (shmemi_pages_create(mode, bytes, bytes, &pages) != 0) return false;
    map             = map_file(pages.fd, bytes);
    ns[OWNER_TOUCH] = time_stores(map, bytes);
    munmap(map, bytes);
    close(pages.fd);
    return true;
}

static int compare_ns(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void bench_kind(int mode, const char *kind, size_t bytes, int repetitions)
{
    static int64_t ns[ROWS][REPETITIONS_MAX];
    for (int i = 0; i < repetitions; i++) {
        int64_t one[ROWS];
        if (!measure(mode, bytes, one)) {
            printf("# %s: not granted here\n", kind);
            return;
        }
        for (int row = 0; row < ROWS; row++) ns[row][i] = one[row];
    }
    for (int row = 0; row < ROWS; row++) {
        qsort(ns[row], (size_t)repetitions, sizeof ns[row][0], compare_ns);
        printf("%s\t%s\t%.3f\n", kind, row_names[row], (double)ns[row][repetitions / 2] / 1e3 / ((double)bytes / STEP_BYTES));
    }
}

int main(int argc, char **argv)
{
    size_t         bytes       = (argc > 1 ? strtoul(argv[1], NULL, 10) : 1024) << 20;
    int            repetitions = argc > 2 ? atoi(argv[2]) : 3;
    struct utsname machine;
    if (bytes == 0 || repetitions < 1 || repetitions > REPETITIONS_MAX) {
        fprintf(stderr, "usage: bench_first_touch [MIB [REPETITIONS]]\n");
        return 2;
    }
    shared_ns = mmap(NULL, sizeof *shared_ns, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared_ns == MAP_FAILED) return EXIT_FAILURE;
    uname(&machine);
    printf("# %s, Linux %s, %zu MiB, median of %d\n# kind\twho\tus_per_4KiB\n", machine.machine, machine.release, bytes >> 20,
           repetitions);
    bench_kind(SHMEMI_PAGES_HUGETLB, "hugetlb", bytes, repetitions);
    bench_kind(SHMEMI_PAGES_MEMFD, "memfd-huge", bytes, repetitions);
    bench_kind(SHMEMI_PAGES_TMPFS, "tmpfs-huge", bytes, repetitions);
    bench_kind(SHMEMI_PAGES_SMALL, "small", bytes, repetitions);
    return EXIT_SUCCESS;
}
