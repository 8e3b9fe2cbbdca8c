/* SPDX-License-Identifier: Apache-2.0
 *
 * A job with a unique id, in four files: uid_id.c makes and reads ids, uid_join.c connects to rank 0 and proves to know the secret,
 * uid_server.c is the thread on rank 0 that serves all, and uid.c is the bootstrap: what each PE does with its connection.
 * uid_wire.h tells what travels.
 */
#ifndef SHMEMB_UID_H
#define SHMEMB_UID_H

#include "runtime/bootstrap/uid_wire.h"

#include <netinet/in.h>
#include <shmemx.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* An address of rank 0 to try. */
union uid_address {
    struct sockaddr     any;
    struct sockaddr_in  v4;
    struct sockaddr_in6 v6;
};
enum { UID_ADDRESSES_MAX = 24, UID_ADDRESS_TEXT_BYTES = 64 };

/* What is in an id. */
struct uid_parsed {
    uint8_t secret[UID_SECRET_BYTES];
    int     count;
    union uid_address
        address[UID_ADDRESSES_MAX]; /* loopback first, where rank 0 is on this machine and in this network namespace */
};

/* ---- uid_id.c ---- */

/* Make an id and open its listening socket, kept for shmemi_uid_id_take(). 0, or a negative errno after an error message. */
int shmemi_uid_id_make(shmemx_uniqueid_t *id_out);
/* The listening socket of an id that this process has made (or inherited in a fork), now the caller's; or -1. */
int shmemi_uid_id_take(const shmemx_uniqueid_t *id);
/* Was the id made by this very process, and not taken yet? */
bool shmemi_uid_id_is_mine(const shmemx_uniqueid_t *id);

/* 0, or -EINVAL without a message: it is no id. */
int shmemi_uid_id_parse(const shmemx_uniqueid_t *id, struct uid_parsed *parsed_out);
int shmemi_uid_id_to_text(const shmemx_uniqueid_t *id, char *text_out, size_t text_bytes);
int shmemi_uid_id_from_text(const char *text, shmemx_uniqueid_t *id_out);

/* "10.0.0.5:4711" or "[fd00::5]:4711" into text_out, which has UID_ADDRESS_TEXT_BYTES; returns it. */
const char *shmemi_uid_id_show(const union uid_address *address, char *text_out);

/* ---- uid_join.c ---- */

/* Connect and join before deadline_ns (< 0: none). 0 and the connected socket; or a negative errno after an error message. */
int shmemi_uid_join(const struct uid_parsed *id, int pe, int npes, int64_t deadline_ns, double limit_s, int *fd_out);

/* Find out within some seconds when the other end's machine is gone, and send small frames at once. */
void shmemi_uid_join_tune(int fd);

/* The tag of one step of joining. */
void shmemi_uid_join_tag(const uint8_t secret[], struct uid_proof *proof, const char *what, uint8_t tag_out[]);

/* ---- uid_server.c ---- */

/*
 * Start the thread. It owns listen_fd from here on, also where this fails. *fd_out is the connection of rank 0 itself, joined already.
 * 0, or a negative errno after an error message.
 */
int shmemi_uid_server_start(int listen_fd, const uint8_t secret[], int npes, int *fd_out);
/*
 * Rank 0 has sent LEAVE. Wait until all PEs have left, limit_ns at most (< 0: no limit), and end the thread. Nothing where there is none.
 */
void shmemi_uid_server_stop(int64_t limit_ns);
/* After ABORT of rank 0, which is about to exit: wait until the word is with all others, limit_ns at most. */
void shmemi_uid_server_await_told(int64_t limit_ns);
/* In a forked child: close the copies of all connections, so that the end of the parent can be seen. Calls nothing but close(). */
void shmemi_uid_server_forked(void);

#endif
