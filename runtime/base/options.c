/* SPDX-License-Identifier: Apache-2.0
 *
 * The environment variables, from one table (options.def). Loading reads every row with one parser per kind; printing, the
 * hash and the tools go through the same table, so a new row needs no code.
 *
 * Threads: load and report_unknown belong to start-up (one thread). What they stored may be read by all afterwards.
 * Tests: tests/unit/options_*.c.
 */
#include "runtime/base/options.h"

#include "runtime/base/attr.h"
#include "runtime/base/log.h"
#include "runtime/base/num.h"
#include "runtime/base/scan.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

extern char **environ;

struct shmemi_options shmemi_options;

enum kind { KIND_flag, KIND_bool, KIND_int, KIND_size, KIND_time, KIND_choice, KIND_text };

/*
 * Numbers of the rows, and of the first row of each section. SECTION takes back the count that its own name used, so the row
 * that follows has the same number.
 */
enum {
#define SHMEMI_OPTION(NAME, KIND, FIELD, DEFAULT, UNIT, ALLOWED, HELP) ROW_##NAME,
#define SHMEMI_OPTION_SECTION(TAG, TITLE, INTRO)                       FIRST_OF_##TAG, BEFORE_##TAG = FIRST_OF_##TAG - 1,
#include "runtime/base/options.def"
#undef SHMEMI_OPTION
#undef SHMEMI_OPTION_SECTION
    ROW_COUNT
};

struct place {
    enum kind kind;
    size_t    offset; /* of the field in struct shmemi_options */
};

