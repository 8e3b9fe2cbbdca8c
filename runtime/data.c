/* SPDX-License-Identifier: Apache-2.0
 *
 * Spec: OpenSHMEM 1.6 §3 Memory Model
 *
 * Static objects of the executable as symmetric memory: its writable, non-RELRO pages are copied into a part of the node's file, and
 * that part is mapped over them. A load or store of a static object is then a load or store of memory that peers map too.
 *
 * A child of fork must not share that memory with its parent. So there are three fork handlers: "prepare" copies what is in use into
 * private pages, the child moves these pages over the range before anything else runs in it, the parent drops them.
 *
 * Removal copies nothing, since other threads may be storing into the range: it maps the same file over the range again, privately.
 * What was stored before is in the file, what is stored later goes to pages of this process only.
 *
 * Everything between "prepare" and its counterparts, and everything that moves the range, is a raw system call or a plain loop:
 * sanitizers replace the C library's functions, and theirs take locks, or refuse the red zones that lie between static objects.
 *
 * Invariant: nothing in this file that a child reads before its pages are private lies inside the range (shmemi_data_find sees to it).
 * Design: docs/static-data.md.  Tests: tests/data/.
 */
#include "runtime/data.h"

#include "runtime/base/attr.h"
#include "runtime/base/log.h"
#include "runtime/base/num.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

/* For code that reads or writes static objects whole: a sanitizer sees red zones and races there that are none of ours. */
#define RAW_MEMORY __attribute__((noinline, no_sanitize("address"), no_sanitize("thread"), no_sanitize("undefined")))

/*
 * Defined by the linker script of `oshcc -static` only: whole pages between them hold the C library's data and ours. Elsewhere both are
 * undefined, and their addresses NULL.
 */
extern char postern_private_start[] __attribute__((weak, visibility("default")));
extern char postern_private_end[] __attribute__((weak, visibility("default")));

typedef ElfW(Phdr) program_header;

/* One stretch of whole pages to share. Nearly always there is one; large code models make more. */
struct part {
    uintptr_t start, file_end, end; /* [start, file_end) came from the executable's file, the rest is .bss */
};

enum {
    PARTS_MAX          = 4,
    KERNEL_SIGSET_SIZE = 8,   /* on every machine but MIPS                                              */
    CHUNK_PAGES        = 256, /* pages looked up at a time: the tables must fit the stack of any thread */
};

/* A hole between parts costs room in the file of every PE. */
static const size_t gap_bytes_max = (size_t)1 << 30;

struct layout {
    size_t      page_bytes;
    size_t      parts;
    struct part part[PARTS_MAX];
    const char *reason; /* not NULL: statics are not symmetric */
    uint64_t    identity[2];
};

/* Where the pages of a part come from. Zeroed: they are this process's own, as the program was loaded or after a fork. */
struct place {
    enum {
        OWN,
        SHARED, /* the file, mapped shared                                                                            */
        LEFT,   /* the file, mapped privately: pages that nobody wrote since the removal have their contents only there */
    } state;
    int   fd;     /* SHARED: our own descriptor of the file, as the caller may close its one */
    dev_t device; /* not OWN: device and inode of the file, to know it again                 */
    ino_t inode;
    off_t at; /* the part's place in the file */

    unsigned char *held; /* LEFT: 1 for each page that the file holds, else 0. NULL: not known */
    char          *copy; /* SHARED, while a fork is under way: a private copy of the part      */
};

static struct {
    _Atomic int   busy;       /* held while the fields below change, and from fork's prepare to its end */
    bool          registered; /* the fork handlers                                                      */
    struct layout layout;     /* zeroed until the first install                                         */
    struct place  place[PARTS_MAX];

    /* While a fork is under way. */
    int      snapshot_err;
    uint64_t signals; /* mask to restore */
} shared;

/* ---- Finding the range ------------------------------------------------------------------------------------------------------- */

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static void add_part(struct layout *layout, struct part part)
{
    if (part.start >= part.end) return;
    if (layout->parts == PARTS_MAX) {
        layout->reason = "the executable has too many writable segments";
        return;
    }
    if (part.file_end < part.start) part.file_end = part.start;
    if (part.file_end > part.end) part.file_end = part.end;
    layout->part[layout->parts++] = part;
}

