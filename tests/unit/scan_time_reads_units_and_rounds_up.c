/* SPDX-License-Identifier: Apache-2.0
 *
 * A time is a number and one of s ms us ns; a plain number has the unit of its row.
 */
#include "tests/unit/unit.h"

#include "runtime/base/scan.h"

/* clang-format off */
static const struct { const char *text; int64_t plain_ns, ns; } cases[] = {
    {"10s", 1, 10000000000}, {"500ms", 1, 500000000}, {"20us", 1, 20000}, {"100ns", 1, 100}, {"10S", 1, 10000000000},
    {"5MS", 1, 5000000}, {"60", 1000000000, 60000000000}, {"20", 1000, 20000}, {"1.5", 1000000000, 1500000000},
    {"0", 1000000000, 0}, {"0s", 1, 0}, {".5ms", 1, 500000}, {"1.5ns", 1, 2}, {"0.0001us", 1, 1}, {"1.0000000001s", 1, 1000000001},
    {"1.000000000s", 1, 1000000000}, {"2.", 1000, 2000}, {"9223372036s", 1, 9223372036000000000},
    {"9223372036854775807ns", 1, 9223372036854775807}, {"9223372036.854775807s", 1, 9223372036854775807},
};

static const char *const wrong[] = {
    "", "s", "ms", "-1", "-1s", "+1s", "abc", "inf", "nan", "0x1s", "1e3s", "1m", "1h", "1min", "1 s", "1sec", "1ss", "1.2.3s",
    "9223372037s", "9223372036.854775808s", "9223372036854775808ns", "99999999999999999999s", ".", ".s", "none", "auto", "1s ",
};
/* clang-format on */

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t     ns  = -7;
        const char *why = shmemi_scan_time(cases[i].text, cases[i].plain_ns, &ns);
        if (why || ns != cases[i].ns) printf("case \"%s\":\n", cases[i].text);
        CHECK_STR(why, NULL);
        CHECK_EQ_I64(ns, cases[i].ns);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        int64_t     ns  = -7;
        const char *why = shmemi_scan_time(wrong[i], 1000000000, &ns);
        if (!why) printf("case \"%s\" gave %lld:\n", wrong[i], (long long)ns);
        CHECK(why != NULL);
        CHECK_EQ_I64(ns, -7);
    }
    return unit_result();
}
