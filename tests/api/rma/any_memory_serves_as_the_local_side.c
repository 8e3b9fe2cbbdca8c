/* SPDX-License-Identifier: Apache-2.0
 *
 * The local side of a call is any memory: stack, malloc, constants, thread-local, static, heap, and what shmem_ptr gave; the
 * remote side is static or heap, also in one call with the other, and interior pointers of both.
 * Spec: OpenSHMEM 1.6 §3.1 Pointers to Symmetric Objects, §4.2 Invoking OpenSHMEM Operations, §9.6 Remote Memory Access Routines
 */
#include "../api.h"

enum { COUNT = 40 };

struct record {
    char name[13];
    int  numbers[COUNT];
    long after;
};

static const int         constants[COUNT] = {3, 1, 4, 1, 5, 9, 2, 6};
static struct record     fixed[2];
static _Thread_local int local[COUNT];

static void put_and_check(const int *source, int salt, struct record *target, int next)
{
    shmem_int_put(target->numbers, source, COUNT, next);
    shmem_quiet();
    int back[COUNT];
    memset(back, 0, sizeof back);
    shmem_int_get(back, target->numbers, COUNT, next);
    if (memcmp(back, source, sizeof back) != 0) {
        fprintf(stderr, "source kind %d\n", salt);
        CHECK(!"what was put comes back");
    }
}

int main(void)
{
    shmem_init();
    int            me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    struct record *heap      = shmem_calloc(3, sizeof *heap);
    int           *symmetric = shmem_malloc(COUNT * sizeof *symmetric), *private = malloc(COUNT * sizeof *private), stack[COUNT];
    if (!CHECK(heap && symmetric && private)) shmem_global_exit(1);
    static int own[COUNT];
    for (int i = 0; i < COUNT; i++) {
        symmetric[i] = me * 100 + i;
        private[i]   = me * 200 + i;
        stack[i]     = me * 300 + i;
        own[i]       = me * 400 + i;
        local[i]     = me * 500 + i;
    }
    shmem_barrier_all();
    struct record *targets[] = {&heap[1], &fixed[1]};
    for (int k = 0; k < 2; k++) {
        put_and_check(symmetric, 1, targets[k], next);
        put_and_check(private, 2, targets[k], next);
        put_and_check(stack, 3, targets[k], next);
        put_and_check(own, 4, targets[k], next);
        put_and_check(local, 5, targets[k], next);
        put_and_check(constants, 6, targets[k], next);
        /* What shmem_ptr gives is a local address: good as a source. */
        const int *peer = shmem_ptr(symmetric, next);
        if (peer) put_and_check(peer, 7, targets[k], next);
    }
    shmem_barrier_all();
    CHECK_EQUAL(heap[0].after + heap[1].after + heap[2].numbers[0] + fixed[0].after + fixed[1].after, 0);
    CHECK(heap[1].name[12] == 0 && fixed[1].name[12] == 0);
    free(private);
    shmem_finalize();
    return api_result();
}
