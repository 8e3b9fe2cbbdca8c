/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of CUDA C that are functions or types in C++: part of cpu.h, which includes it.
 */
#ifndef SHMEMX_DEVICE_CPU_WORDS_H
#define SHMEMX_DEVICE_CPU_WORDS_H
#if defined SHMEM_DEVICE_ON_CPU && defined __cplusplus

#include <string.h>
#include <time.h>

typedef struct shmemx_cpu_index uint3;

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
    constexpr dim3(uint3 index) : x(index.x), y(index.y), z(index.z) {}
    constexpr operator uint3() const
    {
        return uint3{x, y, z};
    }
};

/* ---- launches -------------------------------------------------------------------------------------------------------- */

/*
 * What kernel<<<grid, block, shared, stream>>> becomes; a call of it with the kernel's arguments launches. They are evaluated once,
 * by the caller, and each thread gets copies.
 */
template <class Kernel> struct shmemx_cpu_launcher {
    shmemx_cpu_launch_t how;
    Kernel              kernel;

    template <class Closure> static void run(void *closure)
    {
        (*static_cast<const Closure *>(closure))();
    }
    template <class Closure> static void drop(void *closure)
    {
        delete static_cast<Closure *>(closure);
    }

    template <class Closure> int start(const Closure &closure) const
    {
        Closure  *copy = new Closure(closure);
        const int err  = shmemx_cpu_launch(&how, run<Closure>, copy, drop<Closure>);
        if (err) delete copy;
        return err;
    }

    template <class... Arguments> int operator()(Arguments... arguments) const
    {
        const Kernel called = kernel;
        return start([=]() { called(arguments...); });
    }
};

template <class Kernel>
shmemx_cpu_launcher<Kernel> shmemx_cpu_kernel(const char *name, Kernel kernel, dim3 grid, dim3 block, size_t shared_bytes = 0,
                                              void *stream = nullptr)
{
    return shmemx_cpu_launcher<Kernel>{{name, grid, block, shared_bytes, stream, 0, nullptr}, kernel};
}

#define SHMEMX_LAUNCH(kernel, grid, block, shared_bytes, stream, ...) \
    shmemx_cpu_kernel(                                                \
        #kernel, [=](auto... shmemx_arguments) { kernel(shmemx_arguments...); }, grid, block, shared_bytes, stream)(__VA_ARGS__)

/* ---- collective launches --------------------------------------------------------------------------------------------- */

/*
 * shmemx_collective_launch gets a kernel without its type, and pointers to its arguments. Who calls it with a kernel's name comes by here first
 * (the overload in unit.cuh), and leaves what knows the type where the unit's launch finds it.
 */
typedef int (*shmemx_cpu_starter)(const void *kernel, const shmemx_cpu_launch_t *how, void **arguments);

inline shmemx_cpu_starter &shmemx_cpu_starter_of_thread()
{
    static thread_local shmemx_cpu_starter starter;
    return starter;
}

template <class... Parameters> struct shmemx_cpu_typed {
    typedef void (*kernel_type)(Parameters...);

    /* Takes the values one by one, and launches when it has all. */
    template <class... Left> struct next;
    template <class... Taken>
    static int launch(kernel_type kernel, const shmemx_cpu_launch_t *how, void **, next<> *, Taken... taken)
    {
        shmemx_cpu_launcher<kernel_type> launcher = {*how, kernel};
        return launcher(taken...);
    }
    template <class First, class... Left, class... Taken>
    static int launch(kernel_type kernel, const shmemx_cpu_launch_t *how, void **at, next<First, Left...> *, Taken... taken)
    {
        return launch(kernel, how, at + 1, static_cast<next<Left...> *>(nullptr), taken..., *static_cast<First *>(*at));
    }
    static int start(const void *kernel, const shmemx_cpu_launch_t *how, void **arguments)
    {
        kernel_type typed = reinterpret_cast<kernel_type>(reinterpret_cast<uintptr_t>(kernel));
        return launch(typed, how, arguments, static_cast<next<Parameters...> *>(nullptr));
    }
};

template <class... Parameters> const void *shmemx_cpu_typed_kernel(void (*kernel)(Parameters...))
{
    shmemx_cpu_starter_of_thread() = shmemx_cpu_typed<Parameters...>::start;
    return reinterpret_cast<const void *>(reinterpret_cast<uintptr_t>(kernel));
}

/* For struct shmemd_unit: as many blocks as run at a time; all PEs have threads of their own. */
static inline int shmemx_cpu_resident_blocks(const void *, const unsigned block[3], size_t, long *blocks_out, uint64_t *device_out)
{
    *blocks_out = shmemx_cpu_blocks_at_once((size_t)block[0] * block[1] * block[2]);
    *device_out = 0;
    return *blocks_out > 0 ? 0 : -1;
}

static inline int shmemx_cpu_launch_kernel(const void *kernel, const unsigned grid[3], const unsigned block[3], void **arguments,
                                           size_t shared_bytes, void *stream)
{
    shmemx_cpu_starter  starter = shmemx_cpu_starter_of_thread();
    shmemx_cpu_launch_t how = {"collective", {grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, shared_bytes, stream, 0,
                               nullptr};
    return starter ? starter(kernel, &how, arguments) : -1;
}
#define SHMEMD_CPU_RESIDENT_BLOCKS shmemx_cpu_resident_blocks
#define SHMEMD_CPU_LAUNCH          shmemx_cpu_launch_kernel

/* ---- warps ----------------------------------------------------------------------------------------------------------- */

static inline void __syncwarp(unsigned mask = 0xffffffffu)
{
    shmemx_cpu_syncwarp(mask);
}

static inline unsigned __ballot_sync(unsigned mask, int holds)
{
    return shmemx_cpu_ballot(mask, holds);
}

static inline int __any_sync(unsigned mask, int holds)
{
    return shmemx_cpu_ballot(mask, holds) != 0;
}

static inline int __all_sync(unsigned mask, int holds)
{
    return shmemx_cpu_ballot(mask, !holds) == 0;
}

/* The value of a lane; that of the caller where the lane is outside its group of `width`. */
template <class T> T shmemx_cpu_shuffle_value(unsigned mask, T value, unsigned lane)
{
    static_assert(sizeof(T) <= sizeof(uint64_t), "a shuffle moves at most 8 bytes");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = shmemx_cpu_shuffle(mask, bits, lane);
    memcpy(&value, &bits, sizeof value);
    return value;
}

template <class T> T __shfl_sync(unsigned mask, T value, int lane, int width = 32)
{
    const unsigned me = shmemx_cpu_self()->lane, size = (unsigned)width;
    return shmemx_cpu_shuffle_value(mask, value, me / size * size + (unsigned)lane % size);
}

template <class T> T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    const unsigned me = shmemx_cpu_self()->lane, at = me % (unsigned)width;
    return shmemx_cpu_shuffle_value(mask, value, at < delta ? me : me - delta);
}

template <class T> T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    const unsigned me = shmemx_cpu_self()->lane, at = me % (unsigned)width;
    return shmemx_cpu_shuffle_value(mask, value, at + delta >= (unsigned)width ? me : me + delta);
}

