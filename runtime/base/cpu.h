/* SPDX-License-Identifier: Apache-2.0
 *
 * Which instructions this CPU has, without asking it again. In a virtual machine each CPUID is a visit to the hypervisor (7 us were measured),
 * and __builtin_cpu_supports() brings a constructor that executes some twenty of them at each start of a program. The C library asks at
 * its own start anyhow, and tells what it was told. `active` also means that the system saves the registers.
 */
#ifndef SHMEMI_CPU_H
#define SHMEMI_CPU_H

#include <stdbool.h>

#if defined(__x86_64__)

#if defined(__has_include) && __has_include(<sys/platform/x86.h>) /* glibc 2.33 */
#include <sys/platform/x86.h>

static inline bool shmemi_cpu_has_avx2(void)
{
    return CPU_FEATURE_ACTIVE(AVX2);
}

static inline bool shmemi_cpu_has_avx512f(void)
{
    return CPU_FEATURE_ACTIVE(AVX512F);
}

/* "Fast short rep movs". */
static inline bool shmemi_cpu_has_fsrm(void)
{
    return CPU_FEATURE_PRESENT(FSRM);
}

#else
#include <cpuid.h>

static inline bool shmemi_cpu_has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}

static inline bool shmemi_cpu_has_avx512f(void)
{
    return __builtin_cpu_supports("avx512f");
}

static inline bool shmemi_cpu_has_fsrm(void)
{
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (edx & 1 << 4);
}

#endif
#endif
#endif
