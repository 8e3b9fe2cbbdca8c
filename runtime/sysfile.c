/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading the small text files of /proc and /sys.
 */
#include "runtime/sysfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_STEP_BYTES = 4096 };

FILE *shmemi_sysfile_open(const char *root, const char *path)
{
    char full[SHMEMI_SYSFILE_PATH_MAX];
    int  length = snprintf(full, sizeof full, "%s%s", root, path);
    return length > 0 && (size_t)length < sizeof full ? fopen(full, "re") : NULL;
}

char *shmemi_sysfile_text(const char *root, const char *path)
{
    char   full[SHMEMI_SYSFILE_PATH_MAX];
    char  *text = NULL;
    size_t used = 0, room = 0;
    int    length = snprintf(full, sizeof full, "%s%s", root, path);
    int    fd     = length > 0 && (size_t)length < sizeof full ? open(full, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) return NULL;
    for (;;) {
        if (room - used < TEXT_STEP_BYTES) {
            char *grown = realloc(text, room += TEXT_STEP_BYTES * 2);
            if (!grown) break;
            text = grown;
        }
        ssize_t got = read(fd, text + used, room - used - 1);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) break;
        used += (size_t)got;
        text[used] = '\0';
        if (got > 0) continue;
        close(fd);
        return text;
    }
    close(fd);
    free(text);
    return NULL;
}

bool shmemi_sysfile_next_line(const char **at, char *line, size_t line_bytes)
{
    if (**at == '\0') return false;
    size_t length = strcspn(*at, "\n");
    snprintf(line, line_bytes, "%.*s", (int)(length < INT_MAX ? length : INT_MAX), *at);
    *at += length + ((*at)[length] == '\n');
    return true;
}

bool shmemi_sysfile_line(const char *root, const char *path, char *line, size_t line_bytes)
{
    FILE *file = shmemi_sysfile_open(root, path);
    if (!file) return false;
    bool good = fgets(line, (int)line_bytes, file) != NULL;
    fclose(file);
    if (good) line[strcspn(line, "\n")] = '\0';
    return good;
}

bool shmemi_sysfile_number(const char *root, const char *path, uint64_t *number_out)
{
    char line[64], *end;
    if (!shmemi_sysfile_line(root, path, line, sizeof line)) return false;
    if (strncmp(line, "max", 3) == 0) {
        *number_out = UINT64_MAX;
        return true;
    }
    uint64_t number = strtoull(line, &end, 10);
    if (end == line) return false;
    *number_out = number;
    return true;
}

unsigned shmemi_sysfile_fields(const char *root, const char *path, const struct shmemi_sysfile_field *fields, size_t count)
{
    FILE *file = shmemi_sysfile_open(root, path);
    if (!file) return 0;
    char     line[512], *end;
    unsigned found = 0, all = (1u << count) - 1;
    while (found != all && fgets(line, sizeof line, file)) {
        for (size_t i = 0; i < count; i++) {
            size_t length = strlen(fields[i].name);
            if (strncmp(line, fields[i].name, length) != 0) continue;
            uint64_t number = strtoull(line + length, &end, 10);
            if (end == line + length) continue; /* "unlimited", say */
            *fields[i].number_out = number;
            found |= 1u << i;
        }
    }
    fclose(file);
    return found;
}

bool shmemi_sysfile_field(const char *root, const char *path, const char *name, uint64_t *number_out)
{
    const struct shmemi_sysfile_field field = {name, number_out};
    return shmemi_sysfile_fields(root, path, &field, 1) != 0;
}
