/* SPDX-License-Identifier: Apache-2.0
 *
 * Device code by hand: a unit with its own copy of the state, and what a thread of a kernel does with the ring. So these tests need neither the
 * device headers' calls nor the runner, and see what the library gives to both.
 */
#ifndef POSTERN_TESTS_API_DEVICE_KERNEL_H
#define POSTERN_TESTS_API_DEVICE_KERNEL_H

#include "../api.h"

#include <pthread.h>
#include <sched.h>
#include <shmemx.h>

/* More threads than cores: who spins gives its core away. */
#define shmemd_pause pause_of_the_header
#include <shmem/device/mem.cuh>
#undef shmemd_pause
static inline void shmemd_pause(void)
{
    sched_yield();
}
#include <shmem/device/ring.cuh>

static struct shmemd_state kernel_state;
static _Atomic int         kernel_uploads;

static int kernel_upload(const void *state, size_t bytes)
{
    CHECK_EQUAL(bytes, sizeof kernel_state);
    memcpy(&kernel_state, state, bytes);
    atomic_fetch_add(&kernel_uploads, 1);
    return 0;
}

static struct shmemd_unit kernel_unit = {
    .version = SHMEMD_STATE_VERSION, .bytes = sizeof(struct shmemd_state), .on_cpu = 1, .upload = kernel_upload};

/* Segment and offset of a symmetric address. */
static inline int kernel_place(const void *address, uint64_t *offset_out)
{
    for (int segment = 0; segment < SHMEMD_SEGMENTS; segment++) {
        uint64_t offset = (uint64_t)(uintptr_t)address - kernel_state.segment[segment].base;
        if (offset >= kernel_state.segment[segment].bytes) continue;
        *offset_out = offset;
        return segment;
    }
    CHECK(!"the address is not symmetric");
    *offset_out = 0;
    return 0;
}

static inline struct shmemd_descriptor kernel_request(int op, int pe, const void *remote, const void *local, size_t bytes)
{
    struct shmemd_descriptor d = {.op = (uint8_t)op, .pe = pe, .local = (uint64_t)(uintptr_t)local, .bytes = bytes};
    if (remote) d.segments = (uint8_t)kernel_place(remote, &d.remote);
    return d;
}

/* Publish; with a reply wait for it, and return its value. */
static inline uint64_t kernel_do(struct shmemd_descriptor d)
{
    uint64_t ticket, value = 0;
    CHECK(shmemd_ring_post(&kernel_state, &d, &ticket) == SHMEMD_RING_DONE);
    if (d.op & SHMEMD_OP_REPLY) CHECK(shmemd_ring_wait_reply(&kernel_state, ticket, &value) == SHMEMD_RING_DONE);
    return value;
}

#endif
