/* SPDX-License-Identifier: Apache-2.0
 *
 * The findings as text for people, as JSON, and as a file for Prometheus.
 */
#include "runtime/tools/doctor.h"

#include "runtime/base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t count_of(const struct doctor *doctor, enum doctor_state state)
{
    size_t count = 0;
    for (size_t i = 0; i < doctor->finding_count; i++) count += doctor->findings[i].state == state;
    return count;
}

void doctor_print_text(const struct doctor *doctor, FILE *out)
{
    for (size_t i = 0; i < doctor->finding_count; i++) {
        const struct doctor_finding *finding = &doctor->findings[i];
        fprintf(out, "%-8s  %-15s %s%s%s\n", doctor_state_word(finding->state), finding->check, finding->object,
                finding->object[0] ? ": " : "", finding->found);
        if (finding->why) fprintf(out, "    why: %s\n    fix: %s\n", finding->why, finding->fix);
    }
    fprintf(out, "\n%zu ok, %zu degraded, %zu missing\n", count_of(doctor, DOCTOR_OK), count_of(doctor, DOCTOR_DEGRADED),
            count_of(doctor, DOCTOR_MISSING));
}

void doctor_print_json(const struct doctor *doctor, FILE *out)
{
    struct shmemi_json json = {.out = out};
    shmemi_json_begin(&json, NULL, '{');
    shmemi_json_text(&json, "version", POSTERN_VERSION);
    shmemi_json_text(&json, "worst", doctor_state_word(doctor_worst(doctor)));
    shmemi_json_begin(&json, "findings", '[');
    for (size_t i = 0; i < doctor->finding_count; i++) {
        const struct doctor_finding *finding = &doctor->findings[i];
        shmemi_json_begin(&json, NULL, '{');
        shmemi_json_text(&json, "check", finding->check);
        shmemi_json_text(&json, "object", finding->object[0] ? finding->object : NULL);
        shmemi_json_text(&json, "state", doctor_state_word(finding->state));
        shmemi_json_text(&json, "found", finding->found);
        shmemi_json_text(&json, "why", finding->why);
        shmemi_json_text(&json, "fix", finding->fix);
        shmemi_json_end(&json, '}');
    }
    shmemi_json_end(&json, ']');
    shmemi_json_end(&json, '}');
}

/* SPEC Prometheus exposition formats, text: a label value has \\, \" and \n for backslash, quotation mark and line feed. */
static void put_label(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\n') fputs("\\n", out);
        else if (*text == '\\' || *text == '"') fprintf(out, "\\%c", *text);
        else putc(*text, out);
    }
}

static void print_metrics(const struct doctor *doctor, FILE *out)
{
    fputs("# HELP postern_doctor_finding_state State of one finding: 0 ok, 1 degraded, 2 missing.\n"
          "# TYPE postern_doctor_finding_state gauge\n",
          out);
    for (size_t i = 0; i < doctor->finding_count; i++) {
        fprintf(out, "postern_doctor_finding_state{check=\"%s\",object=\"", doctor->findings[i].check);
        put_label(out, doctor->findings[i].object);
        fprintf(out, "\"} %d\n", (int)doctor->findings[i].state);
    }
    fputs("# HELP postern_doctor_findings Number of findings in each state.\n"
          "# TYPE postern_doctor_findings gauge\n",
          out);
    for (int state = 0; state < DOCTOR_STATES; state++) {
        fprintf(out, "postern_doctor_findings{state=\"%s\"} %zu\n", doctor_state_word((enum doctor_state)state),
                count_of(doctor, (enum doctor_state)state));
    }
    fprintf(out,
            "# HELP postern_doctor_worst_state State of the worst finding: 0 ok, 1 degraded, 2 missing.\n"
            "# TYPE postern_doctor_worst_state gauge\n"
            "postern_doctor_worst_state %d\n",
            (int)doctor_worst(doctor));
}

/* Write all to the open file; it must be on the disk before it takes the place of the old one. */
static int write_metrics(const struct doctor *doctor, int fd)
{
    FILE *out = fdopen(fd, "w");
    if (!out) {
        int err = -errno;
        close(fd);
        return err;
    }
    print_metrics(doctor, out);
    bool good = fflush(out) == 0 && fsync(fd) == 0 && fchmod(fd, 0644) == 0; /* the exporter runs as another user */
    int  err  = good ? 0 : -errno;
    if (fclose(out) != 0 && !err) err = -errno;
    return err;
}

/* Collectors read names that end in .prom, at any time: so the file grows under another name, in the same folder. */
int doctor_print_prometheus(const struct doctor *doctor, const char *path)
{
    char draft[PATH_MAX];
    if (snprintf(draft, sizeof draft, "%s.XXXXXX", path) >= (int)sizeof draft) return -ENAMETOOLONG;
    int fd = mkostemp(draft, O_CLOEXEC);
    if (fd < 0) return -errno;
    int err = write_metrics(doctor, fd);
    if (!err && rename(draft, path) != 0) err = -errno;
    if (err) unlink(draft);
    return err;
}
