/* SPDX-License-Identifier: Apache-2.0
 *
 * The limit on locked memory: raised within what the user may, else refused with the command that raises it; and not minded where it does not
 * count. Each case is a process of its own without privilege, as limits are not raised again.
 */
#include "transports/ibverbs/memory.h"

#include "tests/unit/ibverbs_fake.h"
#include "tests/unit/unit.h"

#include <grp.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static const struct limit_case {
    const char *name;
    rlim_t      soft_mib, hard_mib; /* 0: as little as there can be */
    bool        in_kernel, privileged;
    size_t      need_mib;
    int         err;
} cases[] = {
    {"enough", 4, 4, true, false, 4, 0},
    {"more is allowed", 1, 4, true, false, 4, 0},
    {"too little", 2, 4, true, false, 5, -ENOMEM},
    {"none at all", 0, 0, true, false, 1, -ENOMEM},
    {"a device that pins nothing", 0, 0, false, false, 500, 0},
    {"privilege", 0, 0, true, true, 500, 0},
};

/* The result of the case as an exit code: 0 right, 1 wrong, 77 not possible here. */
static int run_case(const struct limit_case *one)
{
    const struct rlimit  limit    = {.rlim_cur = one->soft_mib * MIB, .rlim_max = one->hard_mib * MIB};
    const struct ib_port port     = {.place = {.in_kernel = one->in_kernel}};
    char                 why[120] = "";
    bool                 is_root  = geteuid() == 0;
    if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0 || (one->privileged && !is_root)) return UNIT_SKIPPED;
    if (is_root && !one->privileged && (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0)) return UNIT_SKIPPED;
    int err = shmemt_ibverbs_memory_check_limit(&port, one->need_mib * MIB, why, sizeof why);
    CHECK_EQ_I64(err, one->err);
    if (err) {
        char need[32];
        snprintf(need, sizeof need, "needs %zu", one->need_mib);
        CHECK_HAS(why, need);
        CHECK(strstr(why, "prlimit --memlock=unlimited") || strstr(why, "--ulimit memlock=-1"));
        CHECK(strlen(why) < sizeof why - 1); /* nothing is cut off */
        printf("    %s\n", why);
    } else {
        CHECK_STR(why, "");
    }
    return unit_result();
}

static void check_need(void)
{
    struct shmemt_job job                   = {.npes = 1};
    size_t            queues                = shmemt_ibverbs_memory_need(&job);
    job.node_map[SHMEMT_SEGMENT_HEAP].bytes = 256 * MIB;
    job.node_map[SHMEMT_SEGMENT_DATA].bytes = MIB;
    job.node_map[SHMEMT_SEGMENT_GPU].bytes  = 9999 * MIB; /* not this machine's memory */
    CHECK_EQ_U64(shmemt_ibverbs_memory_need(&job), queues + 257 * MIB);
}

int main(void)
{
    const char *left_out = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        printf("%s\n", cases[i].name);
        fflush(stdout);
        pid_t child  = fork();
        int   status = 0;
        if (child == 0) {
            int result = run_case(&cases[i]);
            fflush(stdout);
            _exit(result);
        }
        CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
        if (WEXITSTATUS(status) == UNIT_SKIPPED) left_out = cases[i].name;
        else CHECK_EQ_I64(WEXITSTATUS(status), EXIT_SUCCESS);
    }
    check_need();
    return unit_result_without(left_out);
}
