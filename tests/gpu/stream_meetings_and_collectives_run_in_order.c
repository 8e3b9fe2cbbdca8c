/* SPDX-License-Identifier: Apache-2.0
 *
 * Barriers, syncs and collectives on a stream: with what is put before and read behind them on the same stream, and with no wait of the host in
 * between. And two streams of one PE that need the host at once do not wait for each other.
 * PES: 1 2 3
 * ENV: POSTERN_CUDA_HEAP=8M
 * VARIANTS: staged chaos rdma bounced
 * LINK: dl
 */
#include "stream.h"

enum { N = 300 };

static int              me, n;
static shmemi_cu_stream first, second;

static void *gpu(size_t bytes)
{
    void *made = shmem_malloc_with_hints(bytes, SHMEMX_MEM_CUDA);
    CHECK(made != NULL);
    return made;
}

/* All in one go: the stream alone keeps the order. */
static void collectives(void)
{
    long *mine = gpu(sizeof(long) * N * (size_t)n), *sum = gpu(sizeof(long) * N), *all = gpu(sizeof(long) * N * (size_t)n),
         *turned = gpu(sizeof(long) * N * (size_t)n), *root = gpu(sizeof(long) * N);
    uint32_t    *bits = gpu(sizeof(uint32_t) * N), *ored = gpu(sizeof(uint32_t) * N);
    static long  host[N * 3], host_sum[N], host_all[N * 3], host_turned[N * 3], host_root[N];
    static float max[2];
    float       *largest      = gpu(2 * sizeof(float));
    uint32_t     host_bits[2] = {1u << me, 8u << me}, got_bits[2] = {0};
    for (int i = 0; i < N * n; i++) host[i] = 1000 * me + i;
    max[0] = (float)me, max[1] = (float)-me;
    shmem_barrier_all();

    shmemx_long_put_on_stream(mine, host, (size_t)(N * n), me, first);
    shmemx_put32_on_stream(bits, host_bits, 2, me, first);
    shmemx_float_put_on_stream(largest, max, 2, me, first);
    CHECK(shmemx_long_sum_reduce_on_stream(SHMEM_TEAM_WORLD, sum, mine, N, first) == 0);
    CHECK(shmemx_long_fcollect_on_stream(SHMEM_TEAM_WORLD, all, mine, N, first) == 0);
    CHECK(shmemx_long_alltoall_on_stream(SHMEM_TEAM_WORLD, turned, mine, N, first) == 0);
    CHECK(shmemx_broadcastmem_on_stream(SHMEM_TEAM_WORLD, root, mine, N * sizeof(long), n - 1, first) == 0);
    CHECK(shmemx_uint32_or_reduce_on_stream(SHMEM_TEAM_WORLD, ored, bits, 2, first) == 0);
    CHECK(shmemx_float_max_reduce_on_stream(SHMEM_TEAM_WORLD, largest, largest, 2, first) == 0);
    shmemx_long_get_on_stream(host_sum, sum, N, me, first);
    shmemx_long_get_on_stream(host_all, all, (size_t)(N * n), me, first);
    shmemx_long_get_on_stream(host_turned, turned, (size_t)(N * n), me, first);
    shmemx_long_get_on_stream(host_root, root, N, me, first);
    shmemx_get32_on_stream(got_bits, ored, 2, me, first);
    shmemx_float_get_on_stream(max, largest, 2, me, first);
    stream_wait(first);

    for (int i = 0; i < N; i++) {
        CHECK(host_sum[i] == 1000L * n * (n - 1) / 2 + (long)n * i);
        CHECK(host_root[i] == 1000 * (n - 1) + i);
        for (int pe = 0; pe < n; pe++) {
            CHECK(host_all[pe * N + i] == 1000 * pe + i);
            CHECK(host_turned[pe * N + i] == 1000 * pe + me * N + i);
        }
    }
    CHECK(got_bits[0] == (1u << n) - 1 && got_bits[1] == 8 * ((1u << n) - 1));
    CHECK(max[0] == (float)(n - 1) && max[1] == 0);
    CHECK(shmemx_long_sum_reduce_on_stream(SHMEM_TEAM_INVALID, sum, mine, N, first) != 0);
    CHECK(shmemx_barrier_on_stream(SHMEM_TEAM_INVALID, first) != 0);
}

static void meetings(void)
{
    shmem_team_t team = SHMEM_TEAM_INVALID;
    long        *word = gpu(sizeof *word), seen = 0;
    int          right = (me + 1) % n, left = (me + n - 1) % n;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &team) == 0);
    for (long round = 1; round <= 5; round++) {
        shmemx_long_p_on_stream(word, 100 * round + me, right, first);
        if (round % 2) shmemx_barrier_all_on_stream(first);
        else CHECK(shmemx_barrier_on_stream(team, first) == 0);
        shmemx_long_get_on_stream(&seen, word, 1, me, first);
        if (round % 2) shmemx_sync_all_on_stream(first); /* nobody writes the next round before all have read */
        else CHECK(shmemx_team_sync_on_stream(team, first) == 0);
        stream_wait(first);
        CHECK(seen == 100 * round + left);
    }
    shmem_team_destroy(team);
}

/* The first stream waits, by the host, for what the second one sends, by the host too. */
static void streams_do_not_block_each_other(void)
{
    uint64_t *word = shmem_malloc_with_hints(2 * sizeof *word, SHMEMX_MEM_HOST), *counter = &word[1];
    memset(word, 0, 2 * sizeof *word);
    shmem_barrier_all();
    shmemx_signal_wait_until_on_stream(&word[0], SHMEM_CMP_NE, 0, first); /* no comparison of a stream */
    shmemx_signal_op_on_stream(counter, 5, SHMEM_SIGNAL_ADD, me, first);
    CHECK(n > 1 || driver.stream_query(first) == SHMEMI_CU_NOT_READY); /* a neighbour may have sent already */
    shmemx_signal_op_on_stream(&word[0], 3, SHMEM_SIGNAL_ADD, (me + 1) % n, second);
    stream_wait(second);
    stream_wait(first);
    CHECK(shmem_signal_fetch(counter) == 5 && shmem_signal_fetch(&word[0]) == 3);
    shmem_barrier_all();
    shmem_free(word);
}

int main(void)
{
    shmem_init();
    me         = shmem_my_pe();
    n          = shmem_n_pes();
    void *heap = gpu(8);
    driver_open();
    first  = stream_create(heap);
    second = stream_create(heap);
    collectives();
    meetings();
    streams_do_not_block_each_other();
    stream_destroy(second);
    /* What is still on a stream is done before the end. */
    shmemx_barrier_all_on_stream(first);
    shmem_finalize();
    stream_destroy(first);
    return api_result();
}
