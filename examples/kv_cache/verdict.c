/* SPDX-License-Identifier: Apache-2.0
 *
 * Agreeing to go on. See verdict.h.
 *
 * Every PE puts one word into every PE's table, and all read their copy after a barrier.
 */
#include "verdict.h"

#include "problem.h"

#include <shmem.h>
#include <stdio.h>

#define FAILED 0u /* a digest never is */

static int first_with(const uint64_t *words, int pes, bool same, uint64_t word)
{
    int pe = 0;
    while (pe < pes && (words[pe] == word) != same) {
        pe++;
    }
    return pe;
}

/* The same answer on every PE: all look at the same words. */
static bool judge(const uint64_t *words, int me, int pes)
{
    int failed = first_with(words, pes, true, FAILED);
    if (failed < pes) {
        if (me == failed) {
            problem_print(stderr);
        }
        return false;
    }
    int other = first_with(words, pes, false, words[0]);
    if (other < pes && me == 0) {
        problem("PE %d was given other work than PE 0" WHY "options, config or trace differ, perhaps between machines" FIX
                "give all PEs the same files",
                other);
        problem_print(stderr);
    }
    return other == pes;
}

bool verdict(bool good, uint64_t digest)
{
    int       me    = shmem_my_pe();
    int       pes   = shmem_n_pes();
    uint64_t *words = shmem_calloc((size_t)pes, sizeof *words);
    if (words == NULL) { /* on all PEs */
        if (me == 0) {
            fprintf(stderr,
                    "kv_cache: the symmetric heap has no room for %d words" WHY "SHMEM_SYMMETRIC_SIZE is too small" FIX
                    "unset it\n",
                    pes);
        }
        return false;
    }
    uint64_t word = good ? digest | 1 : FAILED;
    for (int pe = 0; pe < pes; pe++) {
        shmem_uint64_p(&words[me], word, pe);
    }
    shmem_barrier_all();
    bool all_good = judge(words, me, pes);
    shmem_free(words);
    return all_good;
}
