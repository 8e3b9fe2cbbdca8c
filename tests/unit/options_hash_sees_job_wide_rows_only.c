/* SPDX-License-Identifier: Apache-2.0
 *
 * The hash that PEs compare is equal for equal job-wide values, however they are written, and blind to the other rows.
 */
#include "tests/unit/unit.h"

#include "runtime/base/options.h"

static uint64_t hash_with(const char *name, const char *value)
{
    clearenv();
    setenv(name, value, 1);
    CHECK_EQ_I64(shmemi_options_load(), 0);
    return shmemi_options_hash();
}

int main(void)
{
    clearenv();
    CHECK_EQ_I64(shmemi_options_load(), 0);
    uint64_t plain = shmemi_options_hash();

    CHECK(hash_with("SHMEM_SYMMETRIC_SIZE", "1G") != plain);
    CHECK_EQ_U64(hash_with("SHMEM_SYMMETRIC_SIZE", "1G"), hash_with("SMA_SYMMETRIC_SIZE", "1024m"));
    CHECK(hash_with("SHMEM_SYMMETRIC_SIZE", "1G") != hash_with("SHMEM_SYMMETRIC_SIZE", "2G"));
    CHECK_EQ_U64(hash_with("SHMEM_SYMMETRIC_SIZE", "auto"), plain);
    CHECK(hash_with("POSTERN_TRANSPORTS", "shm") != plain);
    CHECK(hash_with("POSTERN_STATIC_DATA", "0") != plain);
    CHECK_EQ_U64(hash_with("POSTERN_STATIC_DATA", "yes"), plain);

    CHECK_EQ_U64(hash_with("POSTERN_PE", "3"), plain);
    CHECK_EQ_U64(hash_with("POSTERN_LOG", "error"), plain);
    CHECK_EQ_U64(hash_with("SHMEM_INFO", "1"), plain);
    CHECK_EQ_U64(hash_with("POSTERN_FOO", "1"), plain);
    return unit_result();
}
