/* SPDX-License-Identifier: Apache-2.0
 *
 * A file on a tmpfs of our own that is made of huge pages, mounted nowhere.
 */
#ifndef SHMEMI_PAGES_MOUNT_H
#define SHMEMI_PAGES_MOUNT_H

#include <stddef.h>

/*
 * The descriptor (close-on-exec) of an empty file without a name, or a negative errno with a few words in reason. Takes 2 to 5 ms,
 * at most some seconds. Leaves no mount, no file and no process, and the program gets no SIGCHLD.
 */
int shmemi_pages_mount_open(char *reason, size_t reason_bytes);

#endif
