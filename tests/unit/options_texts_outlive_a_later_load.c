/* SPDX-License-Identifier: Apache-2.0
 *
 * A text value is a copy: it survives changes of the environment and later loads.
 */
#include "tests/unit/unit.h"

#include "runtime/base/options.h"

int main(void)
{
    clearenv();
    setenv("POSTERN_TRANSPORTS", "shm", 1);
    CHECK_EQ_I64(shmemi_options_load(), 0);
    const char *first = shmemi_options.transports;
    CHECK_STR(first, "shm");
    CHECK(first != getenv("POSTERN_TRANSPORTS"));

    setenv("POSTERN_TRANSPORTS", "chaos", 1);
    CHECK_STR(first, "shm");
    CHECK_EQ_I64(shmemi_options_load(), 0);
    CHECK_STR(shmemi_options.transports, "chaos");
    CHECK_STR(first, "shm");

    unsetenv("POSTERN_TRANSPORTS");
    CHECK_EQ_I64(shmemi_options_load(), 0);
    CHECK(shmemi_options.transports == NULL);
    CHECK_STR(first, "shm");

    /* Equal texts are kept once, so loading again and again takes no more memory. */
    setenv("POSTERN_TRANSPORTS", "shm", 1);
    CHECK_EQ_I64(shmemi_options_load(), 0);
    CHECK(shmemi_options.transports == first);
    return unit_result();
}
