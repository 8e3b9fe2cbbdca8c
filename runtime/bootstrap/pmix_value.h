/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of PMIx: numbers of whatever type a server chose, and cards.
 *
 * A card is cut into pieces, because servers keep the values of a process in segments of limited size. Each piece has a head that says what
 * it is, so that a piece of another exchange, of another library version, or half of one is noticed.
 */
#ifndef SHMEMI_PMIX_VALUE_H
#define SHMEMI_PMIX_VALUE_H

#include <pmix.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which integer type a key has varies between servers. false: not a number, or a negative one. */
bool shmemi_pmix_value_number(const pmix_value_t *value, uint64_t *number_out);

/* What PMIx_Get gave; NULL does nothing. Only for numbers, texts and bytes. */
void shmemi_pmix_value_free(pmix_value_t *value);

#define SHMEMI_PMIX_VALUE_PIECE_BYTES 16384 /* of a card in one piece, at most */
#define SHMEMI_PMIX_VALUE_KEY_BYTES   40

struct shmemi_pmix_value_head {
    uint32_t magic;
    uint32_t round;      /* number of the exchange                     */
    uint32_t piece;      /* from 0                                     */
    uint32_t bytes;      /* of the card in this piece, behind the head */
    uint64_t card_bytes; /* of the whole card                          */
};

/* How many pieces a card of so many bytes has. */
size_t shmemi_pmix_value_pieces(size_t card_bytes);

/* The name under which a piece is put. */
void shmemi_pmix_value_key(char key_out[SHMEMI_PMIX_VALUE_KEY_BYTES], uint32_t round, uint32_t piece);

/* Write head and bytes of a piece to out (room for a head and a piece). Returns how many bytes these are. */
size_t shmemi_pmix_value_cut(uint32_t round, uint32_t piece, const void *card, size_t card_bytes, void *out);

/* Check a piece and copy its bytes to their place in card_out. NULL, or what is wrong with it. */
const char *shmemi_pmix_value_join(const pmix_value_t *value, uint32_t round, uint32_t piece, void *card_out, size_t card_bytes);

#endif
