/* SPDX-License-Identifier: Apache-2.0
 *
 * What the library's own kernels do, and those that a test adds.
 */
#include "sim.h"
#include "simcuda.h"

#include "transports/mapped.h"

#include <stdlib.h>
#include <string.h>

static struct added {
    struct added *next;
    char          name[128];
    sim_kernel_fn run;
} * added;

static uint64_t word(void *argument)
{
    uint64_t value;
    memcpy(&value, argument, sizeof value);
    return value;
}

/* postern_amo(address, operation, bytes, value, compare, place of the old value or 0) */
static void postern_amo(void **arguments)
{
    uint64_t          bytes = word(arguments[2]), fetch_at = word(arguments[5]), old;
    char             *at = simcuda_bytes(word(arguments[0]), bytes), *fetch = fetch_at ? simcuda_bytes(fetch_at, bytes) : NULL;
    struct shmemt_amo amo = {
        .op      = (enum shmemt_amo_op)word(arguments[1]),
        .bytes   = (unsigned)bytes,
        .value   = word(arguments[3]),
        .compare = word(arguments[4]),
    };
    if (!at || (fetch_at && !fetch)) {
        sim_misuse(SHMEMI_CU_ILLEGAL_ADDRESS, __func__, "%#llx: no device memory", (unsigned long long)word(arguments[0]));
        return;
    }
    old = shmemt_mapped_amo(at, &amo);
    if (fetch) memcpy(fetch, &old, bytes);
}

sim_kernel_fn sim_kernel(const char *name)
{
    if (strcmp(name, "postern_amo") == 0) return postern_amo;
    for (const struct added *it = added; it; it = it->next)
        if (strcmp(it->name, name) == 0) return it->run;
    return NULL;
}

void simcuda_add_kernel(const char *name, void (*function)(void **arguments))
{
    struct added *made = calloc(1, sizeof *made);
    if (!made) abort();
    strncpy(made->name, name, sizeof made->name - 1);
    pthread_mutex_lock(&sim.lock);
    made->run  = function;
    made->next = added;
    added      = made;
    pthread_mutex_unlock(&sim.lock);
}
