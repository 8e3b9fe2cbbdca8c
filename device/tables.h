/* SPDX-License-Identifier: Apache-2.0
 *
 * The teams and contexts of this PE as kernels look them up. A master of each is kept from the start of the library on; each open side has
 * a copy in memory that its kernels reach.
 */
#ifndef SHMEMD_TABLES_H
#define SHMEMD_TABLES_H

#include "device/side.h"

/* A team as kernels see it. list: where the node's list lies for them. */
struct shmemd_team shmemd_tables_describe(const struct shmemi_team *team, const int32_t *list);

/* Copy what there is into a side that is being opened. */
void shmemd_tables_fill(struct shmemd_side *side, const int32_t *list);

void shmemd_tables_team_made(const struct shmemi_team *team);
void shmemd_tables_team_gone(const struct shmemi_team *team);
void shmemd_tables_ctx_made(const struct shmemi_ctx *ctx);
void shmemd_tables_ctx_gone(const struct shmemi_ctx *ctx);

/* Forget everything: the job is over. */
void shmemd_tables_clear(void);

#endif
