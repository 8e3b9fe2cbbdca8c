/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of findings. A message is taken apart at WHY and FIX once, here, so that text, JSON and tests see the same three parts.
 */
#include "runtime/tools/doctor.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const state_words[DOCTOR_STATES] = {"ok", "degraded", "missing"};

const char *doctor_state_word(enum doctor_state state)
{
    return state_words[state];
}

/* A report that lacks a line would be wrong in silence, so without memory there is none. */
static SHMEMI_COLD SHMEMI_NORETURN void out_of_memory(void)
{
    fputs("postern-doctor: out of memory\n", stderr);
    exit(3);
}

static char *copy_of(const char *text)
{
    char *copy = strdup(text);
    if (!copy) out_of_memory();
    return copy;
}

/* Cut text at the separator; the part behind it, or NULL. */
static char *cut_at(char *text, const char *separator)
{
    char *at = strstr(text, separator);
    if (!at) return NULL;
    *at = '\0';
    return copy_of(at + strlen(separator));
}

void doctor_find(struct doctor *doctor, enum doctor_state state, const char *check, const char *object, const char *format, ...)
{
    struct doctor_finding *findings = realloc(doctor->findings, (doctor->finding_count + 1) * sizeof *findings);
    if (!findings) out_of_memory();
    doctor->findings = findings;

    struct doctor_finding finding = {.state = state, .check = check, .object = copy_of(object)};
    va_list               args;
    va_start(args, format);
    if (vasprintf(&finding.found, format, args) < 0) out_of_memory();
    va_end(args);
    finding.fix = cut_at(finding.found, FIX); /* the last part first: it ends the one before */
    finding.why = cut_at(finding.found, WHY);
    assert((state == DOCTOR_OK) == (finding.why == NULL) && (state == DOCTOR_OK) == (finding.fix == NULL));
    findings[doctor->finding_count++] = finding;
}

enum doctor_state doctor_worst(const struct doctor *doctor)
{
    enum doctor_state worst = DOCTOR_OK;
    for (size_t i = 0; i < doctor->finding_count; i++) {
        if (doctor->findings[i].state > worst) worst = doctor->findings[i].state;
    }
    return worst;
}

void doctor_forget(struct doctor *doctor)
{
    for (size_t i = 0; i < doctor->finding_count; i++) {
        free(doctor->findings[i].object);
        free(doctor->findings[i].found);
        free(doctor->findings[i].why);
        free(doctor->findings[i].fix);
    }
    free(doctor->findings);
    doctor->findings      = NULL;
    doctor->finding_count = 0;
}
