/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 0
 * ENV: POSTERN_CHECK=1 SHMEM_SYMMETRIC_SIZE=1M
 * LINK: pthread
 *
 * Where behaviour is undefined, a checked run ends with a message: which call, which argument, and why.
 * Spec: OpenSHMEM 1.6 §4.2 Invoking OpenSHMEM Operations, §C Undefined Behavior
 */
#include "../child.h"

#include <pthread.h>

static long        word, array[8];
static char       *block;
static shmem_ctx_t ctx;

static void begin(void)
{
    int provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    block = shmem_malloc(1 << 10);
}
static void pe_too_big(void)
{
    begin();
    shmem_long_p(&word, 1, 1);
}
static void pe_negative(void)
{
    begin();
    shmem_putmem(&word, array, 8, -1);
}
static void pe_of_get(void)
{
    begin();
    (void)shmem_long_g(&word, 7);
}
static void pe_of_amo(void)
{
    begin();
    shmem_long_atomic_inc(&word, 3);
}
static void pe_of_signal(void)
{
    begin();
    shmem_putmem_signal(block, array, 8, (uint64_t *)(void *)&word, 1, SHMEM_SIGNAL_SET, 2);
}
static void stack_address(void)
{
    long local = 0;
    begin();
    shmem_long_put(&local, array, 1, 0);
}
static void malloc_address(void)
{
    begin();
    shmem_long_get(array, malloc(8), 1, 0);
}
static void null_address(void)
{
    begin();
    shmem_long_put(NULL, array, 1, 0);
}
static void amo_on_stack(void)
{
    long local = 0;
    begin();
    shmem_long_atomic_add(&local, 1, 0);
}
static void library_address(void)
{
    begin();
    shmem_int_p((int *)(void *)stdout, 1, 0);
}
static void past_end_of_heap(void)
{
    begin();
    shmem_putmem(block, array, 2 << 20, 0);
}
static void past_end_of_statics(void)
{
    begin();
    shmem_getmem(block, array, (size_t)1 << 40, 0);
}
static void overflow(void)
{
    begin();
    shmem_long_put((long *)(void *)block, array, SIZE_MAX / 4, 0);
}
static void no_context(void)
{
    begin();
    shmem_ctx_long_p(SHMEM_CTX_INVALID, &word, 1, 0);
}
static void *use_context(void *unused)
{
    shmem_ctx_long_p(ctx, &word, 1, 0);
    return unused;
}
static void foreign_context(void)
{
    pthread_t thread;
    begin();
    shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx);
    pthread_create(&thread, NULL, use_context, NULL);
    pthread_join(thread, NULL);
}
static void destroyed_context(void)
{
    begin();
    shmem_ctx_create(0, &ctx);
    shmem_ctx_destroy(ctx);
    shmem_ctx_long_p(ctx, &word, 1, 0);
}
static void destroyed_context_of_amo(void)
{
    begin();
    shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx);
    shmem_ctx_destroy(ctx);
    shmem_ctx_long_atomic_inc(ctx, &word, 0);
}
static void lock_on_stack(void)
{
    long local = 0;
    begin();
    shmem_set_lock(&local);
}
static void signal_on_stack(void)
{
    uint64_t local = 0;
    begin();
    shmem_putmem_signal(block, array, 8, &local, 1, SHMEM_SIGNAL_SET, 0);
}

static const struct {
    const char *name;
    void (*what)(void);
    const char *wanted[4];
} cases[] = {
    {"PE too big", pe_too_big, {"shmem_long_p", "there is no PE 1", "PEs 0 to 0"}},
    {"PE negative", pe_negative, {"shmem_putmem", "there is no PE -1"}},
    {"PE of get", pe_of_get, {"shmem_long_g", "there is no PE 7"}},
    {"PE of atomic", pe_of_amo, {"shmem_long_atomic_inc", "there is no PE 3"}},
    {"PE of signal", pe_of_signal, {"shmem_putmem_signal", "there is no PE 2"}},
    {"stack", stack_address, {"shmem_long_put", "is not symmetric", "why:"}},
    {"malloc", malloc_address, {"shmem_long_get", "is not symmetric", "why:"}},
    {"NULL", null_address, {"shmem_long_put", "the address is NULL", "is full"}},
    {"atomic on the stack", amo_on_stack, {"shmem_long_atomic_add", "is not symmetric"}},
    {"library", library_address, {"shmem_int_p", "is not symmetric"}},
    {"past the heap", past_end_of_heap, {"shmem_putmem", "2097152 bytes at", "past the end"}},
    {"past the statics", past_end_of_statics, {"shmem_getmem", "past the end"}},
    {"size overflows", overflow, {"shmem_long_put", "elements of 8 bytes"}},
    {"no context", no_context, {"shmem_ctx_long_p", "SHMEM_CTX_INVALID"}},
    {"foreign context", foreign_context, {"shmem_ctx_long_p", "private to another thread"}},
    {"destroyed context", destroyed_context, {"shmem_ctx_long_p", "the context does not exist", "destroyed"}},
    {"destroyed context of an atomic", destroyed_context_of_amo, {"shmem_ctx_long_atomic_inc", "the context does not exist"}},
    {"lock on the stack", lock_on_stack, {"shmem_set_lock", "is not symmetric"}},
    {"signal on the stack", signal_on_stack, {"shmem_putmem_signal", "is not symmetric"}},
};

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) CHECK(child_refuses(cases[i].name, cases[i].what, cases[i].wanted));
    return api_result();
}
