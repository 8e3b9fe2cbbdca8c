/* SPDX-License-Identifier: Apache-2.0
 *
 * Ring: a token goes from PE to PE, several times round. Each PE waits for it, adds its number and puts it on.
 *
 * Shows wait_until: the receiver calls nothing that names the sender, it waits for its own memory to change. The token and the
 * round travel in one 64-bit word, so there is no second word that could be seen before the first.
 *
 *     oshrun -n 4 ring
 */
#include <shmem.h>
#include <stdio.h>

enum {
    ROUNDS = 100,
};

/* The upper half counts rounds from 1, the lower half is the sum so far. */
static uint64_t token;

static uint64_t make_token(uint64_t round, uint64_t sum)
{
    return round << 32 | sum;
}

static uint64_t token_round(uint64_t word)
{
    return word >> 32;
}

static uint64_t token_sum(uint64_t word)
{
    return word & UINT32_MAX;
}

int main(void)
{
    shmem_init();
    uint64_t me   = (uint64_t)shmem_my_pe();
    uint64_t pes  = (uint64_t)shmem_n_pes();
    int      next = (int)((me + 1) % pes);

    if (me == 0) {
        shmem_uint64_atomic_set(&token, make_token(1, 0), next); /* with one PE, that is this one */
    }
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        /* What is greater carries this round: rounds only grow. */
        shmem_uint64_wait_until(&token, SHMEM_CMP_GE, make_token(round, 0));
        uint64_t sum = token_sum(token) + me;
        if (me != 0) {
            shmem_uint64_atomic_set(&token, make_token(round, sum), next);
        } else if (round < ROUNDS) {
            shmem_uint64_atomic_set(&token, make_token(round + 1, sum), next); /* it has come round */
        }
    }

    int status = 0;
    if (me == 0) {
        uint64_t right = ROUNDS * (pes * (pes - 1) / 2);
        printf("ring: %llu PEs, %d rounds, sum %llu, expected %llu\n", (unsigned long long)pes, ROUNDS,
               (unsigned long long)token_sum(token), (unsigned long long)right);
        status = token_sum(token) == right && token_round(token) == ROUNDS ? 0 : 1;
    }
    shmem_barrier_all();
    shmem_finalize();
    return status;
}
