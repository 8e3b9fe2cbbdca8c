/* SPDX-License-Identifier: Apache-2.0
 *
 * The file behind the symmetric heaps: which pages it is made of, how they are populated, and how much there can be.
 *
 * Kinds, best first. Each one says why it cannot be had, and the next is tried:
 *   hugetlb     a memfd from the pool of huge pages that an administrator set aside. A fault on an empty pool would be SIGBUS, so
 *               all pages are reserved at once: a shared mapping reserves for the file, not for itself, so it is made and dropped.
 *   memfd-huge  a memfd, where the kernel is set to give those transparent huge pages.
 *   tmpfs-huge  a file on a tmpfs of our own with huge=always, mounted nowhere (pages_mount.c).
 *   small       a memfd. Always there.
 * No kind depends on /dev/shm or on any other file system that is mounted.
 *
 * Spec: OpenSHMEM 1.6 §9.3 (symmetric heap).  Tests: tests/unit/pages_*.
 */
#include "runtime/pages.h"

#include "runtime/base/attr.h"
#include "runtime/base/log.h"
#include "runtime/base/num.h"
#include "runtime/base/options.h"
#include "runtime/pages_mount.h"
#include "runtime/sysfile.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Newer than the C library's headers of Debian 12. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008u
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* Names in /proc/PID/maps. */
#define FILE_NAME         "postern"
#define HUGETLB_FILE_NAME "postern-hugetlb"

enum {
    MIB                  = 1 << 20,
    HEAP_BYTES_DEFAULT   = 256 * MIB,
    HEAP_BYTES_MIN       = 1 * MIB,
    HEAP_SHRINK_UNIT     = 2 * MIB,
    TMPFS_HEAP_BYTES_MIN = 16 * MIB, /* below, the 3.5 ms for the child are not earned back */
    POPULATE_CHUNK_BYTES = 32 * MIB,
    POPULATE_CHECK_MIN   = 8 * MIB, /* after so much the limits are looked at (0.2 ms), and so much must be left over */
    POPULATE_CHECK_MAX   = 256 * MIB,
    POPULATE_CHECK_PART =
        256, /* in between: one part in so many of what was left, so that the PEs of a node together stay below it */
    REASON_MAX = 96,
};

static size_t small_page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* The default pool of huge pages: size of a page (0: no such pages), and pages that nobody has been promised. */
static size_t hugetlb_pool(uint64_t *free_pages_out)
{
    uint64_t                          page_kib = 0, free_pages = 0, promised = 0;
    const struct shmemi_sysfile_field fields[] = {
        {"HugePages_Free:", &free_pages}, {"HugePages_Rsvd:", &promised}, {"Hugepagesize:", &page_kib}};
    shmemi_sysfile_fields("", "/proc/meminfo", fields, 3);
    *free_pages_out = free_pages > promised ? free_pages - promised : 0;
    return (size_t)page_kib << 10;
}

static size_t hugetlb_page_bytes(void)
{
    uint64_t free_pages;
    return hugetlb_pool(&free_pages);
}

/* Size of a transparent huge page, or 0. It is asked for a dozen times at start-up and does not change. */
static size_t thp_bytes(void)
{
    static _Atomic size_t known;
    uint64_t              bytes = atomic_load_explicit(&known, memory_order_relaxed);
    if (bytes != 0) return (size_t)bytes;
    if (!shmemi_sysfile_number("", "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", &bytes)) return 0;
    atomic_store_explicit(&known, (size_t)bytes, memory_order_relaxed);
    return (size_t)bytes;
}

/* --- which kinds are possible; each fills in reason where not --- */

struct want {
    size_t heap_bytes, total_bytes;
};

static bool hugetlb_possible(struct want want, char *reason)
{
    uint64_t free_pages;
    size_t   page_bytes = hugetlb_pool(&free_pages);
    if (page_bytes == 0) {
        snprintf(reason, REASON_MAX, "this kernel has none");
    } else if (want.heap_bytes < page_bytes) {
        snprintf(reason, REASON_MAX, "the heap is smaller than a page of %zu KiB", page_bytes >> 10);
    } else if (free_pages == 0) {
        snprintf(reason, REASON_MAX, "none free in the pool");
    } else {
        return true;
    }
    return false;
}

