/* SPDX-License-Identifier: Apache-2.0
 *
 * With an empty environment every row has its default, as field, as text and without a source; and each row is complete.
 */
#include "tests/unit/unit.h"

#include "runtime/base/log.h"
#include "runtime/base/options.h"

int main(void)
{
    clearenv();
    CHECK_EQ_I64(shmemi_options_load(), 0);
    CHECK_EQ_I64(shmemi_options_report_unknown(), 0);

    size_t count = 0;
    for (; shmemi_options_row(count); count++) {
        const struct shmemi_option_row *row = shmemi_options_row(count);
        char                            value[256];
        CHECK_STR(shmemi_options_value(count, value, sizeof value), row->fallback);
        CHECK_STR(shmemi_options_source(count), NULL);
        CHECK(row->help[0] != '\0' && row->allowed[0] != '\0' && row->kind[0] != '_');
        CHECK(shmemi_options_section(count)->first <= count);
        for (size_t other = 0; other < count; other++) CHECK(strcmp(row->name, shmemi_options_row(other)->name) != 0);
    }
    CHECK(count >= 4);
    CHECK_STR(shmemi_options_row(0)->name, "SHMEM_VERSION");
    CHECK_EQ_U64(shmemi_options_section(0)->first, 0);
    CHECK_EQ_U64(shmemi_options_section(3)->first, 0);
    CHECK_EQ_U64(shmemi_options_section(4)->first, 4);
    CHECK(shmemi_options_row(count) == NULL && shmemi_options_source(count) == NULL);

    CHECK_EQ_U64(shmemi_options.heap_bytes, SIZE_MAX);
    CHECK_EQ_U64(shmemi_options.info, false);
    CHECK_EQ_U64(shmemi_options.static_data, true);
    CHECK_EQ_I64(shmemi_options.init_timeout_ns, 60000000000);
    CHECK_EQ_I64(shmemi_options.wait_timeout_ns, -1);
    CHECK_EQ_I64(shmemi_options.spin_ns, -1);
    CHECK_EQ_I64(shmemi_options.pages, SHMEMI_PAGES_AUTO);
    CHECK_EQ_I64(shmemi_options.check, SHMEMI_ON_AUTO);
    CHECK_EQ_I64(shmemi_options.boot_pe, -1);
    CHECK(shmemi_options.require == NULL);
    CHECK_EQ_I64(shmemi_log_level(), SHMEMI_LOG_WARN);
    return unit_result();
}
