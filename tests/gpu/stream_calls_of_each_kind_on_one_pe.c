/* SPDX-License-Identifier: Apache-2.0
 *
 * One PE and one stream: a copy, a word, a wait and a meeting. stream_failures_are_one_error.sh lets each call of the driver fail in it; it gives
 * the name of one, to hear how often that was called before the first operation on the stream.
 * PES: 1
 * ENV: POSTERN_CUDA_HEAP=8M
 * LINK: dl
 */
#include "stream.h"

static void tell_calls(const char *name)
{
    unsigned long (*calls)(const char *) = NULL;
    void *symbol                         = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "simcuda_calls");
    memcpy(&calls, &symbol, sizeof calls);
    if (calls) printf("calls: %lu\n", calls(name));
}

int main(int argc, char **argv)
{
    long back = 0;
    shmem_init();
    long *words = shmem_malloc_with_hints(4 * sizeof *words, SHMEMX_MEM_CUDA);
    CHECK(words != NULL);
    gpu_clear(words, 4 * sizeof *words);
    driver_open();
    shmemi_cu_stream stream = stream_create(words);
    if (argc > 1) tell_calls(argv[1]);
    shmemx_long_p_on_stream(&words[0], 7, 0, stream);
    shmemx_long_put_on_stream(&words[1], &words[0], 1, 0, stream);
    shmemx_signal_wait_until_on_stream((uint64_t *)words, SHMEM_CMP_EQ, 7, stream);
    shmemx_barrier_all_on_stream(stream);
    shmemx_long_get_on_stream(&back, &words[1], 1, 0, stream);
    stream_wait(stream);
    CHECK(back == 7);
    stream_destroy(stream);
    shmem_finalize();
    return api_result();
}
