/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks for programs of PEs. A check that fails prints PE, place and expression and lets the program go on, so that the other
 * PEs are not left waiting; api_result() is the exit status, and oshrun's status is that of the first PE that failed.
 *
 *     int main(void)
 *     {
 *         shmem_init();
 *         CHECK(shmem_my_pe() < shmem_n_pes());
 *         shmem_finalize();
 *         return api_result();
 *     }
 *
 * Only <shmem.h> and the C library: this is what a user's program could contain.
 */
#ifndef POSTERN_TESTS_API_H
#define POSTERN_TESTS_API_H

#include <inttypes.h>
#include <shmem.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { API_SKIPPED = 77 };

/* Threads may check too. Set by api_pe() where the number is known before it can be asked. */
static _Atomic int api_failures;
static _Atomic int api_known_pe = -1;

/* The PE number for messages, remembered while the library is initialised: it cannot be asked after finalize. */
static inline int api_pe(void)
{
    int pe = atomic_load_explicit(&api_known_pe, memory_order_relaxed);
    if (pe >= 0) return pe;
    const char *text = getenv("POSTERN_PE");
    if (!text) text = getenv("PMIX_RANK"); /* another launcher than oshrun */
    pe = text ? atoi(text) : 0;
    atomic_store_explicit(&api_known_pe, pe, memory_order_relaxed);
    return pe;
}

static inline bool api_check(bool holds, const char *file, int line, const char *text)
{
    if (holds) return true;
    /* The first few tell the story; a wrong loop must not write a gigabyte. */
    if (atomic_fetch_add_explicit(&api_failures, 1, memory_order_relaxed) < 20) {
        fprintf(stderr, "PE %d: %s:%d: does not hold: %s\n", api_pe(), file, line, text);
    }
    return false;
}

static inline bool api_check_equal(long long is, long long wanted, const char *file, int line, const char *text)
{
    if (is == wanted) return true;
    if (atomic_fetch_add_explicit(&api_failures, 1, memory_order_relaxed) < 20) {
        fprintf(stderr, "PE %d: %s:%d: %s: %lld, expected %lld\n", api_pe(), file, line, text, is, wanted);
    }
    return false;
}

/* Both are true where the check holds, so that a test can leave a loop early. */
#define CHECK(condition)        api_check((condition), __FILE__, __LINE__, #condition)
#define CHECK_EQUAL(is, wanted) api_check_equal((long long)(is), (long long)(wanted), __FILE__, __LINE__, #is)

/* 0, or 1 if a check of this PE failed. */
static inline int api_result(void)
{
    int failures = atomic_load_explicit(&api_failures, memory_order_relaxed);
    if (failures > 0) fprintf(stderr, "PE %d: %d check%s failed\n", api_pe(), failures, failures == 1 ? "" : "s");
    return failures > 0 ? 1 : 0;
}

/* Leave before shmem_init (all PEs come to the same answer): this machine cannot run the test. */
static inline _Noreturn void api_skip(const char *reason)
{
    printf("skipped: %s\n", reason);
    fflush(stdout);
    exit(API_SKIPPED);
}

#endif
