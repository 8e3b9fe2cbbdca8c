/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic is modulo 2^32 or 2^64, signed types too; operations reach the highest bits; float and double move as bits, so that
 * -0.0 and the payload of a NaN survive set, swap and fetch.
 * Spec: OpenSHMEM 1.6 §9.7 Atomic Memory Operations, §9.7.1.1 to §9.7.1.14
 */
#include "../api.h"

#include <limits.h>

static int      int_word;
static long     long_word;
static uint32_t u32[2];
static uint64_t u64[2];
static float    float_word;
static double   double_word;

static uint64_t double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
}

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

static void integers(int pe)
{
    shmem_int_atomic_set(&int_word, INT_MAX, pe);
    shmem_quiet();
    CHECK_EQUAL(shmem_int_atomic_fetch_inc(&int_word, pe), INT_MAX);
    CHECK_EQUAL(shmem_int_atomic_fetch_add(&int_word, -1, pe), INT_MIN);
    CHECK_EQUAL(shmem_int_atomic_fetch(&int_word, pe), INT_MAX);
    CHECK_EQUAL(shmem_int_atomic_compare_swap(&int_word, INT_MAX, -5, pe), INT_MAX);
    CHECK_EQUAL(shmem_int_atomic_compare_swap(&int_word, -5, 5, pe), -5);

    shmem_long_atomic_set(&long_word, LONG_MAX, pe);
    shmem_quiet();
    CHECK_EQUAL(shmem_long_atomic_fetch_add(&long_word, LONG_MAX, pe), LONG_MAX);
    CHECK_EQUAL(shmem_long_atomic_fetch(&long_word, pe), -2);

    shmem_uint32_atomic_set(&u32[0], UINT32_MAX, pe);
    shmem_quiet();
    shmem_uint32_atomic_inc(&u32[0], pe); /* no carry into the next word */
    shmem_quiet();
    CHECK_EQUAL(shmem_uint32_atomic_fetch(&u32[0], pe), 0);
    CHECK_EQUAL(shmem_uint32_atomic_fetch(&u32[1], pe), 0);
    shmem_uint64_atomic_or(&u64[0], UINT64_C(1) << 63, pe);
    shmem_quiet();
    CHECK_EQUAL(shmem_uint64_atomic_fetch_add(&u64[0], UINT64_C(1) << 63, pe), (long long)(UINT64_C(1) << 63));
    CHECK_EQUAL(shmem_uint64_atomic_fetch(&u64[0], pe), 0);
    CHECK_EQUAL(shmem_uint64_atomic_fetch(&u64[1], pe), 0);
}

static void floats(int pe)
{
    uint64_t nan8 = UINT64_C(0x7FF8123456789ABC);
    uint32_t nan4 = UINT32_C(0x7FC12345);
    double   d;
    float    f;
    memcpy(&d, &nan8, 8);
    memcpy(&f, &nan4, 4);
    shmem_double_atomic_set(&double_word, -0.0, pe);
    shmem_float_atomic_set(&float_word, -0.0F, pe);
    shmem_quiet();
    CHECK(double_bits(shmem_double_atomic_swap(&double_word, d, pe)) == double_bits(-0.0));
    CHECK(float_bits(shmem_float_atomic_swap(&float_word, f, pe)) == float_bits(-0.0F));
    CHECK(double_bits(shmem_double_atomic_fetch(&double_word, pe)) == nan8);
    CHECK(float_bits(shmem_float_atomic_fetch(&float_word, pe)) == nan4);
}

int main(void)
{
    shmem_init();
    int n = shmem_n_pes(), next = (shmem_my_pe() + 1) % n;
    shmem_barrier_all();
    integers(next);
    floats(next);
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
