/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPU's side of mem.cuh, for kernels that run on threads: the same names and promises by the compiler's atomics.
 *
 * Loads that acquire and stores that release do so themselves, without fences beside them: ThreadSanitizer does not understand fences.
 */
#ifndef SHMEMD_MEM_CPU_CUH
#define SHMEMD_MEM_CPU_CUH

#include <time.h>

/* Tests weaken this, to show that they would notice. */
#ifndef SHMEMD_CPU_RELEASE
#define SHMEMD_CPU_RELEASE __ATOMIC_RELEASE
#endif

/* Relaxed operations behind a fence are ordered by it, which ThreadSanitizer does not see: for it they order themselves. */
#ifdef __SANITIZE_THREAD__
#define SHMEMD_CPU_STORE  __ATOMIC_RELEASE
#define SHMEMD_CPU_ATOMIC __ATOMIC_ACQ_REL
#else
#define SHMEMD_CPU_STORE  __ATOMIC_RELAXED
#define SHMEMD_CPU_ATOMIC __ATOMIC_RELAXED
#endif

/* A word may be of any type of the program: a long, a double. */
typedef uint8_t __attribute__((may_alias)) shmemd_word8;
typedef uint16_t __attribute__((may_alias)) shmemd_word16;
typedef uint32_t __attribute__((may_alias)) shmemd_word32;
typedef uint64_t __attribute__((may_alias)) shmemd_word64;

/* clang-format off */
#define SHMEMD_STORE(AT, VALUE, BYTES, ORDER)                                                    \
    switch (BYTES) {                                                                             \
    case 1:  __atomic_store_n((shmemd_word8 *)(AT), (uint8_t)(VALUE), ORDER); break;                  \
    case 2:  __atomic_store_n((shmemd_word16 *)(AT), (uint16_t)(VALUE), ORDER); break;                \
    case 4:  __atomic_store_n((shmemd_word32 *)(AT), (uint32_t)(VALUE), ORDER); break;                \
    default: __atomic_store_n((shmemd_word64 *)(AT), VALUE, ORDER);                                   \
    }
#define SHMEMD_LOAD(AT, BYTES, ORDER)                                                            \
    switch (BYTES) {                                                                             \
    case 1:  return __atomic_load_n((const shmemd_word8 *)(AT), ORDER);                               \
    case 2:  return __atomic_load_n((const shmemd_word16 *)(AT), ORDER);                              \
    case 4:  return __atomic_load_n((const shmemd_word32 *)(AT), ORDER);                              \
    default: return __atomic_load_n((const shmemd_word64 *)(AT), ORDER);                              \
    }
/* clang-format on */

SHMEMD_FN int shmemd_is_global(const void *at)
{
    (void)at;
    return 1;
}

SHMEMD_FN void shmemd_store_relaxed(void *at, uint64_t value, unsigned bytes){SHMEMD_STORE(at, value, bytes, SHMEMD_CPU_STORE)}

SHMEMD_FN void shmemd_store_release(void *at, uint64_t value, unsigned bytes){SHMEMD_STORE(at, value, bytes, SHMEMD_CPU_RELEASE)}

SHMEMD_FN uint64_t shmemd_load_relaxed(const void *at, unsigned bytes){SHMEMD_LOAD(at, bytes, __ATOMIC_RELAXED)}

SHMEMD_FN uint64_t shmemd_load_acquire(const void *at, unsigned bytes){SHMEMD_LOAD(at, bytes, __ATOMIC_ACQUIRE)}

SHMEMD_FN void shmemd_fence_sys(void)
{
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
}

SHMEMD_FN void shmemd_fence_full(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

SHMEMD_FN void shmemd_store_vector(void *at, struct shmemd_vector v)
{
    memcpy(at, &v, sizeof v);
}

SHMEMD_FN struct shmemd_vector shmemd_load_vector(const void *at)
{
    struct shmemd_vector v;

    memcpy(&v, at, sizeof v);
    return v;
}

SHMEMD_FN uint32_t shmemd_atomic32(shmemd_word32 *word, int op, uint32_t value, uint32_t cond)
{
    switch (op) {
    case SHMEMD_ATOMIC_SWAP: return __atomic_exchange_n(word, value, SHMEMD_CPU_ATOMIC);
    case SHMEMD_ATOMIC_CSWAP: __atomic_compare_exchange_n(word, &cond, value, 0, SHMEMD_CPU_ATOMIC, __ATOMIC_RELAXED); return cond;
    case SHMEMD_ATOMIC_ADD: return __atomic_fetch_add(word, value, SHMEMD_CPU_ATOMIC);
    case SHMEMD_ATOMIC_AND: return __atomic_fetch_and(word, value, SHMEMD_CPU_ATOMIC);
    case SHMEMD_ATOMIC_OR: return __atomic_fetch_or(word, value, SHMEMD_CPU_ATOMIC);
    default: return __atomic_fetch_xor(word, value, SHMEMD_CPU_ATOMIC);
    }
}

SHMEMD_FN uint64_t shmemd_atomic64(shmemd_word64 *word, int op, uint64_t value, uint64_t cond)
{
    switch (op) {
    case SHMEMD_ATOMIC_SWAP: return __atomic_exchange_n(word, value, SHMEMD_CPU_ATOMIC);
    case SHMEMD_ATOMIC_CSWAP: __atomic_compare_exchange_n(word, &cond, value, 0, SHMEMD_CPU_ATOMIC, __ATOMIC_RELAXED); return cond;
    case SHMEMD_ATOMIC_ADD: return __atomic_fetch_add(word, value, SHMEMD_CPU_ATOMIC);
    case SHMEMD_ATOMIC_AND: return __atomic_fetch_and(word, value, SHMEMD_CPU_ATOMIC);
    case SHMEMD_ATOMIC_OR: return __atomic_fetch_or(word, value, SHMEMD_CPU_ATOMIC);
    default: return __atomic_fetch_xor(word, value, SHMEMD_CPU_ATOMIC);
    }
}

SHMEMD_FN uint64_t shmemd_atomic(void *word, int op, uint64_t value, uint64_t cond, unsigned bytes)
{
    if (op == SHMEMD_ATOMIC_FETCH) return shmemd_load_relaxed(word, bytes);
    if (op == SHMEMD_ATOMIC_SET) {
        shmemd_store_relaxed(word, value, bytes);
        return 0;
    }
    if (bytes == 8) return shmemd_atomic64((shmemd_word64 *)word, op, value, cond);
    return shmemd_atomic32((shmemd_word32 *)word, op, (uint32_t)value, (uint32_t)cond);
}

SHMEMD_FN uint64_t shmemd_add_release(void *word, uint64_t value)
{
    return __atomic_fetch_add((shmemd_word64 *)word, value, SHMEMD_CPU_RELEASE);
}

SHMEMD_FN uint64_t shmemd_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

SHMEMD_FN void shmemd_pause(void)
{
#ifdef SHMEM_DEVICE_ON_CPU
    shmemx_cpu_yield();
#endif
}

#undef SHMEMD_STORE
#undef SHMEMD_LOAD

#endif
