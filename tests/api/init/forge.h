/* SPDX-License-Identifier: Apache-2.0
 *
 * A unique id as somebody would forge it: the bytes of an id are no interface, but a test of strangers must know what a stranger could know.
 */
#ifndef POSTERN_TESTS_API_INIT_FORGE_H
#define POSTERN_TESTS_API_INIT_FORGE_H

#include "own.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

enum { FORGE_PORT = 6, FORGE_SECRET = 8, FORGE_SECRET_BYTES = 16, FORGE_CHECK = 32, FORGE_CHECK_BYTES = 4 };

/* Make the check fit to the other bytes: FNV-1a with a finishing mix, as in runtime/base/num.h. */
static inline void forge_check(shmemx_uniqueid_t *id)
{
    uint64_t sum = 0xcbf29ce484222325u;
    memset(id->bytes + FORGE_CHECK, 0, FORGE_CHECK_BYTES);
    for (size_t i = 0; i < sizeof id->bytes; i++) sum = (sum ^ id->bytes[i]) * 0x100000001b3u;
    sum ^= sum >> 32;
    sum *= 0xd6e8feb86659fd93u;
    sum ^= sum >> 32;
    memcpy(id->bytes + FORGE_CHECK, &sum, FORGE_CHECK_BYTES);
}

/* A connection to where the job of that id is served on this machine. */
static inline int forge_connect(const shmemx_uniqueid_t *id)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    memcpy(&address.sin_port, id->bytes + FORGE_PORT, 2);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0) exit(97);
    return fd;
}

#endif