/* What both kinds of transparent huge pages need. */
static bool thp_possible(struct want want, char *reason)
{
    size_t page_bytes = thp_bytes();
    if (page_bytes == 0) {
        snprintf(reason, REASON_MAX, "no transparent huge pages in this kernel");
    } else if (want.heap_bytes < page_bytes) {
        snprintf(reason, REASON_MAX, "the heap is smaller than a page of %zu KiB", page_bytes >> 10);
    } else if (prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 1) {
        snprintf(reason, REASON_MAX, "switched off for this process");
    } else {
        return true;
    }
    return false;
}

/* The word in brackets of a file such as "always within_size [never]". */
static bool read_choice(const char *path, char *word, size_t word_bytes)
{
    char line[128];
    if (!shmemi_sysfile_line("", path, line, sizeof line)) return false;
    char *begin = strchr(line, '['), *end = begin ? strchr(begin, ']') : NULL;
    if (!end) return false;
    *end = '\0';
    snprintf(word, word_bytes, "%s", begin + 1);
    return true;
}

/* The kernel's rule for shmem: that of the size, where newer kernels have one that does not say "inherit", else the general one. */
static bool shmem_rule(char *word, size_t word_bytes)
{
    char path[96];
    snprintf(path, sizeof path, "/sys/kernel/mm/transparent_hugepage/hugepages-%zukB/shmem_enabled", thp_bytes() >> 10);
    if (read_choice(path, word, word_bytes) && strcmp(word, "inherit") != 0) return true;
    return read_choice("/sys/kernel/mm/transparent_hugepage/shmem_enabled", word, word_bytes);
}

static bool memfd_huge_possible(struct want want, char *reason)
{
    char rule[16] = "";
    if (!thp_possible(want, reason)) return false;
    shmem_rule(rule, sizeof rule);
    /* populate() gives the madvise that "advise" asks for. */
    static const char *const good[] = {"always", "within_size", "advise", "force"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        if (strcmp(rule, good[i]) == 0) return true;
    }
    snprintf(reason, REASON_MAX, "shmem_enabled is %s", rule[0] ? rule : "absent");
    return false;
}

static bool tmpfs_possible(struct want want, char *reason)
{
    char rule[16] = "";
    if (!thp_possible(want, reason)) return false;
    if (want.heap_bytes < TMPFS_HEAP_BYTES_MIN) {
        snprintf(reason, REASON_MAX, "not worth it for a heap below %d MiB", TMPFS_HEAP_BYTES_MIN / MIB);
    } else if (read_choice("/sys/kernel/mm/transparent_hugepage/shmem_enabled", rule, sizeof rule) && strcmp(rule, "deny") == 0) {
        snprintf(reason, REASON_MAX, "shmem_enabled is deny");
    } else {
        return true;
    }
    return false;
}

static bool small_possible(struct want want, char *reason)
{
    (void)want;
    (void)reason;
    return true;
}

/* --- opening each kind: a descriptor of an empty file, or a negative errno with a reason --- */

static int open_memfd(const char *name, unsigned flags)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_NOEXEC_SEAL | flags);
    if (fd < 0 && errno == EINVAL) fd = memfd_create(name, MFD_CLOEXEC | flags); /* before Linux 6.3 */
    return fd < 0 ? -errno : fd;
}

static int open_small(char *reason)
{
    int fd = open_memfd(FILE_NAME, 0);
    if (fd < 0) snprintf(reason, REASON_MAX, "memfd_create: %s", strerror(-fd));
    return fd;
}

static int open_hugetlb(char *reason)
{
    int fd = open_memfd(HUGETLB_FILE_NAME, MFD_HUGETLB);
    if (fd < 0) snprintf(reason, REASON_MAX, "memfd_create: %s", strerror(-fd));
    return fd;
}

static int open_tmpfs(char *reason)
{
    return shmemi_pages_mount_open(reason, REASON_MAX);
}

/* --- the kinds in order --- */

