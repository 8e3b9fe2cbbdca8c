/* SPDX-License-Identifier: Apache-2.0
 *
 * The token scheduler, as the rest of the simulator sees it. Without simverbs_attach() none of this is on.
 */
#ifndef SIMVERBS_SCHEDULE_H
#define SIMVERBS_SCHEDULE_H

#include "sim.h"

enum { SIM_THREADS_MAX = 256 };

struct sim_actor {
    _Atomic uint32_t turn;
    bool             present;
    bool             vanished; /* a NIC                                                                       */
    uint64_t         due_ns;   /* a NIC: when it has something to do; a thread: when it looks again by itself */
    unsigned         process;  /* a thread                                                                    */
    unsigned         looked;   /* a thread: yields since something happened that it may see                   */
    uint64_t         key;      /* a thread: of the wake-up that it sleeps for; 0: it is awake                 */
};

struct sim_schedule {
    _Atomic uint32_t arrived;
    unsigned         processes;
    unsigned         threads;       /* with those that came later                 */
    unsigned         first_threads; /* that all begin at                          */
    int              pid[SIM_PROCESSES_MAX];
    unsigned         victim;    /* this process is killed ...                 */
    uint64_t         kill_step; /* ... at this step; 0: never                  */
    unsigned         last;      /* who was chosen                             */
    unsigned         stay;      /* out of 8: it is chosen again               */
    unsigned         nic_of8;   /* out of 8: a NIC is, where one has work     */
    uint64_t         random;
    uint64_t         now_ns;
    uint64_t         steps;
    uint64_t         trace;
    struct sim_actor nic[SIM_PROCESSES_MAX];
    struct sim_actor thread[SIM_THREADS_MAX];
};

bool     sim_schedule_on(void);
bool     sim_schedule_takes_part(void);
uint64_t sim_schedule_random(void);
uint64_t sim_schedule_now_ns(void);
bool     sim_schedule_alive(unsigned slot);
void     sim_schedule_yield(void); /* by a thread that takes part; others: nothing */
void     sim_schedule_busy(void);  /* something has happened that the threads of this process may see */

void sim_schedule_nic_due(unsigned slot, uint64_t due_ns); /* at the latest */
void sim_schedule_nic_done(uint64_t due_ns);               /* after a step of mine: when the next one is due */
void sim_schedule_nic_start(void);
int  sim_schedule_create_nic(pthread_t *thread_out, void *(*run)(void *));
void sim_schedule_nic_run(void);
void sim_schedule_nic_stop(void);

/* fabric.c */
int  sim_fabric_attach(unsigned slot, struct sim_schedule **schedule_out);
void sim_fabric_reset(void);
void sim_fabric_begin_seed(void);

/* engine.c */
void sim_engine_step(void); /* one step of this process's NIC; sim.lock is held */
void sim_engine_begin_seed(void);

#endif