static const struct place places[ROW_COUNT] = {
#define SHMEMI_OPTION(NAME, KIND, FIELD, DEFAULT, UNIT, ALLOWED, HELP) \
    {.kind = KIND_##KIND, .offset = offsetof(struct shmemi_options, FIELD)},
#include "runtime/base/options.def"
#undef SHMEMI_OPTION
};

static const struct shmemi_option_row rows[ROW_COUNT] = {
/* #KIND is made here and not one macro deeper, where bool would have become _Bool. */
#define SHMEMI_OPTION_ROW(NAME, KIND, DEFAULT, UNIT, ALLOWED, HELP, JOB) \
    {.name = NAME, .kind = KIND, .fallback = DEFAULT, .unit = UNIT, .allowed = ALLOWED, .help = HELP, .job = JOB},
#define SHMEMI_OPTION(NAME, KIND, FIELD, DEFAULT, UNIT, ALLOWED, HELP) \
    SHMEMI_OPTION_ROW(#NAME, #KIND, DEFAULT, UNIT, ALLOWED, HELP, false)
#define SHMEMI_OPTION_JOB(NAME, KIND, FIELD, DEFAULT, UNIT, ALLOWED, HELP) \
    SHMEMI_OPTION_ROW(#NAME, #KIND, DEFAULT, UNIT, ALLOWED, HELP, true)
#include "runtime/base/options.def"
#undef SHMEMI_OPTION
#undef SHMEMI_OPTION_JOB
#undef SHMEMI_OPTION_ROW
};

static const struct shmemi_option_section sections[] = {
#define SHMEMI_OPTION(NAME, KIND, FIELD, DEFAULT, UNIT, ALLOWED, HELP)
#define SHMEMI_OPTION_SECTION(TAG, TITLE, INTRO) {.title = TITLE, .intro = INTRO, .first = FIRST_OF_##TAG},
#include "runtime/base/options.def"
#undef SHMEMI_OPTION
#undef SHMEMI_OPTION_SECTION
};

/* The variable that gave each row its value; NULL: none, it has its default. */
static const char *sources[ROW_COUNT];

enum { UNKNOWN_SHOWN_MAX = 12 };
static const char *unknown_names[UNKNOWN_SHOWN_MAX];
static size_t      unknown_count;

/* ---- texts that stay valid ---- */

/* One kept text. They are never freed, so a caller may hold one across a later load; equal texts are kept once. */
struct kept {
    struct kept *next;
    char         text[];
};
static struct kept *kept_first;

/* A copy of head followed by tail, valid for ever. NULL if there is no memory. */
static const char *keep_text(const char *head, const char *tail)
{
    size_t head_bytes = strlen(head), tail_bytes = strlen(tail);
    for (struct kept *kept = kept_first; kept; kept = kept->next) {
        if (strncmp(kept->text, head, head_bytes) == 0 && strcmp(kept->text + head_bytes, tail) == 0) return kept->text;
    }
    struct kept *kept = malloc(sizeof *kept + head_bytes + tail_bytes + 1);
    if (!kept) return NULL;
    memcpy(kept->text, head, head_bytes);
    memcpy(kept->text + head_bytes, tail, tail_bytes + 1);
    kept->next = kept_first;
    kept_first = kept;
    return kept->text;
}

/* ---- one value ---- */

static void *field_of(size_t row)
{
    return (char *)&shmemi_options + places[row].offset;
}

/* The word that a time or size row takes in place of a number ("auto" or "none"); NULL if it takes none. */
static const char *word_of(size_t row)
{
    static const char *const words[] = {"auto", "none"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *last = strrchr(rows[row].allowed, ';');
        if (strcmp(rows[row].fallback, words[i]) == 0 || (last && strcmp(last + 1 + strspn(last + 1, " "), words[i]) == 0))
            return words[i];
    }
    return NULL;
}

/* Nanoseconds of a plain number in a time row. */
static int64_t unit_ns(size_t row)
{
    static const struct {
        const char *unit;
        int64_t     ns;
    } units[] = {
        {"nanoseconds", 1},
        {"microseconds", 1000},
        {"milliseconds", 1000000},
        {"seconds", 1000000000},
    };
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(rows[row].unit, units[i].unit) == 0) return units[i].ns;
    }
    assert(false); /* a row whose unit is not in the list */
    return 1000000000;
}

/* Read trimmed text into the row's field: NULL, or why it is wrong (the field is unchanged). */
static const char *parse_value(size_t row, const char *text)
{
    void       *field   = field_of(row);
    const char *word    = word_of(row);
    bool        is_word = word && strcasecmp(text, word) == 0;

    switch (places[row].kind) {
    case KIND_flag: *(bool *)field = true; return NULL;
    case KIND_bool: return shmemi_scan_bool(text, field);
    case KIND_int: return shmemi_scan_int(text, rows[row].allowed, field);
    case KIND_choice: return shmemi_scan_choice(text, rows[row].allowed, field);
    case KIND_size:
        if (!is_word) return shmemi_scan_size(text, field);
        *(size_t *)field = SIZE_MAX;
        return NULL;
    case KIND_time:
        if (!is_word) return shmemi_scan_time(text, unit_ns(row), field);
        *(int64_t *)field = -1;
        return NULL;
    case KIND_text: break;
    }
    const char *copy = *text ? keep_text(text, "") : NULL;
    if (*text && !copy) return "there is no memory left to keep it";
    *(const char **)field = copy;
    return NULL;
}

static void set_default(size_t row)
{
    sources[row] = NULL;
    if (places[row].kind == KIND_flag) {
        *(bool *)field_of(row) = false;
        return;
    }
    const char *why = parse_value(row, rows[row].fallback);
    (void)why; /* used by the assert only */
    assert(!why);
}

/* ---- loading ---- */

static SHMEMI_COLD void refuse_value(size_t row, const char *variable, const char *value, const char *why)
{
    const struct shmemi_option_row *r      = &rows[row];
    const char                     *lead   = places[row].kind == KIND_choice ? "one of " : "";
    bool                            is_int = places[row].kind == KIND_int;
    const char                     *plain  = places[row].kind == KIND_time ? "; a plain number is " : "";
    shmemi_error("cannot use %s=\"%.200s\"" WHY "%s; allowed: %s%s%s%s%s" FIX "correct %s, or unset it (default: %s)", variable,
                 value, why, is_int ? "a number in " : lead, r->allowed, plain, *plain ? r->unit : "",
                 places[row].kind == KIND_bool ? " (or no yes, off on, false true)" : "", variable,
                 *r->fallback ? r->fallback : "not set");
}

/* The row's value in the environment, by its name or by the old SMA_ name, which then is *old_out. NULL: not set. */
static const char *find_value(size_t row, const char **variable_out)
{
    static const char standard[] = "SHMEM_";
    const char       *name       = rows[row].name;
    const char       *value      = getenv(name);
    *variable_out                = name;
    if (value || strncmp(name, standard, sizeof standard - 1) != 0) return value;

    char old_name[64];
    snprintf(old_name, sizeof old_name, "SMA_%s", name + sizeof standard - 1);
    value = getenv(old_name);
    if (value) *variable_out = keep_text(old_name, "");
    return *variable_out ? value : NULL;
}

/* A copy without the blanks around it; the caller frees it. */
static char *trim_copy(const char *text)
{
    while (isspace((unsigned char)*text)) text++;
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1])) length--;
    return strndup(text, length);
}

