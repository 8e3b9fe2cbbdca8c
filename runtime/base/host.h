/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts about the machine: its name, how many cores this process may use, the page size, which boot it is.
 */
#ifndef SHMEMI_HOST_H
#define SHMEMI_HOST_H

#include <stddef.h>
#include <stdint.h>

/* The host name, cut to bytes - 1 letters; "localhost" if there is none. */
void shmemi_host_name(char *name_out, size_t bytes);

/*
 * Cores that this process can keep busy: those it may be scheduled on, or fewer where its control group has a CPU quota.
 * At least 1. A quota of 1.5 cores counts as 1, since a second spinning PE would be throttled.
 * Ask before binding to cores: afterwards it is 1.
 */
int shmemi_host_cores(void);

/*
 * Whole cores that the CPU quota of this process's control group allows, as recorded in the files below root ("" is this
 * machine): cgroup v1 and v2, the smallest quota from its group up to the mounted root. INT_MAX: no quota. At least 1.
 */
int shmemi_host_quota_cores(const char *root);

/*
 * A number that processes have in common if they are in the same control groups (and see them under the same names), so that limits which one
 * of them has read are those of all. 0: not known.
 */
uint64_t shmemi_host_groups(void);

/* Which CPUs this process may run on: bit i % (64 * words) of the set is CPU i. */
void shmemi_host_cpus(uint64_t *set_out, size_t words);

size_t shmemi_host_page_bytes(void);

/* Equal in all processes of one running kernel (all its containers too), different after a reboot and on other machines. */
uint64_t shmemi_host_boot_id(void);

#endif
