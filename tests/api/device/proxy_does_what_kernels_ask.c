/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 1 2 3
 * ENV: POSTERN_DEVICE_RING=4
 * LINK: pthread
 *
 * Threads ask the proxy for every operation, through a ring of 4 slots, so that they wait for credit all the time. What was asked without a reply is
 * complete after a quiet of the thread, or after a barrier of the host once the threads have ended.
 * Spec: OpenSHMEM 1.6 §9.12.2 shmem_quiet, §9.12.4 Synchronization and Communication Ordering
 */
#include "kernel.h"

enum { THREADS = 3, ROUNDS = 12, WORDS = 300 };

static long     large[THREADS][WORDS], back[THREADS][WORDS], strided[THREADS][WORDS], taken[THREADS][WORDS];
static long     inlined[THREADS][4], late[THREADS][WORDS];
static uint64_t signals[THREADS], count64, bits64, swapped[THREADS];
static uint32_t count32;

struct thread {
    int  me, target, from;
    long source[WORDS], later[WORDS];
};

static struct shmemd_descriptor amo(int op, const void *word, size_t bytes, int pe, uint64_t value, uint64_t compare, int reply)
{
    struct shmemd_descriptor d = kernel_request(SHMEMD_OP_AMO | (reply ? SHMEMD_OP_REPLY : 0), pe, word, NULL, bytes);
    d.detail                   = (uint8_t)op;
    d.argument[0]              = value;
    d.argument[1]              = compare;
    return d;
}

static void quiet(void)
{
    kernel_do(kernel_request(SHMEMD_OP_QUIET | SHMEMD_OP_REPLY, 0, NULL, NULL, 0));
}

static void puts_and_gets(struct thread *self, long round)
{
    int  me = self->me, target = self->target;
    long got[WORDS];
    for (int i = 0; i < WORDS; i++) self->source[i] = round * 1000 + i;
    /* A put that waits, then a get of the same. */
    kernel_do(kernel_request(SHMEMD_OP_PUT | SHMEMD_OP_REPLY, target, large[me], self->source, sizeof self->source));
    kernel_do(kernel_request(SHMEMD_OP_GET | SHMEMD_OP_REPLY, target, large[me], got, sizeof got));
    CHECK(memcmp(got, self->source, sizeof got) == 0);
    /* Bytes in the descriptor, the most that fit. */
    struct shmemd_descriptor d = kernel_request(SHMEMD_OP_PUT_INLINE, target, inlined[me], NULL, sizeof inlined[me]);
    memcpy(&d.local, self->source, sizeof inlined[me]);
    kernel_do(d);
    /* Every second element there, from each third here, and back. */
    d             = kernel_request(SHMEMD_OP_IPUT, target, strided[me], self->source, sizeof(long));
    d.argument[0] = WORDS / 3;
    d.argument[1] = 3;
    d.argument[2] = 2;
    kernel_do(d);
    quiet();
    d             = kernel_request(SHMEMD_OP_IGET | SHMEMD_OP_REPLY, target, strided[me], got, sizeof(long));
    d.argument[0] = WORDS / 3;
    d.argument[1] = 1;
    d.argument[2] = 2;
    kernel_do(d);
    for (int i = 0; i < WORDS / 3; i++)
        if (!CHECK_EQUAL(got[i], self->source[3 * i])) break;
}

static void signal_behind(struct thread *self, long round)
{
    struct shmemd_descriptor d =
        kernel_request(SHMEMD_OP_PUT_SIGNAL, self->target, back[self->me], self->source, sizeof self->source);
    uint64_t offset;
    d.segments |= (uint8_t)(kernel_place(&signals[self->me], &offset) << 4);
    d.detail      = round % 2 ? SHMEMD_SIGNAL_ADD : SHMEMD_SIGNAL_SET;
    d.argument[0] = offset;
    d.argument[1] = round % 2 ? 1 : (uint64_t)round;
    kernel_do(d);
}

/* Mine to the target, the one before me to me: the data come before the signal. */
static void await_signal(struct thread *self, long round)
{
    while (shmemd_load_acquire(&signals[self->me], 8) < (uint64_t)round) shmemd_pause();
    for (int i = 0; i < WORDS; i++)
        if (!CHECK_EQUAL(*(volatile long *)&back[self->me][i], round * 1000 + i)) break;
    /* And now it may be overwritten. */
    kernel_do(amo(SHMEMD_ATOMIC_SET, &swapped[self->me], 8, self->from, (uint64_t)round, 0, 0));
    while (shmemd_load_acquire(&swapped[self->me], 8) != (uint64_t)round) shmemd_pause();
}

