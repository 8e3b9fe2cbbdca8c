/* SPDX-License-Identifier: Apache-2.0
 *
 * The environment variables, from one table (options.def): the parser, SHMEM_INFO, postern-info and
 * docs/environment.md are all made from it. A field of struct shmemi_options is a row of the table.
 */
#ifndef SHMEMI_OPTIONS_H
#define SHMEMI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* C types of the kinds of rows in options.def. */
typedef bool        shmemi_option_flag;   /* present with any value: true (the SHMEM_* flags)           */
typedef bool        shmemi_option_bool;   /* 0/1, yes/no, on/off, true/false                            */
typedef long        shmemi_option_int;    /* decimal, within the row's limits                           */
typedef size_t      shmemi_option_size;   /* the standard's size grammar, in bytes; SIZE_MAX: "auto"     */
typedef int64_t     shmemi_option_time;   /* nanoseconds; grammar: 10s, 500ms, 20us, plain = seconds; -1: none/auto */
typedef int         shmemi_option_choice; /* index into the row's list of words                         */
typedef const char *shmemi_option_text;   /* NULL: not set or empty. A copy, valid for ever                 */

struct shmemi_options {
#define SHMEMI_OPTION(NAME, KIND, FIELD, DEFAULT, UNIT, ALLOWED, HELP) shmemi_option_##KIND FIELD;
#include "runtime/base/options.def"
#undef SHMEMI_OPTION
};

extern struct shmemi_options shmemi_options;

/* Choices, in the order of the words in options.def. */
enum shmemi_option_pages { SHMEMI_PAGES_AUTO, SHMEMI_PAGES_HUGETLB, SHMEMI_PAGES_MEMFD, SHMEMI_PAGES_TMPFS, SHMEMI_PAGES_SMALL };
enum shmemi_option_bootstrap { SHMEMI_BOOTSTRAP_AUTO, SHMEMI_BOOTSTRAP_LOCAL, SHMEMI_BOOTSTRAP_PMIX, SHMEMI_BOOTSTRAP_SELF };
enum shmemi_option_amo { SHMEMI_AMO_AUTO, SHMEMI_AMO_CPU, SHMEMI_AMO_NIC };
enum shmemi_option_sync { SHMEMI_SYNC_AUTO, SHMEMI_SYNC_DISSEMINATION, SHMEMI_SYNC_CENTRAL };
enum shmemi_option_broadcast { SHMEMI_BROADCAST_AUTO, SHMEMI_BROADCAST_TREE, SHMEMI_BROADCAST_PULL, SHMEMI_BROADCAST_SCATTER };
enum shmemi_option_collect { SHMEMI_COLLECT_AUTO, SHMEMI_COLLECT_PUSH, SHMEMI_COLLECT_DOUBLING };
enum shmemi_option_alltoall { SHMEMI_ALLTOALL_AUTO, SHMEMI_ALLTOALL_PUSH, SHMEMI_ALLTOALL_PULL };
enum shmemi_option_reduce { SHMEMI_REDUCE_AUTO, SHMEMI_REDUCE_FLAT, SHMEMI_REDUCE_DOUBLING, SHMEMI_REDUCE_DIRECT };
enum shmemi_option_stats { SHMEMI_STATS_NO, SHMEMI_STATS_TEXT, SHMEMI_STATS_JSON };
enum shmemi_option_heap { SHMEMI_HEAP_HOST, SHMEMI_HEAP_CUDA };
enum shmemi_option_on { SHMEMI_ON_AUTO, SHMEMI_ON_NO, SHMEMI_ON_YES };

/*
 * Read the environment into shmemi_options. 0, or -EINVAL after an error message that names the variable, its value and what
 * is allowed; one for each wrong variable, which then has its default. Also sets the level of the log. Blanks around a value
 * do not count. Unknown POSTERN_ names are kept for shmemi_options_report_unknown(). May be called again (a later init).
 */
int shmemi_options_load(void);

/*
 * One warning that names each unknown POSTERN_ variable and the nearest known name; called on PE 0 only.
 * With POSTERN_STRICT=1 it is an error and the result is -EINVAL. Else 0.
 */
int shmemi_options_report_unknown(void);

/* Every variable with value, default and help, as SHMEM_INFO asks, to a file descriptor. Spec: §8. */
void shmemi_options_print(int fd);
void shmemi_options_write(FILE *out);

/* Equal on PEs whose job-wide options (marked so in the table) are equal. For the start-up exchange. */
uint64_t shmemi_options_hash(void);

/* Rows as data, for tools: the row's name, value as text, default, unit, allowed, help. NULL past the last. */
struct shmemi_option_row {
    const char *name, *kind, *fallback, *unit, *allowed, *help;
    bool        job; /* its value must be equal on all PEs */
};
const struct shmemi_option_row *shmemi_options_row(size_t index);
/* The heading over a row, and the number of the first row below that heading. */
struct shmemi_option_section {
    const char *title, *intro;
    size_t      first;
};
const struct shmemi_option_section *shmemi_options_section(size_t index);
/*
 * The current value of a row as text into buffer (cut to fit); returns buffer. Written as a user would write it, and the same
 * for values that mean the same ("1024M" and "1G"). "" is not set, as in the table; a flag that is set is "1".
 */
const char *shmemi_options_value(size_t index, char *buffer, size_t buffer_bytes);
/* The variable that gave the row its value (SHMEM_INFO, or the old SMA_INFO); NULL: it has its default. Valid for ever. */
const char *shmemi_options_source(size_t index);
/* Names that begin with POSTERN_ and are in no row, as found by the last load; NULL past the last that was kept. */
const char *shmemi_options_unknown(size_t index);

#endif
