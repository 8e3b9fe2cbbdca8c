/* SPDX-License-Identifier: Apache-2.0
 *
 * ulimit -v, -f and -n give a message and an error, or a smaller heap, and never a signal. Fault B31.
 */
#include "runtime/pages.h"

#include "runtime/base/options.h"
#include "tests/unit/emulator.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

/* Sanitizers reserve terabytes of address space. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#elif defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED false
#endif

static void set_limit(int which, rlim_t value)
{
    struct rlimit limit;
    CHECK_EQ_I64(getrlimit((__rlimit_resource_t)which, &limit), 0);
    limit.rlim_cur = value;
    CHECK_EQ_I64(setrlimit((__rlimit_resource_t)which, &limit), 0);
}

static rlim_t address_space_used(void)
{
    unsigned long pages = 0;
    FILE         *file  = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu", &pages) != 1) pages = 0;
    if (file) fclose(file);
    return pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void address_space(void)
{
    struct shmemi_pages_room room;
    struct shmemi_pages      pages;
    size_t                   heap_bytes = 0;
    set_limit(RLIMIT_AS, address_space_used() + 64 * MIB);
    CHECK_EQ_I64(shmemi_pages_room("", &room), 0);
    CHECK_STR(room.limit, "RLIMIT_AS, ulimit -v");
    CHECK(room.bytes <= 64 * MIB && room.bytes > 32 * MIB);
    CHECK_EQ_I64(shmemi_pages_heap_size(&room, 256 * MIB, 0, 1, 0, &heap_bytes), -ENOMEM);
    CHECK_EQ_I64(shmemi_pages_heap_size(&room, SIZE_MAX, 0, 1, 0, &heap_bytes), 0);
    CHECK(heap_bytes >= 16 * MIB && heap_bytes <= 48 * MIB);
    CHECK_EQ_I64(shmemi_pages_create(SHMEMI_PAGES_AUTO, heap_bytes, heap_bytes, &pages), 0);
    char *map = mmap(NULL, heap_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, pages.fd, 0);
    CHECK(map != MAP_FAILED);
    if (map != MAP_FAILED) CHECK_EQ_I64(shmemi_pages_populate(map, heap_bytes), 0);
}

static void file_size(void)
{
    struct shmemi_pages_room room;
    struct shmemi_pages      pages = {.fd = -1};
    set_limit(RLIMIT_FSIZE, 8 * MIB);
    CHECK_EQ_I64(shmemi_pages_room("", &room), 0);
    CHECK_STR(room.limit, "RLIMIT_FSIZE, ulimit -f");
    CHECK_EQ_U64(room.bytes, 8 * MIB);
    CHECK_EQ_I64(shmemi_pages_create(SHMEMI_PAGES_AUTO, 32 * MIB, 32 * MIB, &pages), -EFBIG);
    CHECK_EQ_I64(pages.fd, -1);
    CHECK_EQ_I64(shmemi_pages_create(SHMEMI_PAGES_AUTO, 8 * MIB, 8 * MIB, &pages), 0);
}

static void descriptors(void)
{
    struct shmemi_pages pages = {.fd = -1};
    int                 last  = open("/dev/null", O_RDONLY | O_CLOEXEC);
    for (int extra = 0; extra <= 3; extra++) { /* none free, then one, two, three */
        set_limit(RLIMIT_NOFILE, (rlim_t)(last + 1 + extra));
        int result = shmemi_pages_create(SHMEMI_PAGES_AUTO, 32 * MIB, 32 * MIB, &pages);
        if (extra == 0) CHECK_EQ_I64(result, -EMFILE);
        if (extra > 0) CHECK_EQ_I64(result, 0);
        if (result == 0) printf("%d free: %s (%s)\n", extra, pages.kind, pages.detail);
        if (result == 0) close(pages.fd);
        struct shmemi_pages_room room;
        CHECK_EQ_I64(shmemi_pages_room("", &room), 0); /* with what can still be read */
    }
}

static void processes(void)
{
    struct shmemi_pages pages;
    set_limit(RLIMIT_NPROC, 1); /* has no effect on root */
    CHECK_EQ_I64(shmemi_pages_create(SHMEMI_PAGES_AUTO, 32 * MIB, 32 * MIB, &pages), 0);
}

/* In a process of its own, since lowered limits stay. */
static void check_alone(const char *name, void (*body)(void))
{
    int status = -1;
    printf("%s\n", name);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        body();
        int result = unit_result();
        fflush(stdout);
        _exit(result);
    }
    CHECK(pid > 0);
    CHECK_EQ_I64(waitpid(pid, &status, 0), pid);
    CHECK_EQ_I64(status, 0);
}

int main(void)
{
    bool emulated = emulator_ignores_address_space_limit();
    if (!SANITIZED && !emulated) check_alone("address space", address_space);
    check_alone("size of a file", file_size);
    check_alone("descriptors", descriptors);
    check_alone("processes", processes);
    return unit_result_without(emulated ? EMULATED_LIMIT : NULL);
}
