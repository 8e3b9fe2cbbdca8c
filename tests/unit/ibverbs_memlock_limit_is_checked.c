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
    size_t      private_mib; /* what is left for private memory, beside 4 MiB of queues */
} cases[] = {
    {"enough", 7, 7, true, false, 4, 0, 3},
    {"more is allowed", 1, 4, true, false, 4, 0, 0},
    {"too little", 2, 4, true, false, 5, -ENOMEM, 0},
    {"none at all", 0, 0, true, false, 1, -ENOMEM, 0},
    {"a device that pins nothing", 0, 0, false, false, 500, 0, 0},
    {"privilege", 0, 0, true, true, 500, 0, 0},
};

static char *buffer(unsigned mib)
{
    return (char *)(uintptr_t)(UINT64_C(1) << 40) + mib * MIB;
}

/* What segments and queues leave of the limit is for private memory: more waits for what is in use. */
static void check_private(const struct ib_port *port, size_t room_mib)
{
    static const struct shmemt_job job = {.npes = 1};
    struct ib_memory              *memory;
    struct ib_local                first, second;
    CHECK_EQ_I64(shmemt_ibverbs_memory_open(&job, NULL, port, &memory), 0);
    CHECK_EQ_U64(shmemt_ibverbs_memory_room(memory), room_mib * MIB);
    CHECK(shmemt_ibverbs_memory_possible(memory, room_mib * MIB));
    CHECK(!shmemt_ibverbs_memory_possible(memory, room_mib * MIB + 1));
    CHECK_EQ_I64(shmemt_ibverbs_memory_local(memory, buffer(0), (room_mib - 1) * MIB, SHMEMT_MEMORY_HOST, true, &first), 0);
    CHECK_EQ_I64(shmemt_ibverbs_memory_local(memory, buffer(100), 2 * MIB, SHMEMT_MEMORY_HOST, true, &second), -EAGAIN);
    shmemt_ibverbs_memory_release(memory, first.hold);
    CHECK_EQ_I64(shmemt_ibverbs_memory_local(memory, buffer(100), 2 * MIB, SHMEMT_MEMORY_HOST, true, &second), 0);
    shmemt_ibverbs_memory_release(memory, second.hold);
    shmemt_ibverbs_memory_close(memory);
}

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
    if (one->private_mib) check_private(&port, one->private_mib);
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
