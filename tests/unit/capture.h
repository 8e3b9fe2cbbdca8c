/* SPDX-License-Identifier: Apache-2.0
 *
 * What a piece of code writes to a descriptor, and in how many write(2) calls. The descriptor is replaced by a socket that keeps
 * the limits of each write, so two writes are two records. For outputs of some ten KiB: nobody reads while the code runs.
 *
 *     struct capture capture;
 *     capture_begin(&capture, STDERR_FILENO);
 *     shmemi_warn("so");
 *     CHECK_EQ_I64(capture_end(&capture), 1);
 *     CHECK_STR(capture.text, "postern: warning: so\n");
 */
#ifndef SHMEMI_UNIT_CAPTURE_H
#define SHMEMI_UNIT_CAPTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct capture {
    int  fd, saved, reader;
    char text[65536]; /* all records, one after the other, then a NUL */
};

static inline void capture_begin(struct capture *capture, int fd)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) != 0) {
        perror("socketpair");
        exit(EXIT_FAILURE);
    }
    fflush(NULL);
    capture->fd     = fd;
    capture->saved  = dup(fd);
    capture->reader = pair[0];
    dup2(pair[1], fd);
    close(pair[1]);
}

/* Put the descriptor back; the number of writes, their bytes in capture->text. */
static inline int capture_end(struct capture *capture)
{
    dup2(capture->saved, capture->fd); /* closes the writing end, so the reader comes to an end */
    close(capture->saved);
    int    writes = 0;
    size_t used   = 0;
    for (;;) {
        ssize_t got = recv(capture->reader, capture->text + used, sizeof capture->text - 1 - used, 0);
        if (got <= 0) break;
        used += (size_t)got;
        writes++;
    }
    capture->text[used] = '\0';
    close(capture->reader);
    return writes;
}

#endif
