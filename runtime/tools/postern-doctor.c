/* SPDX-License-Identifier: Apache-2.0
 *
 * postern-doctor: what of this machine stands in the way of fast jobs, what follows from it, and the command that mends it.
 *
 * It looks and changes nothing. Unlike postern-info it does not start the library: it says what the machine would allow, also where
 * nothing of it is in use yet.
 */
#include "runtime/tools/doctor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* clang-format off */
static const char help[] =
    "NAME\n"
    "    postern-doctor - say what to mend on this machine, and how\n"
    "\n"
    "SYNOPSIS\n"
    "    postern-doctor [--json] [--prometheus FILE] [--root DIR] [--help] [--version]\n"
    "\n"
    "DESCRIPTION\n"
    "    Looks at RDMA devices and their ports, GPUs, limits, control groups, huge pages and processors, and\n"
    "    prints a line for each thing: ok, degraded (it works, with less than the machine could give) or\n"
    "    missing. What is not in order has two more lines: why it matters, and the command that mends it.\n"
    "    Such commands want root, mostly. postern-doctor itself needs no rights and changes nothing.\n"
    "\n"
    "    Run it as the user, and inside the container, that jobs run in: limits are those of this process.\n"
    "\n"
    "OPTIONS\n"
    "    --json             print JSON: an object with the members version, worst and findings\n"
    "    --prometheus FILE  write the states to FILE for the textfile collector of Prometheus, as a whole or\n"
    "                       not at all, and print no text\n"
    "    --root DIR         look at the recorded machine below DIR: its sys, proc, dev, and in nvidia-smi,\n"
    "                       ethtool/INTERFACE, dcb/INTERFACE and ibv_devinfo/DEVICE what these programs\n"
    "                       print (see the manual page)\n"
    "    --help             show this text\n"
    "    --version          show the version\n"
    "\n"
    "EXIT STATUS\n"
    "    0  all is ok\n"
    "    1  the worst finding is degraded\n"
    "    2  the worst finding is missing\n"
    "    3  wrong option, or what was found could not be written\n"
    "\n"
    "EXAMPLES\n"
    "    postern-doctor\n"
    "    postern-doctor --json | jq '.findings[] | select(.state != \"ok\") | .fix'\n"
    "    postern-doctor --prometheus /var/lib/node_exporter/textfile_collector/postern.prom\n";
/* clang-format on */

enum { STATUS_TROUBLE = 3 };

struct wishes {
    bool        json;
    const char *prometheus;
    const char *root;
};

static SHMEMI_NORETURN void wrong_option(const char *what, const char *option)
{
    fprintf(stderr, "postern-doctor: %s %s" FIX "postern-doctor --help lists the options\n", what, option);
    exit(STATUS_TROUBLE);
}

/* Is argument i this option? Then its value is behind '=', or the next argument. */
static bool has_value(const char *option, int argc, char **argv, int *i, const char **value_out)
{
    if (strncmp(argv[*i], option, strlen(option)) != 0) return false;
    const char *rest = argv[*i] + strlen(option);
    if (*rest != '=' && *rest != '\0') return false;
    if (*rest == '\0' && *i + 1 >= argc) wrong_option("no value after", option);
    *value_out = *rest == '=' ? rest + 1 : argv[++*i];
    return true;
}

static struct wishes read_options(int argc, char **argv)
{
    struct wishes wishes = {0};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            wishes.json = true;
        } else if (has_value("--prometheus", argc, argv, &i, &wishes.prometheus) ||
                   has_value("--root", argc, argv, &i, &wishes.root)) {
            continue;
        } else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(help, stdout);
            exit(EXIT_SUCCESS);
        } else if (strcmp(argv[i], "--version") == 0) {
            printf("postern-doctor, Postern %s\n", POSTERN_VERSION);
            exit(EXIT_SUCCESS);
        } else {
            wrong_option("unknown option", argv[i]);
        }
    }
    return wishes;
}

static void set_root(struct doctor *doctor, const char *root)
{
    struct stat folder;
    bool        there = realpath(root, doctor->root) && stat(doctor->root, &folder) == 0;
    if (there && S_ISDIR(folder.st_mode)) {
        if (strcmp(doctor->root, "/") == 0) doctor->root[0] = '\0';
        return;
    }
    if (there) errno = ENOTDIR;
    fprintf(stderr, "postern-doctor: cannot look below %s: %s" FIX "--root wants a folder that holds sys and proc of a machine\n",
            root, strerror(errno));
    exit(STATUS_TROUBLE);
}

static void look_at_all(struct doctor *doctor)
{
    struct doctor_devices devices;
    doctor_look_rdma(doctor, &devices);
    doctor_look_gpu(doctor, &devices);
    doctor_look_limits(doctor, &devices);
    doctor_look_machine(doctor);
}

/* The exit status. */
static int tell(const struct doctor *doctor, struct wishes wishes)
{
    int status = (int)doctor_worst(doctor);
    if (wishes.prometheus) {
        int err = doctor_print_prometheus(doctor, wishes.prometheus);
        if (err) {
            fprintf(stderr,
                    "postern-doctor: could not write %s: %s" FIX
                    "name a file in a folder that exists, and that this user may write to\n",
                    wishes.prometheus, strerror(-err));
            status = STATUS_TROUBLE;
        }
    }
    if (wishes.json) doctor_print_json(doctor, stdout);
    else if (!wishes.prometheus) doctor_print_text(doctor, stdout);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "postern-doctor: could not write: %s\n", strerror(errno));
        status = STATUS_TROUBLE;
    }
    return status;
}

int main(int argc, char **argv)
{
    struct doctor doctor = {0};
    struct wishes wishes = read_options(argc, argv);
    if (wishes.root) set_root(&doctor, wishes.root);
    look_at_all(&doctor);
    int status = tell(&doctor, wishes);
    doctor_forget(&doctor);
    return status;
}
