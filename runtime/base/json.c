/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing JSON to a stream. Tests: tests/unit/json_*.c.
 */
#include "runtime/base/json.h"

#include <inttypes.h>
#include <stddef.h>

/*
 * Bytes of the UTF-8 sequence at text, 0 if it is not one (overlong, surrogate, above U+10FFFF, cut short).
 * RFC 3629, section 4: the second byte's range depends on the first.
 */
static size_t utf8_length(const unsigned char *text)
{
    static const struct {
        unsigned char first, last, second_min, second_max, length;
    } forms[] = {
        {0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (text[0] < forms[i].first || text[0] > forms[i].last) continue;
        if (forms[i].length > 1 && (text[1] < forms[i].second_min || text[1] > forms[i].second_max)) return 0;
        for (size_t at = 2; at < forms[i].length; at++) { /* a NUL ends the text and fails here too */
            if (text[at] < 0x80 || text[at] > 0xbf) return 0;
        }
        return forms[i].length;
    }
    return 0;
}

static void put_string(FILE *out, const char *text)
{
    putc('"', out);
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        size_t length = utf8_length(at);
        if (*at == '"' || *at == '\\') fprintf(out, "\\%c", *at);
        else if (*at == '\n') fputs("\\n", out);
        else if (*at == '\t') fputs("\\t", out);
        else if (*at < 0x20 || *at == 0x7f) fprintf(out, "\\u%04x", *at);
        else if (length == 0) fputs("\\ufffd", out);
        else fwrite(at, 1, length, out);
        at += length ? length : 1;
    }
    putc('"', out);
}

/* All that stands before a value: comma, new line, indent, key. */
static void put_lead(struct shmemi_json *json, const char *key)
{
    if (json->follows) putc(',', json->out);
    if (json->depth > 0) fprintf(json->out, "\n%*s", 2 * json->depth, "");
    if (key) {
        put_string(json->out, key);
        fputs(": ", json->out);
    }
    json->follows = true;
}

void shmemi_json_begin(struct shmemi_json *json, const char *key, char open)
{
    put_lead(json, key);
    putc(open, json->out);
    json->depth++;
    json->follows = false;
}

void shmemi_json_end(struct shmemi_json *json, char close)
{
    json->depth--;
    if (json->follows) fprintf(json->out, "\n%*s", 2 * json->depth, "");
    putc(close, json->out);
    if (json->depth == 0) putc('\n', json->out);
    json->follows = true;
}

void shmemi_json_text(struct shmemi_json *json, const char *key, const char *text)
{
    put_lead(json, key);
    if (text) put_string(json->out, text);
    else fputs("null", json->out);
}

void shmemi_json_int(struct shmemi_json *json, const char *key, int64_t value)
{
    put_lead(json, key);
    fprintf(json->out, "%" PRId64, value);
}

void shmemi_json_bool(struct shmemi_json *json, const char *key, bool value)
{
    put_lead(json, key);
    fputs(value ? "true" : "false", json->out);
}
