/* SPDX-License-Identifier: Apache-2.0
 *
 * The library's own counters, for programs and tests that want to know what their waits and puts cost.
 * They are counted always; POSTERN_STATS=1 adds the counts per peer and prints all at the end (init.c).
 * Tests: tests/api/wait/.
 */
#include "runtime/state.h"

#include <shmemx.h>
#include <stddef.h>
#include <string.h>

int pshmemx_counter(const char *name, uint64_t *value_out)
{
    static const struct {
        const char *name;
        size_t      offset;
    } rows[] = {
        {"sleeps", offsetof(struct shmemi_counters, sleeps)},   {"wakes", offsetof(struct shmemi_counters, wakes)},
        {"unwoken", offsetof(struct shmemi_counters, unwoken)}, {"posted", offsetof(struct shmemi_counters, posted_ops)},
        {"retries", offsetof(struct shmemi_counters, retries)},
    };
    if (!name || !value_out) return -1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(name, rows[i].name) != 0) continue;
        const char *counter = (const char *)&shmemi_state.counters + rows[i].offset;
        *value_out          = atomic_load_explicit((const _Atomic uint64_t *)(const void *)counter, memory_order_relaxed);
        return 0;
    }
    return -1;
}
SHMEMI_EXPORT(shmemx_counter)
