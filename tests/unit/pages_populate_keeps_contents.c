/* SPDX-License-Identifier: Apache-2.0
 *
 * Populating makes every page of the range present, whole pages at both ends, and changes no byte, also on kernels that do not know
 * the call for it (before Linux 5.14).
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>

static bool     old_kernel;
static unsigned populate_calls;

static int watched_madvise(void *address, size_t bytes, int advice)
{
    if (advice == 23 /* MADV_POPULATE_WRITE */) {
        populate_calls++;
        if (old_kernel) {
            errno = EINVAL;
            return -1;
        }
    }
    return madvise(address, bytes, advice);
}

#define madvise watched_madvise
#include "runtime/pages.c"
#undef madvise

#include "tests/unit/emulator.h"
#include "tests/unit/unit.h"

enum { PAGES = 64 };

static size_t count_resident(char *map, size_t page)
{
    unsigned char resident[PAGES];
    size_t        count = 0;
    CHECK_EQ_I64(mincore(map, PAGES * page, resident), 0);
    for (size_t i = 0; i < PAGES; i++) count += resident[i] & 1;
    return count;
}

static void check_populate(void)
{
    size_t page = small_page_bytes(), used = 40 * page;
    int    fd = memfd_create("unit", MFD_CLOEXEC);
    CHECK_EQ_I64(ftruncate(fd, (off_t)(PAGES * page)), 0);
    char *map = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    shmemi_pages_forget();   /* of the last file, which may have lain here too */
    map[7 * page + 3] = 'x'; /* already here, with contents */
    CHECK_EQ_I64(shmemi_pages_populate(map, 0), 0);
    CHECK_EQ_U64(count_resident(map, page), 1);
    CHECK_EQ_I64(shmemi_pages_populate(map + 5 * page + page - 1, used),
                 0); /* the last byte of page 5 to the last but one of page 45 */
    CHECK_EQ_U64(count_resident(map, page), 41);
    for (size_t i = 0; i < PAGES * page; i++) {
        if (map[i] != (i == 7 * page + 3 ? 'x' : 0)) CHECK_EQ_U64(i, SIZE_MAX);
    }

    unsigned calls = populate_calls;
    CHECK_EQ_I64(shmemi_pages_populate(map + 6 * page, used - page), 0); /* nothing to do any more */
    CHECK_EQ_U64(populate_calls, calls);
    munmap(map, PAGES * page);
    close(fd);
}

/* The old way, page by page, must not lose what others add at the same time. */
static void *add_ones(void *word)
{
    for (int i = 0; i < 200000; i++) atomic_fetch_add_explicit((_Atomic uint32_t *)word, 1, memory_order_relaxed);
    return NULL;
}

static void check_touch_is_atomic(void)
{
    size_t    page = small_page_bytes();
    uint32_t *word = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_t thread;
    pthread_create(&thread, NULL, add_ones, word);
    for (int i = 0; i < 100000; i++) CHECK_EQ_I64(touch_page(word), 0);
    pthread_join(thread, NULL);
    CHECK_EQ_U64(*word, 200000);
    munmap(word, page);
}

int main(void)
{
    bool emulated = emulator_ignores_advice();
    if (!emulated) check_populate();
    old_kernel = true;
    check_populate();
    check_touch_is_atomic();
    return unit_result_without(emulated ? EMULATED_ADVICE : NULL);
}
