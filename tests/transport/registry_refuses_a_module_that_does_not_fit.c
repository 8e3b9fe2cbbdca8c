/* SPDX-License-Identifier: Apache-2.0
 *
 * A module of another version, one without a required slot, one without a table, and a file that is no library: each is an error
 * that names the file and the reason. The last is only a line in the report where nobody has named it.
 */
#include "runtime/base/report.h"
#include "tests/transport/registry.h"

static void refused(const char *name, const char *folder, const char *reason)
{
    struct shmemt_registry registry;
    CHECK_EQ_I64(open_registry(name, folder, &registry), -EINVAL);
    CHECK_HAS(said, name);
    CHECK_HAS(said, reason);
    CHECK_HAS(said, "fix: ");
}

int main(int argc, char **argv)
{
    struct shmemt_registry registry;
    if (argc != 3) return 2;
    refused("other_version", argv[1], "version 3 of the transport interface");
    refused("without_quiet", argv[1], "no quiet");
    refused("without_table", argv[1], "does not export shmemt_module");
    refused("broken", argv[2], "could not load transport broken");
    CHECK_EQ_I64(open_registry(NULL, argv[1], &registry), -EINVAL);

    CHECK_EQ_I64(open_registry(NULL, argv[2], &registry), 0);
    CHECK_EQ_U64(registry.count, 1);
    shmemt_registry_close(&registry);
    const struct shmemi_report_line *line = shmemi_report_line(0);
    CHECK(line && line->state == SHMEMI_ABSENT);
    CHECK_STR(line ? line->capability : NULL, "transport broken");
    shmemi_report_clear();
    return unit_result();
}
