/* SPDX-License-Identifier: Apache-2.0
 *
 * Contents of kv_cache pages: what is filled is found right, any byte that is changed is found at its offset, and pages of any
 * other block, layer, page, shard or seed, or of another offset, differ almost everywhere.
 */
#include "examples/kv_cache/content.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BYTES_MAX = 4096,
};

static _Alignas(64) uint8_t page[BYTES_MAX + 64];
static _Alignas(64) uint8_t other[BYTES_MAX + 64];
static int wrong;

static void expect(int good, const char *text, size_t a, size_t b)
{
    if (!good) {
        printf("wrong: %s (%zu, %zu)\n", text, a, b);
        wrong++;
    }
}

static void changed_bytes_are_found(size_t bytes)
{
    uint64_t key = content_key((struct page_id){.block = bytes});
    page[bytes]  = 0xee; /* behind the page */
    content_fill(page, bytes, key);
    expect(page[bytes] == 0xee, "a fill goes past the end", bytes, 0);
    expect(content_first_wrong(page, bytes, key) == bytes, "a right page is called wrong", bytes, 0);
    for (size_t offset = 0; offset<bytes; offset += bytes> 64 ? 37 : 1) {
        expect(page[offset] == content_byte(key, offset), "content_byte differs from content_fill", bytes, offset);
        page[offset] ^= 1;
        expect(content_first_wrong(page, bytes, key) == offset, "a changed bit is not found", bytes, offset);
        page[offset] ^= 1;
    }
}

static size_t equal_bytes(const uint8_t *a, const uint8_t *b, size_t bytes)
{
    size_t equal = 0;
    for (size_t i = 0; i < bytes; i++) {
        equal += a[i] == b[i];
    }
    return equal;
}

/* Two unrelated pages have one byte in 256 in common; allow four times as many. */
static void differs(struct page_id a, struct page_id b, const char *text)
{
    content_fill(page, BYTES_MAX, content_key(a));
    content_fill(other, BYTES_MAX, content_key(b));
    size_t equal = equal_bytes(page, other, BYTES_MAX);
    expect(equal < BYTES_MAX / 64, text, equal, BYTES_MAX);
}

static void every_coordinate_counts(void)
{
    for (uint64_t i = 0; i < 200; i++) {
        struct page_id id = {
            .block = i * 7, .layer = (uint32_t)i % 5, .page = (uint32_t)i % 32, .shard = (uint32_t)i % 3, .seed = 1};
        struct page_id block = id, layer = id, number = id, shard = id, seed = id, swapped = id;
        block.block++;
        layer.layer++;
        number.page++;
        shard.shard++;
        seed.seed++;
        swapped.layer = id.page + 1;
        swapped.page  = id.layer;
        differs(id, block, "another block looks alike");
        differs(id, layer, "another layer looks alike");
        differs(id, number, "another page looks alike");
        differs(id, shard, "another shard looks alike");
        differs(id, seed, "another seed looks alike");
        differs(id, swapped, "layer and page swapped look alike");
    }
}

/* A piece that lies d bytes off its place. */
static void every_offset_counts(void)
{
    uint64_t key = content_key((struct page_id){.block = 99});
    content_fill(page, BYTES_MAX, key);
    for (size_t d = 1; d < BYTES_MAX / 2; d++) {
        size_t equal = equal_bytes(page, page + d, BYTES_MAX / 2);
        expect(equal < BYTES_MAX / 2 / 16, "a moved piece looks alike", d, equal);
    }
}

int main(void)
{
    for (size_t bytes = 1; bytes <= 300; bytes++) {
        changed_bytes_are_found(bytes);
    }
    changed_bytes_are_found(BYTES_MAX);
    every_coordinate_counts();
    every_offset_counts();
    return wrong > 0;
}
