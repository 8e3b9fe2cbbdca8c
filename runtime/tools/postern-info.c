/* SPDX-License-Identifier: Apache-2.0
 *
 * postern-info: what Postern is, what is set in the environment, and what it finds and chooses on this machine.
 *
 * It starts the library in this process as a job of one PE, so that the report is that of a real start-up, and prints it.
 */
#include <shmem.h>
#include <shmemx.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* clang-format off */
static const char help[] =
    "NAME\n"
    "    postern-info - show what Postern finds and chooses on this machine\n"
    "\n"
    "SYNOPSIS\n"
    "    postern-info [--all | --json] [--help] [--version]\n"
    "\n"
    "DESCRIPTION\n"
    "    Starts the library as a job of one PE, prints its version, the variables that are set and the\n"
    "    report of what was found and chosen, and ends. Each line of the report says of one capability\n"
    "    whether it is present, absent or degraded, and why. What is set in the environment counts as it\n"
    "    would for a program, except POSTERN_BOOTSTRAP, which is self here. Transports that only a job\n"
    "    on several machines would use are looked at too.\n"
    "\n"
    "OPTIONS\n"
    "    --all      show every variable with value, default, allowed values and help\n"
    "    --json     the same as JSON: an object with the members library, openshmem, machine,\n"
    "               variables, unknown_variables and report\n"
    "    --help     show this text\n"
    "    --version  show the version\n"
    "\n"
    "EXIT STATUS\n"
    "    0  the library started\n"
    "    1  it could not start; the messages say why, and what is known is printed all the same\n"
    "    2  wrong option\n"
    "\n"
    "EXAMPLES\n"
    "    postern-info\n"
    "    SHMEM_SYMMETRIC_SIZE=4G postern-info\n"
    "    postern-info --json | jq '.report[] | select(.state == \"degraded\")'\n";
/* clang-format on */

static void print_version(void)
{
    printf("postern-info, %s (OpenSHMEM %d.%d)\n", SHMEM_VENDOR_STRING, SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION);
}

/* Start the library, print, end it. The exit status of the program. */
static int show(int format)
{
    /* Inside a job this process is a job of its own all the same: it must not meet the PEs around it. */
    int provided = 0;
    setenv("POSTERN_BOOTSTRAP", "self", 1);
    setenv("POSTERN_SURVEY", "1", 0); /* also what only a job on several machines would use */
    bool started = shmem_init_thread(SHMEM_THREAD_SINGLE, &provided) == 0;
    int  err     = shmemx_info(STDOUT_FILENO, format);
    if (started) shmem_finalize();
    else fprintf(stderr, "postern-info: the library could not start; the messages above say why\n");
    if (err) fprintf(stderr, "postern-info: could not write: %s\n", strerror(-err));
    return started && !err ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    int format = SHMEMX_INFO_TEXT;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--all") == 0) {
            format = SHMEMX_INFO_TEXT_ALL;
        } else if (strcmp(argv[i], "--json") == 0) {
            format = SHMEMX_INFO_JSON;
        } else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(help, stdout);
            return EXIT_SUCCESS;
        } else if (strcmp(argv[i], "--version") == 0) {
            print_version();
            return EXIT_SUCCESS;
        } else {
            fprintf(stderr, "postern-info: unknown option %s\n    fix: postern-info --help lists the options\n", argv[i]);
            return 2;
        }
    }
    return show(format);
}