struct hole {
    uintptr_t start, end;
};

/* Add what is left of the part beside the holes. */
static void add_part_without(struct layout *layout, struct part part, const struct hole *hole, size_t holes)
{
    if (holes == 0) {
        add_part(layout, part);
    } else if (hole->start >= hole->end || hole->end <= part.start || hole->start >= part.end) {
        add_part_without(layout, part, hole + 1, holes - 1);
    } else {
        struct part below = part, above = part;
        below.end   = hole->start;
        above.start = hole->end;
        add_part_without(layout, below, hole + 1, holes - 1);
        add_part_without(layout, above, hole + 1, holes - 1);
    }
}

/*
 * Pages of one writable segment without those that the dynamic linker protects (it rounds both ends of RELRO down, and so do we) and
 * those that the linker script set apart.
 */
static void add_segment(struct layout *layout, uintptr_t load_bias, const program_header *segment, const program_header *relro)
{
    size_t      page    = layout->page_bytes;
    uintptr_t   first   = load_bias + segment->p_vaddr;
    struct hole hole[2] = {{(uintptr_t)postern_private_start, (uintptr_t)postern_private_end}};
    struct part part    = {.start = shmemi_round_down(first, page), .end = shmemi_round_up(first + segment->p_memsz, page)};
    part.file_end       = segment->p_filesz > 0 ? shmemi_round_up(first + segment->p_filesz, page) : part.start;
    if (relro) {
        hole[1].start = shmemi_round_down(load_bias + relro->p_vaddr, page);
        hole[1].end   = shmemi_round_down(load_bias + relro->p_vaddr + relro->p_memsz, page);
    }
    add_part_without(layout, part, hole, 2);
}

/* The note's description bytes, or NULL. */
static const unsigned char *find_build_id(const unsigned char *notes, size_t bytes, size_t *id_bytes_out)
{
    while (bytes >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        memcpy(&note, notes, sizeof note);
        size_t name_bytes = shmemi_round_up(note.n_namesz, 4), desc_bytes = shmemi_round_up(note.n_descsz, 4);
        size_t whole = sizeof note + name_bytes + desc_bytes;
        if (name_bytes > bytes || desc_bytes > bytes || whole > bytes) return NULL;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(notes + sizeof note, "GNU", 4) == 0) {
            *id_bytes_out = note.n_descsz;
            return notes + sizeof note + name_bytes;
        }
        notes += whole;
        bytes -= whole;
    }
    return NULL;
}

/* shmemi_hash over bytes that may hold red zones. */
RAW_MEMORY static uint64_t hash_raw(uint64_t hash, const volatile unsigned char *bytes, size_t count)
{
    unsigned char copy[1024];
    while (count > 0) {
        size_t n = count < sizeof copy ? count : sizeof copy;
        for (size_t i = 0; i < n; i++) copy[i] = bytes[i];
        hash = shmemi_hash(hash, copy, n);
        bytes += n;
        count -= n;
    }
    return hash;
}

/*
 * Two PEs may share statics if all objects lie at the same offsets. The table of segments alone catches most differences; the
 * build id, or without one the first segment (headers, symbols, often code), catches the rest.
 */
static void identify(struct layout *layout, const struct dl_phdr_info *exe)
{
    const unsigned char *what  = NULL;
    size_t               bytes = 0;
    const ElfW(Phdr) *first    = NULL;
    for (size_t i = 0; i < exe->dlpi_phnum; i++) {
        const program_header *header = &exe->dlpi_phdr[i];
        if (header->p_type == PT_LOAD && !first) first = header;
        if (header->p_type == PT_NOTE && !what) {
            what = find_build_id((const unsigned char *)(exe->dlpi_addr + header->p_vaddr), header->p_memsz, &bytes);
        }
    }
    if (!what && first && !(first->p_flags & PF_W)) {
        what  = (const unsigned char *)(exe->dlpi_addr + first->p_vaddr);
        bytes = first->p_filesz;
    }
    for (uint64_t half = 0; half < 2; half++) {
        uint64_t hash          = shmemi_hash(half, exe->dlpi_phdr, exe->dlpi_phnum * sizeof exe->dlpi_phdr[0]);
        layout->identity[half] = what ? hash_raw(hash, what, bytes) : hash;
    }
}

