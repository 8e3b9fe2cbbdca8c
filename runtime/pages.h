/* SPDX-License-Identifier: Apache-2.0
 *
 * The file behind the symmetric heaps of a node, on the best pages that the machine grants, and the check that they can fit at all.
 * Order of attempts (POSTERN_PAGES=auto): hugetlb memfd; memfd where shmem huge pages are allowed; a file on a private tmpfs with
 * huge=always; 4 KiB pages.
 */
#ifndef SHMEMI_PAGES_H
#define SHMEMI_PAGES_H

#include <stddef.h>
#include <stdint.h>

struct shmemi_pages {
    int    fd;          /* close-on-exec; the caller closes it. Nothing is left in any file system */
    size_t page_bytes;  /* unit in which memory is really given: heaps start on such a boundary      */
    char   kind[16];    /* "hugetlb", "memfd-huge", "tmpfs-huge", "small"                            */
    char   detail[160]; /* why not something better, for the report; empty if nothing is better      */
};

/* Page size that `mode` (enum shmemi_option_pages) would give for a heap of this size, before any file exists: for the layout. */
size_t shmemi_pages_unit(int mode, size_t heap_bytes);

/*
 * Create a file of total_bytes (all heaps of the node; each heap_bytes), not populated. mode auto falls back down the list and says
 * so in detail; a mode asked for by name that cannot be had is an error. 0 or a negative errno, logged.
 */
int shmemi_pages_create(int mode, size_t heap_bytes, size_t total_bytes, struct shmemi_pages *pages_out);

/*
 * Populate [address, address + bytes) of a mapping of that file for writing, by its owner (NUMA first touch). 0, or -ENOMEM where the
 * machine cannot give the pages: never SIGBUS. Cheap where already populated: no system call, for what this process has populated. One thread at a time.
 */
int shmemi_pages_populate(void *address, size_t bytes);

/* Another file lies at the addresses that were populated. */
void shmemi_pages_forget(void);

/* What this machine and its limits can still give. */
struct shmemi_pages_room {
    uint64_t bytes;     /* the smallest of the limits below                             */
    char     limit[96]; /* which one it was, in words: "MemAvailable", "cgroup limit of /sys/fs/cgroup/...", "RLIMIT_AS", ... */
};
/* root: where /proc and /sys are ("" for the machine's; a folder with recorded files in tests). */
int shmemi_pages_room(const char *root, struct shmemi_pages_room *room_out);

/*
 * How much more can be populated before the OOM killer comes? The kernel has no call that says ENOMEM in time: a charge beyond a cgroup's
 * limit and an allocation beyond the machine's memory kill a process first. shmemi_pages_populate() asks this.
 */
uint64_t shmemi_pages_room_left(void);

/*
 * The heap size to use per PE: the one asked for, or by default (SIZE_MAX) 256 MiB, less where pes * (heap + other) would not fit.
 * 0 and *heap_bytes_out; -ENOMEM after an error that says how much there is, where a size asked for cannot fit and overcommit is false.
 */
int shmemi_pages_heap_size(const struct shmemi_pages_room *room, size_t asked_bytes, size_t other_bytes, int pes, int overcommit,
                           size_t *heap_bytes_out);

#endif
