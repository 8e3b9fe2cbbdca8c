/* SPDX-License-Identifier: Apache-2.0
 *
 * Values as people write them: sizes, times, numbers, words. Our own scanners, because strtod and strtol take more than the
 * grammars allow (inf, nan, hex, signs, blanks), depend on the locale, and lose low bits of large numbers.
 *
 * Each returns NULL and writes *out, or returns why the text is wrong, as the end of a sentence ("it has ..."). The text has no
 * blanks around it. All words are found in upper and lower case.
 */
#ifndef SHMEMI_SCAN_H
#define SHMEMI_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * SPEC §8: the size of the heap is a non-negative decimal integer or real, then optionally one of k K m M g G t T (2^10, 2^20,
 * 2^30, 2^40). Exactly ceil(number * factor), however many digits there are. Text after that letter is ignored ("20kk" is 20k).
 * Results above PTRDIFF_MAX are refused, as no object can be larger.
 */
const char *shmemi_scan_size(const char *text, size_t *bytes_out);

/* A non-negative number, then ns, us, ms or s; a plain number has the unit of plain_ns nanoseconds. Rounded up to 1 ns. */
const char *shmemi_scan_time(const char *text, int64_t plain_ns, int64_t *ns_out);

/* A decimal integer with an optional '-', between the limits of a range written "min..max". */
const char *shmemi_scan_int(const char *text, const char *range, long *out);

/* 1 yes on true, 0 no off false. */
const char *shmemi_scan_bool(const char *text, bool *out);

/* The index of a word in a list "word|word|...". */
const char *shmemi_scan_choice(const char *text, const char *words, int *index_out);

/* How many letters must be changed, added or taken away to make b out of a. Names longer than 63 are cut. */
unsigned shmemi_scan_distance(const char *a, const char *b);

#endif
