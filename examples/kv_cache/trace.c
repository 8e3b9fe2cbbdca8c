/* SPDX-License-Identifier: Apache-2.0
 *
 * Making and reading requests. See trace.h.
 */
#include "trace.h"

#include "problem.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One step of an FNV-like digest over 64-bit words. */
static void digest_add(uint64_t *digest, uint64_t word)
{
    *digest = (*digest ^ word) * 0x100000001b3u;
    *digest ^= *digest >> 29;
}

/* Append a request with room for its block ids; the caller fills these. NULL after problem(). */
static uint64_t *append(struct trace *trace, double arrival_ms, uint32_t tokens)
{
    if ((trace->count & (trace->count - 1)) == 0) { /* full at each power of two */
        size_t          room   = trace->count == 0 ? 1 : 2 * trace->count;
        struct request *larger = realloc(trace->requests, room * sizeof *larger);
        if (larger == NULL) {
            problem("could not keep %zu requests" WHY "out of memory" FIX "use fewer requests", room);
            return NULL;
        }
        trace->requests = larger;
    }
    struct request request = {.arrival_ms = arrival_ms, .tokens = tokens};
    uint64_t      *blocks  = malloc(request_blocks(&request) * sizeof *blocks);
    if (blocks == NULL) {
        problem("could not keep the blocks of request %zu" WHY "out of memory" FIX "use fewer requests", trace->count);
        return NULL;
    }
    request.blocks                  = blocks;
    trace->requests[trace->count++] = request;
    trace->tokens += tokens;
    return blocks;
}

static void digest_request(struct trace *trace, const struct request *request)
{
    digest_add(&trace->digest, request->tokens);
    for (size_t i = 0; i < request_blocks(request); i++) {
        digest_add(&trace->digest, request->blocks[i]);
    }
}

bool trace_make(size_t count, uint32_t tokens, struct trace *trace_out)
{
    struct trace trace   = {.count = 0};
    uint64_t     next_id = 0;
    while (trace.count < count) {
        uint64_t *blocks = append(&trace, 0, tokens);
        if (blocks == NULL) {
            trace_free(&trace);
            return false;
        }
        const struct request *request = &trace.requests[trace.count - 1];
        for (size_t i = 0; i < request_blocks(request); i++) {
            blocks[i] = next_id++;
        }
        digest_request(&trace, request);
    }
    *trace_out = trace;
    return true;
}

/* ---- reading ---- */

/* Where an error is. */
struct place {
    const char *path;
    size_t      line;
};

#define FIELDS "a line reads {\"timestamp\": ms, \"input_length\": tokens, \"output_length\": tokens, \"hash_ids\": [ids]}"

static bool bad_line(struct place at, const char *why)
{
    return problem("cannot replay %s, line %zu" WHY "%s" FIX FIELDS, at.path, at.line, why);
}

static bool bad_field(struct place at, const char *field, const char *wanted)
{
    return problem("cannot replay %s, line %zu" WHY "\"%s\" must be %s" FIX FIELDS, at.path, at.line, field, wanted);
}

static bool read_blocks(struct place at, const json_t *ids, size_t count, uint64_t *blocks)
{
    for (size_t i = 0; i < count; i++) {
        const json_t *id = json_array_get(ids, i);
        if (!json_is_integer(id) || json_integer_value(id) < 0) {
            return bad_field(at, "hash_ids", "an array of whole numbers from 0");
        }
        blocks[i] = (uint64_t)json_integer_value(id);
    }
    return true;
}

/* Check a line's fields and append the request. */
static bool read_request(struct place at, const json_t *line, struct trace *trace)
{
    const json_t *arrival = json_object_get(line, "timestamp");
    const json_t *input   = json_object_get(line, "input_length");
    const json_t *output  = json_object_get(line, "output_length");
    const json_t *ids     = json_object_get(line, "hash_ids");
    if (!json_is_object(line)) {
        return bad_line(at, "it is not a JSON object");
    }
    if (!json_is_number(arrival) || !(json_number_value(arrival) >= 0) || !isfinite(json_number_value(arrival))) {
        return bad_field(at, "timestamp", "a number from 0");
    }
    if (!json_is_integer(input) || json_integer_value(input) < 1 || json_integer_value(input) > REQUEST_TOKENS_MAX) {
        return bad_field(at, "input_length", "a whole number from 1 to 16777216");
    }
    if (!json_is_integer(output) || json_integer_value(output) < 0) {
        return bad_field(at, "output_length", "a whole number from 0");
    }
    struct request request = {.tokens = (uint32_t)json_integer_value(input)};
    if (!json_is_array(ids) || json_array_size(ids) != request_blocks(&request)) {
        return problem("cannot replay %s, line %zu" WHY "input_length %u needs %zu hash_ids of %d tokens each, and there are "
                       "%zu" FIX "correct the line; " FIELDS,
                       at.path, at.line, request.tokens, request_blocks(&request), BLOCK_TOKENS, json_array_size(ids));
    }
    uint64_t *blocks = append(trace, json_number_value(arrival), request.tokens);
    if (blocks == NULL || !read_blocks(at, ids, json_array_size(ids), blocks)) {
        return false;
    }
    digest_request(trace, &trace->requests[trace->count - 1]);
    return true;
}

static bool read_line(struct place at, const char *text, size_t bytes, struct trace *trace)
{
    if (strspn(text, " \t\r\n") == bytes) {
        return true; /* an empty line, as at the end of many files */
    }
    json_error_t error;
    json_t      *line = json_loadb(text, bytes, 0, &error);
    if (line == NULL) {
        return problem("cannot replay %s, line %zu, column %d" WHY "it is not JSON: %s" FIX FIELDS, at.path, at.line, error.column,
                       error.text);
    }
    bool good = read_request(at, line, trace);
    json_decref(line);
    return good;
}

static bool read_lines(const char *path, FILE *file, size_t count_max, struct trace *trace)
{
    struct place at   = {.path = path};
    char        *text = NULL;
    size_t       room = 0;
    bool         good = true;
    while (good && (count_max == 0 || trace->count < count_max)) {
        ssize_t bytes = getline(&text, &room, file);
        if (bytes < 0) {
            break;
        }
        at.line++;
        good = read_line(at, text, (size_t)bytes, trace);
    }
    if (good && ferror(file)) {
        good = problem("could not read %s: %s" WHY "the read failed after line %zu" FIX "check that it is a file", path,
                       strerror(errno), at.line);
    }
    free(text);
    if (good && trace->count == 0) {
        good = problem("cannot replay %s" WHY "it has no line" FIX FIELDS, path);
    }
    return good;
}

bool trace_read(const char *path, size_t count_max, struct trace *trace_out)
{
    struct trace trace = {.count = 0};
    FILE        *file  = fopen(path, "re");
    if (file == NULL) {
        return problem("could not open %s: %s" WHY "--trace reads requests from it" FIX "check the name and the permissions", path,
                       strerror(errno));
    }
    bool good = read_lines(path, file, count_max, &trace);
    fclose(file);
    if (!good) {
        trace_free(&trace);
        return false;
    }
    *trace_out = trace;
    return true;
}

void trace_free(struct trace *trace)
{
    for (size_t i = 0; i < trace->count; i++) {
        free((void *)(uintptr_t)trace->requests[i].blocks); /* the cast takes the const away: we made them */
    }
    free(trace->requests);
    *trace = (struct trace){.count = 0};
}
