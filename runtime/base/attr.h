/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiler attributes under our own names, so that the rest of the code is plain C17.
 */
#ifndef SHMEMI_ATTR_H
#define SHMEMI_ATTR_H

#include <stdlib.h>

#define SHMEMI_COLD         __attribute__((cold, noinline))
#define SHMEMI_INLINE       static inline __attribute__((always_inline))
#define SHMEMI_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define SHMEMI_LIKELY(x)    __builtin_expect(!!(x), 1)
#define SHMEMI_UNLIKELY(x)  __builtin_expect(!!(x), 0)
#define SHMEMI_NORETURN     _Noreturn

/* What two processes write at the same time lies in different lines of this many bytes. */
#define SHMEMI_LINE_BYTES 64
#define SHMEMI_LINE       __attribute__((aligned(SHMEMI_LINE_BYTES)))

/*
 * Define shmem_NAME as a weak alias of pshmem_NAME, which must be defined earlier in the same file.
 * A tool may then define shmem_NAME itself and reach ours as pshmem_NAME.  Spec: OpenSHMEM 1.6 §10.
 */
#define SHMEMI_EXPORT(name)        SHMEMI_ALIAS(name, p##name)
#define SHMEMI_ALIAS(name, target) extern __typeof__(target) name __attribute__((weak, alias(#target), visibility("default")));

static inline void shmemi_attr_free(void *slot)
{
    free(*(void **)slot);
}

/* A control-plane buffer that is released when its variable goes out of scope. */
#define SHMEMI_AUTO_FREE __attribute__((cleanup(shmemi_attr_free)))

#endif
