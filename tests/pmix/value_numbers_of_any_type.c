/* SPDX-License-Identifier: Apache-2.0
 *
 * Servers choose the types of their numbers: each is read, and what is no number of ours is refused.
 * Spec: none; PMIx standard, pmix_value_t.
 */
#include "runtime/bootstrap/pmix_value.h"

#include "tests/unit/unit.h"

#define GOOD(TYPE, FIELD, NUMBER)                     \
    do {                                              \
        pmix_value_t good = {.type = TYPE};           \
        uint64_t     got  = 0;                        \
        good.data.FIELD   = NUMBER;                   \
        CHECK(shmemi_pmix_value_number(&good, &got)); \
        CHECK_EQ_U64(got, (uint64_t)(NUMBER));        \
    } while (0)

#define BAD(TYPE, FIELD, NUMBER)                      \
    do {                                              \
        pmix_value_t bad = {.type = TYPE};            \
        uint64_t     got = 77;                        \
        bad.data.FIELD   = NUMBER;                    \
        CHECK(!shmemi_pmix_value_number(&bad, &got)); \
        CHECK_EQ_U64(got, 77);                        \
    } while (0)

static void check_text(char *text, bool good, uint64_t number)
{
    pmix_value_t value = {.type = PMIX_STRING};
    uint64_t     got   = 77;
    value.data.string  = text;
    CHECK(shmemi_pmix_value_number(&value, &got) == good);
    CHECK_EQ_U64(got, good ? number : 77);
}

int main(void)
{
    GOOD(PMIX_SIZE, size, SIZE_MAX);
    GOOD(PMIX_UINT, uint, 4000000000u);
    GOOD(PMIX_UINT8, uint8, 255);
    GOOD(PMIX_UINT16, uint16, 65535);
    GOOD(PMIX_UINT32, uint32, UINT32_MAX);
    GOOD(PMIX_UINT64, uint64, UINT64_MAX);
    GOOD(PMIX_BYTE, byte, 200);
    GOOD(PMIX_PROC_RANK, rank, 3);
    GOOD(PMIX_INT, integer, INT32_MAX);
    GOOD(PMIX_INT8, int8, 127);
    GOOD(PMIX_INT16, int16, 32767);
    GOOD(PMIX_INT32, int32, 0);
    GOOD(PMIX_INT64, int64, INT64_MAX);
    BAD(PMIX_INT, integer, -1);
    BAD(PMIX_INT8, int8, -1);
    BAD(PMIX_INT16, int16, -1);
    BAD(PMIX_INT32, int32, -1);
    BAD(PMIX_INT64, int64, INT64_MIN);
    BAD(PMIX_PROC_RANK, rank, PMIX_RANK_WILDCARD);
    BAD(PMIX_PROC_RANK, rank, PMIX_RANK_UNDEF);
    BAD(PMIX_DOUBLE, dval, 1.0);
    BAD(PMIX_BOOL, flag, true);
    BAD(PMIX_UNDEF, uint64, 1);

    char zero[] = "0", many[] = "18446744073709551615", more[] = "18446744073709551616", sign[] = "-1", rest[] = "3x", none[] = "";
    check_text(zero, true, 0);
    check_text(many, true, UINT64_MAX);
    check_text(more, false, 0);
    check_text(sign, false, 0);
    check_text(rest, false, 0);
    check_text(none, false, 0);
    check_text(NULL, false, 0);
    return unit_result();
}
