/* SPDX-License-Identifier: Apache-2.0
 *
 * Every PE expects another number from each: those with an odd number send the negative of what the others send.
 * Spec: OpenSHMEM 1.6 §9.11.6 shmem_wait_until_any_vector
 * Does what the specification's shmem_wait_until_any_vector does.
 * PES: 2 3
 */
#include "../../api/api.h"

static int word_of(int pe)
{
    return pe % 2 == 1 ? -(pe + 20) : pe + 20;
}

int main(void)
{
    shmem_init();
    int    me = shmem_my_pe(), n = shmem_n_pes();
    size_t count = (size_t)n;
    int   *words = shmem_calloc(count, sizeof *words);
    int   *done = calloc(count, sizeof *done), *wanted = malloc(count * sizeof *wanted);
    if (words == NULL || done == NULL || wanted == NULL) shmem_global_exit(1);
    long total = 0, right = 0;
    for (int pe = 0; pe < n; pe++) {
        wanted[pe] = word_of(pe);
        right += word_of(pe);
        shmem_atomic_set(&words[me], word_of(me), pe);
    }
    for (size_t i = 0; i < count; i++) {
        size_t who = shmem_wait_until_any_vector(words, count, done, SHMEM_CMP_EQ, wanted);
        if (!CHECK(who < count && done[who] == 0)) break;
        CHECK_EQUAL(words[who], word_of((int)who));
        done[who] = 1;
        total += words[who];
    }
    CHECK_EQUAL(total, right);
    free(wanted);
    free(done);
    shmem_free(words);
    shmem_finalize();
    return api_result();
}
