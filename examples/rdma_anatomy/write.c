/* SPDX-License-Identifier: Apache-2.0
 *
 * Work requests and completions: how a write is described, handed to the device, and known to be done.
 */
#include "anatomy.h"

#include <stdio.h>
#include <string.h>

/*
 * Describe a write of some bytes to the same place at the other end. The local piece is named by address and local key, the
 * remote one by address and remote key. Nothing has happened yet: this is a structure in our own memory.
 */
struct ibv_send_wr *write_request(struct ibv_send_wr *request, struct ibv_sge *piece, const struct end *from, const struct end *to,
                                  size_t offset, size_t bytes)
{
    *piece   = (struct ibv_sge){.addr = (uintptr_t)from->memory + offset, .length = (uint32_t)bytes, .lkey = from->region->lkey};
    *request = (struct ibv_send_wr){
        .opcode     = IBV_WR_RDMA_WRITE,
        .send_flags = IBV_SEND_SIGNALED, /* ask for a completion */
        .sg_list    = piece,
        .num_sge    = 1,
        .wr.rdma    = {.remote_addr = (uintptr_t)to->memory + offset, .rkey = to->region->rkey},
    };
    return request;
}

/*
 * Into the send queue, and ring the doorbell: a store to a page of the device that is mapped into this process. No system call.
 * The call returns when the device knows of the request, and says nothing about whether a byte has moved.
 */
void post(struct ibv_qp *queue_pair, struct ibv_send_wr *request)
{
    struct ibv_send_wr *refused = NULL;
    int                 err     = ibv_post_send(queue_pair, request, &refused);

    if (err) die("could not post a work request", strerror(err), "have fewer requests under way than the queue holds");
}

/* Has anything been completed? The completion queue is in our memory too: this is a load and a compare. */
bool next_completion(struct end *end, struct ibv_wc *completion_out)
{
    if (ibv_poll_cq(end->cq, 1, completion_out) <= 0) return false;
    if (completion_out->status == IBV_WC_SUCCESS) return true;
    die("an operation failed", ibv_wc_status_str(completion_out->status), "see dmesg, and that the network works");
}

void wait_completions(struct end *end, unsigned count)
{
    struct ibv_wc completion;

    while (count > 0) count -= next_completion(end, &completion);
}
