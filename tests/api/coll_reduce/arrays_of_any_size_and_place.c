/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions and scans of arrays from one element to more than a mebibyte, that begin anywhere in a line, with dest and
 * source apart and the same, on the heap and in static memory: what is to be computed is there, and not an element more
 * is written.
 * Spec: OpenSHMEM 1.6 §9.10.9 Reductions, §9.10.10 Scans
 * PES: 1 2 3 4 5 8
 */
#include "ways.h"

enum { ELEMS_MAX = 140000, STATIC_MAX = 3000, GUARDS = 8 };
enum which { SUM, MAX, INSCAN, EXSCAN, WHICH };

static const size_t sizes[] = {1, 13, 14, 15, 16, 17, 64, 129, 1024, 1031, 2999, 20011, ELEMS_MAX};

static int    me, npes;
static double static_dest[STATIC_MAX + GUARDS], static_source[STATIC_MAX];

/* Whole numbers, whose sums are exact. */
static double value(int pe, size_t i)
{
    return (double)(ways_bits((uint64_t)pe, i) % 1000) - 300;
}

static double wanted(enum which which, size_t i)
{
    int    first = 0, end = which == INSCAN ? me + 1 : which == EXSCAN ? me : npes;
    double result = 0;
    if (which == MAX) result = value(first++, i);
    for (int pe = first; pe < end; pe++) {
        double next = value(pe, i);
        if (which != MAX) result += next;
        else if (next > result) result = next;
    }
    return result;
}

static int call(enum which which, double *dest, const double *source, size_t n)
{
    switch (which) {
    case SUM: return shmem_double_sum_reduce(SHMEM_TEAM_WORLD, dest, source, n);
    case MAX: return shmem_double_max_reduce(SHMEM_TEAM_WORLD, dest, source, n);
    case INSCAN: return shmem_double_sum_inscan(SHMEM_TEAM_WORLD, dest, source, n);
    default: return shmem_double_sum_exscan(SHMEM_TEAM_WORLD, dest, source, n);
    }
}

/*
 * Every element of small arrays; of large ones those near both ends of each part and of each segment would do, so every
 * 61st.
 */
static void check_elements(enum which which, const double *dest, size_t n)
{
    size_t step = n > STATIC_MAX ? 61 : 1;
    for (size_t i = 0; i < n; i += i + step < n || i == n - 1 ? step : n - 1 - i)
        if (!CHECK(dest[i] == wanted(which, i))) {
            fprintf(stderr, "PE %d: call %d, element %zu of %zu: %g, wanted %g\n", me, (int)which, i, n, dest[i], wanted(which, i));
            return;
        }
}

static void try_one(enum which which, double *dest, double *source, size_t n)
{
    for (size_t i = 0; i < n + GUARDS; i++) dest[i] = -7;
    for (size_t i = 0; i < n; i++) source[i] = value(me, i);
    shmem_sync_all();
    CHECK_EQUAL(call(which, dest, source, n), 0);
    check_elements(which, dest, n);
    for (size_t i = n; i < n + GUARDS; i++) CHECK(dest[i] == -7);
    if (source != dest)
        for (size_t i = 0; i < n; i++)
            if (!CHECK(source[i] == value(me, i))) break;
    shmem_sync_all();
}

static void try_all(void)
{
    me             = shmem_my_pe();
    npes           = shmem_n_pes();
    double *dest   = shmem_malloc((ELEMS_MAX + 2 * GUARDS) * sizeof *dest);
    double *source = shmem_malloc((ELEMS_MAX + GUARDS) * sizeof *source);
    for (enum which which = 0; which < WHICH; which++)
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            size_t n = sizes[k], place = (k + which) % GUARDS;
            if (n == ELEMS_MAX && which == MAX) continue;
            try_one(which, dest + place, source + k % 3, n);
            try_one(which, dest + place, dest + place, n);
            if (n <= STATIC_MAX) try_one(which, static_dest, static_source, n);
        }
    shmem_free(dest);
    shmem_free(source);
}

int main(void)
{
    ways_each(try_all);
    return api_result();
}
