/* SPDX-License-Identifier: Apache-2.0
 *
 * The registry of the archive loads no modules, as it is for static programs: a module that was named is an error that says so,
 * another one a line in the report, and the built-in transports serve.
 */
#include "runtime/base/report.h"
#include "tests/transport/registry.h"

int main(int argc, char **argv)
{
    struct shmemt_registry registry;
    if (argc != 2) return 2;
    CHECK_EQ_I64(open_registry("shm,bare", argv[1], &registry), -EINVAL);
    CHECK_HAS(said, "could not load transport bare");
    CHECK_HAS(said, "linked statically");
    CHECK_HAS(said, "fix: ");

    CHECK_EQ_I64(open_registry(NULL, argv[1], &registry), 0);
    CHECK_EQ_U64(registry.count, 1);
    shmemt_registry_close(&registry);
    const struct shmemi_report_line *line = shmemi_report_line(0);
    CHECK(line && line->state == SHMEMI_ABSENT);
    CHECK_HAS(line ? line->text : NULL, "linked statically");
    shmemi_report_clear();
    return unit_result();
}
