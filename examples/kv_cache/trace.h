/* SPDX-License-Identifier: Apache-2.0
 *
 * The requests of the job: made up, or replayed from a trace.
 *
 * A trace has one JSON object a line:
 *
 *     {"timestamp": 3000, "input_length": 1200, "output_length": 52, "hash_ids": [46, 47, 180]}
 *
 * timestamp is the arrival in ms since the start. hash_ids names the blocks of 512 tokens of the prompt, the last one perhaps
 * not full; equal ids mean equal tokens before and in the block, so its KV cache can be used again.
 */
#ifndef KV_TRACE_H
#define KV_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BLOCK_TOKENS       = 512,
    REQUEST_TOKENS_MAX = 1 << 24,
};

struct request {
    double          arrival_ms;
    uint32_t        tokens;
    const uint64_t *blocks; /* ids, (tokens + 511) / 512 of them */
};

struct trace {
    struct request *requests;
    size_t          count;
    uint64_t        tokens; /* of all requests */
    uint64_t        digest; /* of all of it: PEs that read different files notice */
};

/* count requests of the same length that share nothing, all there at the start. False after problem(). */
bool trace_make(size_t count, uint32_t tokens, struct trace *trace_out);

/* The first count_max requests of a file (0: all). False after problem(), which names the line. */
bool trace_read(const char *path, size_t count_max, struct trace *trace_out);

void trace_free(struct trace *trace);

/* Blocks of a request. */
static inline size_t request_blocks(const struct request *request)
{
    return ((size_t)request->tokens + BLOCK_TOKENS - 1) / BLOCK_TOKENS;
}

#endif
