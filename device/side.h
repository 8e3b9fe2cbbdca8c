/* SPDX-License-Identifier: Apache-2.0
 *
 * A side is where kernels run: on this PE's GPU, or on threads of its CPU. Each has its state as kernels see it, and its ring. A PE makes one
 * when the first unit of that kind is there.
 */
#ifndef SHMEMD_SIDE_H
#define SHMEMD_SIDE_H

#include "device/consumer.h"
#include "runtime/state.h"

#include <shmem/device/state.h>

enum shmemd_side_kind { SHMEMD_SIDE_CPU, SHMEMD_SIDE_GPU, SHMEMD_SIDES };

struct shmemd_side {
    _Atomic bool           live; /* set last, cleared first: the proxy looks at it */
    enum shmemd_side_kind  kind;
    struct shmemd_state    state;
    struct shmemd_consumer consumer;

    /* As kernels see them, in memory that they reach. */
    struct shmemd_control *control;
    struct shmemd_team    *teams;
    struct shmemd_context *contexts;

    /* My part of each segment as this CPU names it: what (segment, offset) of a descriptor means. bytes 0: there is none. */
    struct shmemd_window {
        char    *base;
        uint64_t bytes;
    } window[SHMEMD_SEGMENTS];

    uint64_t *values; /* [slots]: where fetched values arrive, until they are replied */
    void     *shared; /* all of the above that kernels reach */
    void     *producers;
};

extern struct shmemd_side shmemd_side_all[SHMEMD_SIDES];

/* Make a side: memory and contents. sync: of kernels of this side, or NULL. 0 or a negative errno, logged. */
int shmemd_side_open(struct shmemd_side *side, enum shmemd_side_kind kind, char *sync);

/* Give it back. Accepts one that is not open. No kernel runs and the proxy has stopped. */
void shmemd_side_close(struct shmemd_side *side);

/* ---- memory that kernels of a side reach: memory.c ---- */

/* Can kernels of that kind run in this PE? Else the reason, for a message. */
bool shmemd_memory_usable(enum shmemd_side_kind kind, char *why, size_t why_bytes);

/* Zeroed, at a multiple of 128; host memory. NULL: none, logged. */
void *shmemd_memory_get(enum shmemd_side_kind kind, size_t bytes);
void  shmemd_memory_release(enum shmemd_side_kind kind, void *memory);
/* The same for words that only kernels use: the GPU's own memory where there is one. */
void *shmemd_memory_get_near(enum shmemd_side_kind kind, size_t bytes);
void  shmemd_memory_release_near(enum shmemd_side_kind kind, void *memory);

#endif
