/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 0
 *
 * Clearing a lock that is free, because it was never set or was cleared before, is one message with the reason, and status 1.
 * Spec: OpenSHMEM 1.6 §9.13.1 shmem_clear_lock
 */
#include "../child.h"

static long lock;

static void never_set(void)
{
    shmem_init();
    shmem_clear_lock(&lock);
}

static void cleared_twice(void)
{
    shmem_init();
    shmem_set_lock(&lock);
    shmem_clear_lock(&lock);
    shmem_clear_lock(&lock);
}

static void tested_and_cleared_twice(void)
{
    shmem_init();
    if (shmem_test_lock(&lock) != 0) return;
    shmem_clear_lock(&lock);
    shmem_clear_lock(&lock);
}

static void in_the_heap(void)
{
    shmem_init();
    shmem_clear_lock(shmem_calloc(1, sizeof lock));
}

static void check(const char *name, void (*what)(void))
{
    static const char call[] = "shmem_clear_lock: the lock is not held";
    struct child      child  = child_run(what);
    const char       *first  = strstr(child.error, call);
    CHECK_EQUAL(child.status, 1);
    CHECK(first && strstr(first, "why:") && strstr(first, "fix:"));
    CHECK(!first || !strstr(first + 1, call)); /* said once */
    if (child.status != 1 || !first) fprintf(stderr, "%s:\n%s\n", name, child.error);
}

int main(void)
{
    check("never set", never_set);
    check("cleared twice", cleared_twice);
    check("tested, and cleared twice", tested_and_cleared_twice);
    check("in the heap", in_the_heap);
    return api_result();
}
