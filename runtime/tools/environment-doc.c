/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes docs/environment.md from the table of variables (runtime/base/options.def), or checks that it is up to date. Part of
 * the build, not installed: target docs-environment.
 *
 *     environment-doc FILE            write the file
 *     environment-doc --check FILE    0 if it has what the table gives, 1 with a message if not
 */
#include "runtime/base/attr.h"
#include "runtime/base/options.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char intro[] =
    "# Environment variables\n"
    "\n"
    "<!-- Made from runtime/base/options.def: change that, then build the target docs-environment. -->\n"
    "\n"
    "These variables change what Postern and its tools do. `SHMEM_INFO=1` prints them when a program starts, with the\n"
    "values in use. `postern-info --all` prints them without a program.\n"
    "\n"
    "## How values are written\n"
    "\n"
    "- A **flag** is on if the variable is set, to whatever value.\n"
    "- A **switch** is `1`, `yes`, `on` or `true`, or `0`, `no`, `off` or `false`.\n"
    "- A **size** is a decimal number, then optionally one of `k m g t` for 2^10, 2^20, 2^30, 2^40 bytes: `4194304`,\n"
    "  `512M`, `1.5g`, `.5m`. The result is rounded up to a whole byte. What follows that letter is ignored, as the\n"
    "  standard says: `20kB` is `20k`. Any other letter is an error.\n"
    "- A **time** is a number and one of `s ms us ns`: `10s`, `500ms`, `1.5s`. A plain number has the unit that the\n"
    "  table names.\n"
    "- Words may be written in upper or lower case. Blanks around a value do not count.\n"
    "\n"
    "A wrong value is an error: the message names the variable, the value and what is allowed, and the program does\n"
    "not start. An empty value is wrong too, except for flags and for texts, where it means not set.\n"
    "\n"
    "A variable that begins with `POSTERN_` and is not listed here has no effect. PE 0 warns about it and names the\n"
    "nearest variable that exists. With `POSTERN_STRICT=1` it is an error. `POSTERN_ROOT`, `POSTERN_DIR`, `POSTERN_HOME`\n"
    "and `POSTERN_PREFIX` belong to package managers and are left alone.\n"
    "\n"
    "Variables marked **all PEs** must have the same value on every PE of a job.\n";

/* Text for a cell: a '|' would end it. */
static void put_cell(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '|') putc('\\', out);
        putc(*text, out);
    }
}

/* "a|b|c" as `a`, `b`, `c`. */
static void put_words(FILE *out, const char *words)
{
    for (;;) {
        int length = (int)strcspn(words, "|");
        fprintf(out, "`%.*s`", length, words);
        if (words[length] == '\0') return;
        fputs(", ", out);
        words += length + 1;
    }
}

/* "0..9" as 0 to 9. */
static void put_range(FILE *out, const char *range)
{
    const char *dots = strstr(range, "..");
    if (dots) fprintf(out, "%.*s to %s", (int)(dots - range), range, dots + 2);
    else put_cell(out, range);
}

static void put_allowed(FILE *out, const struct shmemi_option_row *row)
{
    if (strcmp(row->kind, "choice") == 0) put_words(out, row->allowed);
    else if (strcmp(row->kind, "int") == 0) put_range(out, row->allowed);
    else if (strcmp(row->kind, "flag") == 0) fputs("flag", out);
    else if (strcmp(row->kind, "bool") == 0) fputs("switch", out);
    else put_cell(out, row->allowed);
    if (strcmp(row->kind, "time") == 0) fprintf(out, "; plain numbers are %s", row->unit);
}

static void put_row(FILE *out, const struct shmemi_option_row *row)
{
    fprintf(out, "| `%s` | ", row->name);
    if (*row->fallback) fprintf(out, "`%s`", row->fallback);
    else fputs("not set", out);
    fputs(" | ", out);
    put_allowed(out, row);
    fputs(" | ", out);
    put_cell(out, row->help);
    fputs(row->job ? " (**all PEs**) |\n" : " |\n", out);
}

static void put_document(FILE *out)
{
    fputs(intro, out);
    for (size_t i = 0; shmemi_options_row(i); i++) {
        const struct shmemi_option_section *section = shmemi_options_section(i);
        if (section->first == i)
            fprintf(out, "\n## %s\n\n%s\n\n| variable | default | takes | what it does |\n|---|---|---|---|\n", section->title,
                    section->intro);
        put_row(out, shmemi_options_row(i));
    }
}

/* The document in memory; the caller frees it. */
static char *make_document(void)
{
    char  *text  = NULL;
    size_t bytes = 0;
    FILE  *out   = open_memstream(&text, &bytes);
    if (!out) return NULL;
    put_document(out);
    return fclose(out) == 0 ? text : NULL;
}

static int write_file(const char *path, const char *document)
{
    FILE *file = fopen(path, "w");
    if (file && fputs(document, file) >= 0 && fclose(file) == 0) return EXIT_SUCCESS;
    perror(path);
    return EXIT_FAILURE;
}

/* Does the rest of the file hold text, and nothing behind it? */
static bool holds(FILE *file, const char *text)
{
    for (; *text; text++) {
        if (getc(file) != (unsigned char)*text) return false;
    }
    return getc(file) == EOF && !ferror(file);
}

static int check_file(const char *path, const char *document)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        return EXIT_FAILURE;
    }
    bool same = holds(file, document);
    fclose(file);
    if (same) return EXIT_SUCCESS;
    fprintf(stderr,
            "%s is not what runtime/base/options.def gives\n    fix: cmake --build BUILD_FOLDER --target docs-environment\n", path);
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    bool check = argc == 3 && strcmp(argv[1], "--check") == 0;
    if (!check && argc != 2) {
        fprintf(stderr, "usage: environment-doc [--check] FILE\n");
        return 2;
    }
    SHMEMI_AUTO_FREE char *document = make_document();
    if (!document) {
        perror("environment-doc");
        return EXIT_FAILURE;
    }
    return check ? check_file(argv[2], document) : write_file(argv[1], document);
}
