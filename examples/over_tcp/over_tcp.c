/* SPDX-License-Identifier: Apache-2.0
 *
 * Over TCP: a program that brings its own exchange. Sixty lines of sockets are enough to start a job of OpenSHMEM: whatever lets N processes
 * exchange a few kilobytes a few times will do, and shmemx_init_attr takes it as one function.
 *
 * Process 0 listens; the others connect and say their number. For an exchange each sends its part, and process 0 sends all parts back. With
 * port 0 the system chooses one, and process 0 says which.
 *
 *     ./over_tcp 0 3 127.0.0.1 7700 & ./over_tcp 1 3 127.0.0.1 7700 & ./over_tcp 2 3 127.0.0.1 7700; wait
 *
 * Compare unique_id, where the library does all of this, lets nobody else in and notices when a process dies. Here nobody would.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Process 0 has a socket to each of the others, and they have one, to process 0. */
struct net {
    int  rank, npes;
    int *socket; /* [npes]; on others than process 0 only socket[0] is used */
};

/* All bytes, or -1. */
static int send_all(int fd, const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes > 0) {
        ssize_t sent = send(fd, at, bytes, MSG_NOSIGNAL);
        if (sent <= 0) return -1;
        at += sent;
        bytes -= (size_t)sent;
    }
    return 0;
}

static int receive_all(int fd, void *data, size_t bytes)
{
    return bytes == 0 || recv(fd, data, bytes, MSG_WAITALL) == (ssize_t)bytes ? 0 : -1;
}

/* What the library calls: every PE gives bytes from mine; all becomes those of PE 0, PE 1, ... */
static int gather(void *user, const void *mine, size_t bytes, void *all)
{
    struct net *net = user;
    size_t      sum = bytes * (size_t)net->npes;
    if (net->rank > 0) return send_all(net->socket[0], mine, bytes) || receive_all(net->socket[0], all, sum);

    int err = 0;
    memcpy(all, mine, bytes);
    for (int i = 1; i < net->npes && !err; i++) err = receive_all(net->socket[i], (char *)all + (size_t)i * bytes, bytes);
    for (int i = 1; i < net->npes && !err; i++) err = send_all(net->socket[i], all, sum);
    return err;
}

static int fail(const char *what)
{
    perror(what);
    return -1;
}

/* Process 0: a connection from each of the others, in whatever order they come. */
static int accept_others(struct net *net, struct sockaddr_in *address)
{
    socklen_t length = sizeof *address;
    int       door   = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    if (bind(door, (struct sockaddr *)address, length) != 0 || listen(door, net->npes) != 0) return fail("over_tcp: listen");
    getsockname(door, (struct sockaddr *)address, &length);
    printf("over_tcp: listening at port %d\n", ntohs(address->sin_port));
    fflush(stdout);
    for (int i = 1; i < net->npes; i++) {
        int rank = -1, fd = accept(door, NULL, NULL);
        if (fd < 0 || receive_all(fd, &rank, sizeof rank) != 0 || rank < 1 || rank >= net->npes) return fail("over_tcp: accept");
        net->socket[rank] = fd;
    }
    close(door);
    return 0;
}

/* The others: process 0 may not be there yet. */
static int connect_to_first(struct net *net, const struct sockaddr_in *address)
{
    for (int tries = 0; tries < 1000; tries++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0) {
            net->socket[0] = fd;
            return send_all(fd, &net->rank, sizeof net->rank);
        }
        close(fd);
        usleep(10000);
    }
    return fail("over_tcp: connect");
}

int main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    if (argc != 5 || inet_pton(AF_INET, argv[3], &address.sin_addr) != 1) {
        fprintf(stderr, "usage: over_tcp RANK NPES ADDRESS PORT\n");
        return 2;
    }
    struct net net   = {.rank = atoi(argv[1]), .npes = atoi(argv[2])};
    address.sin_port = htons((uint16_t)atoi(argv[4]));
    net.socket       = calloc(net.npes > 0 ? (size_t)net.npes : 1, sizeof *net.socket);
    if (!net.socket || (net.rank == 0 ? accept_others(&net, &address) : connect_to_first(&net, &address)) != 0) return 1;

    shmemx_init_attr_t attr = SHMEMX_INIT_ATTR_INITIALIZER;
    attr.rank               = net.rank;
    attr.npes               = net.npes;
    attr.allgather          = gather;
    attr.user               = &net;
    if (shmemx_init_attr(&attr) != 0) return 1; /* it has said why */

    /* From here on it is a program like any other. */
    static long sum, one = 1;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &one, 1);
    if (shmem_my_pe() == 0) printf("over_tcp: %ld of %d PEs are here\n", sum, shmem_n_pes());
    int status = sum == shmem_n_pes() ? 0 : 1;
    shmem_finalize();
    free(net.socket);
    return status;
}
