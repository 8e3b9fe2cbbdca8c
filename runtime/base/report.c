/* SPDX-License-Identifier: Apache-2.0
 *
 * What was found, what was chosen, and why: a short list of lines, kept in the order in which they first came.
 *
 * Tests: tests/unit/report_*.c.
 */
#include "runtime/base/report.h"

#include "runtime/base/log.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line owns its two texts. The array is found by index only, so it may move when it grows. */
static struct shmemi_report_line **lines;
static size_t                      line_count;

static struct shmemi_report_line *find_line(const char *capability)
{
    for (size_t i = 0; i < line_count; i++) {
        if (strcmp(lines[i]->capability, capability) == 0) return lines[i];
    }
    return NULL;
}

static struct shmemi_report_line *add_line(const char *capability)
{
    struct shmemi_report_line **grown = realloc(lines, (line_count + 1) * sizeof *grown);
    if (!grown) return NULL;
    lines = grown;

    struct shmemi_report_line *line = calloc(1, sizeof *line);
    char                      *copy = strdup(capability);
    if (!line || !copy) {
        free(line);
        free(copy);
        return NULL;
    }
    line->capability    = copy;
    lines[line_count++] = line;
    return line;
}

void shmemi_report(const char *capability, enum shmemi_report_state state, const char *format, ...)
{
    char   *text = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);

    struct shmemi_report_line *line = find_line(capability);
    if (!line) line = add_line(capability);
    if (!line || length < 0) {
        shmemi_warn("could not add \"%s\" to the report: there is no memory left", capability);
        if (length >= 0) free(text);
        return;
    }
    free((void *)line->text);
    line->text  = text;
    line->state = state;
    shmemi_debug("%s: %s: %s", capability, shmemi_report_state_name(state), text);
}

const struct shmemi_report_line *shmemi_report_line(size_t index)
{
    return index < line_count ? lines[index] : NULL;
}

const char *shmemi_report_state_name(enum shmemi_report_state state)
{
    switch (state) {
    case SHMEMI_PRESENT: return "present";
    case SHMEMI_ABSENT: return "absent";
    case SHMEMI_DEGRADED: return "degraded";
    case SHMEMI_CHOICE: return "chosen";
    }
    return "?";
}

void shmemi_report_write(FILE *out)
{
    int width = 0;
    for (size_t i = 0; i < line_count; i++) {
        int length = (int)strlen(lines[i]->capability);
        if (length > width) width = length;
    }
    for (size_t i = 0; i < line_count; i++) {
        /* A line without text (there was no memory for it) still names its capability. */
        fprintf(out, "  %-*s  %-8s  %s\n", width, lines[i]->capability, shmemi_report_state_name(lines[i]->state),
                lines[i]->text ? lines[i]->text : "");
    }
}

void shmemi_report_print(int fd)
{
    char  *text  = NULL;
    size_t bytes = 0;
    FILE  *out   = open_memstream(&text, &bytes);
    if (!out) return;
    shmemi_report_write(out);
    if (fclose(out) == 0) (void)shmemi_log_write(fd, text, bytes); /* a reader that is gone needs nothing */
    free(text);
}

/* ---- POSTERN_REQUIRE ---- */

/* "shm" asks for "shm" or "transport shm". */
static bool is_asked(const char *capability, const char *name)
{
    size_t capability_bytes = strlen(capability), name_bytes = strlen(name);
    if (name_bytes > capability_bytes) return false;
    const char *tail = capability + (capability_bytes - name_bytes);
    return strcmp(tail, name) == 0 && (tail == capability || tail[-1] == ' ');
}

static const struct shmemi_report_line *find_capability(const char *name)
{
    for (size_t i = 0; i < line_count; i++) {
        if (lines[i]->state != SHMEMI_CHOICE && is_asked(lines[i]->capability, name)) return lines[i];
    }
    return NULL;
}

static SHMEMI_COLD int refuse_unknown(const char *name)
{
    char   known[1024] = "";
    size_t used        = 0;
    for (size_t i = 0; i < line_count && used < sizeof known; i++) {
        if (lines[i]->state == SHMEMI_CHOICE) continue;
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", lines[i]->capability);
    }
    shmemi_error("cannot require \"%.100s\": there is no capability of that name" WHY "known here: %s" FIX
                 "correct POSTERN_REQUIRE, or unset it",
                 name, known);
    return -EINVAL;
}

static int require_one(const char *name)
{
    const struct shmemi_report_line *line = find_capability(name);
    if (!line) return refuse_unknown(name);
    if (line->state == SHMEMI_PRESENT) return 0;
    shmemi_error("cannot start without %s, which POSTERN_REQUIRE asks for: it is %s" WHY "%s" FIX
                 "mend that, or take \"%.100s\" out of POSTERN_REQUIRE",
                 line->capability, shmemi_report_state_name(line->state), line->text ? line->text : "no reason is known", name);
    return -ENOTSUP;
}

/* Cut blanks off both ends, in place. */
static char *trim(char *text)
{
    while (isspace((unsigned char)*text)) text++;
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1])) length--;
    text[length] = '\0';
    return text;
}

int shmemi_report_require(const char *names)
{
    if (!names) return 0;
    SHMEMI_AUTO_FREE char *copy = strdup(names);
    if (!copy) return -ENOMEM;

    int result = 0;
    for (char *rest = copy, *name; (name = strsep(&rest, ",")) != NULL;) {
        name    = trim(name);
        int err = *name ? require_one(name) : 0;
        if (err) result = err;
    }
    return result;
}

void shmemi_report_clear(void)
{
    for (size_t i = 0; i < line_count; i++) {
        free((void *)lines[i]->capability);
        free((void *)lines[i]->text);
        free(lines[i]);
    }
    free(lines);
    lines      = NULL;
    line_count = 0;
}
