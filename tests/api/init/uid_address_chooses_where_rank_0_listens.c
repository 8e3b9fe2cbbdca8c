/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 0
 *
 * POSTERN_UID_ADDRESS takes an IPv4 address, an IPv6 address where there is one, or an interface, and a job starts over each; with an address nobody
 * listens elsewhere. What is no address of this machine is one clear error.
 * Spec: none; shmemx_get_uniqueid is an extension
 */
#include "own.h"

#include <netinet/in.h>
#include <sys/socket.h>

static int pe(int rank, int npes)
{
    shmemx_uniqueid_t id = own_id(rank);
    if (CHECK_EQUAL(own_init(rank, npes, &id, 0), 0)) {
        own_work(rank, npes);
        shmem_finalize();
    }
    return api_result();
}

static void job_at(const char *address)
{
    setenv("POSTERN_UID_ADDRESS", address, 1);
    struct own job = own_begin(2, pe);
    own_end(&job);
    for (int rank = 0; rank < 2; rank++) own_expect(&job, rank, 0, NULL);
    unsetenv("POSTERN_UID_ADDRESS");
}

static int refused(int rank, int npes)
{
    shmemx_uniqueid_t id;
    (void)rank;
    (void)npes;
    return shmemx_get_uniqueid(&id) == -EINVAL ? 0 : shmemx_get_uniqueid(&id) == -EADDRNOTAVAIL ? 0 : 1;
}

static void refuse(const char *address)
{
    setenv("POSTERN_UID_ADDRESS", address, 1);
    struct own job = {.npes = 0};
    own_prepare(1);
    own_add(&job, 0, 1, refused);
    own_end(&job);
    own_expect(&job, 0, 0, "POSTERN_UID_ADDRESS");
    unsetenv("POSTERN_UID_ADDRESS");
}

static bool has_ipv6(void)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int                 fd      = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool                has     = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
    if (fd >= 0) close(fd);
    return has;
}

int main(void)
{
    job_at("127.0.0.1");
    job_at("127.0.0.2");
    job_at("lo");
    if (has_ipv6()) job_at("::1");
    refuse("no-such-interface");
    refuse("192.0.2.77");
    refuse("fe80::1");
    refuse("300.1.1.1");
    return api_result();
}
