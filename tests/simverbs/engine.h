/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of the NIC, to each other. sim.lock is held in all of them.
 *
 *     held.c       packets and completions that wait for their time
 *     requester.c  what is posted leaves, and what comes back for it
 *     responder.c  what arrives lands, and what goes back for it
 *     engine.c     packets to queue pairs; who moves when
 */
#ifndef SIMVERBS_ENGINE_H
#define SIMVERBS_ENGINE_H

#include "schedule.h"

#include <stdlib.h>
#include <string.h>

enum { SIM_LANDINGS_MAX = 256 /* of a queue pair, before packets have to wait */ };

static inline bool sim_is_read(enum ibv_wr_opcode opcode)
{
    return opcode == IBV_WR_RDMA_READ || opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static inline bool sim_has_immediate(enum ibv_wr_opcode opcode)
{
    return opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static inline bool sim_is_send(enum ibv_wr_opcode opcode)
{
    return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM;
}

/* Words of 8 and 4 bytes are never torn. */
static inline void sim_copy(void *to, const void *from, size_t bytes)
{
    uint64_t word = 0;
    uint32_t half = 0;

    if (bytes == 8 && (uintptr_t)to % 8 == 0) {
        memcpy(&word, from, 8);
        __atomic_store_n((uint64_t *)to, word, __ATOMIC_RELEASE);
    } else if (bytes == 4 && (uintptr_t)to % 4 == 0) {
        memcpy(&half, from, 4);
        __atomic_store_n((uint32_t *)to, half, __ATOMIC_RELEASE);
    } else if (bytes) {
        memcpy(to, from, bytes);
        atomic_thread_fence(memory_order_release);
    }
}

/* ---- held.c ---- */

/* Due at this time, but not before what waits already: order within a list is kept. */
void             sim_held_append(struct sim_held_list *list, struct sim_held *held, uint64_t due_ns);
struct sim_held *sim_held_pop_due(struct sim_held_list *list, uint64_t now_ns); /* NULL: none is due */
void             sim_held_clear(struct sim_held_list *list);
uint64_t         sim_held_delay(void); /* of chaos */
void             sim_held_deliver(struct sim_qp *qp, struct ibv_cq *cq, struct sim_cqe *cqe, bool solicited);
extern uint64_t  sim_line_free_ps; /* when the port has sent what left so far */

/* ---- requester.c; true: something was done ---- */

bool sim_requester_has_to_send(const struct sim_qp *qp);
bool sim_requester_send(struct sim_qp *qp); /* one packet */
void sim_requester_take(struct sim_qp *qp, const struct sim_packet *p);
bool sim_requester_run_timer(struct sim_qp *qp);
void sim_requester_address(const struct sim_qp *qp, const struct ibv_ah_attr *ah, struct sim_packet *p);

/* ---- responder.c ---- */

void sim_responder_take(struct sim_qp *qp, const struct sim_packet *p);
void sim_responder_take_datagram(struct sim_qp *qp, const struct sim_packet *p);
bool sim_responder_land(struct sim_qp *qp); /* one of those that may, as chance wants it; not chaos: the first */
bool sim_responder_send(struct sim_qp *qp); /* one packet: the oldest response, else the acknowledgement, else a refusal */
void sim_responder_clear(struct sim_qp *qp);

#endif
