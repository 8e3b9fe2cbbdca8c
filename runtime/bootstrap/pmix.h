/* SPDX-License-Identifier: Apache-2.0
 *
 * What the library and its module bootstrap_pmix.so agree on: PMIx is the interface through which mpirun, srun and prterun speak to the
 * processes that they start. The module lies in the library's folder `postern` and opens libpmix.so.2 itself, so that the library
 * and the programs need no PMIx where none of these launchers is used.
 *
 * The module has its own copy of the messages (runtime/base/log.c), hence the level in the struct.
 */
#ifndef SHMEMB_PMIX_H
#define SHMEMB_PMIX_H

#include "runtime/base/log.h"
#include "runtime/bootstrap/bootstrap.h"

#define SHMEMB_PMIX_FILE    "bootstrap_pmix.so"
#define SHMEMB_PMIX_LIBRARY "libpmix.so.2"
#define SHMEMB_PMIX_SYMBOL  "shmemb_pmix_table"
#define SHMEMB_PMIX_SERVER  "PMIX_SERVER_URI" /* names of variables begin so that say where the launcher's server listens */
/* In the environment of a PE's children: namespace:rank:process of the PE, so that a child does not take itself for the PE. */
#define SHMEMB_PMIX_MARK "SHMEMB_PMIX_PE"

/* Filled by the library. The first two fields never move: the module reads them before it trusts the rest. */
struct shmemb_pmix_host {
    const char           *version;    /* POSTERN_VERSION; the module refuses another one   */
    size_t                head_bytes; /* sizeof(struct shmemb)                             */
    enum shmemi_log_level log_level;
    int64_t               init_timeout_ns; /* for PMIx_Init; < 0: none */
    bool                  is_quiet;        /* another process of this machine says what is wrong */
    void (*await_turn)(void);              /* to be called before saying what all processes of a machine will find */
};

extern const struct shmemb_ops shmemb_pmix_ops;

/* The module's table, or NULL after an error message. */
typedef const struct shmemb_ops *shmemb_pmix_table_fn(const struct shmemb_pmix_host *host);

#endif
