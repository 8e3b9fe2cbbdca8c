/* SPDX-License-Identifier: Apache-2.0
 *
 * What was found, what was chosen, and why: collected during start-up, printed on PE 0 (POSTERN_REPORT=1, SHMEM_INFO),
 * by postern-info, and checked against POSTERN_REQUIRE. Nothing falls back in silence.
 */
#ifndef SHMEMI_REPORT_H
#define SHMEMI_REPORT_H

#include "runtime/base/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum shmemi_report_state {
    SHMEMI_PRESENT,  /* found, and used or usable                     */
    SHMEMI_ABSENT,   /* not on this machine; nothing was asked of it  */
    SHMEMI_DEGRADED, /* something slower or smaller is used instead   */
    SHMEMI_CHOICE,   /* no capability, just what was chosen           */
};

/*
 * Add or replace the line of one capability ("huge", "membarrier", "transport shm", ...). The text says what and why. Both
 * are copied. All functions here belong to one thread at a time: that of start-up, then readers only.
 */
void shmemi_report(const char *capability, enum shmemi_report_state state, const char *format, ...) SHMEMI_PRINTF(3, 4);

struct shmemi_report_line {
    const char              *capability, *text;
    enum shmemi_report_state state;
};
/* Lines in order of their first appearance; NULL past the last. Valid until the line is replaced or the report cleared. */
const struct shmemi_report_line *shmemi_report_line(size_t index);
const char                      *shmemi_report_state_name(enum shmemi_report_state state);

/* One line each, aligned, in a single write, to a file descriptor. */
void shmemi_report_print(int fd);
void shmemi_report_write(FILE *out);

/*
 * Every name in a list such as POSTERN_REQUIRE must be present. Names are parted by commas; "shm" also finds "transport shm".
 * NULL or "" asks for nothing. 0; -ENOTSUP after an error that says what is missing and why; -EINVAL after an error that
 * lists the known names, if a name is no capability. Every wrong name gets its own error.
 */
int shmemi_report_require(const char *names);

void shmemi_report_clear(void);

#endif
