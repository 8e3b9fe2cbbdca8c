/* SPDX-License-Identifier: Apache-2.0
 *
 * SHMEM_INFO: every variable with its value, default and help, in one write, and which values came from the environment.
 * Spec: OpenSHMEM 1.6 §8 Environment Variables
 */
#include "tests/unit/capture.h"
#include "tests/unit/unit.h"

#include "runtime/base/options.h"

static struct capture capture;

int main(void)
{
    clearenv();
    setenv("SHMEM_SYMMETRIC_SIZE", "512M", 1);
    setenv("SMA_DEBUG", "", 1);
    setenv("POSTERN_TRANSPORT_PATH", "/somewhere", 1);
    CHECK_EQ_I64(shmemi_options_load(), 0);
    capture_begin(&capture, STDOUT_FILENO);
    shmemi_options_print(STDOUT_FILENO);
    CHECK_EQ_I64(capture_end(&capture), 1);

    size_t marked = 0;
    for (size_t i = 0; shmemi_options_row(i); i++) {
        const struct shmemi_option_row *row = shmemi_options_row(i);
        char                            start[160], value[64];
        shmemi_options_value(i, value, sizeof value);
        snprintf(start, sizeof start, "\n%c %-24s %-12s default: %s\n      ", shmemi_options_source(i) ? '*' : ' ', row->name,
                 *value ? value : "not set", *row->fallback ? row->fallback : "not set");
        CHECK_HAS(capture.text, start);
        CHECK_HAS(capture.text, row->help);
        CHECK_HAS(capture.text, row->allowed);
        CHECK_HAS(capture.text, shmemi_options_section(i)->title);
        marked += shmemi_options_source(i) != NULL;
    }
    CHECK_EQ_U64(marked, 3);
    CHECK_HAS(capture.text, "\n* SHMEM_SYMMETRIC_SIZE     512M         default: auto\n");
    CHECK_HAS(capture.text, "set by its old name SMA_DEBUG");
    return unit_result();
}
