/* SPDX-License-Identifier: Apache-2.0
 *
 * Where several words stay true, wait_until_any and test_any name each of them before long: a search that always begins at 0
 * would starve the others. Also while searches of other lengths come between.
 * Spec: OpenSHMEM 1.6 §9.11.3 shmem_wait_until_any, §9.11.6 its vector form, §9.11.10 shmem_test_any, §9.11.13 its vector form
 */
#include "../api.h"

enum { COUNT = 10, CALLS = 200 };

static long words[COUNT], others[3];

int main(void)
{
    const long ones[COUNT]    = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    int        seen[4][COUNT] = {{0}};
    shmem_init();
    for (int i = 0; i < COUNT; i++) words[i] = i != 4; /* 4 never holds */
    others[1] = 1;
    for (int call = 0; call < CALLS; call++) {
        seen[0][shmem_long_wait_until_any(words, COUNT, NULL, SHMEM_CMP_EQ, 1)]++;
        if (call % 3 == 0) CHECK_EQUAL(shmem_long_test_any(others, 3, NULL, SHMEM_CMP_EQ, 1), 1);
    }
    for (int call = 0; call < CALLS; call++) seen[1][shmem_long_test_any(words, COUNT, NULL, SHMEM_CMP_EQ, 1)]++;
    for (int call = 0; call < CALLS; call++) seen[2][shmem_long_wait_until_any_vector(words, COUNT, NULL, SHMEM_CMP_EQ, ones)]++;
    for (int call = 0; call < CALLS; call++) seen[3][shmem_long_test_any_vector(words, COUNT, NULL, SHMEM_CMP_EQ, ones)]++;
    for (int k = 1; k < 4; k++)
        for (int i = 0; i < COUNT; i++) CHECK_EQUAL(seen[k][i] > 0, i != 4);
    CHECK_EQUAL(seen[0][4], 0);
    shmem_finalize();
    return api_result();
}
