/* SPDX-License-Identifier: Apache-2.0
 *
 * A card is cut and joined whatever its size, and a piece that is not what was asked for is refused and writes nothing.
 * Spec: none; the exchanges of runtime/bootstrap/pmix.c.
 */
#include "runtime/bootstrap/pmix_value.h"

#include "tests/unit/unit.h"

enum { PIECE = SHMEMI_PMIX_VALUE_PIECE_BYTES, HEAD = sizeof(struct shmemi_pmix_value_head) };

static unsigned char card[3 * PIECE + 5], joined[sizeof card], buffer[HEAD + PIECE];

static pmix_value_t value_of(size_t bytes)
{
    pmix_value_t value  = {.type = PMIX_BYTE_OBJECT};
    value.data.bo.bytes = (char *)buffer;
    value.data.bo.size  = bytes;
    return value;
}

static void cut_and_join(size_t bytes, size_t pieces)
{
    memset(joined, 0, sizeof joined);
    CHECK_EQ_U64(shmemi_pmix_value_pieces(bytes), pieces);
    for (uint32_t piece = 0; piece < pieces; piece++) {
        pmix_value_t value = value_of(shmemi_pmix_value_cut(9, piece, card, bytes, buffer));
        CHECK_STR(shmemi_pmix_value_join(&value, 9, piece, joined, bytes), NULL);
    }
    CHECK(memcmp(card, joined, bytes) == 0);
    for (size_t i = bytes; i < sizeof joined; i++) CHECK_EQ_U64(joined[i], 0);
}

static void refuse(const pmix_value_t *value, uint32_t round, uint32_t piece, size_t bytes, const char *wrong)
{
    memset(joined, 0x55, sizeof joined);
    CHECK_STR(shmemi_pmix_value_join(value, round, piece, joined, bytes), wrong);
    for (size_t i = 0; i < sizeof joined; i++) CHECK_EQ_U64(joined[i], 0x55);
}

static void refuse_what_is_wrong(void)
{
    size_t       bytes = shmemi_pmix_value_cut(9, 1, card, 2 * PIECE, buffer);
    pmix_value_t value = value_of(bytes);
    refuse(&value, 9, 0, 2 * PIECE, "it belongs to another exchange");
    refuse(&value, 8, 1, 2 * PIECE, "it belongs to another exchange");
    refuse(&value, 9, 1, 2 * PIECE - 1, "that PE gives another number of bytes: it runs another version of the library");
    refuse(NULL, 9, 1, 2 * PIECE, "it is empty");
    value = value_of(bytes - 1);
    refuse(&value, 9, 1, 2 * PIECE, "it was cut off");
    value = value_of(HEAD - 1);
    refuse(&value, 9, 1, 2 * PIECE, "it is too short");
    value      = value_of(bytes);
    value.type = PMIX_STRING;
    refuse(&value, 9, 1, 2 * PIECE, "it is of another type than bytes");
    value = value_of(bytes);
    buffer[0] ^= 1;
    refuse(&value, 9, 1, 2 * PIECE, "another version of the library wrote it");
}

int main(void)
{
    for (size_t i = 0; i < sizeof card; i++) card[i] = (unsigned char)(i * 31 % 251 + 1);
    cut_and_join(1, 1);
    cut_and_join(PIECE - 1, 1);
    cut_and_join(PIECE, 1);
    cut_and_join(PIECE + 1, 2);
    cut_and_join(3 * PIECE, 3);
    cut_and_join(3 * PIECE + 5, 4);
    CHECK_EQ_U64(shmemi_pmix_value_pieces(0), 0);
    refuse_what_is_wrong();

    char one[SHMEMI_PMIX_VALUE_KEY_BYTES], other[SHMEMI_PMIX_VALUE_KEY_BYTES];
    shmemi_pmix_value_key(one, UINT32_MAX, UINT32_MAX);
    CHECK(strlen(one) < sizeof one - 1);
    shmemi_pmix_value_key(one, 1, 11);
    shmemi_pmix_value_key(other, 11, 1);
    CHECK(strcmp(one, other) != 0);
    return unit_result();
}
