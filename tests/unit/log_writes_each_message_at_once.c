/* SPDX-License-Identifier: Apache-2.0
 *
 * A message is one write, begins with "postern: PE n: " and its level, ends with a newline, is cut where it is too long, and
 * leaves errno alone. Levels above the limit write nothing.
 */
#include "tests/unit/capture.h"
#include "tests/unit/unit.h"

#include "runtime/base/log.h"

#include <errno.h>

static struct capture capture;

static void begin(void)
{
    capture_begin(&capture, STDERR_FILENO);
}

int main(void)
{
    begin();
    errno = ENOENT;
    shmemi_error("could not %s" WHY "%d reasons" FIX "mend it", "start", 2);
    CHECK_EQ_I64(errno, ENOENT);
    CHECK_EQ_I64(capture_end(&capture), 1);
    CHECK_STR(capture.text, "postern: could not start\n    why: 2 reasons\n    fix: mend it\n");

    begin();
    shmemi_log_set_pe(3);
    shmemi_error("a");
    shmemi_warn("b");
    shmemi_info("c");
    shmemi_debug("d");
    CHECK_EQ_I64(capture_end(&capture), 2);
    CHECK_STR(capture.text, "postern: PE 3: a\npostern: PE 3: warning: b\n");

    begin();
    shmemi_log_set_level(SHMEMI_LOG_DEBUG);
    shmemi_info("c");
    shmemi_debug("d");
    CHECK_EQ_I64(capture_end(&capture), 2);
    CHECK_STR(capture.text, "postern: PE 3: c\npostern: PE 3: debug: d\n");

    begin();
    shmemi_log_set_level(SHMEMI_LOG_ERROR);
    shmemi_warn("b");
    CHECK_EQ_I64(capture_end(&capture), 0);

    /* Around the size of the buffer: each message is whole up to a limit, then cut, and always ends with one newline. */
    enum { LONGEST = 5000 };
    static char text[LONGEST + 1];
    memset(text, 'x', LONGEST);
    size_t most = 0;
    for (size_t length = 1900; length <= LONGEST; length += length < 2200 ? 1 : 700) {
        begin();
        shmemi_error("%.*s", (int)length, text);
        CHECK_EQ_I64(capture_end(&capture), 1);
        size_t wrote = strlen(capture.text);
        CHECK(wrote <= 2048 && capture.text[wrote - 1] == '\n');
        CHECK_EQ_U64(strspn(capture.text + strlen("postern: PE 3: "), "x"), wrote - strlen("postern: PE 3: ") - 1);
        CHECK(wrote >= most);
        most = wrote;
    }
    CHECK(most >= 2000);

    /* Nor does a message that cannot be written change errno. */
    int saved = dup(STDERR_FILENO);
    close(STDERR_FILENO);
    errno = ENOENT;
    shmemi_error("unheard");
    CHECK_EQ_I64(errno, ENOENT);
    dup2(saved, STDERR_FILENO);
    close(saved);

    /* A descriptor that nobody reads is an error code, not a hang or a signal that kills. */
    CHECK_EQ_I64(shmemi_log_write(-1, "x", 1), -EBADF);
    CHECK_EQ_I64(shmemi_log_write(-1, "x", 0), 0);
    return unit_result();
}
