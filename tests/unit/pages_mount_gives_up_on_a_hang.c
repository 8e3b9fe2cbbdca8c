/* SPDX-License-Identifier: Apache-2.0
 *
 * A mount that does not come back does not hang the start: after the time limit there is a reason, and no process is left.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

static pid_t parent;

/* We ourselves may not mount; in the child, the call that would mount waits for ever. */
static long refuse_or_hang(void)
{
    if (getpid() != parent) return pause();
    errno = EPERM;
    return -1;
}
#define syscall(number, ...) ((number) == SYS_fsopen ? refuse_or_hang() : (syscall)(number, __VA_ARGS__))
#include "runtime/pages_mount.c"
#undef syscall

#include "tests/unit/emulator.h"
#include "tests/unit/unit.h"

int main(void)
{
    char reason[96] = "";
    parent          = getpid();
    if (emulator_refuses_silent_child()) return unit_skip(EMULATED_CLONE);
    CHECK_EQ_I64(shmemi_pages_mount_open(reason, sizeof reason), -ETIMEDOUT);
    CHECK_HAS(reason, "mounting took over");
    CHECK(waitpid(-1, NULL, WNOHANG | __WALL) == -1 && errno == ECHILD);
    return unit_result();
}
