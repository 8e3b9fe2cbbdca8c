/* SPDX-License-Identifier: Apache-2.0
 *
 * Checked mode, each family of waits and tests: words that are not symmetric, misaligned or past the end, a comparison that is none, and arrays that are
 * missing are told, also where the wait would have returned at once.
 * Spec: OpenSHMEM 1.6 §E, §9.11.1 to §9.11.14
 * PES: 0
 * ENV: POSTERN_CHECK=1 SHMEM_SYMMETRIC_SIZE=1M
 */
#include "../child.h"

enum { COUNT = 3, FAMILIES = 14 };

static int    words[COUNT + 1];
static size_t indices[COUNT];

/* One call of each family on int words, all of which are 0. */
static void call_family(int family, int *ivars, size_t nelems, size_t *found, int cmp, const int *values)
{
    switch (family) {
    case 0: shmem_int_wait_until(ivars, cmp, 0); break;
    case 1: (void)shmem_int_test(ivars, cmp, 0); break;
    case 2: shmem_int_wait_until_all(ivars, nelems, NULL, cmp, 0); break;
    case 3: (void)shmem_int_wait_until_any(ivars, nelems, NULL, cmp, 0); break;
    case 4: (void)shmem_int_wait_until_some(ivars, nelems, found, NULL, cmp, 0); break;
    case 5: shmem_int_wait_until_all_vector(ivars, nelems, NULL, cmp, values); break;
    case 6: (void)shmem_int_wait_until_any_vector(ivars, nelems, NULL, cmp, values); break;
    case 7: (void)shmem_int_wait_until_some_vector(ivars, nelems, found, NULL, cmp, values); break;
    case 8: (void)shmem_int_test_all(ivars, nelems, NULL, cmp, 0); break;
    case 9: (void)shmem_int_test_any(ivars, nelems, NULL, cmp, 0); break;
    case 10: (void)shmem_int_test_some(ivars, nelems, found, NULL, cmp, 0); break;
    case 11: (void)shmem_int_test_all_vector(ivars, nelems, NULL, cmp, values); break;
    case 12: (void)shmem_int_test_any_vector(ivars, nelems, NULL, cmp, values); break;
    default: (void)shmem_int_test_some_vector(ivars, nelems, found, NULL, cmp, values); break;
    }
}

static const char *const names[FAMILIES] = {
    "shmem_int_wait_until: ",
    "shmem_int_test: ",
    "shmem_int_wait_until_all: ",
    "shmem_int_wait_until_any: ",
    "shmem_int_wait_until_some: ",
    "shmem_int_wait_until_all_vector: ",
    "shmem_int_wait_until_any_vector: ",
    "shmem_int_wait_until_some_vector: ",
    "shmem_int_test_all: ",
    "shmem_int_test_any: ",
    "shmem_int_test_some: ",
    "shmem_int_test_all_vector: ",
    "shmem_int_test_any_vector: ",
    "shmem_int_test_some_vector: ",
};

static bool is_vector(int family)
{
    return (family >= 5 && family <= 7) || family >= 11;
}
static bool is_some(int family)
{
    return family == 4 || family == 7 || family == 10 || family == 13;
}

static int       family_now;
static const int zeros[COUNT];

static void bad_comparison(void)
{
    shmem_init();
    call_family(family_now, words, COUNT, indices, 7, zeros);
}
static void on_the_stack(void)
{
    int local[COUNT] = {0};
    shmem_init();
    call_family(family_now, local, COUNT, indices, SHMEM_CMP_EQ, zeros);
}
static void no_words(void)
{
    shmem_init();
    call_family(family_now, NULL, COUNT, indices, SHMEM_CMP_EQ, zeros);
}
static void misaligned(void)
{
    shmem_init();
    call_family(family_now, (int *)(void *)((char *)words + 1), COUNT, indices, SHMEM_CMP_EQ, zeros);
}
static void past_the_end(void)
{
    shmem_init();
    call_family(family_now, shmem_malloc(64), 1 << 20, indices, SHMEM_CMP_EQ, zeros);
}
static void too_many(void)
{
    shmem_init();
    call_family(family_now, words, SIZE_MAX / 2, indices, SHMEM_CMP_EQ, zeros);
}
static void no_values(void)
{
    shmem_init();
    call_family(family_now, words, COUNT, indices, SHMEM_CMP_EQ, NULL);
}
static void no_indices(void)
{
    shmem_init();
    call_family(family_now, words, COUNT, NULL, SHMEM_CMP_EQ, zeros);
}
static void right(void)
{
    const int excluded[COUNT] = {1, 1, 1};
    shmem_init();
    call_family(family_now, words, COUNT, indices, SHMEM_CMP_EQ, zeros);
    if (family_now >= 2) call_family(family_now, NULL, 0, NULL, SHMEM_CMP_EQ, NULL);
    shmem_int_wait_until_all_vector(NULL, COUNT, excluded, SHMEM_CMP_EQ, NULL); /* nothing to look at */
    shmem_finalize();
    exit(0);
}

static void refuses(void (*what)(void), const char *reason)
{
    const char *const wanted[] = {names[family_now], reason, "why:", "fix:", NULL};
    CHECK(child_refuses(names[family_now], what, wanted));
}

int main(void)
{
    for (family_now = 0; family_now < FAMILIES; family_now++) {
        refuses(bad_comparison, "comparison operator 7");
        refuses(on_the_stack, "is not symmetric");
        refuses(no_words, "the address is NULL");
        refuses(misaligned, "is not a multiple of 4");
        if (family_now >= 2) refuses(past_the_end, "past the end");
        if (is_vector(family_now)) refuses(no_values, "cmp_values is NULL");
        if (is_some(family_now)) refuses(no_indices, "indices is NULL");
        CHECK_EQUAL(child_run(right).status, 0);
    }
    family_now = 2;
    refuses(too_many, "more than an address can count");
    return api_result();
}
