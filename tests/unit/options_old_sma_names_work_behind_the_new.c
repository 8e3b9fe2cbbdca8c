/* SPDX-License-Identifier: Apache-2.0
 *
 * SMA_VERSION, SMA_INFO, SMA_SYMMETRIC_SIZE and SMA_DEBUG work where the SHMEM_ name is not set.
 * Each gives one line at the info level, on PE 0.
 * Spec: OpenSHMEM 1.6 §8 Environment Variables, §F.2.9 SMA_* Environment Variables
 */
#include "tests/unit/capture.h"
#include "tests/unit/unit.h"

#include "runtime/base/options.h"

#include <errno.h>

static struct capture capture;

static int load(int *writes_out)
{
    capture_begin(&capture, STDERR_FILENO);
    int err     = shmemi_options_load();
    *writes_out = capture_end(&capture);
    return err;
}

int main(void)
{
    int writes = 0;
    clearenv();
    setenv("SMA_SYMMETRIC_SIZE", "2M", 1);
    setenv("SMA_INFO", "1", 1);
    setenv("SMA_VERSION", "1", 1);
    CHECK_EQ_I64(load(&writes), 0);
    CHECK_EQ_I64(writes, 0); /* below the default level */
    CHECK_EQ_U64(shmemi_options.heap_bytes, 2097152);
    CHECK_EQ_U64(shmemi_options.info, true);
    CHECK_EQ_U64(shmemi_options.version, true);
    CHECK_EQ_U64(shmemi_options.debug, false);
    CHECK_STR(shmemi_options_source(2), "SMA_SYMMETRIC_SIZE");

    setenv("SHMEM_SYMMETRIC_SIZE", "3M", 1);
    unsetenv("SMA_INFO");
    setenv("POSTERN_LOG", "info", 1);
    CHECK_EQ_I64(load(&writes), 0);
    CHECK_EQ_U64(shmemi_options.heap_bytes, 3145728);
    CHECK_STR(shmemi_options_source(2), "SHMEM_SYMMETRIC_SIZE");
    CHECK_EQ_I64(writes, 1);
    CHECK_STR(capture.text, "postern: SMA_VERSION is deprecated since OpenSHMEM 1.4; use SHMEM_VERSION\n");

    setenv("POSTERN_PE", "1", 1);
    CHECK_EQ_I64(load(&writes), 0);
    CHECK_EQ_I64(writes, 0);

    /* A wrong value is not mended by the other name, and the message names the variable that is wrong. */
    clearenv();
    setenv("SHMEM_SYMMETRIC_SIZE", "abc", 1);
    setenv("SMA_SYMMETRIC_SIZE", "2M", 1);
    CHECK_EQ_I64(load(&writes), -EINVAL);
    CHECK_HAS(capture.text, "SHMEM_SYMMETRIC_SIZE=\"abc\"");
    unsetenv("SHMEM_SYMMETRIC_SIZE");
    setenv("SMA_SYMMETRIC_SIZE", "xyz", 1);
    CHECK_EQ_I64(load(&writes), -EINVAL);
    CHECK_HAS(capture.text, "cannot use SMA_SYMMETRIC_SIZE=\"xyz\"");

    /* Only the four have old names. */
    clearenv();
    setenv("SMA_LOG", "debug", 1);
    CHECK_EQ_I64(load(&writes), 0);
    CHECK_EQ_I64(writes, 0);
    return unit_result();
}