/* Reasons that the list of segments alone tells. */
static const char *refuse_executable(const struct dl_phdr_info *exe)
{
    bool interpreter = false;
    for (size_t i = 0; i < exe->dlpi_phnum; i++) {
        const program_header *header = &exe->dlpi_phdr[i];
        if (header->p_type == PT_INTERP) interpreter = true;
        if (header->p_type == PT_LOAD && (header->p_flags & PF_W) && (header->p_flags & PF_X)) {
            return "the executable has code in a writable segment";
        }
    }
    if (!interpreter && !postern_private_start)
        return "static executable; link it with oshcc -static, which sets libc's data apart";
    return NULL;
}

/* Reasons that the parts tell. */
static const char *refuse_parts(const struct layout *layout)
{
    if (layout->parts == 0) return "the executable has no writable data";
    for (size_t i = 0; i < layout->parts; i++) {
        const struct part *part = &layout->part[i];
        uintptr_t          own  = (uintptr_t)&shared;
        if (i > 0 && (part->start < part[-1].end || part->start - part[-1].end > gap_bytes_max)) {
            return "the executable's writable segments lie too far apart";
        }
        if (own >= part->start && own < part->end) {
            return "libpostern is linked into the executable; link with oshcc, or oshcc -static";
        }
    }
    return NULL;
}

/* The executable comes first in the list of loaded objects; the result 1 ends the walk. */
static int visit_executable(struct dl_phdr_info *exe, size_t info_bytes, void *arg)
{
    struct layout        *layout = arg;
    const program_header *relro  = NULL;
    (void)info_bytes;
    for (size_t i = 0; i < exe->dlpi_phnum; i++) {
        if (exe->dlpi_phdr[i].p_type == PT_GNU_RELRO) relro = &exe->dlpi_phdr[i];
    }
    layout->reason = refuse_executable(exe);
    for (size_t i = 0; i < exe->dlpi_phnum && !layout->reason; i++) {
        const program_header *header = &exe->dlpi_phdr[i];
        if (header->p_type == PT_LOAD && (header->p_flags & PF_W)) add_segment(layout, exe->dlpi_addr, header, relro);
    }
    if (!layout->reason) layout->reason = refuse_parts(layout);
    identify(layout, exe);
    return 1;
}

static void find_layout(struct layout *layout_out)
{
    *layout_out = (struct layout){.page_bytes = page_size()};
    if (dl_iterate_phdr(visit_executable, layout_out) != 1) layout_out->reason = "the executable's program headers are not known";
}

/* The path, or the last bytes of it where it is long. */
static void name_executable(char *name_out, size_t name_bytes)
{
    char    path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    if (length <= 0) {
        snprintf(name_out, name_bytes, "(unknown)");
        return;
    }
    size_t shown = (size_t)length < name_bytes ? (size_t)length : name_bytes - 1;
    memcpy(name_out, path + (size_t)length - shown, shown);
    name_out[shown] = '\0';
}

int shmemi_data_find(struct shmemi_data *data_out)
{
    struct layout layout;
    find_layout(&layout);

    struct shmemi_data data = {.identity = {layout.identity[0], layout.identity[1]}};
    name_executable(data.executable, sizeof data.executable);
    if (layout.reason) {
        snprintf(data.reason, sizeof data.reason, "%s", layout.reason);
    } else {
        data.base  = layout.part[0].start;
        data.bytes = layout.part[layout.parts - 1].end - data.base;
        for (size_t i = 0; i < layout.parts; i++) {
            if (layout.part[i].file_end > layout.part[i].start) data.file_bytes = layout.part[i].file_end - data.base;
        }
    }
    *data_out = data;
    return 0;
}

/* ---- Raw system calls -------------------------------------------------------------------------------------------------------- */

static uint64_t block_signals(void)
{
    uint64_t all = ~(uint64_t)0, before = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, KERNEL_SIGSET_SIZE);
    return before;
}

static void restore_signals(uint64_t mask)
{
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, KERNEL_SIGSET_SIZE);
}

