/* SPDX-License-Identifier: Apache-2.0
 *
 * NOCHAOS: counts calls, which does not depend on the transport
 *
 * B54: a program replaces shmem_ names and calls the pshmem_ ones. It sees exactly its own calls: the library never calls itself by these names.
 * Spec: OpenSHMEM 1.6 §10 OpenSHMEM Profiling Interface, §10.3.1 Multiple Counting
 */
#include <pshmem.h>

#include "../api/api.h"

static int  barriers, put_calls, quiets, mallocs;
static long word;

void shmem_barrier_all(void)
{
    barriers++;
    pshmem_barrier_all();
}
void shmem_quiet(void)
{
    quiets++;
    pshmem_quiet();
}
void *shmem_malloc(size_t size)
{
    mallocs++;
    return pshmem_malloc(size);
}
void shmem_long_put(long *dest, const long *source, size_t nelems, int pe)
{
    put_calls++;
    pshmem_long_put(dest, source, nelems, pe);
}

int main(void)
{
    shmem_init();
    long value = 3;
    shmem_barrier_all();
    shmem_long_put(&word, &value, 1, 0);
    shmem_quiet();
    shmem_free(shmem_malloc(8));
    shmem_free(shmem_calloc(1, 8));
    shmem_long_p(&word, 3, 0);
    shmem_barrier_all();
    shmem_finalize();
    CHECK_EQUAL(barriers, 2);
    CHECK_EQUAL(quiets, 1);
    CHECK_EQUAL(mallocs, 1);
    CHECK_EQUAL(put_calls, 1);
    return api_result();
}
