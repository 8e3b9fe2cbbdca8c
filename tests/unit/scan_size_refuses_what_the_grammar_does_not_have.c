/* SPDX-License-Identifier: Apache-2.0
 *
 * SHMEM_SYMMETRIC_SIZE: what is not a non-negative decimal number and one of the letters is refused, and the result
 * stays as it was. strtod would take half of these.
 * Spec: OpenSHMEM 1.6 §8 Environment Variables
 */
#include "tests/unit/unit.h"

#include "runtime/base/scan.h"

/* clang-format off */
static const char *const cases[] = {
    "abc", "-5", "K", "-1G", "900000000T", /* the values of known faults of other libraries */
    "", ".", ".k", "-", "-0", "+5", "+", "--5", /* no number, signs */
    "inf", "INF", "infinity", "nan", "NaN", "0x10", "0X1p3", "1e6", "1E6", "1p3", /* strtod's other forms */
    "1.2.3", "1,5g", "1_000", "20 k", "20b", "20B", "20P", "20e", "20%", "5\t", " 5", /* unknown letters */
    "9223372036854775808", "9223372036854775807.1", "18446744073709551615", "18446744073709551616", "8388608T", /* too large */
    "8388607.9999999999999T", "8796093022208M", "99999999999999999999999999999999999999k",
};
/* clang-format on */

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t      bytes = 12345;
        const char *why   = shmemi_scan_size(cases[i], &bytes);
        if (!why) printf("case \"%s\" gave %zu:\n", cases[i], bytes);
        CHECK(why != NULL);
        CHECK_EQ_U64(bytes, 12345);
    }
    return unit_result();
}
