/* SPDX-License-Identifier: Apache-2.0
 *
 * The proxy: the thread that does for kernels what they cannot do by loads and stores, and prints what they report. docs/gpu.md "Proxy".
 */
#ifndef SHMEMD_PROXY_H
#define SHMEMD_PROXY_H

#include "device/side.h"

/* Start it, if it does not run. 0 or a negative errno, logged. */
int shmemd_proxy_start(void);

/* Do all that is published, then end the thread. Safe at any stage. */
void shmemd_proxy_stop(void);

/* All that was published before the call is done and visible. Not in the proxy's own thread, where it returns at once. */
void shmemd_proxy_quiet(void);

/* Is this its thread? */
bool shmemd_proxy_is_me(void);

/* ---- perform.c: one descriptor ---- */

/*
 * Hand the operation of *d to the runtime, on the context of its number. value: where a fetched value will be, at the latest after a quiet of that
 * context. Ends the job with a message where the descriptor makes no sense. By the proxy's thread alone.
 */
void shmemd_perform(struct shmemd_side *side, const struct shmemd_descriptor *d, uint64_t *value);
/* Complete all that was performed. */
void shmemd_perform_quiet(void);
/* Destroy the contexts. */
void shmemd_perform_finish(void);

/* ---- report.c ---- */

/* If a kernel has reported something: print it and end the job. */
void shmemd_report_look(const struct shmemd_side *side);

#endif
