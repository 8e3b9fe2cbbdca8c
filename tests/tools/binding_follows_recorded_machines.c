/* SPDX-License-Identifier: Apache-2.0
 *
 * Where oshrun puts PEs on the machines in topologies/: one recorded, the others written down as the kernel numbers the
 * processors of such machines. Each file is written out as a tree like /sys. Argument: that folder.
 */
#include "runtime/tools/oshrun.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char        root[] = "/tmp/oshrun-sys-XXXXXX";
static const char *folder;
static int         failures;

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *place)
{
    (void)info;
    (void)type;
    (void)place;
    return remove(path);
}

static void remove_tree(void)
{
    nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0700) < 0 && errno != EEXIST) exit(2);
        *slash = '/';
    }
}

static void unpack(const char *machine)
{
    char path[512], line[4096];
    snprintf(path, sizeof path, "%s/%s.txt", folder, machine);
    FILE *in = fopen(path, "r");
    if (in == NULL) {
        perror(path);
        exit(2);
    }
    while (fgets(line, sizeof line, in) != NULL) {
        char *colon = strstr(line, ": ");
        if (line[0] == '#' || colon == NULL) continue;
        snprintf(path, sizeof path, "%s/devices/system/%.*s", root, (int)(colon - line), line);
        make_folders(path);
        FILE *out = fopen(path, "w");
        if (out == NULL) {
            perror(path);
            exit(2);
        }
        fputs(colon + 2, out);
        fclose(out);
    }
    fclose(in);
}

/* The plan as text: "0,8 1,9" is a PE on processors 0 and 8 and one on 1 and 9; "-" is a PE that is not bound. */
static void describe(const struct oshrun_plan *plan, char *text, size_t text_bytes)
{
    size_t used = 0;
    text[0]     = '\0';
    for (int pe = 0; pe < plan->npes && used + 16 < text_bytes; pe++) {
        const struct oshrun_cpus *cpus = &plan->places[pe].cpus;
        if (pe > 0) text[used++] = ' ';
        if (cpus->set == NULL) text[used++] = '-';
        bool first = true;
        for (size_t cpu = 0; cpus->set != NULL && cpu < cpus->bytes * 8 && used + 16 < text_bytes; cpu++) {
            if (!CPU_ISSET_S(cpu, cpus->bytes, cpus->set)) continue;
            used += (size_t)snprintf(text + used, text_bytes - used, "%s%zu", first ? "" : ",", cpu);
            first = false;
        }
        text[used] = '\0';
    }
}

/* allowed: processors from first to last. */
static void expect(const char *machine, int first, int last, enum oshrun_bind bind, int npes, const char *places,
                   const char *text_of_last, bool has_note)
{
    struct oshrun_cpus allowed = {.bytes = CPU_ALLOC_SIZE(1024)};
    struct oshrun_plan plan;
    char               note[160], found[1024];
    unpack(machine);
    allowed.set = calloc(1, allowed.bytes);
    for (int cpu = first; cpu <= last; cpu++) CPU_SET_S((size_t)cpu, allowed.bytes, allowed.set);
    if (oshrun_bind_plan(root, &allowed, bind, npes, &plan, note, sizeof note) != 0) exit(2);
    describe(&plan, found, sizeof found);
    const char *text = plan.places[npes - 1].text;
    if (strcmp(found, places) != 0 || strcmp(text, text_of_last) != 0 || (note[0] != '\0') != has_note) {
        printf("%s, processors %d-%d, mode %d, %d PEs: %s \"%s\" note \"%s\", not %s \"%s\"\n", machine, first, last, (int)bind,
               npes, found, text, note, places, text_of_last);
        failures++;
    }
    oshrun_bind_free_plan(&plan);
    oshrun_bind_free_cpus(&allowed);
    remove_tree();
}

int main(int argc, char **argv)
{
    if (argc != 2 || mkdtemp(root) == NULL) return 2;
    folder                      = argv[1];
    const enum oshrun_bind AUTO = OSHRUN_BIND_AUTO, CORE = OSHRUN_BIND_CORE, NUMA = OSHRUN_BIND_NUMA, NONE = OSHRUN_BIND_NONE;

    expect("virtual_2", 0, 1, AUTO, 1, "-", "none (one PE: nothing to keep apart)", false);
    expect("virtual_2", 0, 1, CORE, 1, "0", "core (cpus 0; node 0)", false);
    expect("virtual_2", 0, 1, AUTO, 2, "0 1", "core (cpus 1; node 0)", false);
    expect("virtual_2", 0, 1, AUTO, 3, "- - -", "none (3 PEs on 2 cores)", false);
    expect("virtual_2", 0, 1, CORE, 3, "- - -", "none (3 PEs on 2 cores)", true);
    expect("virtual_2", 0, 1, NONE, 2, "- -", "none (--bind none)", false);
    expect("virtual_2", 1, 1, AUTO, 2, "- -", "none (2 PEs on 1 core)", false);

    /* A core is both its threads; a node is filled before the next. */
    expect("two_sockets_smt", 0, 15, AUTO, 3, "0,8 1,9 2,10", "core (cpus 2,10; node 0)", false);
    expect("two_sockets_smt", 0, 15, AUTO, 5, "0,8 1,9 2,10 3,11 4,12", "core (cpus 4,12; node 1)", false);
    expect("two_sockets_smt", 0, 15, AUTO, 9, "- - - - - - - - -", "none (9 PEs on 8 cores)", false);
    expect("two_sockets_smt", 0, 15, NUMA, 2, "0,1,2,3,8,9,10,11 4,5,6,7,12,13,14,15", "numa (cpus 4-7,12-15; node 1)", false);
    expect("two_sockets_smt", 0, 15, NUMA, 3, "0,1,2,3,8,9,10,11 0,1,2,3,8,9,10,11 4,5,6,7,12,13,14,15",
           "numa (cpus 4-7,12-15; node 1)", false);
    expect("two_sockets_smt", 2, 9, AUTO, 2, "2 3", "core (cpus 3; node 0)", false); /* the other thread is not ours */
    expect("two_sockets_interleaved", 0, 15, AUTO, 5, "0,8 2,10 4,12 6,14 1,9", "core (cpus 1,9; node 1)", false);
    expect("adjacent_threads", 0, 7, AUTO, 4, "0,1 2,3 4,5 6,7", "core (cpus 6-7; node 0)", false);
    expect("adjacent_threads", 0, 7, AUTO, 5, "- - - - -", "none (5 PEs on 4 cores)", false);

    expect("memory_only_node", 0, 3, NUMA, 2, "0,1 2,3", "numa (cpus 2-3; node 1)", false);
    expect("memory_only_node", 2, 3, NUMA, 2, "2,3 2,3", "numa (cpus 2-3; node 1)", false);
    expect("no_numa", 0, 3, AUTO, 4, "0 1 2 3", "core (cpus 3; node 0)", false);
    expect("no_numa", 0, 3, NUMA, 1, "0,1,2,3", "numa (cpus 0-3; node 0)", false);
    expect("bare", 4, 6, AUTO, 3, "4 5 6", "core (cpus 6; node 0)", false);
    expect("wide", 149, 299, AUTO, 3, "149 150 151", "core (cpus 151; node 1)", false);

    remove_tree();
    return failures ? 1 : 0;
}