static void atomics(struct thread *self, uint64_t *sum64, uint32_t *sum32)
{
    uint64_t old = kernel_do(amo(SHMEMD_ATOMIC_ADD, &count64, 8, 0, 3, 0, 1));
    CHECK(old % 3 == 0);
    kernel_do(amo(SHMEMD_ATOMIC_ADD, &count64, 8, 0, 6, 0, 0));
    *sum64 += 9;
    uint32_t old32 = (uint32_t)kernel_do(amo(SHMEMD_ATOMIC_ADD, &count32, 4, 0, 5, 0, 1));
    CHECK(old32 % 5 == 0);
    *sum32 += 5;
    uint64_t bit = UINT64_C(1) << (shmem_my_pe() * THREADS + self->me);
    CHECK((kernel_do(amo(SHMEMD_ATOMIC_OR, &bits64, 8, 0, bit, 0, 1)) & bit) == 0);
    CHECK((kernel_do(amo(SHMEMD_ATOMIC_FETCH, &bits64, 8, 0, 0, 0, 1)) & bit) != 0);
    kernel_do(amo(SHMEMD_ATOMIC_XOR, &bits64, 8, 0, bit, 0, 0));
    kernel_do(kernel_request(SHMEMD_OP_FENCE, 0, NULL, NULL, 0));
    CHECK((kernel_do(amo(SHMEMD_ATOMIC_AND, &bits64, 8, 0, ~bit, 0, 1)) & bit) == 0);
}

static void swaps(struct thread *self)
{
    uint64_t *word = (uint64_t *)(void *)&taken[self->me][0];
    kernel_do(amo(SHMEMD_ATOMIC_SWAP, word, 8, self->target, 7, 0, 1));
    CHECK_EQUAL(kernel_do(amo(SHMEMD_ATOMIC_CSWAP, word, 8, self->target, 9, 8, 1)), 7);
    CHECK_EQUAL(kernel_do(amo(SHMEMD_ATOMIC_CSWAP, word, 8, self->target, 9, 7, 1)), 7);
    CHECK_EQUAL(kernel_do(amo(SHMEMD_ATOMIC_SWAP, word, 8, self->target, 0, 0, 1)), 9);
}

/* A fence orders what comes after it behind what came before, and needs no reply. */
static void fenced_flag(struct thread *self, long round)
{
    for (int i = 0; i < WORDS; i++) self->later[i] = -round;
    kernel_do(kernel_request(SHMEMD_OP_PUT, self->target, late[self->me], self->later, sizeof self->later));
    kernel_do(kernel_request(SHMEMD_OP_FENCE, 0, NULL, NULL, 0));
    struct shmemd_descriptor d = kernel_request(SHMEMD_OP_PUT_INLINE, self->target, &taken[self->me][1], NULL, sizeof(long));
    d.local                    = (uint64_t)round;
    kernel_do(d);
    while (shmemd_load_acquire(&taken[self->me][1], 8) != (uint64_t)round) shmemd_pause();
    for (int i = 0; i < WORDS; i++)
        if (!CHECK_EQUAL(*(volatile long *)&late[self->me][i], -round)) break;
    quiet(); /* the source is written again */
}

static void *kernel(void *argument)
{
    struct thread *self  = argument;
    uint64_t       sum64 = 0;
    uint32_t       sum32 = 0;
    for (long round = 1; round <= ROUNDS; round++) {
        puts_and_gets(self, round);
        signal_behind(self, round);
        await_signal(self, round);
        fenced_flag(self, round);
        atomics(self, &sum64, &sum32);
        swaps(self);
    }
    /* Left in the ring when the thread ends: the host's barrier completes it. */
    for (int i = 0; i < WORDS; i++) self->source[i] = i * 7;
    kernel_do(kernel_request(SHMEMD_OP_PUT, self->target, large[self->me], self->source, sizeof self->source));
    CHECK_EQUAL(sum64, ROUNDS * 9);
    CHECK_EQUAL(sum32, ROUNDS * 5);
    return NULL;
}

int main(void)
{
    static struct thread threads[THREADS];
    pthread_t            ids[THREADS];
    CHECK_EQUAL(shmemx_device_register(&kernel_unit), 0);
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    CHECK_EQUAL(atomic_load(&kernel_uploads), 1);
    CHECK_EQUAL(kernel_state.ring.slots, 4);
    for (int i = 0; i < THREADS; i++) {
        threads[i] = (struct thread){.me = i, .target = (me + 1) % n, .from = (me + n - 1) % n};
        pthread_create(&ids[i], NULL, kernel, &threads[i]);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(ids[i], NULL);
    shmem_barrier_all();
    for (int i = 0; i < THREADS; i++)
        for (int word = 0; word < WORDS; word++)
            if (!CHECK_EQUAL(large[i][word], word * 7)) break;
    if (me == 0) {
        CHECK_EQUAL(count64, (uint64_t)n * THREADS * ROUNDS * 9);
        CHECK_EQUAL(count32, (uint32_t)n * THREADS * ROUNDS * 5);
        CHECK_EQUAL(bits64, 0);
    }
    for (int i = 0; i < THREADS; i++) CHECK_EQUAL(inlined[i][3], ROUNDS * 1000 + 3);
    shmem_finalize();
    CHECK_EQUAL(kernel_state.version, 0); /* there is no job any more */
    shmemx_device_unregister(&kernel_unit);
    return api_result();
}
