/* SPDX-License-Identifier: Apache-2.0
 *
 * The node: the PEs that map each other's memory, the two files that hold it, and how their descriptors get around.
 *
 *   node file (4 KiB pages):   control blocks of all PEs, then static data of all PEs, each at a fixed stride
 *   heap file (best pages):    heaps of all PEs at a fixed stride
 *
 * Two files, because static data is laid over the executable at page granularity, which huge pages do not allow (docs/decisions/0002).
 * The node's first PE makes them and sends the descriptors to the sockets of the others, which bound them before the first
 * exchange; so a PE that can be reached is on the node, whatever its host name.
 */
#ifndef SHMEMI_NODE_H
#define SHMEMI_NODE_H

#include "runtime/init.h"
#include "runtime/state.h"

#include <sys/socket.h>

/* What POSTERN_NODE says about a PE, as a number; 0: it is not set. 0 or -EINVAL, logged. */
int shmemi_node_label(const char *text, int pe, uint64_t *label_out);

/* Name of a PE's socket, with something behind it; for sockets of its own kind. And may a message's sender be one of the job's processes? */
struct sockaddr_un;
struct ucred;
socklen_t shmemi_node_socket_name(struct sockaddr_un *name_out, uint64_t nonce, int pe, const char *suffix);
bool      shmemi_node_sender_allowed(const struct ucred *sender);

/* Bind this PE's socket, which shmemi_state.nonce names. Before the first exchange. 0 or a negative errno, logged. */
int shmemi_node_listen(void);

/* Which PEs are on this node (who can be reached through its socket), and the layout. After the first exchange. 0 or a negative errno, logged. */
int shmemi_node_plan(const struct shmemi_card *cards, size_t heap_bytes);

/* First PE of the node: make the files and send them. Others: nothing. After plan, before the second exchange. */
int shmemi_node_create(int pages_mode, struct shmemi_node_card *card);

/* After the second exchange, where all PEs were alive: say which PE took no descriptors, if one did not. */
void shmemi_node_say_unreached(void);

/* Receive what the first PE sent (already there: the second exchange is over), and map everything. */
int shmemi_node_map(void);

/* Unmap and close everything. Safe at any stage. */
void shmemi_node_close(void);

#endif
