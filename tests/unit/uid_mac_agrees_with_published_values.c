/* SPDX-License-Identifier: Apache-2.0
 *
 * The tag over a unique id's secret is SipHash-2-4 with 128 bits: values that its authors have published, for the key 00 01 ... 0f and messages 00 01 ...
 * of several lengths. Tags of other keys and messages are others, and are told apart in every byte.
 */
#include "tests/unit/unit.h"

#include "runtime/bootstrap/uid_mac.h"

#include <string.h>

static const struct {
    size_t  bytes;
    uint8_t tag[SHMEMI_UID_MAC_BYTES];
} published[] = {
    {0, {0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6, 0x6d, 0xf6, 0x72, 0x14, 0xc7, 0x55, 0x02, 0x93}},
    {1, {0xda, 0x87, 0xc1, 0xd8, 0x6b, 0x99, 0xaf, 0x44, 0x34, 0x76, 0x59, 0x11, 0x9b, 0x22, 0xfc, 0x45}},
    {7, {0xa1, 0xf1, 0xeb, 0xbe, 0xd8, 0xdb, 0xc1, 0x53, 0xc0, 0xb8, 0x4a, 0xa6, 0x1f, 0xf0, 0x82, 0x39}},
    {8, {0x3b, 0x62, 0xa9, 0xba, 0x62, 0x58, 0xf5, 0x61, 0x0f, 0x83, 0xe2, 0x64, 0xf3, 0x14, 0x97, 0xb4}},
    {15, {0x54, 0x93, 0xe9, 0x99, 0x33, 0xb0, 0xa8, 0x11, 0x7e, 0x08, 0xec, 0x0f, 0x97, 0xcf, 0xc3, 0xd9}},
    {16, {0x6e, 0xe2, 0xa4, 0xca, 0x67, 0xb0, 0x54, 0xbb, 0xfd, 0x33, 0x15, 0xbf, 0x85, 0x23, 0x05, 0x77}},
    {63, {0x51, 0x50, 0xd1, 0x77, 0x2f, 0x50, 0x83, 0x4a, 0x50, 0x3e, 0x06, 0x9a, 0x97, 0x3f, 0xbd, 0x7c}},
};

int main(void)
{
    uint8_t key[16], message[64], tag[SHMEMI_UID_MAC_BYTES], other[SHMEMI_UID_MAC_BYTES];
    for (size_t i = 0; i < sizeof key; i++) key[i] = (uint8_t)i;
    for (size_t i = 0; i < sizeof message; i++) message[i] = (uint8_t)i;
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
        shmemi_uid_mac(key, message, published[i].bytes, tag);
        CHECK(memcmp(tag, published[i].tag, sizeof tag) == 0);
        CHECK(shmemi_uid_mac_equal(tag, published[i].tag));
    }
    shmemi_uid_mac(key, message, sizeof message, tag);
    for (size_t i = 0; i < sizeof tag; i++) {
        memcpy(other, tag, sizeof other);
        other[i] ^= 0x80;
        CHECK(!shmemi_uid_mac_equal(tag, other));
        key[i] ^= 1;
        shmemi_uid_mac(key, message, sizeof message, other);
        CHECK(!shmemi_uid_mac_equal(tag, other));
        key[i] ^= 1;
    }
    message[63] ^= 1;
    shmemi_uid_mac(key, message, sizeof message, other);
    CHECK(!shmemi_uid_mac_equal(tag, other));
    return unit_result();
}