static const struct page_kind {
    int         mode; /* enum shmemi_option_pages */
    const char *word; /* as in POSTERN_PAGES      */
    const char *name;
    bool (*possible)(struct want want, char *reason);
    size_t (*unit)(void);
    int (*open)(char *reason);
    const char *fix;
} kinds[] = {
    {SHMEMI_PAGES_HUGETLB, "hugetlb", "hugetlb", hugetlb_possible, hugetlb_page_bytes, open_hugetlb,
     "set more pages aside (sysctl vm.nr_hugepages), or POSTERN_PAGES=auto"},
    {SHMEMI_PAGES_MEMFD, "memfd", "memfd-huge", memfd_huge_possible, thp_bytes, open_small,
     "echo advise >/sys/kernel/mm/transparent_hugepage/shmem_enabled as root, or POSTERN_PAGES=auto"},
    {SHMEMI_PAGES_TMPFS, "tmpfs", "tmpfs-huge", tmpfs_possible, thp_bytes, open_tmpfs,
     "allow user namespaces to this user, or POSTERN_PAGES=auto"},
    {SHMEMI_PAGES_SMALL, "small", "small", small_possible, small_page_bytes, open_small,
     "lower SHMEM_SYMMETRIC_SIZE, or raise the limit"},
};
enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

static bool mode_allows(int mode, const struct page_kind *kind)
{
    return mode == SHMEMI_PAGES_AUTO || mode == kind->mode;
}

/* Make the file total_bytes long; of hugetlb pages, also reserve them all. */
static int size_file(const struct page_kind *kind, int fd, size_t total_bytes, char *reason)
{
    size_t file_bytes = shmemi_round_up(total_bytes, kind->unit());
    if (ftruncate(fd, (off_t)file_bytes) != 0) {
        snprintf(reason, REASON_MAX, "%zu MiB: %s", file_bytes >> 20, strerror(errno));
        return -errno;
    }
    if (kind->mode != SHMEMI_PAGES_HUGETLB) return 0;
    void *all = mmap(NULL, file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (all == MAP_FAILED) {
        int      err        = -errno;
        uint64_t free_pages = 0;
        size_t   page_bytes = hugetlb_pool(&free_pages);
        snprintf(reason, REASON_MAX, "%zu MiB needed, %" PRIu64 " MiB free in the pool: %s", file_bytes >> 20,
                 (free_pages * page_bytes) >> 20, strerror(-err));
        return err;
    }
    munmap(all, file_bytes);
    return 0;
}

/* One attempt: the descriptor or a negative errno with a reason. */
static int open_kind(const struct page_kind *kind, struct want want, char *reason)
{
    reason[0] = '\0';
    if (!kind->possible(want, reason)) return -ENOTSUP;
    int fd = kind->open(reason);
    if (fd < 0) return fd;
    int err = size_file(kind, fd, want.total_bytes, reason);
    if (err) {
        close(fd);
        return err;
    }
    return fd;
}

static SHMEMI_COLD int report_failure(const struct page_kind *kind, struct want want, int err, const char *reason)
{
    shmemi_error("could not get %zu MiB of %s pages for the symmetric heaps" WHY "%s" FIX "%s", want.total_bytes >> 20, kind->word,
                 reason, kind->fix);
    return err;
}

/* Growing a file past this limit would raise SIGXFSZ, so look first. */
static int check_file_limit(struct want want)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || want.total_bytes <= limit.rlim_cur) return 0;
    shmemi_error("could not create a file of %zu MiB for the symmetric heaps" WHY "the limit of a file's size is %llu MiB" FIX
                 "ulimit -f unlimited, or lower SHMEM_SYMMETRIC_SIZE",
                 want.total_bytes >> 20, (unsigned long long)limit.rlim_cur >> 20);
    return -EFBIG;
}

/* Append "word: reason" to detail, as far as there is room. */
static void add_detail(char *detail, size_t detail_bytes, const char *word, const char *reason)
{
    size_t used = strlen(detail);
    snprintf(detail + used, detail_bytes - used, "%s%s: %s", used ? "; " : "", word, reason);
}

