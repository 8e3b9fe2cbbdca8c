/* SPDX-License-Identifier: Apache-2.0
 *
 * A folder with recorded files of /sys or /proc, for code that takes its root as a parameter.
 *
 *     const struct tree_file files[] = {{"/sys/devices/system/node/online", "0-1\n"}, {NULL, NULL}};
 *     char root[64];
 *     if (!tree_make(root, files)) return unit_skip("no temporary folder");
 *     ...
 *     tree_remove(root);
 */
#ifndef SHMEMI_UNIT_TREE_H
#define SHMEMI_UNIT_TREE_H

#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct tree_file {
    const char *path, *text;
};

enum { TREE_ROOT_BYTES = 64 };

static inline void tree_write(const char *root, const struct tree_file *file)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, file->path);
    for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(full, 0700);
    }
    FILE *out = fopen(full, "w");
    if (!out || fputs(file->text, out) < 0 || fclose(out) != 0) {
        perror(full);
        exit(EXIT_FAILURE);
    }
}

/* A new folder with these files, up to one without a path. False: there is no place for it. */
static inline bool tree_make(char root_out[TREE_ROOT_BYTES], const struct tree_file *files)
{
    const char *parent = getenv("TMPDIR");
    snprintf(root_out, TREE_ROOT_BYTES, "%s/postern-tree-XXXXXX", parent && strlen(parent) < 40 ? parent : "/tmp");
    if (!mkdtemp(root_out)) return false;
    for (; files->path; files++) tree_write(root_out, files);
    return true;
}

static inline int tree_remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status, (void)type, (void)place;
    return remove(path);
}

static inline void tree_remove(const char *root)
{
    nftw(root, tree_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
