/* SPDX-License-Identifier: Apache-2.0
 *
 * What this PE has done, in numbers: read at run time, and printed at the end where POSTERN_STATS asks for it.
 */
#ifndef SHMEMI_STATS_H
#define SHMEMI_STATS_H

/* Start counting for each peer, where that is asked for. Without memory it is not counted, and a warning says so. */
void shmemi_stats_start(void);

/* Print what was counted for each peer, if it was; in one write. Transports and routes are still there. */
void shmemi_stats_print(void);

/* Forget the counts of peers. Safe at any stage. */
void shmemi_stats_stop(void);

#endif