size_t shmemi_pages_unit(int mode, size_t heap_bytes)
{
    char   reason[REASON_MAX];
    size_t unit = small_page_bytes();
    for (int i = 0; i < KIND_COUNT; i++) {
        struct want want = {.heap_bytes = heap_bytes};
        if (!mode_allows(mode, &kinds[i]) || !kinds[i].possible(want, reason)) continue;
        if (kinds[i].unit() > unit) unit = kinds[i].unit();
    }
    return unit; /* the largest of those that may be taken: right for each of them */
}

int shmemi_pages_create(int mode, size_t heap_bytes, size_t total_bytes, struct shmemi_pages *pages_out)
{
    struct want         want  = {.heap_bytes = heap_bytes, .total_bytes = total_bytes};
    struct shmemi_pages pages = {.fd = -1};
    char                reason[REASON_MAX];
    int                 err = check_file_limit(want);
    if (err) return err;
    for (int i = 0; i < KIND_COUNT; i++) {
        if (!mode_allows(mode, &kinds[i])) continue;
        int fd = open_kind(&kinds[i], want, reason);
        if (fd >= 0) {
            pages.fd         = fd;
            pages.page_bytes = kinds[i].unit();
            snprintf(pages.kind, sizeof pages.kind, "%s", kinds[i].name);
            *pages_out = pages;
            return 0;
        }
        if (mode != SHMEMI_PAGES_AUTO || i == KIND_COUNT - 1) return report_failure(&kinds[i], want, fd, reason);
        add_detail(pages.detail, sizeof pages.detail, kinds[i].word, reason);
    }
    assert(false && "mode is one of enum shmemi_option_pages");
    return -EINVAL;
}

/* --- populate --- */

/* Of whole pages: bytes that are not in memory yet. At most POPULATE_CHUNK_BYTES. */
static size_t missing_bytes(char *address, size_t bytes, size_t page_bytes)
{
    unsigned char resident[POPULATE_CHUNK_BYTES / 4096];
    size_t        pages = bytes / page_bytes, missing = 0;
    assert(pages <= sizeof resident);
    if (mincore(address, bytes, resident) != 0) return bytes;
    for (size_t i = 0; i < pages; i++) missing += !(resident[i] & 1);
    return missing * page_bytes;
}

/*
 * Touch a page for writing without changing it and without a SIGBUS where no page can be had: the kernel itself does an atomic
 * OR with 0. Both futex words are looked up as private ones, so no waiter is woken (waits on symmetric memory are shared).
 */
static int touch_page(void *address)
{
    static uint32_t nobody_waits_here;
    const uint32_t  or_0_then_never_wake = (uint32_t)FUTEX_OP_OR << 28 | (uint32_t)FUTEX_OP_CMP_LT << 24 | 0x800; /* old < -2048 */
    long            result;
    do {
        result = syscall(SYS_futex, &nobody_waits_here, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, NULL, address, or_0_then_never_wake);
    } while (result < 0 && (errno == EAGAIN || errno == EINTR));
    return result < 0 ? -ENOMEM : 0;
}

static int touch_pages(char *address, size_t bytes, size_t page_bytes)
{
    for (size_t at = 0; at < bytes; at += page_bytes) {
        int err = touch_page(address + at);
        if (err) return err;
    }
    return 0;
}

/* Populate whole pages. */
static int populate_pages(char *address, size_t bytes, size_t page_bytes)
{
    int err;
    do {
        err = madvise(address, bytes, MADV_POPULATE_WRITE) == 0 ? 0 : errno;
    } while (err == EINTR || err == EAGAIN);
    if (err == EINVAL) return touch_pages(address, bytes, page_bytes); /* before Linux 5.14 */
    return err ? -ENOMEM : 0;
}

/* Is address in a mapping of hugetlb pages? Those are promised already and not part of MemAvailable. */
static bool is_hugetlb(const void *address)
{
    FILE *file = shmemi_sysfile_open("", "/proc/self/maps");
    if (!file) return false;
    char      line[PATH_MAX + 128];
    bool      found = false, result = false;
    uintptr_t begin, end;
    while (!found && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &begin, &end) != 2) continue;
        found  = begin <= (uintptr_t)address && (uintptr_t)address < end;
        result = found && strstr(line, HUGETLB_FILE_NAME);
    }
    fclose(file);
    return result;
}

