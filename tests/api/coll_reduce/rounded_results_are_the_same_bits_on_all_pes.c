/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums and products of floating-point numbers whose result depends on the order: each PE has the same bits all the same,
 * and the maximum of values of which some are no numbers or zeros of either sign too.
 * Spec: OpenSHMEM 1.6 §9.10.9 Reductions (the standard leaves it open)
 * PES: 2 3 4 5 8 11
 * LINK: m
 */
#include "ways.h"

#include <complex.h>
#include <math.h>

enum { ELEMS_MAX = 5000 };

static const size_t sizes[] = {1, 7, 15, 16, ELEMS_MAX};

static double d_source[ELEMS_MAX], d_dest[ELEMS_MAX], of_first[ELEMS_MAX];
static float  f_source[ELEMS_MAX], f_dest[ELEMS_MAX];
static float _Complex c_source[ELEMS_MAX], c_dest[ELEMS_MAX];

/* From 1e-20 to 1e+20, so that what is lost to rounding depends on the order. */
static double value(int pe, size_t i)
{
    uint64_t bits = ways_bits((uint64_t)pe, i);
    return ldexp((double)(int64_t)bits, (int)(bits % 130) - 128);
}

/* PE 0's result against mine; both are complete, since all PEs have synchronized. */
static void compare(const void *mine, size_t bytes)
{
    shmem_sync_all();
    shmem_getmem(of_first, mine, bytes, 0);
    CHECK(memcmp(of_first, mine, bytes) == 0);
    shmem_sync_all();
}

static void try_all(void)
{
    int me = shmem_my_pe();
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        size_t n = sizes[k];
        for (size_t i = 0; i < n; i++) {
            d_source[i] = value(me, i);
            f_source[i] = (float)value(me, i + 7);
            c_source[i] = (float)value(me, i) * 1e-3F + (float)value(me, i + 1) * 1e-3F * I;
        }
        CHECK_EQUAL(shmem_double_sum_reduce(SHMEM_TEAM_WORLD, d_dest, d_source, n), 0);
        compare(d_dest, n * sizeof *d_dest);
        CHECK_EQUAL(shmem_float_sum_reduce(SHMEM_TEAM_WORLD, f_dest, f_source, n), 0);
        compare(f_dest, n * sizeof *f_dest);
        CHECK_EQUAL(shmem_float_prod_reduce(SHMEM_TEAM_WORLD, f_dest, f_source, n), 0);
        compare(f_dest, n * sizeof *f_dest);
        CHECK_EQUAL(shmem_complexf_prod_reduce(SHMEM_TEAM_WORLD, c_dest, c_source, n), 0);
        compare(c_dest, n * sizeof *c_dest);
        for (size_t i = 0; i < n; i++) {
            uint64_t bits = ways_bits((uint64_t)me, i + 3) % 4;
            d_source[i]   = bits == 0 ? (double)NAN : bits == 1 ? 0.0 : bits == 2 ? -0.0 : value(me, i);
        }
        CHECK_EQUAL(shmem_double_max_reduce(SHMEM_TEAM_WORLD, d_dest, d_source, n), 0);
        compare(d_dest, n * sizeof *d_dest);
    }
}

int main(void)
{
    ways_each(try_all);
    return api_result();
}
