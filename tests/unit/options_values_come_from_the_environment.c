/* SPDX-License-Identifier: Apache-2.0
 *
 * Each kind of row takes its value from its variable, blanks around it aside, and says so; the text of the value is
 * the same for values that mean the same. A later load starts anew.
 */
#include "tests/unit/unit.h"

#include "runtime/base/log.h"
#include "runtime/base/options.h"

static size_t row_of(const char *name)
{
    size_t index = 0;
    while (strcmp(shmemi_options_row(index)->name, name) != 0) index++;
    return index;
}

/* Load with one variable set: the value's text; NULL if it is refused. */
static const char *value_with(const char *name, const char *value)
{
    static char text[256];
    clearenv();
    setenv(name, value, 1);
    if (shmemi_options_load()) return NULL;
    CHECK_STR(shmemi_options_source(row_of(name)), name);
    return shmemi_options_value(row_of(name), text, sizeof text);
}

int main(void)
{
    CHECK_STR(value_with("SHMEM_SYMMETRIC_SIZE", "1024M"), "1G");
    CHECK_EQ_U64(shmemi_options.heap_bytes, 1073741824);
    CHECK_STR(value_with("SHMEM_SYMMETRIC_SIZE", " 3.1M\n"), "3250586");
    CHECK_STR(value_with("SHMEM_SYMMETRIC_SIZE", "4096T"), "4096T");
    CHECK_STR(value_with("SHMEM_SYMMETRIC_SIZE", "0"), "0");
    CHECK_STR(value_with("SHMEM_SYMMETRIC_SIZE", "AUTO"), "auto");
    CHECK_EQ_U64(shmemi_options.heap_bytes, SIZE_MAX);

    CHECK_STR(value_with("POSTERN_INIT_TIMEOUT", "10"), "10s");
    CHECK_STR(value_with("POSTERN_INIT_TIMEOUT", "1.5"), "1500ms");
    CHECK_STR(value_with("POSTERN_INIT_TIMEOUT", "none"), "none");
    CHECK_EQ_I64(shmemi_options.init_timeout_ns, -1);
    CHECK_STR(value_with("POSTERN_SPIN", "20"), "20us");
    CHECK_EQ_I64(shmemi_options.spin_ns, 20000);
    CHECK_STR(value_with("POSTERN_SPIN", "0"), "0s");
    CHECK_EQ_I64(shmemi_options.spin_ns, 0);
    CHECK_STR(value_with("POSTERN_SPIN", "auto"), "auto");
    CHECK_STR(value_with("POSTERN_WAIT_TIMEOUT", "100ns"), "100ns");

    CHECK_STR(value_with("POSTERN_REPORT", "yes"), "1");
    CHECK_STR(value_with("POSTERN_STATIC_DATA", "off"), "0");
    CHECK_EQ_U64(shmemi_options.static_data, false);
    CHECK_STR(value_with("POSTERN_PAGES", "tmpfs"), "tmpfs");
    CHECK_EQ_I64(shmemi_options.pages, SHMEMI_PAGES_TMPFS);
    CHECK_STR(value_with("POSTERN_BOOTSTRAP", "self"), "self");
    CHECK_EQ_I64(shmemi_options.bootstrap, SHMEMI_BOOTSTRAP_SELF);
    CHECK_STR(value_with("POSTERN_CHECK", "1"), "1");
    CHECK_EQ_I64(shmemi_options.check, SHMEMI_ON_YES);
    CHECK_STR(value_with("POSTERN_CHAOS_SEED", "2147483647"), "2147483647");
    CHECK_EQ_I64(shmemi_options.chaos_seed, 2147483647);

    CHECK_STR(value_with("POSTERN_TRANSPORTS", " shm,chaos "), "shm,chaos");
    CHECK_STR(value_with("POSTERN_TRANSPORTS", ""), "");
    CHECK(shmemi_options.transports == NULL);

    CHECK_STR(value_with("SHMEM_INFO", ""), "1"); /* SPEC §8: "any value" */
    CHECK_STR(value_with("SHMEM_INFO", "0"), "1");

    /* The log's level follows. */
    CHECK_STR(value_with("POSTERN_LOG", "info"), "info");
    CHECK_EQ_I64(shmemi_log_level(), SHMEMI_LOG_INFO);
    CHECK_STR(value_with("POSTERN_LOG", "error"), "error");
    CHECK_EQ_I64(shmemi_log_level(), SHMEMI_LOG_ERROR);
    setenv("SHMEM_DEBUG", "x", 1);
    CHECK_EQ_I64(shmemi_options_load(), 0);
    CHECK_EQ_I64(shmemi_log_level(), SHMEMI_LOG_DEBUG);

    /* A short buffer cuts and does not overflow. */
    char small[4] = "???";
    value_with("POSTERN_PAGES", "hugetlb");
    CHECK_STR(shmemi_options_value(row_of("POSTERN_PAGES"), small, sizeof small), "hug");
    return unit_result();
}
