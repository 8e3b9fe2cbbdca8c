/* SPDX-License-Identifier: Apache-2.0
 *
 * Jobs that a program brings itself (shmemx_init_attr). Two bootstraps: `attr`, where the program has an allgather function of its own,
 * and `uid`, where rank 0 has made a unique id. Neither is in the list of bootstrap.c: nothing in the environment says that a process
 * belongs to such a job. runtime/init_attr.c checks what the program passes, and opens them through shmemi_init_with().
 */
#ifndef SHMEMB_ATTR_H
#define SHMEMB_ATTR_H

#include "runtime/bootstrap/bootstrap.h"

#include <shmemx.h>

/* As many PEs as any other start can have; see runtime/base/launch_wire.h. */
enum { SHMEMI_ATTR_NPES_MAX = 1 << 20 };

/* What the program has passed, checked. */
struct shmemi_attr {
    int                      pe, npes;
    bool                     timeout_set; /* false: the limit is that of POSTERN_INIT_TIMEOUT */
    int64_t                  timeout_ns;  /* of each exchange; -1: none                       */
    const shmemx_uniqueid_t *id;          /* uid only                                         */
    void                    *user;        /* attr only, as what follows                       */
    int (*allgather)(void *user, const void *mine, size_t bytes, void *all);
    void (*abort)(void *user, int status, const char *reason); /* or NULL */
};

/* Open functions for shmemi_init_with(); how is a struct shmemi_attr. 0, or a negative errno after an error message. */
int shmemi_attr_open(const void *how, struct shmemb **b_out);
int shmemi_uid_open(const void *how, struct shmemb **b_out);

/*
 * For a plain shmem_init. 0, or -EINVAL after an error message: this process has been in a job of shmemx_init_attr, and to join that again needs
 * what only the program knows. A job of one PE instead would be wrong in silence. POSTERN_BOOTSTRAP, where it is set, says what is meant.
 */
int shmemi_attr_refuse_plain(void);

/* Remember for the above that this process is in such a job. */
void shmemi_attr_note(void);

extern const struct shmemb_ops shmemb_attr_ops;
extern const struct shmemb_ops shmemb_uid_ops;

#endif
