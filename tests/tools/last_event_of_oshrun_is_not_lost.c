/* SPDX-License-Identifier: Apache-2.0
 *
 * An event that oshrun has sent reaches the PE, also where oshrun was gone a moment later with a notice of the PE unread: the kernel then
 * tells an error before it gives the event. This program is both: it makes the sockets that oshrun makes, and joins as a PE.
 */
#include "runtime/base/launch_wire.h"
#include "runtime/base/options.h"
#include "runtime/bootstrap/bootstrap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(const char *what)
{
    printf("FAIL: %s\n", what);
    return 1;
}

int main(void)
{
    int         call[2], notice[2];
    char        text[256];
    struct stat inodes[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, call) || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, notice)) return fail("socketpair");
    fstat(call[1], &inodes[0]);
    fstat(notice[1], &inodes[1]);
    snprintf(text, sizeof text, LAUNCH_FORMAT, LAUNCH_VERSION, call[1], notice[1], (unsigned long)inodes[0].st_ino,
             (unsigned long)inodes[1].st_ino, 0, 1, 0, 1);
    setenv(LAUNCH_VARIABLE, text, 1);

    struct shmemb      *pe;
    struct shmemb_event event;
    if (shmemi_options_load() != 0 || shmemi_bootstrap_open(&pe) != 0) return fail("could not join");
    struct launch_notice end   = {.kind = LAUNCH_END, .status = 7, .text = "why"};
    size_t               bytes = LAUNCH_NOTICE_HEAD + strlen(end.text) + 1;
    if (send(notice[0], &end, bytes, 0) != (ssize_t)bytes) return fail("send");
    close(notice[0]); /* the PE's HELLO is still in there */

    pe->ops->next_event(pe, &event);
    if (event.kind != SHMEMB_EVENT_END || event.status != 7 || strcmp(event.text, "why") != 0) return fail(event.text);
    pe->ops->next_event(pe, &event);
    if (event.kind != SHMEMB_EVENT_FAILURE || strcmp(event.text, "oshrun is gone") != 0) return fail(event.text);
    pe->ops->close(pe, true);
    return 0;
}
