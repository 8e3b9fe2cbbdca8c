/* SPDX-License-Identifier: Apache-2.0
 *
 * SHMEM_SYMMETRIC_SIZE: a decimal integer or real and one of k K m M g G t T give at least ceil(number * factor). Ours
 * is exactly that, also where a double has no bits left.
 * Spec: OpenSHMEM 1.6 §8 Environment Variables
 */
#include "tests/unit/unit.h"

#include "runtime/base/scan.h"

/* clang-format off */
static const struct { const char *text; uint64_t bytes; } cases[] = {
    /* the values of known faults of other libraries */
    {"4194304", 4194304}, {"4096K", 4194304}, {"3.1M", 3250586}, {".5m", 524288}, {"0.5m", 524288}, {"20kk", 20480},
    {"20m", 20971520}, {"1G", 1073741824}, {"1.5g", 1610612736}, {"0.002T", 2199023256},
    /* every letter */
    {"1k", 1024}, {"1K", 1024}, {"1m", 1048576}, {"1M", 1048576}, {"1g", 1073741824}, {"1t", 1099511627776},
    {"1T", 1099511627776},
    /* zero in all its forms */
    {"0", 0}, {"0k", 0}, {"0.0T", 0}, {".0", 0}, {"0.", 0}, {"000", 0},
    /* fractions are rounded up, however small */
    {"3.5", 4}, {"3.", 3}, {"3.0", 3}, {"0.0000000001k", 1}, {".1", 1}, {"1.0009765625k", 1025}, {"1.00097656250000001k", 1026},
    {"0.00000000000000000000000000000000000000000000000000000000000000000000000000000000000000001T", 1},
    /* 0.1 and 0.3 are not doubles */
    {"0.1k", 103}, {"0.3k", 308}, {"0.1T", 109951162778},
    /* large integers keep their last digit; a double would give ...992 and ...808 */
    {"9007199254740993", 9007199254740993}, {"9223372036854775807", 9223372036854775807}, {"8388607T", 9223370937343148032},
    {"8388607.999999999999T", 9223372036854775807}, /* ceil(... - 1.1) */
    {"00000000000000000000000000000000000000000000004k", 4096},
    /* what follows the letter is ignored */
    {"20kB", 20480}, {"20k 7", 20480}, {"1MiB", 1048576}, {"1g!", 1073741824},
};
/* clang-format on */

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t      bytes = 12345;
        const char *why   = shmemi_scan_size(cases[i].text, &bytes);
        if (why || bytes != cases[i].bytes) printf("case \"%s\":\n", cases[i].text);
        CHECK_STR(why, NULL);
        CHECK_EQ_U64(bytes, cases[i].bytes);
    }
    return unit_result();
}
