/* SPDX-License-Identifier: Apache-2.0
 *
 * A quick first fi_getinfo.
 *
 * It runs the start-up code of every provider that the library was built with, whatever is asked for. That of verbs reads /proc/kallsyms twice,
 * line by line, to learn whether RDMA devices can reach GPU memory: 50 ms of each PE's start, more than all the rest, and of no use where there is no
 * such device. So there, while that call runs, the library's own fopen does not find this one file. Its table of imported functions has one
 * entry for fopen, and that is what is changed and put back; nobody else in the program is touched. Whatever is not as expected leaves it as it was:
 * slower, and no harm.
 */
#include "transports/libfabric/fabric.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__GLIBC__) && defined(__LP64__) && (defined(__x86_64__) || defined(__aarch64__))

#ifdef __x86_64__
enum { JUMP_SLOT = R_X86_64_JUMP_SLOT, GLOB_DAT = R_X86_64_GLOB_DAT };
#else
enum { JUMP_SLOT = R_AARCH64_JUMP_SLOT, GLOB_DAT = R_AARCH64_GLOB_DAT };
#endif

typedef FILE *open_function(const char *path, const char *mode);

static struct {
    void          *slot; /* NULL: nothing was changed */
    open_function *before;
} changed;

static FILE *open_all_but_one(const char *path, const char *mode)
{
    if (strcmp(path, "/proc/kallsyms") != 0) return changed.before(path, mode);
    errno = ENOENT;
    return NULL;
}

static bool has_rdma_device(void)
{
    DIR                 *folder = opendir("/sys/class/infiniband");
    const struct dirent *entry;
    bool                 found = false;
    while (folder && !found && (entry = readdir(folder)) != NULL) found = entry->d_name[0] != '.';
    if (folder) closedir(folder);
    return found;
}

/* The entry for fopen among `bytes` of relocations, or NULL. */
static void *find_slot(const struct link_map *map, const ElfW(Rela) * rows, size_t bytes, const ElfW(Sym) * symbols,
                       const char *names)
{
    for (size_t i = 0; rows && i < bytes / sizeof *rows; i++) {
        size_t type = ELF64_R_TYPE(rows[i].r_info);
        if (type != JUMP_SLOT && type != GLOB_DAT) continue;
        const char *name = names + symbols[ELF64_R_SYM(rows[i].r_info)].st_name;
        if (strcmp(name, "fopen") == 0 || strcmp(name, "fopen64") == 0) return (char *)map->l_addr + rows[i].r_offset; // NOLINT
    }
    return NULL;
}

static void *slot_of(void *handle)
{
    struct link_map *map    = NULL;
    const ElfW(Rela) *calls = NULL, *data = NULL;
    const ElfW(Sym) *symbols = NULL;
    const char *names        = NULL;
    size_t      calls_bytes = 0, data_bytes = 0;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map) return NULL;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) { /* glibc has made these addresses */
        switch (entry->d_tag) {
        case DT_JMPREL: calls = (const void *)entry->d_un.d_ptr; break;   // NOLINT
        case DT_RELA: data = (const void *)entry->d_un.d_ptr; break;      // NOLINT
        case DT_SYMTAB: symbols = (const void *)entry->d_un.d_ptr; break; // NOLINT
        case DT_STRTAB: names = (const void *)entry->d_un.d_ptr; break;   // NOLINT
        case DT_PLTRELSZ: calls_bytes = entry->d_un.d_val; break;
        case DT_RELASZ: data_bytes = entry->d_un.d_val; break;
        case DT_PLTREL:
            if (entry->d_un.d_val != DT_RELA) return NULL;
            break;
        default: break;
        }
    }
    if (!symbols || !names) return NULL;
    void *slot = find_slot(map, calls, calls_bytes, symbols, names);
    return slot ? slot : find_slot(map, data, data_bytes, symbols, names);
}

/* Write to an entry. The page is read-only after relocation, and is so again afterwards. */
static bool set_slot(void *slot, open_function *function)
{
    size_t    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t page       = (uintptr_t)slot & ~(uintptr_t)(page_bytes - 1);
    if (mprotect((void *)page, page_bytes, PROT_READ | PROT_WRITE) != 0) return false; // NOLINT
    memcpy(slot, &function, sizeof function);
    mprotect((void *)page, page_bytes, PROT_READ); // NOLINT
    return true;
}

/* Does the page hold nothing that is written later? True where the library was linked so (-z now, as Debian does). */
static int within_relro(struct dl_phdr_info *info, size_t bytes, void *slot)
{
    uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)slot & ~(page_bytes - 1);
    (void)bytes;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t first = info->dlpi_addr + segment->p_vaddr, end = first + segment->p_memsz;
        if (segment->p_type == PT_GNU_RELRO && (first & ~(page_bytes - 1)) <= at && at + page_bytes <= end) return 1;
    }
    return 0;
}

void shmemt_libfabric_quick_begin(void *handle)
{
    open_function *now;
    void          *real = dlsym(RTLD_DEFAULT, "fopen");
    void          *slot = has_rdma_device() ? NULL : slot_of(handle);
    if (!slot || !real || dl_iterate_phdr(within_relro, slot) != 1) return;
    memcpy(&now, slot, sizeof now);
    memcpy(&changed.before, &real, sizeof real);
    if (now != changed.before) return; /* somebody else has a hand in it */
    if (set_slot(slot, open_all_but_one)) changed.slot = slot;
}

void shmemt_libfabric_quick_end(void)
{
    if (changed.slot) set_slot(changed.slot, changed.before);
    changed.slot = NULL;
}

#else

void shmemt_libfabric_quick_begin(void *handle)
{
    (void)handle;
}
void shmemt_libfabric_quick_end(void) {}

#endif
