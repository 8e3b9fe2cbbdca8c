/* SPDX-License-Identifier: Apache-2.0
 *
 * The checks of the unit tests. A failed check prints file, line and the values, and the test goes on; the process ends with
 * the result of all. Checks may be made by several threads.
 *
 *     #include "tests/unit/unit.h"
 *
 *     int main(void)
 *     {
 *         CHECK(list_is_empty(&list));
 *         CHECK_EQ_U64(shmemi_round_up(5, 4), 8);
 *         CHECK_STR(name, "shm");
 *         return unit_result();
 *     }
 */
#ifndef SHMEMI_UNIT_H
#define SHMEMI_UNIT_H

#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNIT_SKIPPED = 77 };

/* Relaxed order in all of them: the counts are read after the threads are joined. */
static _Atomic unsigned long unit_checks, unit_failures;

/* After this many failures only the count goes on, so a broken loop does not flood the log. */
enum { UNIT_SHOWN_MAX = 50 };

/* Count one check; true if it failed and should be shown. */
static inline bool unit_failed(bool good)
{
    atomic_fetch_add_explicit(&unit_checks, 1, memory_order_relaxed);
    if (good) return false;
    return atomic_fetch_add_explicit(&unit_failures, 1, memory_order_relaxed) < UNIT_SHOWN_MAX;
}

static inline bool unit_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static inline void unit_check_str(const char *file, int line, const char *what, const char *got, const char *wanted)
{
    if (!unit_failed(unit_same_text(got, wanted))) return;
    printf("%s:%d: %s\n    got    %s%s%s\n    wanted %s%s%s\n", file, line, what, got ? "\"" : "", got ? got : "NULL",
           got ? "\"" : "", wanted ? "\"" : "", wanted ? wanted : "NULL", wanted ? "\"" : "");
}

static inline void unit_check_u64(const char *file, int line, const char *what, uint64_t got, uint64_t wanted)
{
    if (!unit_failed(got == wanted)) return;
    printf("%s:%d: %s\n    got    %" PRIu64 " (0x%" PRIx64 ")\n    wanted %" PRIu64 " (0x%" PRIx64 ")\n", file, line, what, got,
           got, wanted, wanted);
}

static inline void unit_check_i64(const char *file, int line, const char *what, int64_t got, int64_t wanted)
{
    if (!unit_failed(got == wanted)) return;
    printf("%s:%d: %s\n    got    %" PRId64 "\n    wanted %" PRId64 "\n", file, line, what, got, wanted);
}

static inline void unit_check(const char *file, int line, const char *what, bool good)
{
    if (unit_failed(good)) printf("%s:%d: %s is false\n", file, line, what);
}

/* Is `part` somewhere in `text`? */
static inline void unit_check_has(const char *file, int line, const char *text, const char *part)
{
    if (unit_failed(text && strstr(text, part)))
        printf("%s:%d: \"%s\" is not in\n---\n%s\n---\n", file, line, part, text ? text : "NULL");
}

#define CHECK(cond)        unit_check(__FILE__, __LINE__, #cond, (cond))
#define CHECK_EQ_U64(a, b) unit_check_u64(__FILE__, __LINE__, #a " == " #b, (uint64_t)(a), (uint64_t)(b))
#define CHECK_EQ_I64(a, b) unit_check_i64(__FILE__, __LINE__, #a " == " #b, (int64_t)(a), (int64_t)(b))
#define CHECK_STR(a, b)    unit_check_str(__FILE__, __LINE__, #a " == " #b, (a), (b))
#define CHECK_HAS(a, part) unit_check_has(__FILE__, __LINE__, (a), (part))

/* The exit code of main(): 0 if all checks were right, and a test that checked nothing is wrong. */
static inline int unit_result(void)
{
    unsigned long checks   = atomic_load_explicit(&unit_checks, memory_order_relaxed);
    unsigned long failures = atomic_load_explicit(&unit_failures, memory_order_relaxed);
    printf("%lu checks, %lu failed\n", checks, failures);
    return failures == 0 && checks > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/*
 * As unit_result(), for a test that had to leave out a part here, which the reason names: what was checked must be right, and then the
 * test counts as skipped. reason NULL: nothing was left out.
 */
static inline int unit_result_without(const char *reason)
{
    int result = unit_result();
    if (result == EXIT_SUCCESS && reason) {
        printf("skipped in part: %s\n", reason);
        result = UNIT_SKIPPED;
    }
    return result;
}

/* Give the reason and the exit code of a test that this machine cannot run: return unit_skip("no hugetlb pages"); */
static inline int unit_skip(const char *reason)
{
    printf("skipped: %s\n", reason);
    return UNIT_SKIPPED;
}

#endif
