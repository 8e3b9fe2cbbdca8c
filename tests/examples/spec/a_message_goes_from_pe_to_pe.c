/* SPDX-License-Identifier: Apache-2.0
 *
 * A message runs along all PEs: each waits for the signal that comes with it and passes on what came, straight from where it lies,
 * into the same place at the next. The last gives it back to the first.
 * Spec: OpenSHMEM 1.6 §9.8.3 shmem_put_signal, §9.11.1 shmem_wait_until
 * Does what the specification's shmem_put_signal_example does.
 * PES: 2 3
 */
#include "../../api/api.h"

enum { COUNT = 3000 };
static uint64_t arrived;

int main(void)
{
    shmem_init();
    int       me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    uint64_t *letter = shmem_calloc(COUNT, sizeof *letter);
    uint64_t *text   = malloc(COUNT * sizeof *text);
    if (letter == NULL || text == NULL) shmem_global_exit(1);
    if (me == 0) {
        for (size_t i = 0; i < COUNT; i++) text[i] = i * i + 1;
        shmem_put_signal(letter, text, COUNT, &arrived, 1, SHMEM_SIGNAL_SET, next);
    }
    shmem_wait_until(&arrived, SHMEM_CMP_EQ, 1);
    if (me != 0) shmem_put_signal(letter, letter, COUNT, &arrived, 1, SHMEM_SIGNAL_SET, next);
    for (size_t i = 0; i < COUNT; i++) {
        if (!CHECK_EQUAL(letter[i], i * i + 1)) break;
    }
    free(text);
    shmem_free(letter);
    shmem_finalize();
    return api_result();
}
