/* SPDX-License-Identifier: Apache-2.0
 *
 * Puts and signals of PE 0 to PE 1, for a_small_put_takes_few_instructions.sh, which counts the instructions. This program counts what the device
 * gets: work requests and doorbells. Its one argument: requests that a put with signal may take.
 */
#include "simverbs.h"

#include <dlfcn.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

enum { PUTS = 40, LARGE = 1 << 20 };

typedef void posted_fn(uint64_t *requests_out, uint64_t *doorbells_out);

static long        words[PUTS];
static int         warm;
static uint64_t    signal_word;
static posted_fn  *posted;
static const char *wrong;

static posted_fn *find_posted(void)
{
    void      *device = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_NOLOAD);
    posted_fn *found  = NULL;
    if (device) *(void **)&found = dlsym(device, "simverbs_posted");
    if (found) return found;
    fprintf(stderr, "this job does not run over simverbs\n");
    exit(2);
}

static void put_words(void)
{
    for (long i = 0; i < PUTS; i++) shmem_long_put(&words[i], &i, 1, 1);
}

static void signal_small(void)
{
    shmem_putmem_signal(words, words, sizeof words[0], &signal_word, 1, SHMEM_SIGNAL_ADD, 1);
}

static char *large;

static void signal_large(void)
{
    shmem_putmem_signal(large, large, LARGE, &signal_word, 1, SHMEM_SIGNAL_ADD, 1);
}

/* Without the quiet, which may need a request of its own. */
static void expect(const char *what, void (*operation)(void), uint64_t requests_max, uint64_t doorbells_max)
{
    uint64_t requests, doorbells, requests_before, doorbells_before;
    posted(&requests_before, &doorbells_before);
    operation();
    posted(&requests, &doorbells);
    shmem_quiet();
    requests -= requests_before;
    doorbells -= doorbells_before;
    printf("%s: %d requests, %d doorbells\n", what, (int)requests, (int)doorbells);
    if (requests < 1 || requests > requests_max || doorbells != doorbells_max) wrong = what;
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    int level;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level); /* all locks are taken then */
    posted = find_posted();
    large  = shmem_malloc(LARGE);
    if (!large) return 2;
    if (shmem_my_pe() == 0) {
        /* Connects, resolves symbols, and tells the target of the signal word; by another type, so that it is not counted. */
        for (int i = 0; i < 3; i++) shmem_int_put(&warm, &i, 1, 1);
        signal_small();
        signal_large();
        shmem_quiet();
        uint64_t signal_requests = strtoul(argv[1], NULL, 10);
        expect("puts of 8 bytes", put_words, PUTS, PUTS);
        expect("put of 8 bytes with a signal", signal_small, signal_requests, 1);
        expect("put of 1 MiB with a signal", signal_large, signal_requests, 1);
        if (wrong) fprintf(stderr, "too many for: %s\n", wrong);
    }
    shmem_barrier_all();
    for (long i = 0; i < PUTS && shmem_my_pe() == 1; i++)
        if (words[i] != i) wrong = "the words did not come";
    shmem_finalize();
    return wrong ? 1 : 0;
}
