/* SPDX-License-Identifier: Apache-2.0
 *
 * Unknown POSTERN_ names: one warning with the nearest known names, an error under POSTERN_STRICT=1. Names that package managers
 * set are left alone.
 */
#include "tests/unit/capture.h"
#include "tests/unit/unit.h"

#include "runtime/base/options.h"

#include <errno.h>

static struct capture capture;

static int report(int *writes_out)
{
    CHECK_EQ_I64(shmemi_options_load(), 0);
    capture_begin(&capture, STDERR_FILENO);
    int err     = shmemi_options_report_unknown();
    *writes_out = capture_end(&capture);
    return err;
}

static void check_silent(void)
{
    int writes = 0;
    CHECK_EQ_I64(report(&writes), 0);
    CHECK_EQ_I64(writes, 0);
}

static void check_warning(int wanted_err, const char *level)
{
    int writes = 0;
    CHECK_EQ_I64(report(&writes), wanted_err);
    CHECK_EQ_I64(writes, 1);
    CHECK_HAS(capture.text, level);
}

int main(void)
{
    clearenv();
    check_silent();

    setenv("POSTERN_ROOT", "/opt/postern", 1);
    setenv("POSTERN_DIR", "", 1);
    setenv("POSTERN_HOME", "x", 1);
    setenv("POSTERN_PREFIX", "x", 1);
    setenv("POSTERN", "x", 1);
    setenv("POSTERNX_LOG", "x", 1);
    setenv("XPOSTERN_LOG", "x", 1);
    setenv("postern_log", "x", 1);
    setenv("SHMEM_SOMETHING", "x", 1); /* the standard leaves other SHMEM_ names to other libraries */
    setenv("POSTERN_STRICT", "1", 1);
    check_silent();
    unsetenv("POSTERN_STRICT");

    setenv("POSTERN_STATTS", "1", 1);
    check_warning(0, "postern: warning: unknown variable: POSTERN_STATTS (nearest known: POSTERN_STATS)\n");
    CHECK_STR(shmemi_options_unknown(0), "POSTERN_STATTS");
    CHECK_STR(shmemi_options_unknown(1), NULL);

    setenv("POSTERN_WAIT_TIMEOOUT", "10s", 1);
    setenv("POSTERN_Pages", "small", 1);
    check_warning(0, "unknown variables: ");
    CHECK_HAS(capture.text, "POSTERN_STATTS (nearest known: POSTERN_STATS)");
    CHECK_HAS(capture.text, "POSTERN_WAIT_TIMEOOUT (nearest known: POSTERN_WAIT_TIMEOUT)");
    CHECK_HAS(capture.text, "POSTERN_Pages (nearest known: POSTERN_PAGES)");

    setenv("POSTERN_STRICT", "1", 1);
    check_warning(-EINVAL, "postern: unknown variables: ");
    CHECK_HAS(capture.text, "POSTERN_STRICT is set");

    /* A folder name that only ends like one of the four is unknown all the same. */
    clearenv();
    setenv("POSTERN_DATA_ROOT", "x", 1);
    check_warning(0, "POSTERN_DATA_ROOT");

    /* Many, and long ones: the message says how many more there are and stays whole. */
    clearenv();
    for (int i = 0; i < 40; i++) {
        char name[140];
        snprintf(name, sizeof name, "POSTERN_%0120d", i);
        setenv(name, "1", 1);
    }
    check_warning(0, "and 28 more");
    CHECK_HAS(capture.text, "fix: correct or unset them");
    return unit_result();
}
