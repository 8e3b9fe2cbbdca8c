/* SPDX-License-Identifier: Apache-2.0
 *
 * What a kernel knows about the job: one struct, filled by the library at shmem_init and copied into each unit of device code that has
 * registered itself. Plain C with a fixed layout: the library, kernels on a GPU and kernels on CPU threads read the same bytes. Nothing
 * here is for programs; shmem_device.cuh and the files beside this one are.
 *
 * Addresses are as a kernel uses them. What changes while kernels run (teams, the ring, the abort word) lies behind pointers, in host memory
 * that the GPU reads, so that no driver call is needed for it; what never changes is in the struct, which a GPU keeps in constant memory.
 *
 * Design: docs/gpu.md "Device state".
 */
#ifndef SHMEMD_STATE_H
#define SHMEMD_STATE_H

#include <stddef.h>
#include <stdint.h>

/* Grows whenever the layout of anything in state.h or ring.h changes. The library refuses a unit that was compiled for another one. */
#define SHMEMD_STATE_VERSION 1

/* ---- memory ---- */

/* In the order in which a kernel's address is looked up. */
enum shmemd_segment_id { SHMEMD_SEGMENT_GPU, SHMEMD_SEGMENT_HEAP, SHMEMD_SEGMENT_DATA, SHMEMD_SEGMENTS };

/*
 * One kind of symmetric memory. My own part is base ... base + bytes; bytes is 0 where there is none, or a kernel can name none of it.
 * A mapped PE's part: map_base + index * stride, where index is the PE's place among those mapped:
 *
 *     local_of NULL:  index = pe - map_first, and the PE is mapped if (uint32_t)index < map_count
 *     else:           index = local_of[pe], and the PE is mapped if that is not negative
 *
 * Any other PE is reached through the ring. Where kernels cannot touch even my own part (host memory that is not registered with the driver)
 * map_count is 0 and local_of NULL: an address in it is still good for puts and gets, which all go through the ring.
 */
struct shmemd_segment {
    uint64_t       base, bytes;
    uint64_t       map_base, stride;
    const int32_t *local_of;
    uint32_t       map_first, map_count;
};

/* ---- teams ---- */

/*
 * Member i is PE start + i * stride, or list[start + i * stride]. `slot` is its number on all its members; its sync area lies at
 * state.sync + slot * SHMEMD_SYNC_BYTES on each of them. -1: it has none (one member; or more teams than SHMEMD_TEAMS_MAX), and
 * collectives of several members are refused.
 */
struct shmemd_team {
    uint64_t       handle; /* the shmem_team_t as a number; 0: free entry */
    int32_t        n, me;
    int32_t        start, stride;
    const int32_t *list;
    int32_t        slot;
    int32_t        unused;
};

/*
 * Teams that the program has made stand in a table by the hash of their handle, with open addressing, so that a kernel finds one in a read or
 * two over the bus. An entry that was given back holds handle SHMEMD_GONE: a search goes on past it.
 */
enum { SHMEMD_TEAMS_MAX = 64, SHMEMD_TEAMS_TABLE = 128 };
#define SHMEMD_GONE UINT64_MAX

/* Where the search for a handle begins, in either table: the upper 7 bits of a product, since there are 128 places. */
#define SHMEMD_HASH(handle) ((uint32_t)(((uint64_t)(handle)*UINT64_C(0x9e3779b97f4a7c15)) >> 57))

/*
 * Contexts that the program has made, in a table of the same form. A context's operations are ordered among themselves by the number `ctx`
 * of their descriptors; contexts may share a number.
 */
enum { SHMEMD_CONTEXTS_MAX = 64, SHMEMD_CONTEXTS_TABLE = 128 };

struct shmemd_context {
    uint64_t handle; /* the shmem_ctx_t as a number; 0: free entry; SHMEMD_GONE */
    uint64_t team;   /* handle of the team in which its PEs count */
    uint32_t ctx;    /* for descriptors; 0 is the default context's */
    uint32_t options;
};

/* Bytes of one team's sync area: zero when the team is made; what lies in it is the affair of the collectives (coll.cuh). */
enum { SHMEMD_SYNC_BYTES = 8192 };

/* ---- words that host and kernels share ---- */

enum shmemd_abort {
    SHMEMD_GO,
    SHMEMD_ABORT_END,  /* the job ends                                   */
    SHMEMD_ABORT_LOST, /* the way to PE control.abort_pe is lost         */
    SHMEMD_ABORT_WAIT, /* a wait of a kernel has taken longer than its bound: control.report */
};

enum shmemd_report_kind {
    SHMEMD_REPORT_WAIT,     /* a word did not get the wanted value: segment, offset, seen, wanted, cmp      */
    SHMEMD_REPORT_REPLY,    /* the proxy did not answer: seen is the ticket                                 */
    SHMEMD_REPORT_CREDIT,   /* the ring stayed full: seen is the ticket                                     */
    SHMEMD_REPORT_ADDRESS,  /* not symmetric: offset is the address, pe the target                          */
    SHMEMD_REPORT_PE,       /* no such PE: pe                                                               */
    SHMEMD_REPORT_TEAM,     /* no such team, or one without a sync area: offset is the handle               */
    SHMEMD_REPORT_ARGUMENT, /* another argument that makes no sense: seen                                   */
};

/*
 * What a kernel has to say before it gives up. The first thread that gets 0 from shmemd_producers.report_claims fills it and then
 * stores `ready` with release; the host prints it as one message and ends the job.
 */
