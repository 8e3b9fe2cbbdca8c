/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of other processes, found through /proc and mapped. See chaos_files.h.
 */
#include "tests/transport/chaos_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct chaos_files_map {
    struct chaos_files_map *next;
    uint64_t                device, inode;
    char                   *base;
    size_t                  bytes, users;
};

int chaos_files_name(int fd, uint64_t offset, struct chaos_files_name *name_out)
{
    struct stat file;
    if (fd < 0) {
        *name_out = (struct chaos_files_name){.fd = -1};
        return 0;
    }
    if (fstat(fd, &file) != 0) return -errno;
    *name_out = (struct chaos_files_name){
        .pid    = getpid(),
        .fd     = fd,
        .device = file.st_dev,
        .inode  = file.st_ino,
        .offset = offset,
    };
    return 0;
}

/* A descriptor of that very file. */
static int open_file(const struct chaos_files_name *name, size_t *bytes_out)
{
    char        path[64];
    struct stat file;
    if (name->fd < 0) return -EHOSTUNREACH;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", name->pid, name->fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return -EHOSTUNREACH;
    if (fstat(fd, &file) != 0 || file.st_dev != name->device || file.st_ino != name->inode) {
        close(fd); /* the number belongs to another process by now, or to one of another PID name space */
        return -EHOSTUNREACH;
    }
    *bytes_out = (size_t)file.st_size;
    return fd;
}

static struct chaos_files_map *find(struct chaos_files_map *map, const struct chaos_files_name *name)
{
    while (map && (map->device != name->device || map->inode != name->inode)) map = map->next;
    return map;
}

static int map_file(struct chaos_files_map **maps, const struct chaos_files_name *name, struct chaos_files_map **map_out)
{
    size_t bytes;
    int    fd = open_file(name, &bytes);
    if (fd < 0) return fd;
    struct chaos_files_map *map  = calloc(1, sizeof *map);
    char                   *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    int                     err  = base == MAP_FAILED ? -errno : map ? 0 : -ENOMEM;
    close(fd);
    if (err) {
        if (base != MAP_FAILED) munmap(base, bytes);
        free(map);
        return err;
    }
    madvise(base, bytes, MADV_DONTDUMP); /* other PEs' memory does not belong into this PE's core file */
    *map     = (struct chaos_files_map){.next = *maps, .device = name->device, .inode = name->inode, .base = base, .bytes = bytes};
    *maps    = map;
    *map_out = map;
    return 0;
}

int chaos_files_open(struct chaos_files_map **maps, const struct chaos_files_name *name, size_t bytes,
                     struct chaos_files_map **map_out, char **base_out)
{
    struct chaos_files_map *map = find(*maps, name);
    int                     err = map ? 0 : map_file(maps, name, &map);
    if (err) return err;
    map->users++;
    if (bytes > map->bytes || name->offset > map->bytes - bytes) {
        chaos_files_close(maps, map);
        return -EINVAL;
    }
    *map_out  = map;
    *base_out = map->base + name->offset;
    return 0;
}

static void unmap(struct chaos_files_map *map)
{
    munmap(map->base, map->bytes);
    free(map);
}

void chaos_files_close(struct chaos_files_map **maps, struct chaos_files_map *map)
{
    if (!map || --map->users > 0) return;
    while (*maps && *maps != map) maps = &(*maps)->next;
    *maps = map->next;
    unmap(map);
}

void chaos_files_close_all(struct chaos_files_map **maps)
{
    while (*maps) {
        struct chaos_files_map *map = *maps;
        *maps                       = map->next;
        unmap(map);
    }
}