/* May missing_bytes be populated? Amounts are counted until they are worth a look, the more often the less was left at the last one. */
static bool may_populate(const void *address, size_t missing)
{
    static size_t uncounted, step = POPULATE_CHECK_MIN;
    uncounted += missing;
    if (uncounted < step) return true;
    uncounted     = 0;
    uint64_t left = shmemi_pages_room_left();
    uint64_t part = left / POPULATE_CHECK_PART;
    step          = part < POPULATE_CHECK_MIN ? POPULATE_CHECK_MIN : part > POPULATE_CHECK_MAX ? POPULATE_CHECK_MAX : (size_t)part;
    return left >= missing + POPULATE_CHECK_MIN || is_hugetlb(address);
}

/*
 * Pages that this process has populated: programs free and allocate the same blocks again and again, and asking the kernel each time costs more than
 * all the rest of the call. A page stays: nobody gives heap pages back before the end, and one that was swapped out comes back by itself. An entry
 * stands for 64 pages, a bit for each, and takes the place of another that lies a multiple of 1 GiB (with pages of 4 KiB) away: that costs a look.
 */
enum { RUN_PAGES = 64, KNOWN_RUNS = 4096 };
static struct known_run {
    uintptr_t number; /* of its first page / RUN_PAGES */
    uint64_t  pages;
} known[KNOWN_RUNS];
static bool      anything_known;           /* else the table is not even touched */
static uintptr_t lately_first, lately_end; /* the last range that was found in the table: a large one has many entries */

void shmemi_pages_forget(void)
{
    if (anything_known) memset(known, 0, sizeof known);
    anything_known = false;
    lately_first = lately_end = 0;
}

/* Of the run: those of the pages first ... end - 1 that are in it. */
static uint64_t pages_of_run(uintptr_t run, uintptr_t first, uintptr_t end)
{
    uintptr_t begin = run * RUN_PAGES;
    uint64_t  mask  = ~UINT64_C(0);
    if (first > begin) mask &= ~UINT64_C(0) << (first - begin);
    if (end < begin + RUN_PAGES) mask &= ~(~UINT64_C(0) << (end - begin));
    return mask;
}

static bool all_known(uintptr_t first, uintptr_t end)
{
    if (lately_first <= first && end <= lately_end) return true;
    if (end - first > (uintptr_t)KNOWN_RUNS * RUN_PAGES) return false;
    for (uintptr_t run = first / RUN_PAGES; run * RUN_PAGES < end; run++) {
        const struct known_run *entry = &known[run % KNOWN_RUNS];
        uint64_t                pages = pages_of_run(run, first, end);
        if (entry->number != run || (entry->pages & pages) != pages) return false;
    }
    lately_first = first;
    lately_end   = end;
    return true;
}

static void make_known(uintptr_t first, uintptr_t end)
{
    anything_known = true;
    for (uintptr_t run = first / RUN_PAGES; run * RUN_PAGES < end; run++) {
        struct known_run *entry = &known[run % KNOWN_RUNS];
        if (entry->number != run) *entry = (struct known_run){.number = run};
        entry->pages |= pages_of_run(run, first, end);
    }
}

/* The part of a range that is populated by one call. */
static size_t chunk_bytes(const char *at, const char *end)
{
    return (size_t)(end - at) < POPULATE_CHUNK_BYTES ? (size_t)(end - at) : POPULATE_CHUNK_BYTES;
}

/* Whole pages; missing: how many bytes of them are not in memory yet. */
static int populate_missing(char *begin, char *end, size_t page_bytes, size_t missing)
{
    for (char *at = begin; at < end && missing > 0; at += POPULATE_CHUNK_BYTES) {
        size_t chunk = chunk_bytes(at, end);
        /* Other PEs populate at the same time, so look again before each chunk; a range of one was looked at just now. */
        size_t missing_here = chunk == (size_t)(end - begin) ? missing : missing_bytes(at, chunk, page_bytes);
        if (missing_here == 0) continue;
        if (!may_populate(at, missing)) return -ENOMEM;
        if (chunk >= HEAP_SHRINK_UNIT)
            madvise(at, chunk, MADV_HUGEPAGE); /* for shmem_enabled=advise; elsewhere it changes nothing */
        int err = populate_pages(at, chunk, page_bytes);
        if (err) return err;
        missing -= missing_here < missing ? missing_here : missing;
    }
    return 0;
}

