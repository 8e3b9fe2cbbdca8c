/* SPDX-License-Identifier: Apache-2.0
 *
 * One kernel for each promise of include/shmem/device/ about instructions. check_ptx.py compiles this and reads what became of
 * each; a comment beside a kernel says what it looks for, in its words (check_ptx.py explains them).
 */
#include <shmem.h>
#include <shmem_device.cuh>

#define KERNEL(NAME, ...) extern "C" __global__ void NAME(__VA_ARGS__)

/* short: st.relaxed.sys.global.b64 | no stack */
KERNEL(long_p, long *dest, long value, int pe)
{
    shmem_long_p(dest, value, pe);
}

/* short: st.relaxed.sys.global.b32 | no stack */
KERNEL(float_p, float *dest, float value, int pe)
{
    shmem_float_p(dest, value, pe);
}

/* short: st.relaxed.sys.global.b8 | no stack */
KERNEL(generic_p, unsigned char *dest, unsigned char value, int pe)
{
    shmem_p(dest, value, pe);
}

/* short: ld.relaxed.sys.global.b64 */
KERNEL(double_g, const double *source, double *out, int pe)
{
    *out = shmem_double_g(source, pe);
}

/* short: atom.relaxed.sys.global.add.u64 | no stack */
KERNEL(ulong_add, unsigned long *word, unsigned long value, int pe)
{
    shmem_ulong_atomic_add(word, value, pe);
}

/* short: atom.relaxed.sys.global.cas.b32 */
KERNEL(int_cswap, int *word, int *out, int pe)
{
    *out = shmem_int_atomic_compare_swap(word, 1, 2, pe);
}

/* short: atom.relaxed.sys.global.exch.b32 */
KERNEL(float_swap, float *word, float *out, int pe)
{
    *out = shmem_float_atomic_swap(word, 2.5f, pe);
}

/* short: atom.relaxed.sys.global.xor.b64 */
KERNEL(uint64_xor, uint64_t *word, uint64_t *out, int pe)
{
    *out = shmem_uint64_atomic_fetch_xor(word, 5, pe);
}

/* short: ld.acquire.sys.global.b64 */
KERNEL(signal_fetch, uint64_t *signal, uint64_t *out)
{
    *out = shmem_signal_fetch(signal);
}

/* short: ld.acquire.sys.global.b64 | reach: trap */
KERNEL(wait_until, uint64_t *signal)
{
    shmem_signal_wait_until(signal, SHMEM_CMP_GE, 7);
}

/* short: ld.acquire.sys.global.b16 */
KERNEL(short_test, short *word, int *out)
{
    *out = shmem_short_test(word, SHMEM_CMP_LT, 3);
}

/* reach: st.global.v2.b64 ld.relaxed.sys.global.b64 | reach: st.release.sys.global.b64 atom.release.sys.global.add.u64 */
KERNEL(put_signal_block, double *dest, const double *source, uint64_t *signal, int op, int pe)
{
    shmemx_double_put_signal_block(dest, source, 1000, signal, 1, op, pe);
}

/* reach: ld.relaxed.sys.global.v2.b64 bar.sync */
KERNEL(get_block, char *dest, const char *source, int pe)
{
    shmemx_getmem_block(dest, source, 100000, pe);
}

/* reach: bar.warp.sync */
KERNEL(put_warp, char *dest, const char *source, int pe)
{
    shmemx_putmem_warp(dest, source, 100000, pe);
}

/* short: fence.acq_rel.sys */
KERNEL(fence, void)
{
    shmem_fence();
}

/* short: fence.sc.sys */
KERNEL(quiet, void)
{
    shmem_quiet();
}

/* reach: fence.sc.sys st.release.sys.global.b64 ld.acquire.sys.global.b64 bar.sync */
KERNEL(barrier_block, void)
{
    shmemx_barrier_all_block();
}

/* reach: ld.relaxed.sys.global.b32 st.relaxed.sys.global.b32 add.f32 */
KERNEL(sum_block, float *dest, const float *source)
{
    shmemx_float_sum_reduce_block(SHMEM_TEAM_WORLD, dest, source, 1000);
}

/* What goes through the ring is published with release, and its answer acquired. reach: st.release.sys.global.b64 ld.acquire.sys.global.b64 */
KERNEL(put_nbi, char *dest, const char *source, int pe)
{
    shmem_putmem_nbi(dest, source, 4096, pe);
}
