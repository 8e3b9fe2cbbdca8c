/* SPDX-License-Identifier: Apache-2.0
 *
 * postern-info over a stand-in library: its options, its exit status where the library starts and where it does not, and that
 * it starts alone.
 */
#include <shmem.h>

#define main tool_main
#include "runtime/tools/postern-info.c"
#undef main

#include "tests/unit/capture.h"
#include "tests/unit/unit.h"

#include <errno.h>

static struct capture out, err;
static int            init_status, info_status, info_format, finalized;

int shmem_init_thread(int requested, int *provided)
{
    CHECK_STR(getenv("POSTERN_BOOTSTRAP"), "self");
    *provided = requested;
    return init_status;
}

void shmem_finalize(void)
{
    finalized++;
}

int shmemx_info(int fd, int format)
{
    info_format = format;
    dprintf(fd, "info\n");
    return info_status;
}

/* Run the tool with one argument or none; its exit status. */
static int run(char *argument)
{
    char  name[] = "postern-info";
    char *argv[] = {name, argument, NULL};
    finalized = 0, info_format = -1;
    capture_begin(&out, STDOUT_FILENO);
    capture_begin(&err, STDERR_FILENO);
    int status = tool_main(argument ? 2 : 1, argv);
    fflush(NULL);
    capture_end(&err);
    capture_end(&out);
    return status;
}

int main(void)
{
    char all[] = "--all", json[] = "--json", usage[] = "--help", version[] = "--version", wrong[] = "--jsno";

    CHECK_EQ_I64(run(NULL), 0);
    CHECK_EQ_I64(info_format, SHMEMX_INFO_TEXT);
    CHECK_EQ_I64(finalized, 1);
    CHECK_STR(out.text, "info\n");
    CHECK_STR(err.text, "");
    CHECK_EQ_I64(run(all), 0);
    CHECK_EQ_I64(info_format, SHMEMX_INFO_TEXT_ALL);
    CHECK_EQ_I64(run(json), 0);
    CHECK_EQ_I64(info_format, SHMEMX_INFO_JSON);

    CHECK_EQ_I64(run(usage), 0);
    CHECK_HAS(out.text, "SYNOPSIS\n    postern-info [--all | --json]");
    CHECK_EQ_I64(info_format, -1);
    CHECK_EQ_I64(run(version), 0);
    CHECK_HAS(out.text, "Postern ");
    CHECK_EQ_I64(run(wrong), 2);
    CHECK_HAS(err.text, "unknown option --jsno\n    fix: ");
    CHECK_STR(out.text, "");

    init_status = 1;
    CHECK_EQ_I64(run(NULL), 1);
    CHECK_STR(out.text, "info\n"); /* what is known is shown all the same */
    CHECK_HAS(err.text, "could not start");
    CHECK_EQ_I64(finalized, 0);

    init_status = 0, info_status = -EPIPE;
    CHECK_EQ_I64(run(NULL), 1);
    CHECK_HAS(err.text, "could not write: Broken pipe");
    return unit_result();
}
