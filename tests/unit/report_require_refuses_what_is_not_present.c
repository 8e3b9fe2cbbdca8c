/* SPDX-License-Identifier: Apache-2.0
 *
 * POSTERN_REQUIRE: each name in the list must be present; absent, degraded and unknown names are errors that say why.
 */
#include "tests/unit/capture.h"
#include "tests/unit/unit.h"

#include "runtime/base/report.h"

#include <errno.h>

static struct capture capture;

static void check(const char *names, int wanted, int wanted_writes)
{
    capture_begin(&capture, STDERR_FILENO);
    int err    = shmemi_report_require(names);
    int writes = capture_end(&capture);
    if (err != wanted) printf("require \"%s\":\n%s", names ? names : "NULL", capture.text);
    CHECK_EQ_I64(err, wanted);
    CHECK_EQ_I64(writes, wanted_writes);
}

int main(void)
{
    shmemi_report("huge", SHMEMI_DEGRADED, "4 KiB pages: no huge page is free");
    shmemi_report("membarrier", SHMEMI_PRESENT, "MEMBARRIER_CMD_GLOBAL_EXPEDITED");
    shmemi_report("transport shm", SHMEMI_PRESENT, "2 PEs");
    shmemi_report("rdma", SHMEMI_ABSENT, "libibverbs.so.1 is not installed");
    shmemi_report("bind", SHMEMI_CHOICE, "none");

    check(NULL, 0, 0);
    check("", 0, 0);
    check(" , ,", 0, 0);
    check("membarrier", 0, 0);
    check(" membarrier , shm,transport shm", 0, 0);

    check("huge", -ENOTSUP, 1);
    CHECK_HAS(capture.text, "cannot start without huge");
    CHECK_HAS(capture.text, "it is degraded\n    why: 4 KiB pages: no huge page is free");
    check("membarrier,rdma", -ENOTSUP, 1);
    CHECK_HAS(capture.text, "it is absent\n    why: libibverbs.so.1 is not installed");
    check("rdma,huge", -ENOTSUP, 2);

    check("telepathy", -EINVAL, 1);
    CHECK_HAS(capture.text, "\"telepathy\"");
    CHECK_HAS(capture.text, "known here: huge, membarrier, transport shm, rdma\n");
    check("bind", -EINVAL, 1); /* a choice is no capability */
    check("hm", -EINVAL, 1);   /* a part of a word is no name */
    check("Huge", -EINVAL, 1);
    shmemi_report_clear();
    return unit_result();
}
