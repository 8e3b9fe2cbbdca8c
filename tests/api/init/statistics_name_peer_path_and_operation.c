/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 2
 * ENV: POSTERN_STATS=1
 * NOCHAOS: the name of the path is part of the line
 * OUTPUT: PE 0: to PE 1 over shm: put 3 calls, 24 bytes
 * OUTPUT: PE 0: to PE 1 over shm: get 1 calls, 8 bytes
 * OUTPUT: PE 0: to PE 1 over shm: atomic 2 calls, 16 bytes
 * OUTPUT: PE 0: to PE 1 over shm: signal 1 calls, 8 bytes
 * OUTPUT: PE 0: .* sleeps, .* wake-ups of others
 * NOOUTPUT: PE 1: to PE 0 over
 *
 * POSTERN_STATS=1 prints what this PE did to each other one, by which way; shmemx_peer_counter tells it while the program runs.
 * Spec: none; an extension.
 */
#include "../api.h"

#include <shmemx.h>

static long     word, data;
static uint64_t signal_word;

static long count(int pe, const char *name)
{
    uint64_t value = 0;
    CHECK_EQUAL(shmemx_peer_counter(pe, name, &value), 0);
    return (long)value;
}

static void check_counts(void)
{
    CHECK_EQUAL(count(1, "put.calls"), 3);
    CHECK_EQUAL(count(1, "put.mapped.calls"), 3);
    CHECK_EQUAL(count(1, "put.posted.calls"), 0);
    CHECK_EQUAL(count(1, "put.mapped.bytes"), 24);
    CHECK_EQUAL(count(1, "get.bytes"), 8);
    CHECK_EQUAL(count(1, "atomic.mapped.calls"), 2);
    CHECK_EQUAL(count(1, "signal.calls"), 1);
    CHECK_EQUAL(count(0, "put.calls"), 0);
}

static void check_refusals(void)
{
    static const char *const wrong[] = {"",           "put",        "put.",          "put.call", "put.calls.",
                                        "puts.calls", "put.mapped", "put.shm.calls", "sleeps"};
    uint64_t                 value   = 7;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) CHECK_EQUAL(shmemx_peer_counter(1, wrong[i], &value), -1);
    CHECK_EQUAL(shmemx_peer_counter(-1, "put.calls", &value), -1);
    CHECK_EQUAL(shmemx_peer_counter(2, "put.calls", &value), -1);
    CHECK_EQUAL(shmemx_peer_counter(1, NULL, &value), -1);
    CHECK_EQUAL(shmemx_peer_counter(1, "put.calls", NULL), -1);
    CHECK_EQUAL(shmemx_counter("shm.no_such_counter", &value), -1);
    CHECK_EQUAL(value, 7);
}

int main(void)
{
    uint64_t unused;
    CHECK_EQUAL(shmemx_peer_counter(0, "put.calls", &unused), -1);
    shmem_init();
    if (shmem_my_pe() == 0) {
        for (int i = 0; i < 3; i++) shmem_long_p(&data, i, 1);
        CHECK(shmem_long_g(&data, 1) <= 2);
        shmem_long_atomic_inc(&word, 1);
        shmem_long_atomic_add(&word, 2, 1);
        shmem_long_put_signal(&data, &data, 1, &signal_word, 1, SHMEM_SIGNAL_SET, 1);
        check_counts();
    }
    check_refusals();
    shmem_finalize();
    CHECK_EQUAL(shmemx_peer_counter(0, "put.calls", &unused), -1);
    return api_result();
}
