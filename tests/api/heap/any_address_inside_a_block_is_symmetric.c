/* SPDX-License-Identifier: Apache-2.0
 *
 * Pointers into an object (arithmetic, array and struct members) are valid, and a block has the same place in every PE's heap.
 * Spec: OpenSHMEM 1.6 §3.1 Pointers to Symmetric Objects, §9.3 Memory Management Routines
 */
#include "../api.h"

struct record {
    char  tag;
    short odd[3];
    long  words[5];
};

int main(void)
{
    shmem_init();
    int            me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n, from = (me + n - 1) % n;
    struct record *records = shmem_calloc(20, sizeof *records);
    for (int i = 0; i < 20; i++) {
        shmem_char_p(&records[i].tag, (char)(i + me), next);
        shmem_short_p(&records[i].odd[i % 3], (short)(100 * i + me), next);
        shmem_long_p(records[i].words + i % 5, 1000 * i + me, next);
    }
    shmem_barrier_all();
    for (int i = 0; i < 20; i++) {
        CHECK_EQUAL(records[i].tag, (char)(i + from));
        CHECK_EQUAL(records[i].odd[i % 3], (short)(100 * i + from));
        CHECK_EQUAL(records[i].words[i % 5], 1000 * i + from);
    }
    shmem_free(records);

    /* many blocks, freed out of order: each still pairs with its own */
    long *blocks[30];
    for (int i = 0; i < 30; i++) blocks[i] = shmem_malloc((size_t)(i * 37 % 11 + 1) * sizeof(long));
    for (int i = 0; i < 30; i += 3) shmem_free(blocks[i]), blocks[i] = shmem_malloc((size_t)(i + 1) * sizeof(long));
    for (int i = 0; i < 30; i++) shmem_long_p(blocks[i], 100 * i + me, next);
    shmem_barrier_all();
    for (int i = 0; i < 30; i++) CHECK_EQUAL(*blocks[i], 100 * i + from);
    shmem_finalize();
    return api_result();
}
