/* SPDX-License-Identifier: Apache-2.0
 *
 * One error message, kept. See problem.h.
 */
#include "problem.h"

#include <stdarg.h>

static char message[2048];

bool problem(const char *format, ...)
{
    if (message[0] == '\0') {
        va_list args;
        va_start(args, format);
        vsnprintf(message, sizeof message, format, args);
        va_end(args);
    }
    return false;
}

bool problem_noted(void)
{
    return message[0] != '\0';
}

void problem_print(FILE *stream)
{
    char line[sizeof message + 16];
    int  bytes = snprintf(line, sizeof line, "kv_cache: %s\n", message);
    fwrite(line, 1, (size_t)bytes, stream);
    fflush(stream);
}
