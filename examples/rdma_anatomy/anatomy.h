/* SPDX-License-Identifier: Apache-2.0
 *
 * RDMA anatomy: what its files share. README.md says in which order to read them.
 */
#ifndef RDMA_ANATOMY_ANATOMY_H
#define RDMA_ANATOMY_ANATOMY_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QUEUE_PAIRS_MAX = 24 };

struct settings {
    const char *device; /* NULL: the first one */
    unsigned    seeds;
    bool        replay; /* only the seed below, in full */
    unsigned    seed;
    unsigned    rtt_ns; /* of the simulated wire */
    unsigned    rate_mbits;
    unsigned    bytes; /* of one write, and how many of them one queue pair has under way */
    unsigned    depth;
    bool        data; /* part 3 as a table with tabs, for the plot */
};

/*
 * One end of a connection: what each of two processes would have. Here both ends are in one process, so that one thread can
 * play both parts and you can read it from top to bottom. Each opens the device on its own and shares nothing with the other.
 */
struct end {
    const char          *name;
    struct ibv_context  *context; /* the opened device                                              */
    struct ibv_pd       *domain;  /* protection domain: which keys work on which queue pairs        */
    struct ibv_cq       *cq;      /* completion queue: where the device says what is done           */
    unsigned char       *memory;
    size_t               bytes;
    struct ibv_mr       *region; /* that memory, registered: lkey for this end, rkey for the other one */
    struct ibv_qp       *queue_pairs[QUEUE_PAIRS_MAX];
    unsigned             queue_pair_count;
    struct ibv_port_attr port;
    struct ibv_gid_entry gid; /* its address on the network */
};

/* What two ends are to be like. */
struct shape {
    size_t       bytes; /* of memory at each end                                      */
    unsigned     queue_pairs;
    unsigned     depth;  /* requests that fit in a queue                               */
    unsigned     access; /* what else the memory allows, such as IBV_ACCESS_RELAXED_ORDERING */
    enum ibv_mtu mtu;    /* the largest packet; 0: the largest of the port              */
};

/* ends.c: from a device to connected queue pairs. What fails ends the program with the reason. */
void ends_open(struct end *a, struct end *b, const char *device, const struct shape *shape);
void ends_close(struct end *a, struct end *b);

/* write.c: work requests and completions. Offsets and lengths are the same at both ends. */
struct ibv_send_wr *write_request(struct ibv_send_wr *request, struct ibv_sge *piece, const struct end *from, const struct end *to,
                                  size_t offset, size_t bytes);
void                post(struct ibv_qp *queue_pair, struct ibv_send_wr *request);
bool                next_completion(struct end *end, struct ibv_wc *completion_out); /* false: there is none yet */
void                wait_completions(struct end *end, unsigned count);

/*
 * simulator.c: the simulated NIC of Postern's tests is a libibverbs of its own. Over it a seed decides everything and time is
 * simulated. Over a real libibverbs these do nothing, and the time is the machine's.
 */
bool     simulated(void);
void     simulate(const char *conditions, uint64_t seed); /* until simulate_end(); no device is open before and after */
void     simulate_end(void);
uint64_t now_ns(void);
void     watch(void (*tell)(const char *what, uint32_t qpn, uint32_t message, uint64_t where, uint64_t bytes));

/* The three parts. true: all was as it should be. */
bool life(const struct settings *settings);
bool order(const struct settings *settings);
bool throughput(const struct settings *settings);

_Noreturn void die(const char *what, const char *why, const char *fix);

#endif
