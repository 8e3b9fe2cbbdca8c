/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic that cannot wrap in silence, and the clock.
 */
#ifndef SHMEMI_NUM_H
#define SHMEMI_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* false if the result does not fit; *out is written on success only. */
static inline bool shmemi_mul_size(size_t a, size_t b, size_t *out)
{
    size_t product;
    if (__builtin_mul_overflow(a, b, &product)) return false;
    *out = product;
    return true;
}

static inline bool shmemi_add_size(size_t a, size_t b, size_t *out)
{
    size_t sum;
    if (__builtin_add_overflow(a, b, &sum)) return false;
    *out = sum;
    return true;
}

/* unit is a power of two. The caller knows that the result fits. */
static inline size_t shmemi_round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) & ~(unit - 1);
}

static inline size_t shmemi_round_down(size_t bytes, size_t unit)
{
    return bytes & ~(unit - 1);
}

static inline int64_t shmemi_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* FNV-1a with a finishing mix: for comparing, not for secrets. Start with 0. */
static inline uint64_t shmemi_hash(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *byte = bytes;
    hash ^= 0xcbf29ce484222325u;
    for (size_t i = 0; i < count; i++) hash = (hash ^ byte[i]) * 0x100000001b3u;
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93u;
    return hash ^ (hash >> 32);
}

#endif
