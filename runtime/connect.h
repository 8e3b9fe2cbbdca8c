/* SPDX-License-Identifier: Apache-2.0
 *
 * Transports and routes: what start-up does in its third exchange. docs/architecture.md "Start-up".
 */
#ifndef SHMEMI_CONNECT_H
#define SHMEMI_CONNECT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Find the transports, and by which one PEs of other nodes would be reached from here: its name, or "" (there are none, or no way). After
 * it is known who is on this node. 0 or a negative errno, logged.
 */
int shmemi_connect_probe(char *way_out, size_t way_bytes);

/*
 * Open the transports that can be used here. way: by which all PEs reach other nodes; transports behind it in the order of preference are then not
 * even loaded. "": they have not one in common, and all are tried. 0 or a negative errno, logged. After the node has been mapped.
 */
int shmemi_connect_open(const char *way);

/*
 * Third exchange: addresses, keys and the verdict. failed: this PE cannot start. 0 and a route to every PE; the same negative errno on all PEs
 * where one cannot start; *all_start_out: the verdict was good, so whoever fails after it must end the job.
 */
int shmemi_connect_all(int failed, bool *all_start_out);

/* Close all transports. Contexts are closed before. Safe at any stage. */
void shmemi_connect_close(void);

#endif
