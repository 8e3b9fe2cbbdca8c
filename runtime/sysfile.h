/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading the small text files of /proc and /sys. Each path is looked up below `root`: "" for the machine's own, or a folder with
 * recorded files in tests. What cannot be read gives NULL or false and no message: the caller knows what it means.
 */
#ifndef SHMEMI_SYSFILE_H
#define SHMEMI_SYSFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Longest path that is looked at, and longest name of a control group. */
enum { SHMEMI_SYSFILE_PATH_MAX = 1024 };

/* Open root + path for reading, or NULL. The caller closes it. */
FILE *shmemi_sysfile_open(const char *root, const char *path);

/* The whole file, with a NUL behind it; NULL if it cannot be read. The caller frees it. */
char *shmemi_sysfile_text(const char *root, const char *path);

/* Copy the next line of a text, cut to fit, without its newline. False at the end. */
bool shmemi_sysfile_next_line(const char **at, char *line_out, size_t line_bytes);

/* The first line of a file, without its newline. */
bool shmemi_sysfile_line(const char *root, const char *path, char *line_out, size_t line_bytes);

/* A file that holds one number; "max" (no limit) is UINT64_MAX. */
bool shmemi_sysfile_number(const char *root, const char *path, uint64_t *number_out);

/*
 * Numbers from a file of lines "name number", in one reading: the number that follows each name goes to *number_out. Bit i of the
 * result: fields[i] was found; what was not found keeps its value. count is at most 31.
 */
struct shmemi_sysfile_field {
    const char *name; /* with all that comes before the number, such as a colon or a space */
    uint64_t   *number_out;
};
unsigned shmemi_sysfile_fields(const char *root, const char *path, const struct shmemi_sysfile_field *fields, size_t count);

/* One such number. */
bool shmemi_sysfile_field(const char *root, const char *path, const char *name, uint64_t *number_out);

#endif