struct shmemd_report {
    uint64_t ready;
    uint32_t kind; /* enum shmemd_report_kind */
    int32_t  pe;   /* the other side, where known; -1 */
    uint64_t block;
    uint32_t thread;
    int32_t  segment; /* enum shmemd_segment_id; -1: offset is a plain address */
    uint64_t offset;
    uint64_t seen, wanted;
    int32_t  cmp;   /* SHMEM_CMP_*, or -1 */
    uint32_t width; /* bytes of the word that was waited for */
    char     call[40];
    char     unused[24];
};

/* In host memory that the GPU reads and writes; written by the side that is named. */
struct shmemd_control {
    uint64_t             abort; /* host: enum shmemd_abort. Every loop of a kernel that waits reads it now and then. */
    int64_t              abort_pe;
    char                 unused[48];
    struct shmemd_report report; /* kernels, then host */
};

/* ---- all of it ---- */

struct shmemd_descriptor; /* ring.h */
struct shmemd_reply;
struct shmemd_producers;
struct shmemd_credit;

struct shmemd_ring {
    struct shmemd_descriptor   *descriptors; /* host memory: producers write, the proxy reads               */
    struct shmemd_reply        *replies;     /* host memory: the proxy writes, producers read               */
    const struct shmemd_credit *credit;      /* host memory: the proxy writes, producers read               */
    struct shmemd_producers    *producers;   /* the GPU's own memory where there is one: only producers use it */
    uint64_t                    slots;       /* a power of two                                              */
};

enum shmemd_state_flag {
    /*
     * Some PE is mapped for one kind of symmetric memory and not for another: a fence must then be a quiet of the ring before the fence of
     * the stores, since the two ways do not know of each other.
     */
    SHMEMD_FLAG_MIXED = 1u << 0,
    SHMEMD_FLAG_RING =
        1u << 1, /* there is a ring (some PE or kind of memory is not mapped); else quiet and fence are only fences */
    SHMEMD_FLAG_CHECK = 1u << 2, /* POSTERN_CHECK: arguments are checked                                    */
    SHMEMD_FLAG_CPU   = 1u << 3, /* kernels are CPU threads                                                 */
    /*
     * Atomics of a kernel on host memory are not atomic with those of CPUs (no native atomics between this GPU and the host, or the network
     * device executes them): atomics and signals that add go through the ring for the segments HEAP and DATA, whoever maps them.
     */
    SHMEMD_FLAG_AMO_RING = 1u << 4,
};

struct shmemd_state {
    uint32_t version; /* SHMEMD_STATE_VERSION; 0: shmem_init has not been called, or the last shmem_finalize has */
    uint32_t bytes;   /* of this struct */
    int32_t  my_pe, npes;
    uint32_t flags;
    uint32_t unused;
    uint64_t wait_ns; /* bound of a wait in a kernel; 0: none */

    struct shmemd_segment        segment[SHMEMD_SEGMENTS];
    struct shmemd_team           world, shared;
    const struct shmemd_team    *teams;    /* [SHMEMD_TEAMS_TABLE] */
    const struct shmemd_context *contexts; /* [SHMEMD_CONTEXTS_TABLE] */
    char                        *sync;     /* symmetric: SHMEMD_TEAMS_MAX areas; NULL: device collectives are refused */

    struct shmemd_control *control;
    struct shmemd_ring     ring;
};

/* ---- units of device code ---- */

/*
 * One per translation unit (or per runner): shmem_device.cuh has a static one that registers itself before main, or when its library is
 * loaded. The library calls upload at once if it is initialised, else in shmem_init; and with a zeroed state in the last shmem_finalize.
 *
 * shmemx_device_register() (shmemx.h) takes it; it stays in place until it is unregistered. The two functions for shmemx_collective_launch may be NULL; the first unit that has them serves all kernels.
 */
struct shmemd_unit {
    uint32_t version; /* SHMEMD_STATE_VERSION when compiled */
    uint32_t bytes;   /* sizeof(struct shmemd_state) when compiled */
    uint32_t on_cpu;  /* 1: kernels of this unit are CPU threads: they get host addresses */
    uint32_t unused;

    /* Copy the state to where the unit's kernels read it. 0, or not: `bytes` is as above. */
    int (*upload)(const void *state, size_t bytes);

    /*
     * How many blocks of this kernel this PE's device can hold at one time. device_out: a number that is the same for PEs that share the
     * device, and 0 where the PE shares it with nobody. 0, or not.
     */
    int (*resident_blocks)(const void *kernel, const unsigned block[3], size_t shared_bytes, long *blocks_out,
                           uint64_t *device_out);

    /* Start the kernel so that all its blocks are resident at once. 0, or not. */
    int (*launch)(const void *kernel, const unsigned grid[3], const unsigned block[3], void **args, size_t shared_bytes,
                  void *stream);

    struct shmemd_unit *next; /* the library's */
};

/* The layout is a contract between compilers: a wrong condition is an array of negative size, in C99 too. */
#define SHMEMD_SAME(name, condition) typedef char shmemd_same_##name[(condition) ? 1 : -1]
SHMEMD_SAME(segment, sizeof(struct shmemd_segment) == 48);
SHMEMD_SAME(team, sizeof(struct shmemd_team) == 40);
SHMEMD_SAME(context, sizeof(struct shmemd_context) == 24);
SHMEMD_SAME(report, sizeof(struct shmemd_report) == 128);
SHMEMD_SAME(control, sizeof(struct shmemd_control) == 192);
SHMEMD_SAME(state, sizeof(struct shmemd_state) == 32 + 3 * 48 + 2 * 40 + 4 * 8 + 40);

#endif
