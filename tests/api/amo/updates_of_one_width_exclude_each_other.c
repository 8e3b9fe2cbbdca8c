/* SPDX-License-Identifier: Apache-2.0
 *
 * All PEs update one word at once, each call under another of the names that a width has: no update is lost. int32 code may
 * well be compiled to the calls named int, uint or uint32.
 * Spec: OpenSHMEM 1.6 §3.2 Atomicity Guarantees; pitfall: a generic may pick another type's function of the same width
 */
#include "../api.h"

enum { ROUNDS = 400, PER_ROUND_4 = 8, PER_ROUND_8 = 11 };

static union {
    int          i;
    unsigned int u;
    int32_t      i32;
    uint32_t     u32;
} word4;
static union {
    long               l;
    long long          ll;
    unsigned long      ul;
    unsigned long long ull;
    int64_t            i64;
    uint64_t           u64;
    size_t             size;
    ptrdiff_t          ptrdiff;
} word8;
static uint64_t bits;
static uint64_t signal_word;

static void add_by_compare_swap(int pe)
{
    long seen = shmem_long_atomic_fetch(&word8.l, pe), was;
    while ((was = shmem_long_atomic_compare_swap(&word8.l, seen, seen + 1, pe)) != seen) seen = was;
}

static void add_round(int pe)
{
    uint64_t drop8 = 0;
    uint32_t drop4 = 0;
    shmem_int_atomic_inc(&word4.i, pe);
    shmem_uint_atomic_add(&word4.u, 1, pe);
    (void)shmem_int32_atomic_fetch_add(&word4.i32, 1, pe);
    (void)shmem_uint32_atomic_fetch_inc(&word4.u32, pe);
    shmem_uint_atomic_inc(&word4.u, pe);
    shmem_int32_atomic_add(&word4.i32, 1, pe);
    shmem_uint32_atomic_fetch_inc_nbi(&drop4, &word4.u32, pe);
    (void)shmem_int_atomic_fetch_inc(&word4.i, pe);

    shmem_long_atomic_inc(&word8.l, pe);
    shmem_longlong_atomic_add(&word8.ll, 1, pe);
    (void)shmem_ulong_atomic_fetch_inc(&word8.ul, pe);
    (void)shmem_ulonglong_atomic_fetch_add(&word8.ull, 1, pe);
    shmem_int64_atomic_inc(&word8.i64, pe);
    shmem_uint64_atomic_add(&word8.u64, 1, pe);
    (void)shmem_size_atomic_fetch_inc(&word8.size, pe);
    shmem_ptrdiff_atomic_inc(&word8.ptrdiff, pe);
    shmem_uint64_atomic_fetch_add_nbi(&drop8, &word8.u64, 1, pe);
    add_by_compare_swap(pe);
    shmem_long_atomic_add(&word8.l, 1, pe);

    shmem_signal_add(&signal_word, 1, pe);
    shmem_quiet();
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), target = n - 1;
    shmem_barrier_all();
    for (int i = 0; i < ROUNDS; i++) {
        add_round(target);
        /* Every PE has bits of its own; an odd number of flips leaves them set. */
        shmem_uint64_atomic_xor(&bits, UINT64_C(3) << (2 * (me % 32)), target);
    }
    shmem_uint64_atomic_xor(&bits, UINT64_C(3) << (2 * (me % 32)), target);
    shmem_quiet();
    shmem_barrier_all();
    if (me == target) {
        CHECK_EQUAL(word4.i, ROUNDS * PER_ROUND_4 * n);
        CHECK_EQUAL(word8.l, ROUNDS * PER_ROUND_8 * n);
        CHECK_EQUAL(signal_word, ROUNDS * n);
        CHECK(bits == (n >= 32 ? UINT64_MAX : (UINT64_C(1) << (2 * n)) - 1));
    }
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