/* Result is MAP_FAILED with errno set on failure. */
static void *map_raw(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
}

/* Zeros, which take memory when they are touched. Result is MAP_FAILED with errno set on failure. */
static void *map_zeros(size_t bytes)
{
    return map_raw(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static void unmap_raw(void *address, size_t bytes)
{
    syscall(SYS_munmap, address, bytes);
}

/* Move private pages over the range: in one step, so no thread ever meets a hole. 0 or a negative errno. */
static int move_over(uintptr_t range, char *pages, size_t bytes)
{
    long result = syscall(SYS_mremap, pages, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, range);
    return result == -1 ? -errno : 0;
}

static int write_all(int fd, uintptr_t from, size_t bytes, off_t at)
{
    while (bytes > 0) {
        long wrote = syscall(SYS_pwrite64, fd, from, bytes, at);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return wrote < 0 ? -errno : -EIO;
        from += (size_t)wrote;
        bytes -= (size_t)wrote;
        at += wrote;
    }
    return 0;
}

static int read_all(int fd, char *to, size_t bytes, off_t at)
{
    while (bytes > 0) {
        long got = syscall(SYS_pread64, fd, to, bytes, at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return got < 0 ? -errno : -EIO;
        to += got;
        bytes -= (size_t)got;
        at += got;
    }
    return 0;
}

/*
 * One thread at a time moves the range or forks. Signals are blocked first: a handler that ran in between and forked would wait for
 * itself, and what it stored would be lost. Waiting is rare (two threads fork at once) and may sleep; no C library lock, as a
 * sanitizer's fork holds its own ones here.
 */
static uint64_t enter(void)
{
    const struct timespec pause   = {.tv_nsec = 20000};
    uint64_t              signals = block_signals();
    /* acquire: pairs with the release in leave(), so the fields that the last owner wrote are seen */
    while (atomic_exchange_explicit(&shared.busy, 1, memory_order_acquire)) syscall(SYS_nanosleep, &pause, NULL);
    return signals;
}

static void leave(uint64_t signals)
{
    atomic_store_explicit(&shared.busy, 0, memory_order_release);
    restore_signals(signals);
}

/* ---- Which pages are in use -------------------------------------------------------------------------------------------------- */

RAW_MEMORY static bool page_is_zero(uintptr_t page, size_t page_bytes)
{
    const volatile uint64_t *word = (const volatile uint64_t *)page;
    for (size_t i = 0; i < page_bytes / sizeof *word; i++) {
        if (word[i] != 0) return false;
    }
    return true;
}

/* volatile keeps the compiler from calling memcpy, which sanitizers replace. */
RAW_MEMORY static void copy_page(char *to, uintptr_t from, size_t page_bytes)
{
    volatile uint64_t       *out = (volatile uint64_t *)(void *)to;
    const volatile uint64_t *in  = (const volatile uint64_t *)from;
    for (size_t i = 0; i < page_bytes / sizeof *in; i++) out[i] = in[i];
}

/*
 * mincore() overlooks pages in swap, so it is believed on machines without swap only. False: it cannot tell.
 */
static bool ask_mincore(uintptr_t start, size_t pages, size_t page_bytes, unsigned char *used_out)
{
    struct sysinfo machine;
    if (sysinfo(&machine) != 0 || machine.totalswap != 0) return false;
    return syscall(SYS_mincore, start, pages * page_bytes, used_out) == 0;
}

static bool ask_pagemap(int pagemap, uintptr_t start, size_t pages, size_t page_bytes, unsigned char *used_out)
{
    uint64_t entry[CHUNK_PAGES];
    assert(pages <= CHUNK_PAGES);
    if (pagemap < 0) return false;
    if (read_all(pagemap, (char *)entry, pages * sizeof entry[0], (off_t)(start / page_bytes * sizeof entry[0])) != 0) return false;
    for (size_t i = 0; i < pages; i++) used_out[i] = (entry[i] >> 62) != 0; /* bit 63: present, bit 62: swapped */
    return true;
}

/*
 * Mark (with 1) those of `pages` pages from start on that may hold something: CHUNK_PAGES at most. pagemap is -1 where
 * /proc/self/pagemap cannot be read or cannot tell: then pages that are all zero need no copy either. held, where it is not NULL,
 * marks pages that hold something though they are not in the page table.
 */
static void find_used(int pagemap, const unsigned char *held, uintptr_t start, size_t pages, size_t page_bytes,
                      unsigned char *used_out)
{
    if (ask_pagemap(pagemap, start, pages, page_bytes, used_out)) {
        for (size_t i = 0; held && i < pages; i++) used_out[i] |= held[i];
        return;
    }
    if (!ask_mincore(start, pages, page_bytes, used_out)) memset(used_out, 1, pages);
    for (size_t i = 0; i < pages; i++) {
        used_out[i] = (used_out[i] & 1) && !page_is_zero(start + i * page_bytes, page_bytes); /* mincore defines bit 0 only */
    }
}

/* ---- Copying ----------------------------------------------------------------------------------------------------------------- */

/* Write runs of marked pages. */
static int write_used(int fd, uintptr_t start, size_t pages, size_t page_bytes, const unsigned char *used, off_t at)
{
    for (size_t i = 0; i < pages;) {
        size_t n = 0;
        while (i + n < pages && used[i + n]) n++;
        if (n > 0) {
            int err = write_all(fd, start + i * page_bytes, n * page_bytes, at + (off_t)(i * page_bytes));
            if (err) return err;
        }
        i += n > 0 ? n : 1;
    }
    return 0;
}

/*
 * Copy .bss to the file at `at`, where the file is a hole already: only pages in use, so an untouched array costs nothing. Pages that
 * an earlier job left in its file are in use too, whether or not our page table has them.
 */
static int write_bss(int fd, const struct part *part, const struct place *old, size_t page_bytes, off_t at)
{
    bool                 left    = old->state == LEFT;
    int                  pagemap = left && !old->held ? -1 : open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    const unsigned char *held    = left && old->held ? old->held + (part->file_end - part->start) / page_bytes : NULL;
    int                  err     = 0;
    for (uintptr_t start = part->file_end; start < part->end && !err;) {
        unsigned char used[CHUNK_PAGES];
        size_t        pages = (part->end - start) / page_bytes;
        if (pages > CHUNK_PAGES) pages = CHUNK_PAGES;
        find_used(pagemap, held, start, pages, page_bytes, used);
        err = write_used(fd, start, pages, page_bytes, used, at);
        start += pages * page_bytes;
        at += (off_t)(pages * page_bytes);
        if (held) held += pages;
    }
    if (pagemap >= 0) close(pagemap);
    return err;
}

/* What an earlier job left in this place of the file must not show through the pages that are not copied. */
static int write_part(const struct part *part, const struct place *old, size_t page_bytes, int fd, off_t at)
{
    off_t bss_at = at + (off_t)(part->file_end - part->start);
    int   err    = write_all(fd, part->start, part->file_end - part->start, at);
    if (err || part->file_end == part->end) return err;
    if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, bss_at, (off_t)(part->end - part->file_end)) != 0) {
        return write_all(fd, part->file_end, part->end - part->file_end, bss_at);
    }
    return write_bss(fd, part, old, page_bytes, bss_at);
}

/* Is our descriptor still the file? A program may have closed all descriptors that it does not know, and opened others. */
static bool file_is_ours(const struct place *place)
{
    struct stat now;
    return place->state == SHARED && syscall(SYS_fstat, place->fd, &now) == 0 && now.st_dev == place->device &&
           now.st_ino == place->inode;
}

struct stretch {
    off_t start, end;
};

/* The next bytes in [at, end) that the file really has: 1; none: 0; or a negative errno from a kernel that cannot tell. */
static int next_stretch(int fd, off_t at, off_t end, struct stretch *stretch_out)
{
    if (at >= end) return 0;
    off_t data = (off_t)syscall(SYS_lseek, fd, at, SEEK_DATA);
    if (data == -1) return errno == ENXIO ? 0 : -errno;
    if (data >= end) return 0;
    off_t hole   = (off_t)syscall(SYS_lseek, fd, data, SEEK_HOLE);
    *stretch_out = (struct stretch){data, hole == -1 || hole > end ? end : hole};
    return 1;
}

/* Copy the pages that the file really has; holes read as zero, and so do fresh private pages. */
static int read_part(char *to, size_t bytes, int fd, off_t at)
{
    off_t          first = at, end = at + (off_t)bytes;
    struct stretch stretch;
    int            found;
    while ((found = next_stretch(fd, at, end, &stretch)) == 1) {
        int err = read_all(fd, to + (stretch.start - first), (size_t)(stretch.end - stretch.start), stretch.start);
        if (err) return err;
        at = stretch.end;
    }
    return found == 0 ? 0 : read_all(fd, to + (at - first), (size_t)(end - at), at);
}

/* The same without the file. Swap and what only a peer touched are not in our page table, so pagemap is no help. */
static void read_part_in_place(char *to, const struct part *part, size_t page_bytes)
{
    unsigned char used[CHUNK_PAGES];
    for (uintptr_t at = part->start; at < part->end; at += CHUNK_PAGES * page_bytes) {
        size_t pages = (part->end - at) / page_bytes;
        if (pages > CHUNK_PAGES) pages = CHUNK_PAGES;
        find_used(-1, NULL, at, pages, page_bytes, used);
        for (size_t i = 0; i < pages; i++) {
            uintptr_t page = at + i * page_bytes;
            if (used[i]) copy_page(to + (page - part->start), page, page_bytes);
        }
    }
}

/* ---- Private pages in place of shared ones ----------------------------------------------------------------------------------- */

static size_t part_bytes(size_t index)
{
    return shared.layout.part[index].end - shared.layout.part[index].start;
}

static bool any_shared(void)
{
    for (size_t i = 0; i < shared.layout.parts; i++) {
        if (shared.place[i].state == SHARED) return true;
    }
    return false;
}

/* The part's pages come from elsewhere now. */
static void set_place(size_t index, struct place now)
{
    struct place *place = &shared.place[index];
    if (file_is_ours(place)) syscall(SYS_close, place->fd);
    if (place->held) unmap_raw(place->held, part_bytes(index) / shared.layout.page_bytes);
    *place = now;
}

static void drop_snapshot(void)
{
    for (size_t i = 0; i < shared.layout.parts; i++) {
        if (shared.place[i].copy) unmap_raw(shared.place[i].copy, part_bytes(i));
        shared.place[i].copy = NULL;
    }
}

/* Copy the part as it is now into private pages elsewhere. 0 or a negative errno; *copy_out is to be unmapped in both cases. */
static int copy_part(size_t index, char **copy_out)
{
    struct place *place = &shared.place[index];
    char         *copy  = map_zeros(part_bytes(index));
    if (copy == MAP_FAILED) return -errno;
    *copy_out = copy;
    if (file_is_ours(place)) return read_part(copy, part_bytes(index), place->fd, place->at);
    read_part_in_place(copy, &shared.layout.part[index], shared.layout.page_bytes);
    return 0;
}

/* Copy all parts that are shared. 0 or a negative errno, with nothing kept. */
static int take_snapshot(void)
{
    int err = 0;
    for (size_t i = 0; i < shared.layout.parts && !err; i++) {
        if (shared.place[i].state == SHARED) err = copy_part(i, &shared.place[i].copy);
    }
    if (err) drop_snapshot();
    return err;
}

/* Put the copy of a part in its place. 0, or a negative errno with the copy kept. */
static int use_copy(size_t index)
{
    int err = move_over(shared.layout.part[index].start, shared.place[index].copy, part_bytes(index));
    if (!err) set_place(index, (struct place){.state = OWN});
    return err;
}

/* ---- Fork -------------------------------------------------------------------------------------------------------------------- */

static void fork_prepare(void)
{
    int      saved_errno = errno;
    uint64_t signals     = enter();
    shared.signals       = signals;
    shared.snapshot_err  = take_snapshot();
    errno                = saved_errno;
}

/* Also after a fork that failed. */
static void fork_parent(void)
{
    int saved_errno = errno;
    drop_snapshot();
    leave(shared.signals);
    errno = saved_errno;
}

SHMEMI_COLD SHMEMI_NORETURN static void end_child(int err)
{
    shmemi_error("could not give a child of fork its own copy of the static objects: %s" WHY
                 "fork copies the pages of them that are in use" FIX
                 "start other programs by posix_spawn, which copies nothing, or put large arrays into the symmetric heap",
                 strerror(-err));
    _exit(127);
}

/*
 * Until the pages have moved, a store to a static object would reach the parent and its peers. This handler was registered first, in
 * a constructor, so it runs before those of the program.
 */
static void fork_child(void)
{
    int saved_errno = errno;
    for (size_t i = 0; i < shared.layout.parts; i++) {
        if (shared.place[i].state != SHARED) continue;
        int err = shared.snapshot_err;
        if (!err) err = use_copy(i);
        if (err) end_child(err);
    }
    leave(shared.signals);
    errno = saved_errno;
}

/*
 * Handlers run in order of registration in the child and in reverse before the fork. Registered first, ours copies last and restores
 * first: a lock that the program's own handlers take and release is taken in the copy too, and is never released in the shared pages.
 */
__attribute__((constructor(101))) static void register_fork_handlers(void)
{
    if (!shared.registered) shared.registered = pthread_atfork(fork_prepare, fork_parent, fork_child) == 0;
}

/* ---- Install and remove ------------------------------------------------------------------------------------------------------ */

/* Which pages of the part the file holds, or NULL. */
static unsigned char *list_held(const struct place *place, size_t bytes, size_t page_bytes)
{
    unsigned char *held = map_zeros(bytes / page_bytes);
    if (held == MAP_FAILED) return NULL;

    off_t          at = place->at, end = place->at + (off_t)bytes;
    struct stretch stretch;
    int            found;
    while ((found = next_stretch(place->fd, at, end, &stretch)) == 1) {
        size_t first = (size_t)(stretch.start - place->at) / page_bytes;
        size_t last  = (size_t)(stretch.end - 1 - place->at) / page_bytes;
        memset(held + first, 1, last - first + 1);
        at = stretch.end;
    }
    if (found == 0) return held;
    unmap_raw(held, bytes / page_bytes);
    return NULL;
}

/*
 * Map the file over the part again, privately. Other threads may load and store there all the while: they see the one mapping or the
 * other, and each store reaches the file before, or a page of our own after.
 *
 * The mapping is made elsewhere and moved, because older kernels take the old one away before they find that they cannot make the new
 * one. It has no access until it is unlocked: after mlockall(MCL_FUTURE) the kernel would copy every page right away, too early.
 */
static int leave_in_file(size_t index)
{
    struct place *place = &shared.place[index];
    size_t        bytes = part_bytes(index);
    char         *pages = map_raw(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_NORESERVE, place->fd, place->at);
    if (pages == MAP_FAILED) return -errno;
    syscall(SYS_munlock, pages, bytes);
    int err = syscall(SYS_mprotect, pages, bytes, PROT_READ | PROT_WRITE) == 0 ? 0 : -errno;
    if (!err) err = move_over(shared.layout.part[index].start, pages, bytes);
    if (err) {
        unmap_raw(pages, bytes);
        return err;
    }

    /* Nothing is stored into the file any more, so the list stays true, and the descriptor is needed no longer. */
    struct place now = {.state = LEFT, .device = place->device, .inode = place->inode, .at = place->at};
    now.held         = list_held(place, bytes, shared.layout.page_bytes);
    set_place(index, now);
    return 0;
}

/* What other threads store between the copy and the move is lost, so this is only for parts whose file we do not have. */
static int copy_out(size_t index)
{
    int err = copy_part(index, &shared.place[index].copy);
    if (!err) err = use_copy(index);
    if (err) drop_snapshot();
    return err;
}

static void remove_locked(void)
{
    int err = 0;
    for (size_t i = 0; i < shared.layout.parts && !err; i++) {
        if (shared.place[i].state == SHARED) err = file_is_ours(&shared.place[i]) ? leave_in_file(i) : copy_out(i);
    }
    if (err) {
        shmemi_warn("could not make the static objects private again: %s" WHY "the machine could not give a mapping for them" FIX
                    "nothing is lost: they stay in memory that peers can map until the program ends",
                    strerror(-err));
    }
}

/* Parts that an earlier job left in this same file would be overwritten while they are copied. 0 or a negative errno. */
static int leave_same_file(const struct stat *file)
{
    int err = 0;
    for (size_t i = 0; i < shared.layout.parts && !err; i++) {
        const struct place *place = &shared.place[i];
        if (place->state == LEFT && place->device == file->st_dev && place->inode == file->st_ino) err = copy_out(i);
    }
    return err;
}

/* A descriptor of our own for each part. 0 or a negative errno, with none kept. */
static int open_places(const struct layout *layout, int fd, const struct stat *file, off_t offset, struct place *place_out)
{
    for (size_t i = 0; i < layout->parts; i++) {
        int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        if (own == -1) {
            int err = -errno;
            while (i > 0) close(place_out[--i].fd);
            return err;
        }
        off_t at     = offset + (off_t)(layout->part[i].start - layout->part[0].start);
        place_out[i] = (struct place){.state = SHARED, .fd = own, .device = file->st_dev, .inode = file->st_ino, .at = at};
    }
    return 0;
}

/* Copy all parts, then map them. 0, or a negative errno with no part shared; descriptors are closed where they are not kept. */
static int fill_places(const struct place *place, const char **step_out)
{
    const struct layout *layout = &shared.layout;
    size_t               mapped = 0;
    int                  err    = 0;
    *step_out                   = "copy the static objects";
    for (size_t i = 0; i < layout->parts && !err; i++) {
        err = write_part(&layout->part[i], &shared.place[i], layout->page_bytes, place[i].fd, place[i].at);
    }
    if (!err) *step_out = "map the file over the static objects";
    for (; mapped < layout->parts && !err; mapped += !err) {
        void *start = (void *)layout->part[mapped].start;
        if (map_raw(start, part_bytes(mapped), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, place[mapped].fd,
                    place[mapped].at) == MAP_FAILED) {
            err = -errno;
        } else {
            set_place(mapped, place[mapped]);
        }
    }
    if (!err) return 0;
    for (size_t i = mapped; i < layout->parts; i++) close(place[i].fd);
    remove_locked(); /* if it cannot, the parts keep their fork handlers */
    return err;
}

/* 0 or a negative errno; *step_out names what failed. */
static int install_locked(const struct layout *layout, int fd, off_t offset, const char **step_out)
{
    *step_out = "register fork handlers";
    register_fork_handlers();
    if (!shared.registered) return -ENOMEM;

    *step_out = "look at the file";
    struct stat file;
    size_t      bytes = layout->part[layout->parts - 1].end - layout->part[0].start;
    if (fstat(fd, &file) != 0) return -errno;
    if (file.st_size < offset || (size_t)(file.st_size - offset) < bytes) return -EINVAL;

    *step_out = "make the pages of an earlier job private";
    remove_locked();
    if (any_shared()) return -EBUSY;
    int err = leave_same_file(&file);
    if (err) return err;

    *step_out = "keep the file open";
    struct place place[PARTS_MAX];
    shared.layout = *layout;
    err           = open_places(layout, fd, &file, offset, place);
    return err ? err : fill_places(place, step_out);
}

int shmemi_data_install(const struct shmemi_data *data, int fd, off_t offset)
{
    struct layout layout;
    find_layout(&layout);
    if (layout.reason || data->base != layout.part[0].start || offset < 0 || (size_t)offset % layout.page_bytes != 0) {
        shmemi_error("cannot make static objects symmetric: %s",
                     layout.reason ? layout.reason : "the range is not that of this executable, or the offset is no page boundary");
        return -EINVAL;
    }
    const char *step    = "";
    uint64_t    signals = enter();
    int         err     = install_locked(&layout, fd, offset, &step);
    leave(signals);
    if (err) {
        shmemi_error("could not make static objects symmetric (%zu MiB): %s" WHY "the attempt to %s failed" FIX
                     "give the node more memory, or set POSTERN_STATIC_DATA=0 if no static object is the target of a remote access",
                     data->bytes >> 20, strerror(-err), step);
    }
    return err;
}

void shmemi_data_remove(void)
{
    uint64_t signals = enter();
    remove_locked();
    leave(signals);
}
