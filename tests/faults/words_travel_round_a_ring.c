/* SPDX-License-Identifier: Apache-2.0
 *
 * The job that most scripts of this folder run under hard conditions: static and heap words, an atomic, a signal and a lock travel round a ring.
 * Arguments change it:
 *   fill         first allocate half of the heap and write all of it
 *   fits BYTES   a block of so many bytes must fit, less what rounding may cost
 *   heap         leave the static objects out
 *   only-static  a put to a static object alone
 *   map          first map much, so that the address layout is another one
 *   hold         after "ready" PE 0 sleeps, and the others wait for it in a barrier
 *   skip         exit status 77 before init
 */
#include "../api/api.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROUNDS = 10, WORDS = 300 };

#ifdef OTHER_STATICS
static volatile char other_statics[OTHER_STATICS]; /* another build of this file: its static objects lie elsewhere */
#endif
static long     static_words[WORDS] = {1, 2, 3};
static uint64_t static_signal;
static long     lock, lock_counter;

static void map_much(void)
{
    for (int i = 0; i < 64; i++) {
        void *room = mmap(NULL, (size_t)(i + 1) << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (room == MAP_FAILED) return;
    }
}

static void pass(long *words, uint64_t *signal)
{
    int  me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n, from = (me + n - 1) % n;
    long mine[WORDS];
    for (long round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < WORDS; i++) mine[i] = 1000000 * round + 1000 * me + i;
        shmem_long_put_signal(words, mine, WORDS, signal, 1, SHMEM_SIGNAL_ADD, next);
        shmem_signal_wait_until(signal, SHMEM_CMP_EQ, (uint64_t)round);
        for (int i = 0; i < WORDS; i++)
            if (!CHECK_EQUAL(words[i], 1000000 * round + 1000 * from + i)) break;
        shmem_barrier_all();
        CHECK_EQUAL(shmem_long_g(&words[WORDS - 1], next), mine[WORDS - 1]);
        shmem_barrier_all();
    }
}

static void count_under_lock(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        shmem_set_lock(&lock);
        shmem_long_p(&lock_counter, shmem_long_g(&lock_counter, 0) + 1, 0);
        shmem_quiet();
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 0) CHECK_EQUAL(lock_counter, ROUNDS * shmem_n_pes());
}

static void fill_half_of_the_heap(void)
{
    size_t bytes = (size_t)1 << 40;
    char  *block;
    while ((block = shmem_malloc(bytes)) == NULL && bytes > 1) bytes /= 2;
    memset(block, 1, bytes);
    shmem_barrier_all();
    shmem_free(block);
}

static void hold(void)
{
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
    if (shmem_my_pe() == 0) sleep(1000);
    shmem_barrier_all();
}

static bool asked(int argc, char **argv, const char *what)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], what) == 0) return true;
    return false;
}

int main(int argc, char **argv)
{
    if (asked(argc, argv, "skip")) return API_SKIPPED;
    if (asked(argc, argv, "map")) map_much();
    /* To look for what fits, it asks for too much, which is told. */
    if (asked(argc, argv, "fill") || asked(argc, argv, "fits")) setenv("POSTERN_LOG", "error", 0);
    shmem_init();
#ifdef OTHER_STATICS
    other_statics[OTHER_STATICS - 1] = 1;
#endif
    if (asked(argc, argv, "hold")) hold();
    if (asked(argc, argv, "fill")) fill_half_of_the_heap();
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "fits") == 0) {
            size_t bytes = strtoull(argv[i + 1], NULL, 10);
            char  *block = shmem_malloc(bytes);
            CHECK(block != NULL);
            CHECK(shmem_malloc(bytes + (4 << 20)) == NULL);
            shmem_free(block);
        }
    if (!asked(argc, argv, "only-static")) {
        struct {
            long     words[WORDS];
            uint64_t signal;
        } *block = shmem_calloc(1, sizeof *block);
        if (CHECK(block != NULL)) pass(block->words, &block->signal);
        shmem_free(block);
    }
    if (!asked(argc, argv, "heap")) {
        pass(static_words, &static_signal);
        count_under_lock();
    }
    shmem_finalize();
    return api_result();
}