template <class T> T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32)
{
    const unsigned me = shmemx_cpu_self()->lane, size = (unsigned)width, other = me ^ (unsigned)bits;
    return shmemx_cpu_shuffle_value(mask, value, other / size > me / size ? me : other);
}

/* ---- atomics --------------------------------------------------------------------------------------------------------- */

/* Without an order, as in CUDA; fences give one, which ThreadSanitizer does not see, so for it they order themselves. */
#ifdef __SANITIZE_THREAD__
#define SHMEMX_CPU_ORDER __ATOMIC_ACQ_REL
#else
#define SHMEMX_CPU_ORDER __ATOMIC_RELAXED
#endif

/* Now and then others get a turn, or a loop over an atomic that waits for them would not end. */
template <class T, class Change> T shmemx_cpu_atomic(T *address, Change change)
{
    T old;
    __atomic_load(address, &old, __ATOMIC_RELAXED);
    for (;;) {
        T changed = change(old);
        if (__atomic_compare_exchange(address, &old, &changed, false, SHMEMX_CPU_ORDER, __ATOMIC_RELAXED)) break;
    }
    shmemx_cpu_breathe();
    return old;
}

/* The type of the second argument is that of the word: atomicAdd(&counter, 1). */
template <class T> struct shmemx_cpu_same {
    typedef T type;
};
#define SHMEMX_CPU_ATOMIC(NAME, EXPRESSION)                                                   \
    template <class T> T NAME(T *address, typename shmemx_cpu_same<T>::type value)            \
    {                                                                                         \
        return shmemx_cpu_atomic(address, [=](T old) { return static_cast<T>(EXPRESSION); }); \
    }                                                                                         \
    template <class T> T NAME##_system(T *address, typename shmemx_cpu_same<T>::type value)   \
    {                                                                                         \
        return NAME(address, value);                                                          \
    }                                                                                         \
    template <class T> T NAME##_block(T *address, typename shmemx_cpu_same<T>::type value)    \
    {                                                                                         \
        return NAME(address, value);                                                          \
    }
SHMEMX_CPU_ATOMIC(atomicAdd, old + value)
SHMEMX_CPU_ATOMIC(atomicSub, old - value)
SHMEMX_CPU_ATOMIC(atomicExch, ((void)old, value))
SHMEMX_CPU_ATOMIC(atomicMin, old < value ? old : value)
SHMEMX_CPU_ATOMIC(atomicMax, old > value ? old : value)
SHMEMX_CPU_ATOMIC(atomicAnd, old &value)
SHMEMX_CPU_ATOMIC(atomicOr, old | value)
SHMEMX_CPU_ATOMIC(atomicXor, old ^ value)
SHMEMX_CPU_ATOMIC(atomicInc, old >= value ? 0 : old + 1)
SHMEMX_CPU_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)
#undef SHMEMX_CPU_ATOMIC

template <class T> T atomicCAS(T *address, typename shmemx_cpu_same<T>::type wanted, typename shmemx_cpu_same<T>::type value)
{
    return shmemx_cpu_atomic(address, [=](T old) { return old == wanted ? value : old; });
}
template <class T> T atomicCAS_system(T *address, typename shmemx_cpu_same<T>::type wanted, typename shmemx_cpu_same<T>::type value)
{
    return atomicCAS(address, wanted, value);
}

/* ---- bits ------------------------------------------------------------------------------------------------------------ */

static inline int __popc(unsigned bits)
{
    return __builtin_popcount(bits);
}

static inline int __popcll(unsigned long long bits)
{
    return __builtin_popcountll(bits);
}

static inline int __ffs(int bits)
{
    return __builtin_ffs(bits);
}

static inline int __ffsll(long long bits)
{
    return __builtin_ffsll(bits);
}

static inline int __clz(int bits)
{
    return bits ? __builtin_clz((unsigned)bits) : 32;
}

static inline int __clzll(long long bits)
{
    return bits ? __builtin_clzll((unsigned long long)bits) : 64;
}

/* Nanoseconds in place of cycles. */
static inline long long clock64()
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

#endif
#endif
