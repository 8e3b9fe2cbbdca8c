/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a page cannot be had, populate says -ENOMEM, in both ways of doing it. Beyond the end of a file is where every machine can show it:
 * a plain store there is SIGBUS, as on a full tmpfs.
 */
#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

static bool old_kernel;

static int watched_madvise(void *address, size_t bytes, int advice)
{
    if (advice == 23 /* MADV_POPULATE_WRITE */ && old_kernel) {
        errno = EINVAL;
        return -1;
    }
    return madvise(address, bytes, advice);
}

#define madvise watched_madvise
#include "runtime/pages.c"
#undef madvise

#include "tests/unit/emulator.h"
#include "tests/unit/unit.h"

#include <setjmp.h>
#include <signal.h>

static sigjmp_buf after_sigbus;

static void leave_store(int number)
{
    siglongjmp(after_sigbus, number);
}

/* The machine really raises it here, or this test would show nothing. */
static bool store_raises_sigbus(volatile char *address)
{
    if (sigsetjmp(after_sigbus, 1) != 0) return true;
    *address = 1;
    return false;
}

static void check_beyond_the_end(void)
{
    size_t page = small_page_bytes();
    int    fd   = memfd_create("unit", MFD_CLOEXEC);
    CHECK_EQ_I64(ftruncate(fd, (off_t)(4 * page)), 0);
    char *map = mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK_EQ_I64(shmemi_pages_populate(map, 4 * page), 0);
    CHECK_EQ_I64(shmemi_pages_populate(map, 8 * page), -ENOMEM);
    CHECK_EQ_I64(shmemi_pages_populate(map + 6 * page, 1), -ENOMEM);
    CHECK(store_raises_sigbus(map + 6 * page));
    munmap(map, 8 * page);
    close(fd);
    CHECK_EQ_I64(shmemi_pages_populate(map, page), 0); /* remembered, until it is told that the file is gone */
    shmemi_pages_forget();
    CHECK_EQ_I64(shmemi_pages_populate(map, page), -ENOMEM); /* not mapped at all */
}

int main(void)
{
    signal(SIGBUS, leave_store);
    bool emulated = emulator_ignores_advice();
    if (!emulated) check_beyond_the_end();
    old_kernel = true;
    check_beyond_the_end();
    return unit_result_without(emulated ? EMULATED_ADVICE : NULL);
}
