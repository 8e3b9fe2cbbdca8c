/* SPDX-License-Identifier: Apache-2.0
 *
 * The exchanges of the module alone, without the library: cards of each size in its arguments, and a barrier, over and over. Half of the
 * cards can be compressed, half cannot, as PMIx may compress what it carries.
 */
#include "runtime/bootstrap/pmix.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_NS 60000000000

shmemb_pmix_table_fn shmemb_pmix_table;

static void fill(unsigned char *card, size_t bytes, int pe, int random)
{
    uint64_t state = (uint64_t)pe * 7919 + bytes + 1;
    for (size_t i = 0; i < bytes; i++) {
        state   = state * 6364136223846793005u + 1442695040888963407u;
        card[i] = random ? (unsigned char)(state >> 56) : (unsigned char)(pe + 1);
    }
}

static int check(struct shmemb *b, size_t bytes, int random)
{
    unsigned char *mine = malloc(bytes), *all = malloc(bytes * (size_t)b->npes), *wanted = malloc(bytes);
    int            failures = 0;
    if (!mine || !all || !wanted) return 1;
    fill(mine, bytes, b->pe, random);
    memset(all, 0xee, bytes * (size_t)b->npes);
    if (b->ops->allgather(b, mine, bytes, all, LIMIT_NS) != 0) return 1;
    for (int pe = 0; pe < b->npes; pe++) {
        fill(wanted, bytes, pe, random);
        if (memcmp(all + (size_t)pe * bytes, wanted, bytes) == 0) continue;
        printf("PE %d: the card of PE %d with %zu bytes is wrong\n", b->pe, pe, bytes);
        failures++;
    }
    if (b->ops->allgather(b, NULL, 0, NULL, LIMIT_NS) != 0) failures++;
    free(mine), free(all), free(wanted);
    return failures;
}

int main(int count, char **sizes)
{
    struct shmemb_pmix_host host = {
        .version = POSTERN_VERSION, .head_bytes = sizeof(struct shmemb), .log_level = SHMEMI_LOG_WARN, .init_timeout_ns = LIMIT_NS};
    const struct shmemb_ops *ops = shmemb_pmix_table(&host);
    struct shmemb           *b;
    int                      failures = 0;
    if (!ops || ops->open(&b) != 0) return 1;
    for (int i = 1; i < count; i++)
        for (int random = 0; random < 2; random++) failures += check(b, (size_t)atol(sizes[i]), random);
    ops->close(b, true);
    if (b->pe == 0 && failures == 0) printf("%d sizes, %d PEs: every byte is right\n", count - 1, b->npes);
    return failures != 0;
}
