/* SPDX-License-Identifier: Apache-2.0
 *
 * PEs as threads of one process: part of device.h. Each has a heap, a device state and, with DEVICE_POSTED, a ring and a proxy of the test's own
 * that serves it; the library is not initialised. What is tested is the headers; the library's proxy is tested by jobs.
 */
#ifndef POSTERN_TESTS_IN_PROCESS_H
#define POSTERN_TESTS_IN_PROCESS_H

#include <pthread.h>

enum { IN_PROCESS_PES = 3, IN_PROCESS_HEAP = 2 << 20, IN_PROCESS_TEAMS = SHMEMD_TEAMS_MAX * SHMEMD_SYNC_BYTES };

static struct {
    char                 *heaps;
    pthread_barrier_t     barrier;
    struct shmemd_state   states[IN_PROCESS_PES];
    struct shmemd_control controls[IN_PROCESS_PES];
} in_process;

static inline void device_meet(struct device_pe *pe)
{
    (void)pe;
    pthread_barrier_wait(&in_process.barrier);
}

static inline void *device_allocate(struct device_pe *pe, size_t bytes)
{
    char *memory = pe->heap + pe->used;
    pe->used += (bytes + 127) & ~(size_t)127;
    if (pe->used > IN_PROCESS_HEAP) abort();
    return memory;
}

static void test(struct device_pe *pe);

static inline struct shmemd_team in_process_world(int me)
{
    struct shmemd_team team;
    memset(&team, 0, sizeof team);
    team.handle = (uint64_t)(uintptr_t)SHMEM_TEAM_WORLD;
    team.n      = IN_PROCESS_PES;
    team.me     = me;
    team.stride = 1;
    return team;
}

static inline void in_process_fill(struct shmemd_state *state, int me)
{
    memset(state, 0, sizeof *state);
    state->version = SHMEMD_STATE_VERSION;
    state->bytes   = sizeof *state;
    state->my_pe   = me;
    state->npes    = IN_PROCESS_PES;
    state->flags   = SHMEMD_FLAG_CPU;
    state->wait_ns = 60000000000u;
    state->world = state->shared = in_process_world(me);
    state->control               = &in_process.controls[me];

    struct shmemd_segment *heap = &state->segment[SHMEMD_SEGMENT_HEAP];
    heap->bytes = heap->stride = IN_PROCESS_HEAP;
    heap->map_base             = (uint64_t)(uintptr_t)in_process.heaps;
    heap->base                 = heap->map_base + (uint64_t)me * IN_PROCESS_HEAP;
    heap->map_count            = IN_PROCESS_PES;
    state->sync                = (char *)(uintptr_t)heap->base;
}

static void *in_process_main(void *argument)
{
    struct device_pe *pe = static_cast<struct device_pe *>(argument);
    test(pe);
    return NULL;
}

int main()
{
    struct device_pe pes[IN_PROCESS_PES];
    pthread_t        threads[IN_PROCESS_PES];
    in_process.heaps = static_cast<char *>(calloc(IN_PROCESS_PES, IN_PROCESS_HEAP));
    pthread_barrier_init(&in_process.barrier, NULL, IN_PROCESS_PES);
    for (int i = 0; i < IN_PROCESS_PES; i++) {
        in_process_fill(&in_process.states[i], i);
        pes[i] = {i, IN_PROCESS_PES, NULL, &in_process.states[i], in_process.heaps + (size_t)i * IN_PROCESS_HEAP, IN_PROCESS_TEAMS};
        cudaStreamCreate(&pes[i].stream);
    }
    for (int i = 0; i < IN_PROCESS_PES; i++) pthread_create(&threads[i], NULL, in_process_main, &pes[i]);
    for (int i = 0; i < IN_PROCESS_PES; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < IN_PROCESS_PES; i++) cudaStreamDestroy(pes[i].stream);
    pthread_barrier_destroy(&in_process.barrier);
    free(in_process.heaps);
    if (device_failures) printf("%d checks failed\n", device_failures);
    return device_failures > 0;
}

#endif
