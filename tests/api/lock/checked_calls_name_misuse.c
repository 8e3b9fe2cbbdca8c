/* SPDX-License-Identifier: Apache-2.0
 *
 * Checked mode: a lock that this PE has already, or that another of its threads has or waits for, one that it does not hold, and an address that can be
 * no lock are told, instead of waiting for ever.
 * Spec: OpenSHMEM 1.6 §E, §9.13.1 shmem_set_lock, shmem_clear_lock, shmem_test_lock (not re-entrant)
 * PES: 0
 * ENV: POSTERN_CHECK=1 SHMEM_SYMMETRIC_SIZE=1M
 * LINK: pthread
 */
#include "../child.h"

#include <pthread.h>

static long lock, other;

static void begin(void)
{
    int provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
}
static void set_twice(void)
{
    begin();
    shmem_set_lock(&lock);
    shmem_set_lock(&other);
    shmem_clear_lock(&other);
    shmem_set_lock(&lock);
}
static void test_after_set(void)
{
    begin();
    shmem_set_lock(&lock);
    (void)shmem_test_lock(&lock);
}
static void set_after_test(void)
{
    begin();
    if (shmem_test_lock(&lock) != 0) return;
    shmem_set_lock(&lock);
}
static void *set_it(void *unused)
{
    shmem_set_lock(&lock);
    return unused;
}
static void set_by_a_thread(void)
{
    pthread_t thread;
    begin();
    shmem_set_lock(&lock);
    pthread_create(&thread, NULL, set_it, NULL);
    pthread_join(thread, NULL);
}
static void clear_unheld(void)
{
    begin();
    shmem_set_lock(&other);
    shmem_clear_lock(&lock);
}
static void clear_twice(void)
{
    begin();
    shmem_set_lock(&lock);
    shmem_clear_lock(&lock);
    shmem_clear_lock(&lock);
}
static void misaligned_set(void)
{
    begin();
    shmem_set_lock((long *)(void *)((char *)shmem_calloc(4, 8) + 4));
}
static void misaligned_test(void)
{
    begin();
    (void)shmem_test_lock((long *)(void *)((char *)shmem_calloc(4, 8) + 1));
}
static void clear_on_stack(void)
{
    long local = 0;
    begin();
    shmem_clear_lock(&local);
}

static const struct {
    const char *name;
    void (*what)(void);
    const char *wanted[4];
} cases[] = {
    {"set twice", set_twice, {"shmem_set_lock: this PE has the lock at ", "not re-entrant", "fix:"}},
    {"test after set", test_after_set, {"shmem_test_lock: this PE has the lock at ", "why:"}},
    {"set after test", set_after_test, {"shmem_set_lock: this PE has the lock at ", "why:"}},
    {"set by another thread", set_by_a_thread, {"shmem_set_lock: this PE has the lock at ", "another thread", "why:"}},
    {"clear of a lock that is free", clear_unheld, {"shmem_clear_lock: the lock is not held", "why:"}},
    {"clear twice", clear_twice, {"shmem_clear_lock: the lock is not held", "why:"}},
    {"misaligned", misaligned_set, {"shmem_set_lock: lock at ", "is not a multiple of 8", "why:"}},
    {"misaligned test", misaligned_test, {"shmem_test_lock: lock at ", "is not a multiple of 8", "why:"}},
    {"on the stack", clear_on_stack, {"shmem_clear_lock: ", "is not symmetric", "why:"}},
};

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) CHECK(child_refuses(cases[i].name, cases[i].what, cases[i].wanted));
    return api_result();
}
