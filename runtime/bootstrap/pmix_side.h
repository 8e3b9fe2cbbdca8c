/* SPDX-License-Identifier: Apache-2.0
 *
 * Short notes between the PEs of one machine, beside PMIx.
 *
 * PMIx has events for this, but they cannot be used everywhere: Open MPI 4's mpirun hangs when a process sends one, and Slurm ends the job.
 * So each PE has a datagram socket with an abstract name made of the job's name and its own number. Nothing is ever left behind,
 * a PE on another machine is simply not there, and a PE that has closed its socket, or died, is seen to be gone.
 * The sender's user is checked by the kernel's word.
 */
#ifndef SHMEMI_PMIX_SIDE_H
#define SHMEMI_PMIX_SIDE_H

#include <stdbool.h>
#include <stdint.h>

enum shmemi_pmix_side_kind {
    SHMEMI_PMIX_SIDE_PROBE = 1, /* are you there?                                                                     */
    SHMEMI_PMIX_SIDE_END,       /* the job ends: a PE called shmem_global_exit(status)                                */
    SHMEMI_PMIX_SIDE_FAILURE,   /* the job ends: text says why                                                        */
    SHMEMI_PMIX_SIDE_LEFT,      /* the sender has come out of its last shmem_finalize, after so many barriers         */
};

struct shmemi_pmix_side_note {
    uint32_t magic, kind;
    int32_t  pe, status; /* who says so; exit status of the job                                                   */
    uint32_t life;       /* LEFT: the sender's how-manieth shmem_init this was                                    */
    uint32_t everybody;  /* END, FAILURE: all PEs of the job got this note, so they all exit by themselves        */
    uint64_t barriers;   /* LEFT                                                                                  */
    char     text[192];  /* NUL at its end                                                                        */
};

/* job: the same text on all PEs of the job, and on no other's. 0, or a negative errno: then nothing below does anything. */
int  shmemi_pmix_side_open(const char *job, int pe);
void shmemi_pmix_side_close(void);
int  shmemi_pmix_side_fd(void); /* readable when a note is there; -1: closed */

/* false: that PE is not on this machine, or has closed its socket. Waits a little where its queue is full. magic is filled in. */
bool shmemi_pmix_side_send(int pe, const struct shmemi_pmix_side_note *note);
bool shmemi_pmix_side_is_there(int pe);

/* The next note of this job and user that is no probe. false: none is there. */
bool shmemi_pmix_side_receive(struct shmemi_pmix_side_note *note_out);

#endif
