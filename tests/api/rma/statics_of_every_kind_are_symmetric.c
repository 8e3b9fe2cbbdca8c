/* SPDX-License-Identifier: Apache-2.0
 *
 * Objects with static storage duration are symmetric, wherever and however they are defined: global, of the file, of a function,
 * of a block; with and without an initial value; scalars, arrays, members of structures and unions. Puts, gets, atomics, signals
 * and locks reach each.
 * Spec: OpenSHMEM 1.6 §3 Memory Model
 * PES: 2 3
 */
#include "../api.h"

union value {
    char bytes[8];
    long word;
};

long        global_with_value  = 41, global_without;
static long of_file_with_value = 42, of_file_without, array[1000];
static struct { /* no type of its own: the object is what counts */
    char        before;
    long        word;
    union value inner[3];
} record = {.before = 'r', .inner = {{.word = 43}}};
static uint64_t signal_word;

static long *of_function(void)
{
    static long with_value = 44;
    return &with_value;
}

static long *of_block(void)
{
    {
        static long without;
        return &without;
    }
}

/* Each way to reach a word, toward the next PE; before is what all PEs have in it. */
static void reach(long *word, long before, const char *name)
{
    static long lock;
    int         me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    bool        right = CHECK_EQUAL(shmem_long_g(word, next), before);
    shmem_barrier_all();
    shmem_long_p(word, 100 + me, next);
    shmem_barrier_all();
    right = CHECK_EQUAL(*word, 100 + (me + n - 1) % n) && right;
    shmem_barrier_all();
    right = CHECK_EQUAL(shmem_long_atomic_fetch_add(word, 1000, next), 100 + me) && right;
    shmem_put_signal(word, &(long){7}, 1, &signal_word, 1, SHMEM_SIGNAL_ADD, next);
    shmem_barrier_all();
    right = CHECK_EQUAL(*word, 7) && right;
    shmem_barrier_all();
    shmem_set_lock(&lock);
    shmem_long_p(word, shmem_long_g(word, 0) + 1, 0);
    shmem_clear_lock(&lock);
    shmem_barrier_all();
    right = CHECK_EQUAL(shmem_long_g(word, 0), 7 + n) && right;
    shmem_barrier_all();
    if (!right) fprintf(stderr, "... %s\n", name);
}

int main(void)
{
    shmem_init();
    reach(&global_with_value, 41, "global with a value");
    reach(&global_without, 0, "global without a value");
    reach(&of_file_with_value, 42, "of the file, with a value");
    reach(&of_file_without, 0, "of the file, without a value");
    reach(&array[999], 0, "last of an array");
    reach(&record.word, 0, "member of a structure");
    reach(&record.inner[0].word, 43, "member of a union in an array in a structure");
    reach(of_function(), 44, "of a function, with a value");
    reach(of_block(), 0, "of a block, without a value");
    CHECK_EQUAL(record.before, 'r');
    shmem_finalize();
    return api_result();
}
