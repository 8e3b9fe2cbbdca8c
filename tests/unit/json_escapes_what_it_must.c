/* SPDX-License-Identifier: Apache-2.0
 *
 * The JSON writer puts commas and escapes where RFC 8259 wants them, and what is not UTF-8 becomes U+FFFD.
 */
#include "tests/unit/unit.h"

#include "runtime/base/json.h"

/* The JSON text of one string. */
static const char *quoted(const char *text)
{
    static char        buffer[256];
    FILE              *out  = fmemopen(buffer, sizeof buffer, "w");
    struct shmemi_json json = {.out = out};
    shmemi_json_text(&json, NULL, text);
    fclose(out);
    return buffer;
}

int main(void)
{
    CHECK_STR(quoted("plain"), "\"plain\"");
    CHECK_STR(quoted(""), "\"\"");
    CHECK_STR(quoted(NULL), "null");
    CHECK_STR(quoted("a\"b\\c/d"), "\"a\\\"b\\\\c/d\"");
    CHECK_STR(quoted("a\nb\tc\rd\x01\x1f\x7f"), "\"a\\nb\\tc\\u000dd\\u0001\\u001f\\u007f\"");
    CHECK_STR(quoted("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x90\x9f"), "\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x90\x9f\"");
    CHECK_STR(quoted("a\377b"), "\"a\\ufffdb\""); /* never a byte of UTF-8   */
    CHECK_STR(quoted("\xc3"), "\"\\ufffd\"");     /* cut short               */
    CHECK_STR(quoted("\303A"), "\"\\ufffdA\"");
    CHECK_STR(quoted("\xc0\xaf"), "\"\\ufffd\\ufffd\"");                       /* overlong                */
    CHECK_STR(quoted("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\"");            /* a surrogate        */
    CHECK_STR(quoted("\xf4\x90\x80\x80"), "\"\\ufffd\\ufffd\\ufffd\\ufffd\""); /* past the end */

    static char        buffer[512];
    FILE              *out  = fmemopen(buffer, sizeof buffer, "w");
    struct shmemi_json json = {.out = out};
    shmemi_json_begin(&json, NULL, '{');
    shmemi_json_int(&json, "low", INT64_MIN);
    shmemi_json_begin(&json, "list", '[');
    shmemi_json_bool(&json, NULL, true);
    shmemi_json_bool(&json, NULL, false);
    shmemi_json_end(&json, ']');
    shmemi_json_begin(&json, "empty", '[');
    shmemi_json_end(&json, ']');
    shmemi_json_text(&json, "k\"", "v");
    shmemi_json_end(&json, '}');
    fclose(out);
    CHECK_STR(buffer, "{\n  \"low\": -9223372036854775808,\n  \"list\": [\n    true,\n    false\n  ],\n  \"empty\": [],\n"
                      "  \"k\\\"\": \"v\"\n}\n");
    return unit_result();
}
