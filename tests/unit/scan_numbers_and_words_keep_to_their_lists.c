/* SPDX-License-Identifier: Apache-2.0
 *
 * Integers, switches and words of a list: what is in the limits or the list is taken, all else refused.
 */
#include "tests/unit/unit.h"

#include "runtime/base/scan.h"

static void check_int(const char *text, const char *range, bool good, long wanted)
{
    long        value = -77;
    const char *why   = shmemi_scan_int(text, range, &value);
    if (!why != good || value != (good ? wanted : -77)) printf("integer \"%s\" in %s:\n", text, range);
    CHECK_EQ_U64(!why, good);
    CHECK_EQ_I64(value, good ? wanted : -77);
}

static void check_bool(const char *text, bool good, bool wanted)
{
    bool        value = !wanted;
    const char *why   = shmemi_scan_bool(text, &value);
    if (!why != good) printf("switch \"%s\":\n", text);
    CHECK_EQ_U64(!why, good);
    if (good) CHECK_EQ_U64(value, wanted);
    else CHECK_EQ_U64(value, !wanted);
}

static void check_choice(const char *text, const char *words, int wanted)
{
    int         index = -1;
    const char *why   = shmemi_scan_choice(text, words, &index);
    if (index != wanted) printf("word \"%s\" of %s:\n", text, words);
    CHECK_EQ_U64(!why, wanted >= 0);
    CHECK_EQ_I64(index, wanted);
}

int main(void)
{
    check_int("0", "0..7", true, 0);
    check_int("7", "0..7", true, 7);
    check_int("007", "0..7", true, 7);
    check_int("-1", "-1..7", true, -1);
    check_int("-3", "-5..-2", true, -3);
    check_int("2147483647", "0..2147483647", true, 2147483647);
    static const char *const no_ints[] = {"8", "-1", "", "-", "x", "1x", "0x1", "1.0", "+1", "1 ", "99999999999999999999999"};
    for (size_t i = 0; i < sizeof no_ints / sizeof no_ints[0]; i++) check_int(no_ints[i], "0..7", false, 0);
    check_int("1", "no range", false, 0);

    static const char *const yes[] = {"1", "yes", "on", "true", "TRUE", "Yes"};
    static const char *const no[]  = {"0", "no", "off", "false", "OFF"};
    static const char *const bad[] = {"", "2", "y", "truee", "tru", "01", "|", "0|no"};
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) check_bool(yes[i], true, true);
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) check_bool(no[i], true, false);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) check_bool(bad[i], false, true);

    check_choice("error", "error|warn|info", 0);
    check_choice("INFO", "error|warn|info", 2);
    check_choice("warn", "error|warn|info", 1);
    check_choice("war", "error|warn|info", -1);
    check_choice("warns", "error|warn|info", -1);
    check_choice("", "error|warn|info", -1);
    check_choice("error|warn", "error|warn|info", -1);

    CHECK_EQ_U64(shmemi_scan_distance("", ""), 0);
    CHECK_EQ_U64(shmemi_scan_distance("POSTERN_LOG", "POSTERN_LOG"), 0);
    CHECK_EQ_U64(shmemi_scan_distance("POSTERN_LOOG", "POSTERN_LOG"), 1);
    CHECK_EQ_U64(shmemi_scan_distance("POSTERN_LG", "POSTERN_LOG"), 1);
    CHECK_EQ_U64(shmemi_scan_distance("POSTERN_LAG", "POSTERN_LOG"), 1);
    CHECK_EQ_U64(shmemi_scan_distance("kitten", "sitting"), 3);
    CHECK_EQ_U64(shmemi_scan_distance("abc", ""), 3);
    CHECK_EQ_U64(shmemi_scan_distance("", "abc"), 3);
    char long_name[200];
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    CHECK_EQ_U64(shmemi_scan_distance(long_name, ""), 63);
    return unit_result();
}
