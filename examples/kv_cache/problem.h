/* SPDX-License-Identifier: Apache-2.0
 *
 * What is wrong with the user's input: one message of three parts, kept until PE 0 may print it.
 *
 * Input is read before the library starts, because the options decide how large the symmetric heap must be. Nobody knows
 * then which PE this is, so whoever finds an error notes it here and returns false; those above pass the false on.
 */
#ifndef KV_PROBLEM_H
#define KV_PROBLEM_H

#include <stdbool.h>
#include <stdio.h>

#define WHY "\n    why: "
#define FIX "\n    fix: "

/* Note an error. The first one is kept. Always false, so that "return problem(...)" reads well. */
bool problem(const char *format, ...) __attribute__((format(printf, 1, 2)));

bool problem_noted(void);

/* Print the message that was noted, in one write. */
void problem_print(FILE *stream);

#endif
