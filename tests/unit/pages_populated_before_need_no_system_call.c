/* SPDX-License-Identifier: Apache-2.0
 *
 * What was populated once is known, page by page, and is populated again without a system call: in parts and as a whole, across every boundary of
 * the table, small and large. What is not known is asked for. A page that takes another's place in the table is the one that is known.
 */
#include <stddef.h>
#include <sys/mman.h>

static int calls;

static int counted_madvise(void *address, size_t bytes, int advice)
{
    calls++;
    return madvise(address, bytes, advice);
}

static int counted_mincore(void *address, size_t bytes, unsigned char *resident)
{
    calls++;
    return mincore(address, bytes, resident);
}

#define madvise counted_madvise
#define mincore counted_mincore
#include "runtime/pages.c"
#undef madvise
#undef mincore

#include "tests/unit/emulator.h"
#include "tests/unit/unit.h"

static size_t page;
static char  *map;

static int calls_of(size_t first_page, size_t pages)
{
    calls = 0;
    CHECK_EQ_I64(shmemi_pages_populate(map + first_page * page, pages * page), 0);
    return calls;
}

static void check_boundaries(void)
{
    /* Lengths and places around those of an entry. */
    for (size_t first = 0; first < 3 * RUN_PAGES; first += 13) {
        for (size_t pages = 1; pages < 3 * RUN_PAGES; pages += 7) {
            shmemi_pages_forget();
            CHECK(calls_of(first + 1, pages) > 0);
            CHECK_EQ_I64(calls_of(first + 1, pages), 0);
            CHECK_EQ_I64(calls_of(first + pages, 1), 0);
            CHECK(calls_of(first, 1) > 0);
            CHECK(calls_of(first + pages + 1, 1) > 0);
            CHECK_EQ_I64(calls_of(first, pages + 2), 0);
            CHECK(calls_of(first, pages + 3) > 0);
        }
    }
}

static void check_large(void)
{
    size_t pages = (size_t)64 * MIB / page;
    CHECK(calls_of(0, pages) > 0);
    CHECK_EQ_I64(calls_of(0, pages), 0);
    CHECK_EQ_I64(calls_of(7, pages - 9), 0);
}

static void check_places_taken(void)
{
    size_t away = (size_t)KNOWN_RUNS * RUN_PAGES;
    shmemi_pages_forget();
    CHECK(calls_of(5, 1) > 0);
    CHECK(calls_of(away + 5, 1) > 0);
    CHECK_EQ_I64(calls_of(away + 5, 1), 0);
    CHECK(calls_of(away + 6, 1) > 0);
    CHECK(calls_of(5, 1) > 0);
    CHECK(calls_of(6, 1) > 0);
}

int main(void)
{
    if (emulator_ignores_advice()) return unit_skip(EMULATED_ADVICE);
    page         = small_page_bytes();
    size_t bytes = ((size_t)KNOWN_RUNS + 1) * RUN_PAGES * page;
    int    fd    = memfd_create("unit", MFD_CLOEXEC);
    CHECK_EQ_I64(ftruncate(fd, (off_t)bytes), 0);
    map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(map != MAP_FAILED);
    if (map == MAP_FAILED) return unit_result();
    check_boundaries();
    check_large();
    check_places_taken();
    munmap(map, bytes);
    close(fd);
    return unit_result();
}
