/* SPDX-License-Identifier: Apache-2.0
 *
 * A value that cannot be read is an error that names the variable, the value and what is allowed, in one write; all wrong
 * variables are named, not only the first, and they have their defaults.
 */
#include "tests/unit/capture.h"
#include "tests/unit/unit.h"

#include "runtime/base/options.h"

#include <errno.h>

static struct capture capture;

/* Load with one variable set; all messages. */
static const char *refuse(const char *name, const char *value)
{
    clearenv();
    setenv(name, value, 1);
    capture_begin(&capture, STDERR_FILENO);
    int err    = shmemi_options_load();
    int writes = capture_end(&capture);
    if (err != -EINVAL) printf("%s=\"%s\":\n", name, value);
    CHECK_EQ_I64(err, -EINVAL);
    CHECK_EQ_I64(writes, 1);
    CHECK_HAS(capture.text, name);
    CHECK_HAS(capture.text, "\n    why: ");
    CHECK_HAS(capture.text, "allowed: ");
    CHECK_HAS(capture.text, "\n    fix: ");
    return capture.text;
}

int main(void)
{
    static const char *const sizes[] = {"abc", "-5", "K", "-1G", "900000000T", "", " ", "inf", "0x10", "none", "automatic"};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char quoted[64];
        snprintf(quoted, sizeof quoted, "SHMEM_SYMMETRIC_SIZE=\"%s\"", sizes[i]);
        CHECK_HAS(refuse("SHMEM_SYMMETRIC_SIZE", sizes[i]), quoted);
        CHECK_HAS(capture.text, "one of k K m M g G t T");
        CHECK_EQ_U64(shmemi_options.heap_bytes, SIZE_MAX);
    }
    CHECK_HAS(refuse("POSTERN_PAGES", "big"), "one of auto|hugetlb|memfd|tmpfs|small");
    CHECK_HAS(refuse("POSTERN_LOG", "loud"), "one of error|warn|info|debug");
    CHECK_HAS(refuse("POSTERN_STRICT", "maybe"), "0 or 1 (or no yes, off on, false true)");
    CHECK_HAS(refuse("POSTERN_CHAOS_SEED", "-1"), "a number in 0..2147483647");
    CHECK_HAS(refuse("POSTERN_WAIT_TIMEOUT", "auto"), "a plain number is seconds");
    CHECK_HAS(refuse("POSTERN_SPIN", "none"), "a plain number is microseconds");
    CHECK_HAS(refuse("POSTERN_INIT_TIMEOUT", "-1"), "it is negative");
    CHECK_EQ_I64(shmemi_options.init_timeout_ns, 60000000000);
    CHECK_HAS(refuse("POSTERN_REPORT", ""), "it is empty");

    clearenv();
    setenv("POSTERN_PAGES", "big", 1);
    setenv("SHMEM_SYMMETRIC_SIZE", "K", 1);
    setenv("POSTERN_SPIN", "20 us", 1);
    setenv("POSTERN_LOG", "error", 1);
    capture_begin(&capture, STDERR_FILENO);
    CHECK_EQ_I64(shmemi_options_load(), -EINVAL);
    CHECK_EQ_I64(capture_end(&capture), 3);
    CHECK_HAS(capture.text, "POSTERN_PAGES=\"big\"");
    CHECK_HAS(capture.text, "SHMEM_SYMMETRIC_SIZE=\"K\"");
    CHECK_HAS(capture.text, "POSTERN_SPIN=\"20 us\"");

    /* A value of any length. */
    char *huge = malloc(100001);
    memset(huge, '7', 100000);
    huge[100000] = '\0';
    refuse("SHMEM_SYMMETRIC_SIZE", huge);
    free(huge);
    return unit_result();
}
