/* SPDX-License-Identifier: Apache-2.0
 *
 * After the last finalize a fresh init finds the same nodes, an empty heap, and routes that work; statics keep their values. Nothing is left
 * open or mapped of the time before.
 * Spec: OpenSHMEM 1.6 §9.1.1 shmem_init, §9.1.4 shmem_finalize
 * ENV: SHMEM_SYMMETRIC_SIZE=2M
 * NODES: a,b
 * PES: 2 3
 */
#include "nodes.h"

#include <dirent.h>

enum { ROUNDS = 6 };

static long word;

static int count_descriptors(void)
{
    int  count = 0;
    DIR *dir   = opendir("/proc/self/fd");
    while (dir && readdir(dir)) count++;
    if (dir) closedir(dir);
    return count;
}

static int count_mappings(const char *text)
{
    int   count = 0;
    char  line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, text)) count++;
    if (maps) fclose(maps);
    return count;
}

int main(void)
{
    int descriptors = -1, shared = -1;
    for (long round = 0; round < ROUNDS; round++) {
        shmem_init();
        int   me = shmem_my_pe(), n = shmem_n_pes(), near[NODES_PES_MAX];
        long *block = shmem_malloc(1000 << 10); /* not freed */
        CHECK_EQUAL(shmem_team_n_pes(SHMEM_TEAM_SHARED), nodes_list_near(near));
        if (round > 0) CHECK_EQUAL(word, 20 * (round - 1) + (me + n - 1) % n);
        shmem_barrier_all();
        if (CHECK(block != NULL)) {
            shmem_long_p(block, 10 * round + me, (me + 1) % n);
            shmem_long_p(&word, 20 * round + me, (me + 1) % n);
            shmem_barrier_all();
            CHECK_EQUAL(*block, 10 * round + (me + n - 1) % n);
            CHECK_EQUAL(word, 20 * round + (me + n - 1) % n);
        }
        shmem_finalize();
        if (round == 0) descriptors = count_descriptors(), shared = count_mappings("postern-");
        CHECK_EQUAL(count_descriptors(), descriptors);
        CHECK_EQUAL(count_mappings("postern-"), shared);
    }
    return api_result();
}
