/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads, stores, fences and atomics on memory that other PEs see: the only file that knows how a GPU, and how a CPU, does them.
 *
 * All are at system scope: the other side may be another GPU, or a CPU.  A value travels as the low bytes of a uint64_t;
 * bytes is 1, 2, 4 or 8 and a constant at every call on a short path, so that one instruction is left.  Addresses are
 * naturally aligned and lie in global memory (any memory for the CPU); never in a kernel's own stack or shared memory.
 *
 *   relaxed  whole, and never from a cache that the other side does not reach; no order with anything else
 *   release  what this thread did before, and what it learned of by a barrier of its block, is visible to who acquires this
 *   acquire  the other half
 *
 * Tests: tests/ptx (the instructions), tests/device (on CPU threads).
 */
#ifndef SHMEMD_MEM_CUH
#define SHMEMD_MEM_CUH

#include "lang.cuh"
#include "ring.h"

/* What the pieces of a copy are made of: 16 bytes, moved by one instruction. */
struct shmemd_vector {
    uint64_t lo, hi;
};

#if defined(__CUDACC__)

/* An address in the global window, which st.global and its kind take. */
SHMEMD_FN size_t shmemd_global(const void *at)
{
    return __cvta_generic_to_global(at);
}

/* May the proxy use this address? Not where it lies in a thread's stack or in a block's shared memory. */
SHMEMD_FN int shmemd_is_global(const void *at)
{
    return __isGlobal(at) != 0;
}

/* clang-format off */
#define SHMEMD_STORE(WORDS, AT, VALUE, BYTES)                                                                                      \
    switch (BYTES) {                                                                                                               \
    case 1: asm volatile("st." WORDS ".b8 [%0], %1;" ::"l"(AT), "r"((unsigned)(VALUE)) : "memory"); break;                         \
    case 2: asm volatile("st." WORDS ".b16 [%0], %1;" ::"l"(AT), "h"((unsigned short)(VALUE)) : "memory"); break;                  \
    case 4: asm volatile("st." WORDS ".b32 [%0], %1;" ::"l"(AT), "r"((unsigned)(VALUE)) : "memory"); break;                        \
    default: asm volatile("st." WORDS ".b64 [%0], %1;" ::"l"(AT), "l"(VALUE) : "memory");                                          \
    }
#define SHMEMD_LOAD(WORDS, AT, BYTES)                                                                                              \
    switch (BYTES) {                                                                                                               \
    case 1: { unsigned v; asm volatile("ld." WORDS ".b8 %0, [%1];" : "=r"(v) : "l"(AT) : "memory"); return v & 0xffu; }            \
    case 2: { unsigned short v; asm volatile("ld." WORDS ".b16 %0, [%1];" : "=h"(v) : "l"(AT) : "memory"); return v; }             \
    case 4: { unsigned v; asm volatile("ld." WORDS ".b32 %0, [%1];" : "=r"(v) : "l"(AT) : "memory"); return v; }                   \
    default: { uint64_t v; asm volatile("ld." WORDS ".b64 %0, [%1];" : "=l"(v) : "l"(AT) : "memory"); return v; }                  \
    }
/* clang-format on */

SHMEMD_FN void shmemd_store_relaxed(void *at, uint64_t value,
                                    unsigned bytes){SHMEMD_STORE("relaxed.sys.global", shmemd_global(at), value, bytes)}

SHMEMD_FN void shmemd_store_release(void *at, uint64_t value,
                                    unsigned bytes){SHMEMD_STORE("release.sys.global", shmemd_global(at), value, bytes)}

SHMEMD_FN uint64_t shmemd_load_relaxed(const void *at, unsigned bytes){SHMEMD_LOAD("relaxed.sys.global", shmemd_global(at), bytes)}

SHMEMD_FN uint64_t shmemd_load_acquire(const void *at, unsigned bytes){SHMEMD_LOAD("acquire.sys.global", shmemd_global(at), bytes)}

/* Orders this thread's stores before those after it, for who acquires. */
SHMEMD_FN void shmemd_fence_sys(void)
{
    asm volatile("fence.acq_rel.sys;" ::: "memory");
}

/* The same, and no load after it sees a world in which the stores before it have not happened. */
SHMEMD_FN void shmemd_fence_full(void)
{
    asm volatile("fence.sc.sys;" ::: "memory");
}