static int load_row(size_t row)
{
    set_default(row);
    const char *variable = NULL;
    const char *value    = find_value(row, &variable);
    if (!value) return 0;

    SHMEMI_AUTO_FREE char *text = trim_copy(value);
    const char            *why  = text ? parse_value(row, text) : "there is no memory left to read it";
    if (why) {
        refuse_value(row, variable, value, why);
        return -EINVAL;
    }
    sources[row] = variable;
    return 0;
}

static bool is_known(const char *name)
{
    /* Package managers and module files set these for every package. */
    static const char *const foreign[] = {"POSTERN_ROOT", "POSTERN_DIR", "POSTERN_HOME", "POSTERN_PREFIX"};
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        if (strcmp(name, foreign[i]) == 0) return true;
    }
    for (size_t row = 0; row < ROW_COUNT; row++) {
        if (strcmp(name, rows[row].name) == 0) return true;
    }
    return false;
}

static void find_unknown(void)
{
    static const char prefix[] = "POSTERN_";
    unknown_count              = 0;
    for (char **entry = environ; entry && *entry; entry++) {
        if (strncmp(*entry, prefix, sizeof prefix - 1) != 0) continue;
        SHMEMI_AUTO_FREE char *name = strndup(*entry, strcspn(*entry, "="));
        if (!name || is_known(name)) continue;
        const char *kept = keep_text(name, "");
        if (unknown_count < UNKNOWN_SHOWN_MAX) unknown_names[unknown_count] = kept ? kept : "?"; /* no memory for the name */
        unknown_count++;
    }
}

/* Once for the job: by the PE that oshrun numbered 0, or the only one. */
static void note_old_names(void)
{
    if (shmemi_options.boot_pe > 0) return;
    for (size_t row = 0; row < ROW_COUNT; row++) {
        if (sources[row] && strncmp(sources[row], "SMA_", 4) == 0)
            shmemi_info("%s is deprecated since OpenSHMEM 1.4; use %s", sources[row], rows[row].name);
    }
}

int shmemi_options_load(void)
{
    int err = 0;
    for (size_t row = 0; row < ROW_COUNT; row++) {
        if (load_row(row)) err = -EINVAL;
    }
    shmemi_log_set_level(shmemi_options.debug ? SHMEMI_LOG_DEBUG : (enum shmemi_log_level)shmemi_options.log);
    find_unknown();
    note_old_names();
    return err;
}

/* ---- unknown names ---- */

static const char *nearest_name(const char *name)
{
    size_t   best          = 0;
    unsigned best_distance = UINT32_MAX;
    for (size_t row = 0; row < ROW_COUNT; row++) {
        unsigned distance = shmemi_scan_distance(name, rows[row].name);
        if (distance < best_distance) {
            best          = row;
            best_distance = distance;
        }
    }
    return rows[best].name;
}

int shmemi_options_report_unknown(void)
{
    if (unknown_count == 0) return 0;
    bool strict = shmemi_options.strict;

    char   list[1500];
    size_t used = 0;
    for (size_t i = 0; i < unknown_count && i < UNKNOWN_SHOWN_MAX; i++) {
        const char *name = unknown_names[i];
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.50s (nearest known: %s)", i ? ", " : "", name,
                                 nearest_name(name));
        assert(used < sizeof list); /* 12 names of at most 50 letters beside one of ours */
    }
    char more[40] = "";
    if (unknown_count > UNKNOWN_SHOWN_MAX) snprintf(more, sizeof more, ", and %zu more", unknown_count - UNKNOWN_SHOWN_MAX);

    shmemi_log(strict ? SHMEMI_LOG_ERROR : SHMEMI_LOG_WARN,
               "unknown variable%s: %s%s" WHY "%s" FIX "correct or unset %s; SHMEM_INFO=1 lists all variables",
               unknown_count > 1 ? "s" : "", list, more,
               strict ? "POSTERN_STRICT is set, which makes this an error" : "no variable has such a name, so it changes nothing",
               unknown_count > 1 ? "them" : "it");
    return strict ? -EINVAL : 0;
}

const char *shmemi_options_unknown(size_t index)
{
    return index < unknown_count && index < UNKNOWN_SHOWN_MAX ? unknown_names[index] : NULL;
}

/* ---- values as text ---- */

