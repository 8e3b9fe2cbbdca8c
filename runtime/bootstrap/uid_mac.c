/* SPDX-License-Identifier: Apache-2.0
 *
 * SipHash-2-4-128, as its paper describes it: four words that are mixed by additions, rotations and exclusive ors, two rounds for each
 * eight bytes of the message and four before each half of the tag.
 */
#include "runtime/bootstrap/uid_mac.h"

#include <string.h>

struct words {
    uint64_t v0, v1, v2, v3;
};

static uint64_t rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static void mix(struct words *w, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        w->v0 += w->v1, w->v1 = rotate(w->v1, 13) ^ w->v0, w->v0 = rotate(w->v0, 32);
        w->v2 += w->v3, w->v3 = rotate(w->v3, 16) ^ w->v2;
        w->v0 += w->v3, w->v3 = rotate(w->v3, 21) ^ w->v0;
        w->v2 += w->v1, w->v1 = rotate(w->v1, 17) ^ w->v2, w->v2 = rotate(w->v2, 32);
    }
}

/* Up to eight bytes, the first the lowest. */
static uint64_t load(const uint8_t *bytes, size_t count)
{
    uint64_t word = 0;
    for (size_t i = 0; i < count; i++) word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

static void store(uint64_t word, uint8_t *bytes)
{
    for (size_t i = 0; i < sizeof word; i++) bytes[i] = (uint8_t)(word >> (8 * i));
}

static void absorb(struct words *w, uint64_t word)
{
    w->v3 ^= word;
    mix(w, 2);
    w->v0 ^= word;
}

void shmemi_uid_mac(const uint8_t key[], const void *message, size_t bytes, uint8_t tag_out[])
{
    const uint8_t *at = message;
    uint64_t       k0 = load(key, 8), k1 = load(key + 8, 8);
    struct words   w = {
          .v0 = k0 ^ 0x736f6d6570736575u,
          .v1 = k1 ^ 0x646f72616e646f6du ^ 0xee,
          .v2 = k0 ^ 0x6c7967656e657261u,
          .v3 = k1 ^ 0x7465646279746573u,
    };
    size_t left = bytes;
    for (; left >= 8; left -= 8, at += 8) absorb(&w, load(at, 8));
    absorb(&w, load(at, left) | (uint64_t)(bytes & 0xff) << 56);
    w.v2 ^= 0xee;
    mix(&w, 4);
    store(w.v0 ^ w.v1 ^ w.v2 ^ w.v3, tag_out);
    w.v1 ^= 0xdd;
    mix(&w, 4);
    store(w.v0 ^ w.v1 ^ w.v2 ^ w.v3, tag_out + 8);
}

bool shmemi_uid_mac_equal(const uint8_t a[], const uint8_t b[])
{
    uint8_t difference = 0;
    for (size_t i = 0; i < SHMEMI_UID_MAC_BYTES; i++) difference |= a[i] ^ b[i];
    return difference == 0;
}
