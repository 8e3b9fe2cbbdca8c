/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts, says whether there is a GPU heap, and ends. For the scripts of this folder. With an argument: puts to the next PE before.
 */
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <string.h>

static void put_around(void *memory)
{
    int  me = shmem_my_pe(), n = shmem_n_pes();
    long seen;
    shmem_long_p(memory, me + 1, (me + 1) % n);
    shmem_barrier_all();
    shmem_getmem(&seen, memory, sizeof seen, me);
    if (seen != (me + n - 1) % n + 1) printf("wrong value %ld\n", seen);
}

int main(int argc, char **argv)
{
    int level;
    (void)argv;
    if (shmem_init_thread(SHMEM_THREAD_SINGLE, &level) != 0) return 3;
    void *memory = shmem_malloc_with_hints(64, SHMEMX_MEM_CUDA);
    if (argc > 1 && memory) put_around(memory);
    if (shmem_my_pe() == 0) printf(memory ? "with a GPU heap\n" : "without a GPU heap\n");
    shmem_finalize();
    return 0;
}
