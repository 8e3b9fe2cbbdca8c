/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers and cards as PMIx values. Pure logic. Tests: tests/pmix/value_*.c.
 */
#include "runtime/bootstrap/pmix_value.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_MAGIC = 0x43445250 };

static bool not_negative(int64_t number, uint64_t *number_out)
{
    if (number < 0) return false;
    *number_out = (uint64_t)number;
    return true;
}

static bool from_text(const char *text, uint64_t *number_out)
{
    char *end = NULL;
    if (!text || *text < '0' || *text > '9') return false;
    errno                     = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno || *end != '\0') return false;
    *number_out = number;
    return true;
}

bool shmemi_pmix_value_number(const pmix_value_t *value, uint64_t *number_out)
{
    switch (value->type) {
    case PMIX_SIZE: *number_out = value->data.size; return true;
    case PMIX_UINT: *number_out = value->data.uint; return true;
    case PMIX_UINT8: *number_out = value->data.uint8; return true;
    case PMIX_UINT16: *number_out = value->data.uint16; return true;
    case PMIX_UINT32: *number_out = value->data.uint32; return true;
    case PMIX_UINT64: *number_out = value->data.uint64; return true;
    case PMIX_PROC_RANK:
        if (value->data.rank > PMIX_RANK_VALID) return false; /* a wildcard and its like */
        *number_out = value->data.rank;
        return true;
    case PMIX_BYTE: *number_out = value->data.byte; return true;
    case PMIX_INT: return not_negative(value->data.integer, number_out);
    case PMIX_INT8: return not_negative(value->data.int8, number_out);
    case PMIX_INT16: return not_negative(value->data.int16, number_out);
    case PMIX_INT32: return not_negative(value->data.int32, number_out);
    case PMIX_INT64: return not_negative(value->data.int64, number_out);
    case PMIX_STRING: return from_text(value->data.string, number_out);
    default: return false;
    }
}

void shmemi_pmix_value_free(pmix_value_t *value)
{
    if (!value) return;
    if (value->type == PMIX_STRING) free(value->data.string);
    else if (value->type == PMIX_BYTE_OBJECT) free(value->data.bo.bytes);
    free(value);
}

size_t shmemi_pmix_value_pieces(size_t card_bytes)
{
    return (card_bytes + SHMEMI_PMIX_VALUE_PIECE_BYTES - 1) / SHMEMI_PMIX_VALUE_PIECE_BYTES;
}

void shmemi_pmix_value_key(char key_out[SHMEMI_PMIX_VALUE_KEY_BYTES], uint32_t round, uint32_t piece)
{
    snprintf(key_out, SHMEMI_PMIX_VALUE_KEY_BYTES, "postern.%u.%u", round, piece);
}

static size_t bytes_of_piece(uint32_t piece, size_t card_bytes)
{
    size_t from = (size_t)piece * SHMEMI_PMIX_VALUE_PIECE_BYTES;
    assert(from < card_bytes);
    return card_bytes - from < SHMEMI_PMIX_VALUE_PIECE_BYTES ? card_bytes - from : SHMEMI_PMIX_VALUE_PIECE_BYTES;
}

size_t shmemi_pmix_value_cut(uint32_t round, uint32_t piece, const void *card, size_t card_bytes, void *out)
{
    struct shmemi_pmix_value_head head = {
        .magic      = PIECE_MAGIC,
        .round      = round,
        .piece      = piece,
        .bytes      = (uint32_t)bytes_of_piece(piece, card_bytes),
        .card_bytes = card_bytes,
    };
    memcpy(out, &head, sizeof head);
    memcpy((char *)out + sizeof head, (const char *)card + (size_t)piece * SHMEMI_PMIX_VALUE_PIECE_BYTES, head.bytes);
    return sizeof head + head.bytes;
}

const char *shmemi_pmix_value_join(const pmix_value_t *value, uint32_t round, uint32_t piece, void *card_out, size_t card_bytes)
{
    struct shmemi_pmix_value_head head;
    if (!value) return "it is empty";
    if (value->type != PMIX_BYTE_OBJECT) return "it is of another type than bytes";
    if (value->data.bo.size < sizeof head || !value->data.bo.bytes) return "it is too short";
    memcpy(&head, value->data.bo.bytes, sizeof head);
    if (head.magic != PIECE_MAGIC) return "another version of the library wrote it";
    if (head.card_bytes != card_bytes) return "that PE gives another number of bytes: it runs another version of the library";
    if (head.round != round || head.piece != piece) return "it belongs to another exchange";
    if (head.bytes != bytes_of_piece(piece, card_bytes) || value->data.bo.size != sizeof head + head.bytes) return "it was cut off";
    memcpy((char *)card_out + (size_t)piece * SHMEMI_PMIX_VALUE_PIECE_BYTES, value->data.bo.bytes + sizeof head, head.bytes);
    return NULL;
}
