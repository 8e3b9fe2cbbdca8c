/* SPDX-License-Identifier: Apache-2.0
 *
 * Proof that somebody knows the secret of a unique id, without sending it: a keyed tag over numbers that both sides have drawn.
 *
 * SipHash-2-4 with a tag of 128 bits (Aumasson and Bernstein, 2012): a pseudo-random function for short messages, made for this, and
 * thirty lines. docs/decisions/0010 tells why it is not a library's. tests/unit holds it against the published values.
 */
#ifndef SHMEMB_UID_MAC_H
#define SHMEMB_UID_MAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHMEMI_UID_MAC_BYTES = 16 };

/* The tag of a message of any length under a key; both arrays have SHMEMI_UID_MAC_BYTES. */
void shmemi_uid_mac(const uint8_t key[], const void *message, size_t bytes, uint8_t tag_out[]);

/* Equal? Takes as long for tags that differ in the first byte as for others. */
bool shmemi_uid_mac_equal(const uint8_t a[], const uint8_t b[]);

#endif
