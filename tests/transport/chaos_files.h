/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of other nodes, which one machine only pretends to have (POSTERN_NODE): chaos.c reaches it through the files behind it.
 *
 * A region's key names its file as another process sees it, /proc/PID/fd/N, with device and inode, so that nobody takes a number that
 * was used again for the file. The PEs of a node share their files, so each file is mapped once, whole.
 */
#ifndef SHMEMT_CHAOS_FILES_H
#define SHMEMT_CHAOS_FILES_H

#include <stddef.h>
#include <stdint.h>

/* Part of a key: a place in a file of the process that made it. */
struct chaos_files_name {
    int32_t  pid, fd; /* fd < 0: no file */
    uint64_t device, inode, offset;
};

struct chaos_files_map; /* a file that is mapped here */

/* Name a place in an open file of this process; fd < 0 gives the name of no file. 0 or a negative errno. */
int chaos_files_name(int fd, uint64_t offset, struct chaos_files_name *name_out);

/*
 * The address here of `bytes` at that place. *maps is the list of what is mapped; the caller locks it. Each open wants its close. -EHOSTUNREACH:
 * the process is not on this machine, or is gone; -EINVAL: the file is shorter than that.
 */
int  chaos_files_open(struct chaos_files_map **maps, const struct chaos_files_name *name, size_t bytes,
                      struct chaos_files_map **map_out, char **base_out);
void chaos_files_close(struct chaos_files_map **maps, struct chaos_files_map *map); /* map may be NULL */

/* Unmap all of the list, whoever has opened it. */
void chaos_files_close_all(struct chaos_files_map **maps);

#endif
