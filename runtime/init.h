/* SPDX-License-Identifier: Apache-2.0
 *
 * Start-up in three exchanges, and the end. docs/architecture.md "Start-up".
 */
#ifndef SHMEMI_INIT_H
#define SHMEMI_INIT_H

#include "runtime/base/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shmemb;

/* CPUs are counted modulo this: enough to see whether PEs have cores of their own. */
enum { SHMEMI_CARD_CPU_WORDS = 16 };

/* Of that, what a PE tells of its GPU. */
struct shmemi_gpu_card {
    uint8_t  uuid[16];
    uint64_t free_bytes; /* of the GPU                                      */
    uint64_t unit;       /* granularity of its memory                       */
    uint32_t present;    /* it can be used                                  */
    uint32_t wanted;     /* an option or the program asks for a GPU heap    */
    char     why[120];   /* it is not present                               */
};

/* First exchange: who and where. Fixed size; no pointers. */
struct shmemi_card {
    uint32_t               magic, version;
    uint64_t               options_hash;
    uint64_t               nonce;      /* random: names this PE's socket; PE 0's is the secret of the job */
    uint64_t               boot_id;    /* equal on one machine's kernel                      */
    uint64_t               label;      /* of POSTERN_NODE, hashed; 0: none                   */
    uint64_t               heap_asked; /* SIZE_MAX: default                                  */
    uint64_t               groups;     /* the PE's control groups, hashed                    */
    uint64_t               room_bytes; /* what the machine can give; UINT64_MAX: not looked  */
    uint64_t               data_bytes;
    uint64_t               identity[2]; /* of the executable                                  */
    uint32_t               quota_cores; /* of its control groups; UINT32_MAX: no quota, 0: not looked */
    uint32_t               membarrier;  /* can be used                                        */
    int32_t                failed;      /* negative errno: this PE cannot start (it said why) */
    uint32_t               thread_level;
    uint32_t               space_limited; /* ulimit -v or ulimit -f is set                     */
    uint32_t               check;         /* checks the arguments of every call                */
    uint32_t               device;        /* has code for kernels (device.h)                   */
    uint32_t               looked;        /* at the machine: room_bytes, quota_cores          */
    uint64_t               heap_unit;     /* page size that this PE expects for the heap       */
    uint64_t               cpus[SHMEMI_CARD_CPU_WORDS];
    struct shmemi_gpu_card gpu;

    char room_limit[96];
    char executable[96];
    char host[64];
};

/* Second exchange: who is on one node, and whether its files could be made, and what they are like (from the node's first PE). */
struct shmemi_node_card {
    int32_t  failed;
    int32_t  first; /* world number of the first PE of this PE's node */
    int32_t  gpu;   /* negative errno: this PE has no part of the GPU heap (runtime/gpu/) */
    uint32_t page_bytes;
    char     page_kind[16];
    char     page_detail[160];
    char     way[64]; /* transport that reaches other nodes from here; "": none, or no other nodes */
};

/*
 * shmem_init_thread with a job that the caller brings: open(how, &boot) takes the place of shmemi_bootstrap_open, under the lock of start-up
 * and with shmemi_options loaded. NULL: as shmem_init_thread. Where the library runs already it is one more reference, and open is not
 * called. *provided_out (may be NULL) on success only. 0 or a negative errno, logged.
 */
int shmemi_init_with(int (*open)(const void *how, struct shmemb **b_out), const void *how, int requested, int *provided_out);

/* ---- for the parts of start-up ---- */

/* Every PE gives bytes; within POSTERN_INIT_TIMEOUT. As allgather of the bootstrap. */
int shmemi_init_exchange(const void *mine, size_t bytes, void *all_out);

/* No memory for the cards: this PE cannot even say so in its card, so the job ends. -ENOMEM. */
int shmemi_init_no_memory(void);

/* The name of the machine that a PE runs on. */
const char *shmemi_init_host(int pe);

/* What all PEs find out alike is said by the first only. The level to go back to. */
enum shmemi_log_level shmemi_init_silence_others(void);

#endif
