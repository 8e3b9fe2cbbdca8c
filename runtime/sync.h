/* SPDX-License-Identifier: Apache-2.0
 *
 * Synchronization of the PEs of a team. Spec: OpenSHMEM 1.6 §9.10.1 to §9.10.4.
 */
#ifndef SHMEMI_SYNC_H
#define SHMEMI_SYNC_H

#include "runtime/state.h"

/* All members have arrived, and their earlier CPU stores are visible here. `call` is for messages. */
void shmemi_sync_team(const char *call, struct shmemi_team *team);

/*
 * The same for a team with team->central: the last to arrive calls work(argument) before it lets the others go on. Meanwhile no member
 * touches anything, and what all stored before they came is visible to it; what it stores is visible to all afterwards.
 */
typedef void shmemi_sync_work(void *argument);
void         shmemi_sync_gather(const char *call, struct shmemi_team *team, shmemi_sync_work *work, void *argument);

/* Quiet on the default context, then all PEs have arrived. In checked mode they compare what they call: kind is one of shmemi_coll_kind. */
void shmemi_sync_barrier(const char *call, int kind);

/*
 * The same barrier, at which each PE shows a note to the PE after it. `compared` tells whether notes could travel: they do where all PEs map each
 * other and nobody meets centrally; else the caller has to look for itself. `theirs` is the note of the PE before, or, where that PE is in another barrier,
 * some earlier one or 0. work(argument) is done before the return, while this PE would only wait: it may touch nothing that others look at.
 */
struct shmemi_sync_meeting {
    uint64_t          mine, theirs;
    bool              compared;
    shmemi_sync_work *work; /* or NULL */
    void             *argument;
};
void shmemi_sync_barrier_with(const char *call, int kind, struct shmemi_sync_meeting *meeting);

/* A store to the 8-byte word at `offset` of a PE's control segment, which has one writer at a time and only grows by 1. */
void shmemi_sync_notify(int world_pe, size_t offset, uint64_t value);

/* Return once a word of this PE is at least wanted. pe: world number of the PE that will write it, or -1. Acquires what it wrote before. */
void shmemi_sync_wait(const char *call, _Atomic uint64_t *word, uint64_t wanted, int pe);

#endif
