/* SPDX-License-Identifier: Apache-2.0
 *
 * Of all four levels, what was asked or more is granted; the constants increase; a nested init reports the
 * level of the first.
 * Spec: OpenSHMEM 1.6 §9.2 Thread Support, §9.2.1 shmem_init_thread, §9.2.2 shmem_query_thread
 */
#include "../api.h"

_Static_assert(SHMEM_THREAD_SINGLE < SHMEM_THREAD_FUNNELED && SHMEM_THREAD_FUNNELED < SHMEM_THREAD_SERIALIZED &&
                   SHMEM_THREAD_SERIALIZED < SHMEM_THREAD_MULTIPLE,
               "strictly increasing");

int main(void)
{
    static const int levels[] = {SHMEM_THREAD_SINGLE, SHMEM_THREAD_FUNNELED, SHMEM_THREAD_SERIALIZED, SHMEM_THREAD_MULTIPLE};
    for (int i = 0; i < 4; i++) {
        int provided = -1, asked = -1, nested = -1;
        CHECK_EQUAL(shmem_init_thread(levels[i], &provided), 0);
        CHECK(provided >= levels[i]);
        shmem_query_thread(&asked);
        CHECK_EQUAL(asked, provided);
        CHECK_EQUAL(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &nested), 0);
        CHECK_EQUAL(nested, provided);
        shmem_init();
        shmem_query_thread(&asked);
        CHECK_EQUAL(asked, provided);
        shmem_finalize();
        shmem_finalize();
        shmem_finalize();
    }
    return api_result();
}
