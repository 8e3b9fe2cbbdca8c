/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 0
 *
 * A PE, or rank 0, is killed while the job still waits for a rank that does not come: the other processes get -ECONNRESET and say who is gone,
 * though they have no limit of time. They are not ended.
 * Spec: none; shmemx_init_attr is an extension
 */
#include "own.h"

#include <dirent.h>

static int pe(int rank, int npes)
{
    shmemx_uniqueid_t id = own_id(rank);
    CHECK_EQUAL(own_init(rank, npes + 1, &id, -1), -ECONNRESET);
    return api_result();
}

/* The process has an eventfd: the library opens one when it has joined. */
static bool has_joined(pid_t pid)
{
    char folder[64], path[400], target[64];
    snprintf(folder, sizeof folder, "/proc/%ld/fd", (long)pid);
    DIR *dir   = opendir(folder);
    bool found = false;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        ssize_t length = readlink(path, target, sizeof target - 1);
        if (length <= 0) continue;
        target[length] = '\0';
        if (strstr(target, "eventfd")) found = true;
    }
    if (dir) closedir(dir);
    return found;
}

static void kill_one(int who)
{
    char       text[32];
    struct own job = own_begin(3, pe);
    for (int rank = 0; rank < 3; rank++)
        while (!has_joined(job.pe[rank].pid)) usleep(2000);
    kill(job.pe[who].pid, SIGKILL);
    own_end(&job);
    snprintf(text, sizeof text, "PE %d is gone", who);
    for (int rank = 0; rank < 3; rank++) {
        if (rank == who) continue;
        own_expect(&job, rank, 0, text);
        CHECK_EQUAL(own_count(job.pe[rank].said, "postern: "), 1);
    }
}

int main(void)
{
    alarm(OWN_GUARD_S);
    kill_one(0);
    kill_one(1);
    return api_result();
}
