/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages to a person, on standard error. One write(2) per message, so messages of several PEs do not interleave.
 *
 *     postern: PE 3: could not map the symmetric heap (4096 MiB): Cannot allocate memory
 *         why: host n07 has 1900 MiB of memory available
 *         fix: lower SHMEM_SYMMETRIC_SIZE, or start fewer PEs per node
 *
 * "could not" if it may work next time, "cannot" if never. error: we stop. warn: less than asked. info: a choice made at
 * start-up. debug: per object. Which of them are printed is POSTERN_LOG (SHMEM_DEBUG makes it debug); default warn.
 */
#ifndef SHMEMI_LOG_H
#define SHMEMI_LOG_H

#include "runtime/base/attr.h"

#include <stdarg.h>
#include <stddef.h>

enum shmemi_log_level {
    SHMEMI_LOG_ERROR,
    SHMEMI_LOG_WARN,
    SHMEMI_LOG_INFO,
    SHMEMI_LOG_DEBUG,
};

/* Parts of one message: put them between string literals inside the format. */
#define WHY "\n    why: "
#define FIX "\n    fix: "

/* The PE number to show; -1 (the initial value) shows "postern: " alone. */
void                  shmemi_log_set_pe(int pe);
void                  shmemi_log_set_level(enum shmemi_log_level level);
enum shmemi_log_level shmemi_log_level(void);

/* The message needs no newline at its end. errno is preserved. */
void shmemi_log(enum shmemi_log_level level, const char *format, ...) SHMEMI_PRINTF(2, 3);
void shmemi_log_v(enum shmemi_log_level level, const char *format, va_list args) SHMEMI_PRINTF(2, 0);

/* Write text, by one write(2) unless the reader takes it in parts. 0 or a negative errno. */
int shmemi_log_write(int fd, const char *text, size_t bytes);

#define shmemi_error(...) shmemi_log(SHMEMI_LOG_ERROR, __VA_ARGS__)
#define shmemi_warn(...)  shmemi_log(SHMEMI_LOG_WARN, __VA_ARGS__)
#define shmemi_info(...)  shmemi_log(SHMEMI_LOG_INFO, __VA_ARGS__)
#define shmemi_debug(...) shmemi_log(SHMEMI_LOG_DEBUG, __VA_ARGS__)

#endif
