/* SPDX-License-Identifier: Apache-2.0
 *
 * Sizes multiply and add without wrapping, rounding is to powers of two, the clock runs forward and the hash tells texts apart.
 */
#include "tests/unit/unit.h"

#include "runtime/base/num.h"

int main(void)
{
    size_t out = 7;
    CHECK(shmemi_mul_size(3, 5, &out));
    CHECK_EQ_U64(out, 15);
    CHECK(shmemi_mul_size(SIZE_MAX, 1, &out));
    CHECK_EQ_U64(out, SIZE_MAX);
    CHECK(shmemi_mul_size(SIZE_MAX, 0, &out));
    CHECK_EQ_U64(out, 0);
    out = 7;
    CHECK(!shmemi_mul_size(SIZE_MAX / 2 + 1, 2, &out));
    CHECK(!shmemi_mul_size((size_t)1 << 32, (size_t)1 << 32, &out));
    CHECK(!shmemi_add_size(SIZE_MAX, 1, &out));
    CHECK_EQ_U64(out, 7);
    CHECK(shmemi_add_size(SIZE_MAX - 1, 1, &out));
    CHECK_EQ_U64(out, SIZE_MAX);

    CHECK_EQ_U64(shmemi_round_up(0, 4096), 0);
    CHECK_EQ_U64(shmemi_round_up(1, 4096), 4096);
    CHECK_EQ_U64(shmemi_round_up(4096, 4096), 4096);
    CHECK_EQ_U64(shmemi_round_up(65537, 65536), 131072);
    CHECK_EQ_U64(shmemi_round_down(4095, 4096), 0);
    CHECK_EQ_U64(shmemi_round_down(8191, 4096), 4096);
    CHECK_EQ_U64(shmemi_round_up(5, 1), 5);

    int64_t before = shmemi_now_ns();
    for (int i = 0; i < 1000; i++) {
        int64_t now = shmemi_now_ns();
        CHECK(now >= before);
        before = now;
    }

    CHECK_EQ_U64(shmemi_hash(0, "abc", 3), shmemi_hash(0, "abc", 3));
    CHECK(shmemi_hash(0, "abc", 3) != shmemi_hash(0, "abd", 3));
    CHECK(shmemi_hash(0, "abc", 3) != shmemi_hash(0, "abc", 2));
    CHECK(shmemi_hash(shmemi_hash(0, "a", 1), "b", 1) != shmemi_hash(shmemi_hash(0, "b", 1), "a", 1));
    CHECK(shmemi_hash(0, "", 0) != 0);
    return unit_result();
}
