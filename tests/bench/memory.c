/* SPDX-License-Identifier: Apache-2.0
 *
 * What a PE takes once it has started: the sums over all PEs, in KiB. PSS counts a page that n processes share as 1/n in each, so its sum is what
 * the job takes of the machine. "node" is the shared file of control blocks and static data, "heap" that of the heaps: pages that are there, not the size.
 */
#include <dirent.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PSS, RSS, PRIVATE, OWN_FIGURES };

static void read_own(long *kib_out)
{
    static const char *const names[] = {"Pss:", "Rss:", "Private_Dirty:"};
    char                     line[256];
    FILE                    *file = fopen("/proc/self/smaps_rollup", "re");
    while (file && fgets(line, sizeof line, file)) {
        for (int i = 0; i < OWN_FIGURES; i++)
            if (strncmp(line, names[i], strlen(names[i])) == 0) kib_out[i] = strtol(line + strlen(names[i]), NULL, 10);
    }
    if (file) fclose(file);
}

/* Of the files without a name that this process holds: memfd or tmpfs. */
static void read_files(long *node_kib_out, long *heap_kib_out)
{
    char           path[300], target[256];
    struct stat    file;
    struct dirent *entry;
    DIR           *folder = opendir("/proc/self/fd");
    while (folder && (entry = readdir(folder))) {
        snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
        ssize_t length = readlink(path, target, sizeof target - 1);
        if (length < 0 || stat(path, &file) != 0 || !S_ISREG(file.st_mode)) continue;
        target[length] = '\0';
        if (strstr(target, "postern-node")) *node_kib_out = file.st_blocks / 2;
        else if (strstr(target, "(deleted)")) *heap_kib_out = file.st_blocks / 2;
    }
    if (folder) closedir(folder);
}

static long own[OWN_FIGURES], sum[OWN_FIGURES];

int main(void)
{
    long node_kib = 0, heap_kib = 0;
    shmem_init();
    shmem_barrier_all(); /* all have started */
    read_own(own);
    if (shmem_my_pe() == 0) read_files(&node_kib, &heap_kib);
    shmem_barrier_all(); /* nobody has gone on yet: what follows takes memory too */
    shmem_sum_reduce(SHMEM_TEAM_WORLD, sum, own, OWN_FIGURES);
    if (shmem_my_pe() == 0)
        printf("pss_kib %ld rss_kib %ld private_kib %ld node_kib %ld heap_kib %ld\n", sum[PSS], sum[RSS], sum[PRIVATE], node_kib,
               heap_kib);
    shmem_finalize();
    return 0;
}