/* A piece of a bulk put: order comes from the fence or release behind the whole put. */
SHMEMD_FN void shmemd_store_vector(void *at, struct shmemd_vector v)
{
    asm volatile("st.global.v2.b64 [%0], {%1, %2};" ::"l"(shmemd_global(at)), "l"(v.lo), "l"(v.hi) : "memory");
}

/* A piece of a bulk get: relaxed, because a plain load may be served from this multiprocessor's L1, which peers do not reach. */
SHMEMD_FN struct shmemd_vector shmemd_load_vector(const void *at)
{
    struct shmemd_vector v;

    asm volatile("ld.relaxed.sys.global.v2.b64 {%0, %1}, [%2];" : "=l"(v.lo), "=l"(v.hi) : "l"(shmemd_global(at)) : "memory");
    return v;
}

/* clang-format off */
#define SHMEMD_ATOM(ORDER, OP, TYPE, LETTER, T)                                                                                    \
    { T old; asm volatile("atom." ORDER ".sys.global." OP "." TYPE " %0, [%1], %2;" : "=" LETTER(old) : "l"(at), LETTER((T)value) : "memory"); return old; }
#define SHMEMD_ATOM_CAS(TYPE, LETTER, T)                                                                                           \
    { T old; asm volatile("atom.relaxed.sys.global.cas." TYPE " %0, [%1], %2, %3;" : "=" LETTER(old) : "l"(at), LETTER((T)cond), LETTER((T)value) : "memory"); return old; }
#define SHMEMD_ATOM_SIZES(ORDER, OP, KIND)                                                                                         \
    if (bytes == 8) SHMEMD_ATOM(ORDER, OP, KIND "64", "l", uint64_t) else SHMEMD_ATOM(ORDER, OP, KIND "32", "r", uint32_t)

/*
 * One atomic operation on a word of 4 or 8 bytes; returns the old value.  op is a constant at every call.  Relaxed: order comes
 * from fences.
 */
SHMEMD_FN uint64_t shmemd_atomic(void *word, int op, uint64_t value, uint64_t cond, unsigned bytes)
{
    size_t at = shmemd_global(word);

    switch (op) {
    case SHMEMD_ATOMIC_FETCH: return shmemd_load_relaxed(word, bytes);
    case SHMEMD_ATOMIC_SET:   shmemd_store_relaxed(word, value, bytes); return 0;
    case SHMEMD_ATOMIC_SWAP:  SHMEMD_ATOM_SIZES("relaxed", "exch", "b")
    case SHMEMD_ATOMIC_CSWAP: if (bytes == 8) SHMEMD_ATOM_CAS("b64", "l", uint64_t) else SHMEMD_ATOM_CAS("b32", "r", uint32_t)
    case SHMEMD_ATOMIC_ADD:   SHMEMD_ATOM_SIZES("relaxed", "add", "u")
    case SHMEMD_ATOMIC_AND:   SHMEMD_ATOM_SIZES("relaxed", "and", "b")
    case SHMEMD_ATOMIC_OR:    SHMEMD_ATOM_SIZES("relaxed", "or", "b")
    default:                  SHMEMD_ATOM_SIZES("relaxed", "xor", "b")
    }
}

/* Add to a word of 8 bytes with release order: an added signal vouches for the data before it. */
SHMEMD_FN uint64_t shmemd_add_release(void *word, uint64_t value)
{
    size_t at = shmemd_global(word);

    SHMEMD_ATOM("release", "add", "u64", "l", uint64_t)
}
#undef SHMEMD_STORE
#undef SHMEMD_LOAD
#undef SHMEMD_ATOM
#undef SHMEMD_ATOM_CAS
#undef SHMEMD_ATOM_SIZES
/* clang-format on */

/* Nanoseconds of a clock that all multiprocessors share; it may tick in steps of a microsecond. */
SHMEMD_FN uint64_t shmemd_clock_ns(void)
{
    uint64_t ns;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

/* Let others have the multiprocessor for a moment: a spinning warp takes issue slots from the one it waits for. */
SHMEMD_FN void shmemd_pause(void)
{
    __nanosleep(20);
}

#else
#include "mem_cpu.cuh"
#endif

#endif
