/* SPDX-License-Identifier: Apache-2.0
 *
 * Extensions of Postern: names with the prefix shmemx_ or SHMEMX_.  Not part of OpenSHMEM, and not
 * included by shmem.h.  Spec: OpenSHMEM 1.6 §5.
 */
#ifndef SHMEMI_SHMEMX_H
#define SHMEMI_SHMEMX_H

#include "shmem.h"
#include "shmem/on_stream.h"

/* The version of the extensions; grows with the library's version. */
#define SHMEMX_MAJOR_VERSION 0
#define SHMEMX_MINOR_VERSION 1

/* The formats of shmemx_info: text with the variables that are set, JSON with all of them, text with all of them. */
#define SHMEMX_INFO_TEXT     0
#define SHMEMX_INFO_JSON     1
#define SHMEMX_INFO_TEXT_ALL 2

/*
 * Names a job that is about to start.  Made by shmemx_get_uniqueid in one process; the program carries it to the others.
 * It holds the job's secret: whoever has it can join the job.
 */
#define SHMEMX_UNIQUEID_BYTES 128

typedef struct {
    unsigned char bytes[SHMEMX_UNIQUEID_BYTES];
} shmemx_uniqueid_t;

/* Room for a unique id as text, with its NUL. */
#define SHMEMX_UNIQUEID_TEXT_BYTES 272

/*
 * What shmemx_init_attr starts with.  Begin with SHMEMX_INIT_ATTR_INITIALIZER, set rank and npes, and one of uniqueid and allgather.
 *
 * struct_bytes      set by the initialiser: tells the library which members the program knows
 * thread_requested  SHMEM_THREAD_SINGLE to SHMEM_THREAD_MULTIPLE
 * thread_provided   becomes the level that there is
 * rank, npes        this process becomes PE rank of npes; each rank is there once
 * timeout_s         limit of each exchange at start-up in seconds; 0: as POSTERN_INIT_TIMEOUT says; less than 0: none.  An exchange by
 *                   allgather takes as long as that function takes
 * uniqueid          the id that rank 0 has made, or NULL
 * user              the first argument of the functions below
 * allgather         every PE gives bytes from mine, the same number on all; all becomes those of PE 0, PE 1, ...; 0, or anything
 *                   else where it failed.  Called in shmemx_init_attr only, by the thread that called that
 * abort             NULL, or: end the processes of all PEs.  Called on a PE that ends the job (shmem_global_exit, a fatal error), from
 *                   any thread; the PE itself exits when it returns.  reason is NULL for shmem_global_exit
 */
typedef struct {
    size_t                   struct_bytes;
    int                      thread_requested;
    int                      thread_provided;
    int                      rank;
    int                      npes;
    double                   timeout_s;
    const shmemx_uniqueid_t *uniqueid;
    void                    *user;
    int (*allgather)(void *user, const void *mine, size_t bytes, void *all);
    void (*abort)(void *user, int status, const char *reason);
} shmemx_init_attr_t;

#define SHMEMX_INIT_ATTR_INITIALIZER                                                                             \
    {                                                                                                            \
        sizeof(shmemx_init_attr_t), SHMEM_THREAD_SINGLE, SHMEM_THREAD_SINGLE, -1, 0, 0.0, NULL, NULL, NULL, NULL \
    }

/* The shape of a grid or a block, as dim3 of CUDA. */
typedef struct {
    unsigned x, y, z;
} shmemx_dim3_t;
/*
 * Hints of shmem_malloc_with_hints: in the symmetric heap of the GPU, or of the host. Without either, POSTERN_HEAP says which. Where there is no
 * GPU heap, SHMEMX_MEM_CUDA gives NULL on every PE.  docs/gpu.md tells what calls take addresses of GPU memory.
 */
#define SHMEMX_MEM_CUDA (1L << 16)
#define SHMEMX_MEM_HOST (1L << 17)

/* clang-format off */

SHMEMI_BEGIN

/*
 * Write to a file descriptor, in one write: this library and the standard's version, the machine, the variables that the
 * last shmem_init read, and the report of what was found and chosen.  The JSON is one object with the members library, openshmem,
 * machine, variables, unknown_variables and report.  The tool postern-info prints this.
 *
 * 0, or a negative errno: -EINVAL for another format, or what write says.  May be called before shmem_init (then the
 * report is empty) and by any thread, but not during shmem_init or shmem_finalize.
 */
SHMEMI_DECLARE_BOTH(int, shmemx_info, (int fd, int format))

