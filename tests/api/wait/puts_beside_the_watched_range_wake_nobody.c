/* SPDX-License-Identifier: Apache-2.0
 *
 * 100,000 small puts to a PE that sleeps on a word elsewhere: they make hardly any system call, since a writer wakes only where
 * it wrote inside the range that is watched. The put to the word itself wakes.
 * PES: 2 4
 * Spec: none; the design's: bulk puts to a sleeping PE must not cost a system call each
 */
#include "cpu.h"

#include <shmemx.h>

enum { PUTS = 100000 };

static long word, elsewhere[64];

static long count(const char *name)
{
    uint64_t value = 0;
    CHECK_EQUAL(shmemx_counter(name, &value), 0);
    return (long)value;
}

int main(void)
{
    uint64_t unused = 5;
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    CHECK_EQUAL(shmemx_counter("no such counter", &unused), -1);
    CHECK_EQUAL(unused, 5);
    shmem_barrier_all();
    if (me == 0) {
        bool mapped = shmem_ptr(&word, 1) != NULL;
        int  puts   = mapped ? PUTS : 1000;
        sleep_ms(50); /* the others are asleep */
        long before = count("wakes");
        for (int i = 0; i < puts; i++) shmem_long_p(&elsewhere[i % 64], i, 1);
        shmem_quiet();
        long by_puts = count("wakes") - before;
        for (int pe = 1; pe < n; pe++) {
            /* The sleeper may just be up for its bound to be over, so a put need not find it asleep; many do. */
            for (int i = 1; i <= 20; i++) {
                sleep_ms(2);
                shmem_long_p(&word, i, pe);
                shmem_quiet();
            }
        }
        long by_flag = count("wakes") - before - by_puts;
        printf("%d puts beside the range: %ld wake-ups; 20 puts to the word of %d PEs: %ld wake-ups\n", puts, by_puts, n - 1,
               by_flag);
        CHECK(by_puts <= 20);
        if (mapped) CHECK(by_flag >= n - 1);
    } else {
        for (long i = 1; i <= 20; i++) shmem_long_wait_until(&word, SHMEM_CMP_GE, i);
        CHECK(count("sleeps") > 0);
    }
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
