/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages to a person. A message is formatted into one buffer and written by one write(2).
 */
#include "runtime/base/log.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static _Atomic int pe_shown  = -1;
static _Atomic int level_max = SHMEMI_LOG_WARN;

void shmemi_log_set_pe(int pe)
{
    atomic_store_explicit(&pe_shown, pe, memory_order_relaxed);
}

void shmemi_log_set_level(enum shmemi_log_level level)
{
    atomic_store_explicit(&level_max, (int)level, memory_order_relaxed);
}

enum shmemi_log_level shmemi_log_level(void)
{
    return (enum shmemi_log_level)atomic_load_explicit(&level_max, memory_order_relaxed);
}

/* A short write (a full pipe whose reader is slow) continues; a reader that is gone ends it. */
int shmemi_log_write(int fd, const char *text, size_t bytes)
{
    while (bytes > 0) {
        ssize_t wrote = write(fd, text, bytes);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return wrote < 0 ? -errno : -EIO;
        text += wrote;
        bytes -= (size_t)wrote;
    }
    return 0;
}

void shmemi_log_v(enum shmemi_log_level level, const char *format, va_list args)
{
    static const char *const words[] = {"", "warning: ", "", "debug: "};
    if ((int)level > atomic_load_explicit(&level_max, memory_order_relaxed)) return;

    int    saved_errno = errno;
    char   text[2048];
    int    pe    = atomic_load_explicit(&pe_shown, memory_order_relaxed);
    int    used  = pe >= 0 ? snprintf(text, sizeof text, "postern: PE %d: %s", pe, words[level])
                           : snprintf(text, sizeof text, "postern: %s", words[level]);
    int    more  = vsnprintf(text + used, sizeof text - (size_t)used - 1, format, args);
    size_t bytes = (size_t)used + (more > 0 ? (size_t)more : 0);
    if (bytes > sizeof text - 2) bytes = sizeof text - 2;
    text[bytes++] = '\n';
    (void)shmemi_log_write(STDERR_FILENO, text, bytes); /* nobody is left to be told */
    errno = saved_errno;
}

void shmemi_log(enum shmemi_log_level level, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    shmemi_log_v(level, format, args);
    va_end(args);
}
