/* SPDX-License-Identifier: Apache-2.0
 *
 * A mistake in a call by its old name is told by that name, with argument and reason.
 * Spec: OpenSHMEM 1.6 §E, §F.2.4, §F.2.12, §F.2.10, §9.11.1 shmem_wait, §9.11.8 shmem_short_test, §F.2.16
 * PES: 0
 * ENV: POSTERN_CHECK=1 SHMEM_SYMMETRIC_SIZE=1M
 */
#include "../child.h"

static long  word;
static short shorts[2];
static char *block;

static void begin(void)
{
    shmem_init();
    block = shmalloc(100);
}
static void free_interior(void)
{
    begin();
    shfree(block + 8);
}
static void free_twice(void)
{
    begin();
    shfree(block);
    shfree(block);
}
static void realloc_static(void)
{
    begin();
    block = shrealloc(shorts, 100);
}
static void no_such_pe(void)
{
    begin();
    (void)shmem_long_fadd(&word, 1, 3);
}
static void stack_word(void)
{
    float local = 0;
    begin();
    shmem_float_set(&local, 1, 0);
}
static void misaligned_atomic(void)
{
    begin();
    shmem_longlong_inc((long long *)(void *)(block + 4), 0);
}
static void wait_for_stack(void)
{
    long local = 1;
    begin();
    shmem_wait(&local, 0);
}
static void misaligned_short(void)
{
    begin();
    shmem_short_wait((short *)(void *)((char *)shorts + 1), 1);
}
static void misaligned_test(void)
{
    begin();
    (void)shmem_ushort_test((unsigned short *)(void *)(block + 1), SHMEM_CMP_GE, 0);
}
static void bad_operator(void)
{
    begin();
    shmem_short_wait_until(shorts, 9, 0);
}
static void bad_operator_of_function(void)
{
    begin();
    (shmem_wait_until)(&word, 0, 0);
}

static const struct {
    const char *name;
    void (*what)(void);
    const char *wanted[4];
} cases[] = {
    {"free of an interior address", free_interior, {"shfree: ", "is not the start of a block", "why:"}},
    {"free twice", free_twice, {"shfree: ", "is not the start of a block", "freed before"}},
    {"realloc of static data", realloc_static, {"shrealloc: ", "is not the start of a block", "why:"}},
    {"no such PE", no_such_pe, {"shmem_long_fadd: ", "there is no PE 3", "why:"}},
    {"word on the stack", stack_word, {"shmem_float_set: ", "is not symmetric", "why:"}},
    {"misaligned atomic", misaligned_atomic, {"shmem_longlong_inc: ", "is not a multiple of 8", "why:"}},
    {"wait for the stack", wait_for_stack, {"shmem_wait: ", "is not symmetric", "why:"}},
    {"misaligned short", misaligned_short, {"shmem_short_wait: ", "is not a multiple of 2", "why:"}},
    {"misaligned test", misaligned_test, {"shmem_ushort_test: ", "is not a multiple of 2", "why:"}},
    {"bad operator", bad_operator, {"shmem_short_wait_until: ", "comparison operator 9", "why:"}},
    {"bad operator of the function", bad_operator_of_function, {"shmem_wait_until: ", "comparison operator 0", "why:"}},
};

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) CHECK(child_refuses(cases[i].name, cases[i].what, cases[i].wanted));
    return api_result();
}
