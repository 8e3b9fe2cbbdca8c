/* SPDX-License-Identifier: Apache-2.0
 *
 * shmemx_info: one write; the text names what is set and the report; the JSON is valid whatever the values hold; a wrong format
 * and a closed descriptor are error codes.
 */
#include "tests/unit/capture.h"
#include "tests/unit/unit.h"

#include "runtime/base/options.h"
#include "runtime/base/report.h"

#include <errno.h>
#include <shmemx.h>

static struct capture capture;

/* ---- RFC 8259, just enough to say yes or no: each returns what follows, NULL if the text is wrong ---- */

static const char *skip_value(const char *at);

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \n\r\t");
}

static const char *skip_string(const char *at)
{
    if (*at++ != '"') return NULL;
    for (; *at != '"'; at++) {
        if ((unsigned char)*at < 0x20) return NULL; /* the end of the text too */
        if (*at != '\\') continue;
        at++;
        if (*at == 'u' && strspn(at + 1, "0123456789abcdefABCDEF") >= 4) at += 4;
        else if (*at == '\0' || !strchr("\"\\/bfnrt", *at)) return NULL;
    }
    return at + 1;
}

/* What lies between the brackets of an object or array, and the closing one. */
static const char *skip_members(const char *at, bool keys, char close)
{
    at = skip_blanks(at);
    if (*at == close) return at + 1;
    for (;;) {
        if (keys) {
            at = skip_string(skip_blanks(at));
            if (!at) return NULL;
            at = skip_blanks(at);
            if (*at++ != ':') return NULL;
        }
        at = skip_value(at);
        if (!at) return NULL;
        at = skip_blanks(at);
        if (*at == close) return at + 1;
        if (*at++ != ',') return NULL;
    }
}

static const char *skip_value(const char *at)
{
    static const char *const words[] = {"true", "false", "null"};
    at                               = skip_blanks(at);
    if (*at == '{') return skip_members(at + 1, true, '}');
    if (*at == '[') return skip_members(at + 1, false, ']');
    if (*at == '"') return skip_string(at);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strncmp(at, words[i], strlen(words[i])) == 0) return at + strlen(words[i]);
    }
    if (*at == '-') at++;
    size_t digits = strspn(at, "0123456789");
    return digits > 0 ? at + digits : NULL;
}

static bool is_json(const char *text)
{
    const char *end = skip_value(text);
    return end && *skip_blanks(end) == '\0';
}

/* ---- the test ---- */

static const char *info(int format)
{
    capture_begin(&capture, STDOUT_FILENO);
    int err    = shmemx_info(STDOUT_FILENO, format);
    int writes = capture_end(&capture);
    CHECK_EQ_I64(err, 0);
    CHECK_EQ_I64(writes, 1);
    return capture.text;
}

int main(void)
{
    CHECK(is_json("{\"a\": [1, -2, \"x\\\"\\u0041\", {}, []], \"b\": null}") && is_json(" true "));
    CHECK(!is_json("{") && !is_json("[1,]") && !is_json("{\"a\" 1}") && !is_json("[1] x") && !is_json("[\"a\nb\"]") &&
          !is_json(""));

    clearenv();
    CHECK_EQ_I64(shmemi_options_load(), 0);
    CHECK_HAS(info(0), "Set in the environment\n  nothing");
    CHECK_HAS(capture.text, "Found and chosen\n  nothing yet");

    setenv("SMA_SYMMETRIC_SIZE", "512M", 1);
    setenv("POSTERN_TRANSPORT_PATH", "/a \"quoted\"\\ \xff\n path", 1);
    setenv("POSTERN_STATTS", "1", 1);
    CHECK_EQ_I64(shmemi_options_load(), 0);
    shmemi_report("huge", SHMEMI_DEGRADED, "\"4 KiB\" pages:\tnone\nfree");
    shmemi_report("transport shm", SHMEMI_PRESENT, "1 PE");

    CHECK_HAS(info(0), "Postern ");
    CHECK_HAS(capture.text, "(OpenSHMEM 1.6)\nhost ");
    CHECK_HAS(capture.text, "\n  SMA_SYMMETRIC_SIZE       512M\n");
    CHECK_HAS(capture.text, "\n  transport shm  present   1 PE\n");
    CHECK(strstr(capture.text, "POSTERN_LOG") == NULL);

    CHECK_HAS(info(2), "\n  POSTERN_LOG");
    CHECK_HAS(capture.text, "\n  transport shm  present   1 PE\n");

    CHECK(is_json(info(1)));
    CHECK_HAS(capture.text, "\"openshmem\": \"1.6\"");
    CHECK_HAS(capture.text,
              "\"name\": \"SHMEM_SYMMETRIC_SIZE\",\n      \"value\": \"512M\",\n      \"set_by\": \"SMA_SYMMETRIC_SIZE\"");
    CHECK_HAS(capture.text, "\"/a \\\"quoted\\\"\\\\ \\ufffd\\n path\"");
    CHECK_HAS(capture.text, "\"unknown_variables\": [\n    \"POSTERN_STATTS\"\n  ]");
    CHECK_HAS(capture.text, "\"capability\": \"huge\",\n      \"state\": \"degraded\"");
    for (size_t i = 0; shmemi_options_row(i); i++) CHECK_HAS(capture.text, shmemi_options_row(i)->name);

    CHECK_EQ_I64(pshmemx_info(-1, 1), -EBADF);
    CHECK_EQ_I64(shmemx_info(STDOUT_FILENO, 3), -EINVAL);
    CHECK_EQ_I64(shmemx_info(STDOUT_FILENO, -1), -EINVAL);
    CHECK_EQ_I64(shmemx_info(-1, 0), -EBADF);
    shmemi_report_clear();
    return unit_result();
}