int shmemi_pages_populate(void *address, size_t bytes)
{
    size_t    page_bytes = small_page_bytes(), missing = 0;
    char     *begin      = (char *)((uintptr_t)address & ~(uintptr_t)(page_bytes - 1));
    char     *end        = begin + shmemi_round_up((size_t)((char *)address + bytes - begin), page_bytes);
    uintptr_t first_page = (uintptr_t)begin / page_bytes, end_page = (uintptr_t)end / page_bytes;
    if (all_known(first_page, end_page)) return 0;
    for (char *at = begin; at < end; at += POPULATE_CHUNK_BYTES) missing += missing_bytes(at, chunk_bytes(at, end), page_bytes);
    int err = populate_missing(begin, end, page_bytes, missing);
    if (err) return err;
    make_known(first_page, end_page);
    return 0;
}

/* --- the size of a heap --- */

static bool fits(const struct shmemi_pages_room *room, size_t heap_bytes, size_t other_bytes, int pes)
{
    size_t one, all;
    return shmemi_add_size(heap_bytes, other_bytes, &one) && shmemi_mul_size(one, (size_t)pes, &all) && all <= room->bytes;
}

/* Three quarters of the room, so that something is left for the program itself: the rest in whole 2 MiB, or 1 MiB, or 0. */
static size_t shrunk_default(const struct shmemi_pages_room *room, size_t other_bytes, int pes)
{
    uint64_t share = (room->bytes - room->bytes / 4) / (uint64_t)pes;
    share          = share > other_bytes ? share - other_bytes : 0;
    if (share >= HEAP_BYTES_DEFAULT) return HEAP_BYTES_DEFAULT;
    if (share >= HEAP_SHRINK_UNIT) return shmemi_round_down((size_t)share, HEAP_SHRINK_UNIT);
    return share >= HEAP_BYTES_MIN ? HEAP_BYTES_MIN : 0;
}

static SHMEMI_COLD int report_no_room(const struct shmemi_pages_room *room, size_t heap_bytes, size_t other_bytes, int pes)
{
    shmemi_error(
        "could not reserve the symmetric memory: %d PE%s x %zu MiB of heap and %zu MiB of static data and control pages" WHY
        "there are %" PRIu64 " MiB (%s)" FIX
        "lower SHMEM_SYMMETRIC_SIZE or start fewer PEs per node, or POSTERN_OVERCOMMIT=1 to go on all the same",
        pes, pes == 1 ? "" : "s", (heap_bytes >> 20), (other_bytes + MIB - 1) >> 20, room->bytes >> 20, room->limit);
    return -ENOMEM;
}

int shmemi_pages_heap_size(const struct shmemi_pages_room *room, size_t asked_bytes, size_t other_bytes, int pes, int overcommit,
                           size_t *heap_bytes_out)
{
    assert(pes > 0);
    bool   by_default = asked_bytes == SIZE_MAX;
    size_t heap_bytes = by_default ? HEAP_BYTES_DEFAULT : asked_bytes;
    if (!overcommit && by_default) {
        heap_bytes = shrunk_default(room, other_bytes, pes);
        if (heap_bytes == 0) return report_no_room(room, HEAP_BYTES_MIN, other_bytes, pes);
        if (heap_bytes < HEAP_BYTES_DEFAULT) {
            shmemi_info("the symmetric heap is %zu MiB per PE instead of %d MiB" WHY "%" PRIu64 " MiB are there for %d PE%s (%s)",
                        heap_bytes >> 20, HEAP_BYTES_DEFAULT / MIB, room->bytes >> 20, pes, pes == 1 ? "" : "s", room->limit);
        }
    }
    if (!overcommit && !fits(room, heap_bytes, other_bytes, pes)) return report_no_room(room, heap_bytes, other_bytes, pes);
    *heap_bytes_out = heap_bytes;
    return 0;
}
