/* SPDX-License-Identifier: Apache-2.0
 *
 * PE 0 asks its words one after the other with shmem_test until one has come, and again until all have; each other PE sends it one.
 * Spec: OpenSHMEM 1.6 §9.11.8 shmem_test
 * Does what the specification's shmem_test_example1 does.
 * PES: 2 3
 */
#include "../../api/api.h"

/* The first word of count that differs from 0, begun at place from. */
static int first_news(long *words, int count, int from)
{
    int place = from;
    while (!shmem_test(&words[place], SHMEM_CMP_NE, 0)) place = (place + 1) % count;
    return place;
}

int main(void)
{
    shmem_init();
    int   me = shmem_my_pe(), n = shmem_n_pes(), last = 0;
    long *news = shmem_calloc((size_t)n, sizeof *news);
    if (news == NULL) shmem_global_exit(1);
    if (me != 0) {
        shmem_atomic_set(&news[me], 400 + me, 0);
    } else {
        for (int i = 1; i < n; i++) {
            last = first_news(news, n, last);
            CHECK(last > 0 && last < n);
            CHECK_EQUAL(news[last], 400 + last);
            news[last] = 0;
        }
    }
    shmem_free(news);
    shmem_finalize();
    return api_result();
}
