/* SPDX-License-Identifier: Apache-2.0
 *
 * What the bytes of a page are: a function of where the page belongs, so that both ends know them without asking.
 *
 * A page has a key, mixed from block id, layer, page in the block, shard and seed. Its 8-byte word i is key + i * STEP, folded
 * so that each bit counts in all eight bytes. A page, a piece of one or a single byte that lies in the wrong place shows. The
 * loops over words are additions, shifts and exclusive-ors on whole vectors: they run as fast as memory does.
 */
#ifndef KV_CONTENT_H
#define KV_CONTENT_H

#include <stddef.h>
#include <stdint.h>

/* Where a page belongs. A block that two requests share has one content, so the request is not part of it. */
struct page_id {
    uint64_t block; /* id, as in the trace                                       */
    uint32_t layer;
    uint32_t page;  /* in the block; K and V count apart where they are apart    */
    uint32_t shard; /* which part of the KV heads this pair of PEs carries       */
    uint64_t seed;
};

uint64_t content_key(struct page_id id);

/* Write a page's bytes. page is aligned to 8. */
void content_fill(void *page, size_t bytes, uint64_t key);

/* The offset of the first wrong byte of a page, or bytes if all are right. page is aligned to 8. */
size_t content_first_wrong(const void *page, size_t bytes, uint64_t key);

/* The right byte at an offset. */
uint8_t content_byte(uint64_t key, size_t offset);

#endif
