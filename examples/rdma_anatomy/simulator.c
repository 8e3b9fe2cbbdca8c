/* SPDX-License-Identifier: Apache-2.0
 *
 * The simulated NIC, where there is one. It is a library in the place of libibverbs that exports some more functions; this program
 * looks for them by name, so that it needs neither their header nor the simulator.
 *
 * Nothing here is verbs. Skip it at the first reading.
 */
#include "anatomy.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

/* The function of this name, or NULL. */
#define FIND(pointer, name) (*(void **)&(pointer) = dlsym(RTLD_DEFAULT, (name)))

bool simulated(void)
{
    return dlsym(RTLD_DEFAULT, "simverbs_begin") != NULL;
}

void simulate(const char *conditions, uint64_t seed)
{
    static bool attached;
    void (*attach)(unsigned process, unsigned processes, unsigned threads);
    void (*begin)(unsigned thread, uint64_t seed);

    if (!simulated()) return;
    setenv("SIMVERBS", conditions, 1);
    FIND(attach, "simverbs_attach");
    FIND(begin, "simverbs_begin");
    if (!attached) attach(0, 1, 1); /* one process with one thread */
    attached = true;
    begin(0, seed);
}

void simulate_end(void)
{
    void (*end)(void);

    if (FIND(end, "simverbs_end")) end();
}

void watch(void (*tell)(const char *what, uint32_t qpn, uint32_t message, uint64_t where, uint64_t bytes))
{
    void (*set)(void (*tell)(const char *what, uint32_t qpn, uint32_t message, uint64_t where, uint64_t bytes));

    if (FIND(set, "simverbs_watch")) set(tell);
}

uint64_t now_ns(void)
{
    static bool looked; /* looking takes longer than what is timed */
    static uint64_t (*simulated_now_ns)(void);
    struct timespec now;

    if (!looked) FIND(simulated_now_ns, "simverbs_now_ns");
    looked = true;
    if (simulated_now_ns) return simulated_now_ns();
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