/*
 * Read one of this PE's counters: 0 and the value, or -1 where there is none of that name.  They count from the
 * start of the process, by all threads.
 *
 *   "sleeps"   waits of this PE that went to sleep
 *   "wakes"    other PEs that this PE has woken by a system call
 *   "unwoken"  sleeps that ended by their time limit although the word had changed: its writer did not say so, as is the
 *              way of stores through shmem_ptr
 *   "posted"   operations handed to a transport
 *   "retries"  times that a transport's queue was full
 *
 * A transport's own counters have its name in front, such as "ibverbs.doorbells"; POSTERN_STATS=1 shows which there are.
 */
SHMEMI_DECLARE_BOTH(int, shmemx_counter, (const char *name, uint64_t *value_out))

/*
 * How much this PE has done for another: 0 and the value, or -1 where nothing is counted (POSTERN_STATS is not set), or there is no
 * such PE or counter.  By all threads, from shmem_init on; what collectives move is not counted.  pe is a PE of the world.
 *
 *   name: OPERATION.calls or OPERATION.bytes, with OPERATION one of put, get, atomic, signal; and between the two perhaps the path: .mapped
 *   (by this CPU's loads and stores) or .posted (by a transport), as in "put.posted.bytes"
 */
SHMEMI_DECLARE_BOTH(int, shmemx_peer_counter, (int pe, const char *name, uint64_t *value_out))

/*
 * Start OpenSHMEM without a launcher, as shmem_init_thread does with one: the program says which PE this process is, and how the PEs find
 * one another.  Collective over the npes processes.  0, or a negative errno after one message: -EINVAL for attributes that make no
 * sense, -ETIMEDOUT where PEs are missing (they are named), -EACCES where rank 0 refuses the id, -EEXIST where the rank is there
 * already, -ECONNREFUSED and -ECONNRESET where rank 0 cannot be reached or is gone.  Never ends the process.
 *
 * Where the library runs already it is one more reference, as with shmem_init: rank and npes must be those of this job.
 * shmem_finalize ends it.  After the last finalize another job may be started, with another unique id.
 */
SHMEMI_DECLARE_BOTH(int, shmemx_init_attr, (shmemx_init_attr_t *attr))

/*
 * Make a unique id, in the process that will be rank 0.  Opens the listening TCP socket that the others will connect to, at the addresses of
 * this machine or at that of POSTERN_UID_ADDRESS.  An id is good for one job.  0, or a negative errno after one message.
 */
SHMEMI_DECLARE_BOTH(int, shmemx_get_uniqueid, (shmemx_uniqueid_t *id_out))

/*
 * A unique id as one line of text (letters, digits, '-' and ':'), and back.  text has room for SHMEMX_UNIQUEID_TEXT_BYTES; white space around a
 * text that is read does not count.  0; -EINVAL where it is no unique id, as after a letter was lost; -ENOSPC for less room than needed.
 */
SHMEMI_DECLARE_BOTH(int, shmemx_uniqueid_to_text, (const shmemx_uniqueid_t *id, char *text_out, size_t text_bytes))
SHMEMI_DECLARE_BOTH(int, shmemx_uniqueid_from_text, (const char *text, shmemx_uniqueid_t *id_out))

/*
 * Start a kernel on every PE so that all blocks of all PEs run at the same time: then they may wait for one another.  Collective over the
 * world, by one thread of each PE.  kernel, args, shared_bytes and stream are those of cudaLaunchCooperativeKernel (stream: a cudaStream_t);
 * each PE may give its own kernel and shape.  0 on all PEs, and then the kernels have been started; or, on all PEs alike and with
 * no kernel started, a negative errno after one message: -EAGAIN where the blocks of a PE do not fit onto its device beside those of the
 * PEs that share it (the message has the limit), -EINVAL for arguments that make no sense, -ENOSYS where a PE has no device code.
 */
SHMEMI_DECLARE_BOTH(int, shmemx_collective_launch, (const void *kernel, shmemx_dim3_t grid, shmemx_dim3_t block, void **args, size_t shared_bytes, void *stream))

/*
 * Give the state of the job to a module of device code that the program has loaded by hand (cuModuleLoadData and its kin).  module is the CUmodule;
 * its source includes shmem_device.cuh.  Between shmem_init and shmem_finalize, once for each module, before its kernels are started; any thread.
 * 0, or a negative errno after one message: -ENODEV where this PE has no GPU, -ENOENT where the module has no device state,
 * -EPROTO where it was compiled for another version, -EIO where the driver refuses the copy.
 */
SHMEMI_DECLARE_BOTH(int, shmemx_module_init, (void *module))

/*
 * For shmem_device.cuh, which calls them for each file that includes it: device code of this program is there, and goes.  unit is a struct
 * shmemd_unit (shmem/device/state.h), which stays in place between the two.  0, or a negative errno after one message.  By any thread.
 */
SHMEMI_DECLARE_BOTH(int,  shmemx_device_register,   (void *unit))
SHMEMI_DECLARE_BOTH(void, shmemx_device_unregister, (void *unit))

SHMEMI_END

/* clang-format on */

#endif
