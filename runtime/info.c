/* SPDX-License-Identifier: Apache-2.0
 *
 * shmemx_info: what this library is, what is set, and what was found and chosen, as text or JSON. postern-info is a
 * small program around it; any program may call it, before shmem_init (then the report is empty) or after.
 */
#include "runtime/base/attr.h"
#include "runtime/base/host.h"
#include "runtime/base/json.h"
#include "runtime/base/log.h"
#include "runtime/base/options.h"
#include "runtime/base/report.h"

#include <shmemx.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- text ---- */

static void print_head(FILE *out, const char *host)
{
    fprintf(out, "%s (OpenSHMEM %d.%d)\n", SHMEM_VENDOR_STRING, SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION);
    fprintf(out, "host %s: %d usable core(s), pages of %zu KiB\n", host, shmemi_host_cores(), shmemi_host_page_bytes() / 1024);
}

static void print_set_options(FILE *out)
{
    size_t shown = 0;
    fprintf(out, "\nSet in the environment\n");
    for (size_t i = 0; shmemi_options_row(i); i++) {
        if (!shmemi_options_source(i)) continue;
        char value[4096];
        fprintf(out, "  %-24s %s\n", shmemi_options_source(i), shmemi_options_value(i, value, sizeof value));
        shown++;
    }
    if (shown == 0) fprintf(out, "  nothing (postern-info --all lists all variables)\n");
}

static void print_report(FILE *out)
{
    fprintf(out, "\nFound and chosen\n");
    shmemi_report_write(out);
    if (!shmemi_report_line(0)) fprintf(out, "  nothing yet: the library has not been started\n");
}

/* ---- JSON ---- */

static void write_options(struct shmemi_json *json)
{
    shmemi_json_begin(json, "variables", '[');
    for (size_t i = 0; shmemi_options_row(i); i++) {
        const struct shmemi_option_row *row = shmemi_options_row(i);
        char                            value[4096];
        shmemi_json_begin(json, NULL, '{');
        shmemi_json_text(json, "name", row->name);
        shmemi_json_text(json, "value", shmemi_options_value(i, value, sizeof value));
        shmemi_json_text(json, "set_by", shmemi_options_source(i));
        shmemi_json_text(json, "default", row->fallback);
        shmemi_json_text(json, "kind", row->kind);
        shmemi_json_text(json, "unit", row->unit);
        shmemi_json_text(json, "allowed", row->allowed);
        shmemi_json_bool(json, "equal_on_all_pes", row->job);
        shmemi_json_text(json, "help", row->help);
        shmemi_json_text(json, "section", shmemi_options_section(i)->title);
        shmemi_json_end(json, '}');
    }
    shmemi_json_end(json, ']');

    shmemi_json_begin(json, "unknown_variables", '[');
    for (size_t i = 0; shmemi_options_unknown(i); i++) shmemi_json_text(json, NULL, shmemi_options_unknown(i));
    shmemi_json_end(json, ']');
}

static void write_report(struct shmemi_json *json)
{
    shmemi_json_begin(json, "report", '[');
    for (size_t i = 0; shmemi_report_line(i); i++) {
        const struct shmemi_report_line *line = shmemi_report_line(i);
        shmemi_json_begin(json, NULL, '{');
        shmemi_json_text(json, "capability", line->capability);
        shmemi_json_text(json, "state", shmemi_report_state_name(line->state));
        shmemi_json_text(json, "text", line->text);
        shmemi_json_end(json, '}');
    }
    shmemi_json_end(json, ']');
}

static void write_json(FILE *out, const char *host)
{
    struct shmemi_json json = {.out = out};
    char               standard[16];
    snprintf(standard, sizeof standard, "%d.%d", SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION);

    shmemi_json_begin(&json, NULL, '{');
    shmemi_json_text(&json, "library", SHMEM_VENDOR_STRING);
    shmemi_json_text(&json, "openshmem", standard);
    shmemi_json_begin(&json, "machine", '{');
    shmemi_json_text(&json, "host", host);
    shmemi_json_int(&json, "usable_cores", shmemi_host_cores());
    shmemi_json_int(&json, "page_bytes", (int64_t)shmemi_host_page_bytes());
    shmemi_json_end(&json, '}');
    write_options(&json);
    write_report(&json);
    shmemi_json_end(&json, '}');
}

/* ---- the call ---- */

static void write_text(FILE *out, const char *host, bool all)
{
    print_head(out, host);
    if (all) {
        fprintf(out, "\n");
        shmemi_options_write(out);
    } else {
        print_set_options(out);
    }
    print_report(out);
}

int pshmemx_info(int fd, int format)
{
    if (format < SHMEMX_INFO_TEXT || format > SHMEMX_INFO_TEXT_ALL) return -EINVAL;

    char host[HOST_NAME_MAX + 1];
    shmemi_host_name(host, sizeof host);

    char  *text  = NULL;
    size_t bytes = 0;
    FILE  *out   = open_memstream(&text, &bytes);
    if (!out) return -ENOMEM;
    if (format == SHMEMX_INFO_JSON) write_json(out, host);
    else write_text(out, host, format == SHMEMX_INFO_TEXT_ALL);
    int err = fclose(out) == 0 ? shmemi_log_write(fd, text, bytes) : -ENOMEM;
    free(text);
    return err;
}
SHMEMI_EXPORT(shmemx_info)