/* bytes with the largest unit that leaves a whole number. */
static void write_size(char *buffer, size_t buffer_bytes, size_t bytes)
{
    static const char units[] = "KMGT";
    int               unit    = -1;
    while (unit < 3 && bytes != 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    snprintf(buffer, buffer_bytes, "%zu%.*s", bytes, unit >= 0, unit >= 0 ? units + unit : "");
}

static void write_time(char *buffer, size_t buffer_bytes, int64_t ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    int                      unit    = 0;
    while (unit < 3 && ns % 1000 == 0) {
        ns /= 1000;
        unit++;
    }
    snprintf(buffer, buffer_bytes, "%lld%s", (long long)ns, units[unit]);
}

static void write_choice(char *buffer, size_t buffer_bytes, const char *words, int index)
{
    while (index-- > 0) words += strcspn(words, "|") + 1;
    snprintf(buffer, buffer_bytes, "%.*s", (int)strcspn(words, "|"), words);
}

const char *shmemi_options_value(size_t index, char *buffer, size_t buffer_bytes)
{
    assert(index < ROW_COUNT && buffer_bytes > 0);
    const void *field = field_of(index);
    const char *word  = word_of(index) ? word_of(index) : "";
    const char *text  = "";
    switch (places[index].kind) {
    case KIND_flag: text = *(const bool *)field ? "1" : ""; break;
    case KIND_bool: text = *(const bool *)field ? "1" : "0"; break;
    case KIND_text: text = *(const char *const *)field ? *(const char *const *)field : ""; break;
    case KIND_int: snprintf(buffer, buffer_bytes, "%ld", *(const long *)field); return buffer;
    case KIND_choice: write_choice(buffer, buffer_bytes, rows[index].allowed, *(const int *)field); return buffer;
    case KIND_size:
        if (*(const size_t *)field != SIZE_MAX) {
            write_size(buffer, buffer_bytes, *(const size_t *)field);
            return buffer;
        }
        text = word;
        break;
    case KIND_time:
        if (*(const int64_t *)field >= 0) {
            write_time(buffer, buffer_bytes, *(const int64_t *)field);
            return buffer;
        }
        text = word;
        break;
    }
    snprintf(buffer, buffer_bytes, "%s", text);
    return buffer;
}

uint64_t shmemi_options_hash(void)
{
    uint64_t hash = 0;
    for (size_t row = 0; row < ROW_COUNT; row++) {
        if (!rows[row].job) continue;
        char value[4096];
        shmemi_options_value(row, value, sizeof value);
        hash = shmemi_hash(hash, rows[row].name, strlen(rows[row].name) + 1);
        hash = shmemi_hash(hash, value, strlen(value) + 1);
    }
    return hash;
}

const struct shmemi_option_row *shmemi_options_row(size_t index)
{
    return index < ROW_COUNT ? &rows[index] : NULL;
}

const struct shmemi_option_section *shmemi_options_section(size_t index)
{
    size_t section = sizeof sections / sizeof sections[0] - 1;
    while (section > 0 && sections[section].first > index) section--;
    return &sections[section];
}

const char *shmemi_options_source(size_t index)
{
    return index < ROW_COUNT ? sources[index] : NULL;
}

/* ---- SHMEM_INFO ---- */

static void print_row(FILE *out, size_t index)
{
    const struct shmemi_option_row *row = &rows[index];
    char                            value[4096];
    shmemi_options_value(index, value, sizeof value);
    fprintf(out, "%c %-24s %-12s default: %s\n", sources[index] ? '*' : ' ', row->name, *value ? value : "not set",
            *row->fallback ? row->fallback : "not set");
    fprintf(out, "      %s\n      allowed: %s", row->help, row->allowed);
    if (*row->unit) fprintf(out, "; unit: %s", row->unit);
    if (row->job) fprintf(out, "; equal on all PEs");
    fprintf(out, "\n");
    if (sources[index] && strcmp(sources[index], row->name) != 0)
        fprintf(out, "      set by its old name %s, which is deprecated\n", sources[index]);
}

void shmemi_options_write(FILE *out)
{
    fprintf(out, "Environment variables (* = set in the environment of this PE)\n");
    for (size_t row = 0; row < ROW_COUNT; row++) {
        const struct shmemi_option_section *section = shmemi_options_section(row);
        if (section->first == row) fprintf(out, "\n%s\n%s\n", section->title, section->intro);
        print_row(out, row);
    }
}

void shmemi_options_print(int fd)
{
    char  *text  = NULL;
    size_t bytes = 0;
    FILE  *out   = open_memstream(&text, &bytes);
    if (!out) return;
    shmemi_options_write(out);
    if (fclose(out) == 0) (void)shmemi_log_write(fd, text, bytes); /* a reader that is gone needs nothing */
    free(text);
}
