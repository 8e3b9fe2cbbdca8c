/* SPDX-License-Identifier: Apache-2.0
 *
 * A capability has one line, at the place where it first came; a later word on it replaces the text. Printed aligned, in one write.
 */
#include "tests/unit/capture.h"
#include "tests/unit/unit.h"

#include "runtime/base/report.h"

static struct capture capture;

int main(void)
{
    CHECK(shmemi_report_line(0) == NULL);
    char name[16] = "huge";
    shmemi_report(name, SHMEMI_DEGRADED, "%d KiB pages", 4);
    strcpy(name, "other"); /* it was copied */
    shmemi_report("transport shm", SHMEMI_PRESENT, "2 PEs");
    shmemi_report("bind", SHMEMI_CHOICE, "none");
    shmemi_report("ibverbs", SHMEMI_ABSENT, "libibverbs.so.1 is not installed");
    shmemi_report("huge", SHMEMI_PRESENT, "%s", "hugetlb");

    CHECK_STR(shmemi_report_line(0)->capability, "huge");
    CHECK_STR(shmemi_report_line(0)->text, "hugetlb");
    CHECK_EQ_I64(shmemi_report_line(0)->state, SHMEMI_PRESENT);
    CHECK_STR(shmemi_report_line(3)->capability, "ibverbs");
    CHECK(shmemi_report_line(4) == NULL);

    capture_begin(&capture, STDOUT_FILENO);
    shmemi_report_print(STDOUT_FILENO);
    CHECK_EQ_I64(capture_end(&capture), 1);
    CHECK_STR(capture.text, "  huge           present   hugetlb\n"
                            "  transport shm  present   2 PEs\n"
                            "  bind           chosen    none\n"
                            "  ibverbs        absent    libibverbs.so.1 is not installed\n");

    /* A line keeps its place in memory while others are added. */
    const struct shmemi_report_line *first = shmemi_report_line(0);
    for (int i = 0; i < 200; i++) {
        char many[16];
        snprintf(many, sizeof many, "c%d", i);
        shmemi_report(many, SHMEMI_PRESENT, "%d", i);
    }
    CHECK(first == shmemi_report_line(0));
    CHECK_STR(shmemi_report_line(203)->text, "199");

    shmemi_report_clear();
    CHECK(shmemi_report_line(0) == NULL);
    shmemi_report_clear();
    shmemi_report("again", SHMEMI_PRESENT, "yes");
    CHECK_STR(shmemi_report_line(0)->capability, "again");
    shmemi_report_clear();
    return unit_result();
}
