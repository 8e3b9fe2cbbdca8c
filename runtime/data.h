/* SPDX-License-Identifier: Apache-2.0
 *
 * Static objects of the executable as symmetric memory: its writable, non-RELRO pages are copied into a shared file and that file is
 * mapped over them, so that a peer can map the same pages. docs/architecture.md "Static data" tells the traps.
 */
#ifndef SHMEMI_DATA_H
#define SHMEMI_DATA_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct shmemi_data {
    uintptr_t base;        /* first page after RELRO, as this PE addresses it                      */
    size_t    bytes;       /* whole pages; 0: statics are not symmetric here, reason says why      */
    size_t    file_bytes;  /* leading part that came from the executable's file: copied whole      */
    uint64_t  identity[2]; /* equal on PEs that run the same executable (build id, else a hash)     */
    char      executable[128];
    char      reason[128];
};

/* Find the range from the program headers. 0 always; data_out->bytes is 0 where statics cannot be symmetric. Cheap. */
int shmemi_data_find(struct shmemi_data *data_out);

/*
 * Copy the range to [offset, offset+bytes) of fd and map that over it (MAP_SHARED|MAP_FIXED). From then on the range is that part
 * of the file, whatever it held before. fd: a file of plain pages (not hugetlb), large enough; the caller may close it afterwards.
 * Registers fork handlers once. 0 or a negative errno after an error message; on error nothing has changed.
 */
int shmemi_data_install(const struct shmemi_data *data, int fd, off_t offset);

/*
 * Make the range private again: stores no longer reach the file. Other threads may load and store there meanwhile, and lose nothing.
 * Peers must have stopped: pages that this process does not write show the file, so it stays in memory until the next install or
 * the end of the process. No descriptor is kept. On failure a warning, and the range stays shared. Safe if not installed.
 *
 * Only where the program closed our descriptor are the pages copied; then what other threads store meanwhile can be lost.
 */
void shmemi_data_remove(void);

#endif
