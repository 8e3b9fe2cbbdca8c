/* SPDX-License-Identifier: Apache-2.0
 *
 * Each PE puts with a signal to its right neighbour on one stream, and waits for its left one's signal on another, which then reads what has come:
 * whatever memory data, source and signal lie in, who has passed the wait sees the data. The host waits for nothing in between.
 * PES: 1 2 3
 * ENV: POSTERN_CUDA_HEAP=8M
 * VARIANTS: staged chaos rdma bounced
 * LINK: dl
 */
#include "stream.h"

enum { BYTES = 100000 };

enum { HOST, GPU, PRIVATE, PINNED, KINDS };

static int              me, n;
static shmemi_cu_stream going, coming;

static void *memory(int kind, size_t bytes)
{
    void *made = kind == PRIVATE ? malloc(bytes) : shmem_malloc_with_hints(bytes, kind == GPU ? SHMEMX_MEM_CUDA : SHMEMX_MEM_HOST);
    CHECK(made != NULL);
    return made;
}

static void one_round(int kind, char *dest, char *source, uint64_t *signal, int sig_op, size_t bytes, uint64_t wanted, int cmp)
{
    static char check[BYTES];
    int         right = (me + 1) % n, left = (me + n - 1) % n;
    if (kind == HOST || kind == GPU) gpu_fill(source, bytes, me, (unsigned)wanted);
    else
        for (size_t i = 0; i < bytes; i++) source[i] = (char)gpu_byte(me, (unsigned)wanted, i);
    gpu_clear(dest, bytes);
    memset(check, 0, bytes);
    shmem_barrier_all();
    shmemx_signal_wait_until_on_stream(signal, cmp, cmp == SHMEM_CMP_GT ? wanted - 1 : wanted, coming);
    shmemx_getmem_on_stream(check, dest, bytes, me, coming);
    shmemx_putmem_signal_on_stream(dest, source, bytes, signal, sig_op == SHMEM_SIGNAL_ADD ? 1 : wanted, sig_op, right, going);
    stream_wait(coming);
    CHECK(gpu_wrong(check, bytes, left, (unsigned)wanted, 0) == 0);
    stream_wait(going);
    shmem_barrier_all();
}

/* Words and other elements, without a signal: what one stream has put is there after a barrier on it. */
static void elements(void)
{
    long   *words = memory(GPU, 4 * sizeof *words), got[4] = {0};
    double *halves = memory(HOST, 2 * sizeof *halves), back[2] = {0};
    short   small = 0;
    int     right = (me + 1) % n, left = (me + n - 1) % n;
    long    mine[2] = {me + 20, me + 30};
    gpu_clear(words, 4 * sizeof *words);
    gpu_clear(halves, 2 * sizeof *halves);
    shmem_barrier_all();
    shmemx_long_p_on_stream(&words[0], me + 10, right, going);
    shmemx_long_put_on_stream(&words[1], mine, 2, right, going);
    shmemx_put64_nbi_on_stream(&words[3], &mine[1], 1, right, going);
    shmemx_double_p_on_stream(&halves[0], me + 0.5, right, going);
    shmemx_short_p_on_stream((short *)(void *)&halves[1], (short)(me + 7), right, going);
    shmemx_quiet_on_stream(going);
    shmemx_barrier_all_on_stream(going);
    shmemx_long_get_on_stream(got, words, 4, me, going);
    shmemx_getmem_nbi_on_stream(back, halves, sizeof back, me, going);
    stream_wait(going);
    CHECK(got[0] == left + 10 && got[1] == left + 20 && got[2] == left + 30 && got[3] == left + 30);
    memcpy(&small, &back[1], sizeof small);
    CHECK(back[0] == left + 0.5 && small == left + 7);
    shmemx_putmem_on_stream(NULL, NULL, 0, right, going); /* nothing */
    shmem_barrier_all();
    shmem_free(halves);
    shmem_free(words);
}

int main(void)
{
    static const int cmps[]    = {SHMEM_CMP_GE, SHMEM_CMP_EQ, SHMEM_CMP_GT};
    uint64_t         wanted[2] = {0};
    shmem_init();
    me                      = shmem_my_pe();
    n                       = shmem_n_pes();
    char     *dest[2]       = {memory(HOST, BYTES), memory(GPU, BYTES)};
    char     *source[KINDS] = {memory(HOST, BYTES), memory(GPU, BYTES), memory(PRIVATE, BYTES)};
    void     *pinned        = NULL;
    uint64_t *signal[2]     = {memory(HOST, sizeof(uint64_t)), memory(GPU, sizeof(uint64_t))};
    driver_open();
    going  = stream_create(dest[1]);
    coming = stream_create(dest[1]);
    CHECK(driver.mem_host_alloc(&pinned, BYTES, 0) == SHMEMI_CU_SUCCESS);
    source[PINNED] = pinned;
    for (int s = 0; s < 2; s++) gpu_clear(signal[s], sizeof(uint64_t));
    for (int s = 0; s < 2; s++)
        for (int d = 0; d < 2; d++)
            for (int from = 0; from < KINDS; from++)
                for (int op = 0; op < 2; op++) {
                    wanted[s]++;
                    one_round(from, dest[d], source[from], signal[s], op ? SHMEM_SIGNAL_ADD : SHMEM_SIGNAL_SET,
                              from == GPU ? BYTES : 1000, wanted[s], cmps[wanted[s] % 3]);
                }
    elements();
    stream_wait(coming);
    stream_wait(going);
    CHECK(driver.mem_free_host(pinned) == SHMEMI_CU_SUCCESS);
    stream_destroy(coming);
    stream_destroy(going);
    free(source[PRIVATE]);
    shmem_finalize();
    return api_result();
}
