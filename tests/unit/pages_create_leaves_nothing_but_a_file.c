/* SPDX-License-Identifier: Apache-2.0
 *
 * Every kind of pages is either given, as a shared file of the right size, or refused with a reason; and either way no mount, process,
 * signal or descriptor is left behind, whatever the program does with SIGCHLD and while it has other threads.
 */
#include "runtime/pages.h"

#include "runtime/base/num.h"
#include "runtime/base/options.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static volatile sig_atomic_t signals;
static atomic_bool           stop;

static void count_signal(int number)
{
    (void)number;
    signals = signals + 1;
}

/* Holds the C library's locks as often as it can. */
static void *allocate_all_the_time(void *unused)
{
    /* Relaxed: only the value matters. */
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) free(malloc(100000));
    return unused;
}

static size_t count_entries(const char *folder)
{
    size_t count = 0;
    DIR   *open  = opendir(folder);
    while (open && readdir(open)) count++;
    if (open) closedir(open);
    return count;
}

static size_t count_lines(const char *path)
{
    size_t count = 0;
    FILE  *file  = fopen(path, "r");
    for (int c; file && (c = getc(file)) != EOF;) count += c == '\n';
    if (file) fclose(file);
    return count;
}

/* Two mappings are the same memory, to the last byte, and begin as zeros. */
static void check_file(const struct shmemi_pages *pages, size_t total_bytes)
{
    struct stat status;
    size_t      map_bytes = shmemi_round_up(total_bytes, pages->page_bytes);
    CHECK_EQ_I64(fstat(pages->fd, &status), 0);
    CHECK_EQ_I64(status.st_size, map_bytes);
    CHECK(fcntl(pages->fd, F_GETFD) & FD_CLOEXEC);
    char *one = mmap(NULL, map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, pages->fd, 0);
    char *two = mmap(NULL, map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, pages->fd, 0);
    CHECK(one != MAP_FAILED && two != MAP_FAILED);
    if (one == MAP_FAILED || two == MAP_FAILED) return;
    CHECK_EQ_I64(shmemi_pages_populate(one + total_bytes - 1, 1), 0);
    CHECK_EQ_I64(one[total_bytes - 1], 0);
    one[total_bytes - 1] = 42;
    CHECK_EQ_I64(two[total_bytes - 1], 42);
    munmap(one, map_bytes);
    munmap(two, map_bytes);
}

static void check_mode(int mode, size_t heap_bytes, const char *kind)
{
    struct shmemi_pages pages       = {.fd = -1, .kind = "?"};
    size_t              total_bytes = 3 * heap_bytes + 5000, unit = shmemi_pages_unit(mode, heap_bytes);
    size_t              mounts = count_lines("/proc/self/mountinfo"), files = count_entries("/proc/self/fd");
    int                 result = shmemi_pages_create(mode, heap_bytes, total_bytes, &pages);
    if (result == 0) {
        printf("mode %d, heap %zu KiB: %s (%s)\n", mode, heap_bytes >> 10, pages.kind, pages.detail);
        if (kind) CHECK_STR(pages.kind, kind);
        CHECK(pages.page_bytes <= unit);
        CHECK(unit % pages.page_bytes == 0);
        CHECK(strcmp(pages.kind, "hugetlb") == 0 || mode != SHMEMI_PAGES_AUTO || pages.detail[0] != '\0');
        check_file(&pages, total_bytes);
        close(pages.fd);
    } else {
        CHECK(result < 0);
        CHECK(mode != SHMEMI_PAGES_AUTO && mode != SHMEMI_PAGES_SMALL); /* these can always be had */
        CHECK_EQ_I64(pages.fd, -1);
    }
    CHECK_EQ_U64(count_lines("/proc/self/mountinfo"), mounts);
    CHECK_EQ_U64(count_entries("/proc/self/fd"), files);
    CHECK(waitpid(-1, NULL, WNOHANG | __WALL) == -1 && errno == ECHILD);
}

static void check_all_modes(void)
{
    for (int mode = SHMEMI_PAGES_AUTO; mode <= SHMEMI_PAGES_SMALL; mode++) {
        check_mode(mode, 64 * MIB, mode == SHMEMI_PAGES_SMALL ? "small" : mode == SHMEMI_PAGES_TMPFS ? "tmpfs-huge" : NULL);
    }
    check_mode(SHMEMI_PAGES_AUTO, 4096, "small"); /* smaller than any huge page */
}

int main(void)
{
    pthread_t thread;
    signal(SIGCHLD, count_signal);
    pthread_create(&thread, NULL, allocate_all_the_time, NULL);
    check_all_modes();
    signal(SIGCHLD, SIG_IGN);
    check_all_modes();
    atomic_store_explicit(&stop, true, memory_order_relaxed);
    pthread_join(thread, NULL);
    CHECK_EQ_I64(signals, 0);
    return unit_result();
}
