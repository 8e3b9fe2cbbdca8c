/* SPDX-License-Identifier: Apache-2.0
 *
 * Populating more than the control group's limit allows is -ENOMEM, where the kernel would have killed the process.
 */
#include "runtime/pages.h"

#include "runtime/base/options.h"
#include "tests/unit/emulator.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static char group[200];

static bool write_group(const char *file, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", group, file);
    FILE *open = fopen(path, "w");
    if (!open) return false;
    bool good = fputs(text, open) >= 0;
    return fclose(open) == 0 && good;
}

/* A group of our own with a limit of 64 MiB, below whichever top this machine lets us write. */
static bool make_group(void)
{
    static const char *const tops[][2] = {
        {"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
        {"/sys/fs/cgroup", "memory.max"},
    };
    for (size_t i = 0; i < 2; i++) {
        snprintf(group, sizeof group, "%s/postern-unit-%d", tops[i][0], (int)getpid());
        if (mkdir(group, 0700) != 0) continue;
        if (write_group(tops[i][1], "67108864\n")) return true;
        rmdir(group);
    }
    return false;
}

/* Exit status 0: as it should be. */
static int populate_in_group(void)
{
    struct shmemi_pages      pages;
    struct shmemi_pages_room room;
    if (!write_group("cgroup.procs", "0\n")) return UNIT_SKIPPED;
    CHECK_EQ_I64(shmemi_pages_room("", &room), 0);
    CHECK_HAS(room.limit, "postern-unit");
    CHECK(room.bytes <= 64 * MIB);
    CHECK_EQ_I64(shmemi_pages_create(SHMEMI_PAGES_SMALL, 256 * MIB, 256 * MIB, &pages), 0);
    char *map = mmap(NULL, 256 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, pages.fd, 0);
    CHECK(map != MAP_FAILED);
    CHECK_EQ_I64(shmemi_pages_populate(map, 16 * MIB), 0);
    CHECK_EQ_I64(shmemi_pages_populate(map, 256 * MIB), -ENOMEM);
    /* Small ones too, in the end. */
    int result = 0;
    for (size_t at = 16 * MIB; at < 256 * MIB && result == 0; at += 64 << 10) result = shmemi_pages_populate(map + at, 64 << 10);
    CHECK_EQ_I64(result, -ENOMEM);
    return unit_result();
}

int main(void)
{
    int status = -1;
    if (emulator_ignores_advice()) return unit_skip(EMULATED_ADVICE);
    if (!make_group()) return unit_skip("may not make a control group with a memory limit");
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        int result = populate_in_group();
        fflush(stdout);
        _exit(result);
    }
    CHECK_EQ_I64(waitpid(pid, &status, 0), pid);
    CHECK_EQ_I64(rmdir(group), 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == UNIT_SKIPPED) return unit_skip("may not enter a control group");
    CHECK_EQ_I64(status, 0);
    return unit_result();
}
