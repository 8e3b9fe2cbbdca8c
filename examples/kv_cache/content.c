/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing and checking page contents. See content.h.
 */
#include "content.h"

#include <stdbool.h>
#include <string.h>

/* One body, compiled once for each vector width; the loader picks what the CPU has. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FOR_EACH_VECTOR_WIDTH __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_EACH_VECTOR_WIDTH /* one version; with a sanitizer the loader's choice would come before the sanitizer's start */
#endif

#define STEP 0x9e3779b97f4a7c15u /* 2^64 divided by the golden ratio, odd */

/* The finalizer of splitmix64: every bit of the input changes about half of the output. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

uint64_t content_key(struct page_id id)
{
    uint64_t place = (uint64_t)id.layer << 32 | id.page;
    return mix(mix(mix(id.seed + STEP * id.shard) + id.block) + STEP * (place + 1));
}

/*
 * Spread every bit of a word over all its bytes. Without it the upper bytes of two pages whose keys happen to be close would
 * be equal in word after word. Each step can be undone, so different words stay different.
 */
static inline uint64_t fold(uint64_t x)
{
    x ^= x >> 32;
    x += x << 10;
    x ^= x >> 21;
    x += x << 27;
    x ^= x >> 32;
    return x + (x << 19);
}

FOR_EACH_VECTOR_WIDTH
static void fill_words(uint64_t *words, size_t count, uint64_t key)
{
    for (size_t i = 0; i < count; i++) {
        words[i] = fold(key);
        key += STEP;
    }
}

/* Whether any word differs. No early exit: the loop stays a straight line. */
FOR_EACH_VECTOR_WIDTH
static bool words_differ(const uint64_t *words, size_t count, uint64_t key)
{
    uint64_t difference = 0;
    for (size_t i = 0; i < count; i++) {
        difference |= words[i] ^ fold(key);
        key += STEP;
    }
    return difference != 0;
}

void content_fill(void *page, size_t bytes, uint64_t key)
{
    size_t words = bytes / 8;
    fill_words(page, words, key);
    if (bytes % 8 != 0) {
        uint64_t last = fold(key + words * STEP);
        memcpy((uint8_t *)page + 8 * words, &last, bytes % 8);
    }
}

uint8_t content_byte(uint64_t key, size_t offset)
{
    uint64_t word = fold(key + offset / 8 * STEP);
    uint8_t  bytes[8];
    memcpy(bytes, &word, 8);
    return bytes[offset % 8];
}

/* Look byte by byte, from an offset on. */
static size_t find_wrong(const uint8_t *page, size_t from, size_t bytes, uint64_t key)
{
    size_t offset = from;
    while (offset < bytes && page[offset] == content_byte(key, offset)) {
        offset++;
    }
    return offset;
}

size_t content_first_wrong(const void *page, size_t bytes, uint64_t key)
{
    size_t words = bytes / 8;
    size_t from  = words_differ(page, words, key) ? 0 : 8 * words;
    return find_wrong(page, from, bytes, key);
}
