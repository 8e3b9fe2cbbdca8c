/* SPDX-License-Identifier: Apache-2.0
 *
 * A PE that has slept a while goes on when its word changes. How long that takes is printed and not judged: once by the calls
 * of the library, which wake it, and once by a store through shmem_ptr, which nobody tells it of.
 * Spec: OpenSHMEM 1.6 §9.11 Point-To-Point Synchronization Routines; design: every sleep is bounded
 * PES: 2
 * TIMEOUT: 60
 */
#include "cpu.h"

enum { ROUNDS = 30 };

static long   words[2][ROUNDS], back;
static double sent_s[2][ROUNDS];

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    shmem_init();
    int           me     = shmem_my_pe();
    _Atomic long *mapped = (_Atomic long *)shmem_ptr(words[1], 1);
    for (int kind = 0; kind < 2; kind++) {
        double took_us[ROUNDS];
        for (int i = 0; i < ROUNDS; i++) {
            shmem_barrier_all();
            if (me == 0) {
                sleep_ms(5);
                shmem_double_p(&sent_s[kind][i], wall_now_s(), 1);
                shmem_fence();
                if (kind == 1 && mapped) atomic_store_explicit(&mapped[i], 1, memory_order_release);
                else shmem_long_p(&words[kind][i], 1, 1);
                shmem_quiet();
                shmem_long_wait_until(&back, SHMEM_CMP_EQ, kind * ROUNDS + i + 1);
            } else {
                shmem_long_wait_until(&words[kind][i], SHMEM_CMP_EQ, 1);
                took_us[i] = (wall_now_s() - sent_s[kind][i]) * 1e6;
                shmem_long_atomic_set(&back, kind * ROUNDS + i + 1, 0);
            }
        }
        if (me == 1) {
            qsort(took_us, ROUNDS, sizeof *took_us, by_value);
            printf("woken %s after %.1f us (median), %.1f us (longest of %d)\n", kind ? "by a store through shmem_ptr" : "by a put",
                   took_us[ROUNDS / 2], took_us[ROUNDS - 1], ROUNDS);
        }
    }
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
