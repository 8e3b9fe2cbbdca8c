/* SPDX-License-Identifier: Apache-2.0
 *
 * The simulated RDMA NIC: what its files share. README.md says what it is, what it refuses and which options it takes.
 *
 * One process has one NIC engine, whatever the number of devices it shows. Everything of a process, verbs objects and
 * engine alike, is guarded by one lock (sim.lock). Processes meet in the fabric, a shared file: a slot for each process
 * and, for each ordered pair of slots, a ring of packets with one writer and one reader. A process that dies in the
 * middle of anything leaves at most an unpublished packet.
 */
#ifndef SIMVERBS_SIM_H
#define SIMVERBS_SIM_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The header has macros of these names; here are the functions behind them. */
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova
#undef ibv_get_device_list

enum {
    SIM_PROCESSES_MAX = 64,      /* slots of a fabric                                    */
    SIM_RING_BYTES    = 1 << 17, /* of one ring of packets, a power of two               */
    SIM_PACKET_MAX    = 1 << 14, /* payload of one packet                                */
    SIM_DEVICES_MAX   = 8,
    SIM_GIDS          = 4, /* RoCE v1 and v2 of the link-local and of the IPv4 address */
};

/* ---- options.c: what the variable SIMVERBS says ---- */

struct sim_options {
    unsigned devices;
    unsigned host; /* part of the GIDs: devices of different hosts have different ones */
    bool     infiniband;
    unsigned atomic; /* enum ibv_atomic_cap */
    unsigned mtu;    /* enum ibv_mtu        */
    unsigned packet_bytes;
    unsigned inline_bytes_max;
    unsigned sge_max;
    unsigned qp_wr_max;
    unsigned srq_wr_max;
    unsigned cqe_max;
    unsigned read_max; /* reads and atomics under way at once on one queue pair */
    unsigned message_bytes_max;
    bool     chaos;     /* the seed chooses order, delays and pieces         */
    bool     unordered; /* messages of one queue pair may pass each other    */
    unsigned seed;
    unsigned delay_ns_max; /* of one packet, and of one completion              */
    unsigned wire_ns;      /* from one port to another                          */
    unsigned rate_mbits;   /* of a port; 0: it takes no time                    */
    /* Chances out of 1,000. */
    unsigned rnr_chance;      /* a receive that is there is not seen yet          */
    unsigned ud_loss_chance;  /* a datagram is dropped                            */
    unsigned register_chance; /* ibv_reg_mr fails                                 */
    unsigned link_chance;     /* one message finds no way: retries are exhausted  */
    unsigned access_chance;   /* a write, read or atomic is refused as if its key were wrong */
};

extern struct sim_options sim_options;
void                      sim_options_read(void);

/* ---- fabric.c: where processes meet ---- */

enum sim_kind {
    SIM_REQUEST, /* send, write, read or atomic of a connected queue pair           */
    SIM_DATAGRAM,
    SIM_ACK,      /* every message up to msn is done                                */
    SIM_RNR,      /* no receive was posted for (msn, offset)                        */
    SIM_NAK,      /* status: what the requester is to report                        */
    SIM_NOBODY,   /* no queue pair takes this; a real NIC would say nothing at all  */
    SIM_RESPONSE, /* data of a read, or the old value of an atomic                  */
};

enum { SIM_FIRST = 1, SIM_LAST = 2, SIM_SOLICITED = 4, SIM_IMMEDIATE = 8 };

struct sim_packet {
    uint32_t      bytes; /* of the payload that follows */
    uint8_t       kind;
    uint8_t       opcode; /* enum ibv_wr_opcode           */
    uint8_t       flags;
    uint8_t       status; /* enum ibv_wc_status, or the RNR timer's code */
    uint32_t      src_qpn;
    uint32_t      dest_qpn;
    uint32_t      msn; /* number of the message on its queue pair */
    uint32_t      imm_data;
    uint32_t      rkey;
    uint32_t      qkey;
    uint64_t      remote_addr; /* of the message's first byte */
    uint64_t      offset;      /* of this packet in the message */
    uint64_t      length;      /* of the message                */
    uint64_t      compare_add;
    uint64_t      swap;
    union ibv_gid sgid;
    union ibv_gid dgid;
    uint16_t      slid;
    uint16_t      dlid;
    uint64_t      due_ns;  /* when it is there, by the wire and the rate */
    uint32_t      session; /* of the sending process: a later owner of its slot has another one */
};

int  sim_fabric_open(void); /* 0 or an errno; takes a slot */
void sim_fabric_close(void);
int  sim_fabric_slot(void);
bool sim_fabric_alive(unsigned slot);

/* Room for a packet and its payload to a slot; NULL: the ring is full, and its reader will ring my doorbell. */
struct sim_packet *sim_fabric_reserve(unsigned slot, uint32_t payload_bytes);
void               sim_fabric_send(unsigned slot, struct sim_packet *packet);
/* The oldest packet from a slot, or NULL; valid until it is released. */
const struct sim_packet *sim_fabric_peek(unsigned slot);
void                     sim_fabric_release(unsigned slot, const struct sim_packet *packet);
unsigned                 sim_fabric_slots(void); /* slots ever used: higher ones need no look */

bool sim_fabric_idle(void); /* no ring has a packet for me */
/* Sleep until the doorbell rings, if it has not since it was read, or the time has passed. */
uint32_t sim_fabric_doorbell(void);
void     sim_fabric_sleep(uint32_t doorbell, uint64_t timeout_ns);
void     sim_fabric_ring_mine(void);

static inline unsigned sim_slot_of_qpn(uint32_t qpn)
{
    return qpn >> 17 & (SIM_PROCESSES_MAX - 1);
}

/* ---- objects ---- */

/* Objects by number; numbers are not used again while there are fresh ones. */
struct sim_table {
    void   **items;
    uint32_t room;
    uint32_t next;
};

uint32_t sim_table_add(struct sim_table *table, void *item); /* 0: no memory */
void    *sim_table_find(const struct sim_table *table, uint32_t number);
void     sim_table_remove(struct sim_table *table, uint32_t number);

struct sim_device {
    struct ibv_device device;
    unsigned          number;
};

struct sim_context {
    struct verbs_context verbs; /* ends with the ibv_context that callers hold */
    unsigned             device;
    int                  async_write_fd;
};

struct sim_mr {
    struct ibv_mr mr;
    uint64_t      iova;
    unsigned      access;
    void         *mapped; /* a dma-buf that we mapped, or NULL */
};

struct sim_qp;

struct sim_cqe {
    struct ibv_wc wc;
    uint32_t      qpn; /* whose send queue entries up to here are free once this is polled */
    uint32_t      send_count;
    bool          send;
    uint64_t      stamp_ns;
};

struct sim_cq {
    struct ibv_cq_ex cq; /* begins like struct ibv_cq */
    struct sim_cqe  *entries;
    uint32_t         room;
    uint32_t         head;  /* written */
    uint32_t         tail;  /* polled  */
    int              armed; /* 0: no, 1: any completion, 2: solicited ones */
    uint32_t         comp_events;
    uint32_t         async_events;
    unsigned         users; /* queue pairs */
    bool             overrun;
    struct sim_cqe   current; /* of the extended interface */
};

struct sim_channel {
    struct ibv_comp_channel channel;
    int                     write_fd;
};

struct sim_receive {
    uint64_t        wr_id;
    int             sges;
    struct ibv_sge *sge;
};

/* Receives, of a queue pair or shared. */
struct sim_receives {
    struct sim_receive *entries;
    struct ibv_sge     *sges;
    uint32_t            room;
    uint32_t            sge_max;
    uint32_t            head;
    uint32_t            tail;
};

struct sim_srq {
    struct ibv_srq      srq;
    struct sim_receives receives;
    uint32_t            limit;
    uint32_t            async_events;
    unsigned            users;
};

struct sim_ah {
    struct ibv_ah      ah;
    struct ibv_ah_attr attr;
};

struct sim_wqe {
    struct ibv_send_wr wr;
    struct ibv_sge    *sge;
    uint8_t           *inline_data;
    uint64_t           length;
    bool               checked;
    struct ibv_pd     *pd;
    struct ibv_ah_attr ah; /* of a datagram: the handle may be gone when it leaves */
};

/* What has arrived at a queue pair and is not done yet. Plain: done at once, in order. Chaos: the seed chooses. */
enum sim_landing_kind { SIM_LAND_BYTES, SIM_LAND_RECEIVE, SIM_LAND_READ, SIM_LAND_ATOMIC };

struct sim_landing {
    struct sim_landing   *next;
    enum sim_landing_kind kind;
    uint32_t              msn;
    bool                  relaxed; /* bytes that may pass others                                          */
    bool                  begun;   /* atomic: old is read, the new value is not written yet                  */
    uint64_t              old;
    void                 *address; /* bytes: where they go; read, atomic: what is looked at                 */
    uint64_t              length;
    struct sim_cqe        cqe; /* receive */
    bool                  solicited;
    uint8_t               opcode;
    uint64_t              compare_add;
    uint64_t              swap;
    uint8_t               bytes[];
};

/* A read or an atomic whose answer is on its way. */
struct sim_response {
    struct sim_response *next;
    uint32_t             msn;
    const uint8_t       *address; /* read */
    uint64_t             length;
    uint64_t             offset;
    bool                 atomic;
    uint64_t             value;
};

/* A packet, or a completion, that the seed holds back. */
struct sim_held {
    struct sim_held  *next;
    uint64_t          due_ns;
    struct sim_cq    *cq;
    struct sim_cqe    cqe;
    bool              solicited;
    struct sim_packet packet;
    uint8_t           payload[];
};

struct sim_held_list {
    uint64_t          due_ns; /* of the last */
    struct sim_held  *first;
    struct sim_held **last;
};

struct sim_qp {
    struct ibv_qp_ex   ex; /* begins with the ibv_qp that callers hold */
    struct sim_qp     *next;
    struct ibv_qp_attr attr;
    struct ibv_qp_cap  cap;
    bool               signal_all;
    uint32_t           async_events;

    /* Send queue: wqe n is entry n % send_room, and message n of the connection. */
    struct sim_wqe *wqes;
    struct ibv_sge *sges;
    uint8_t        *inline_data;
    uint32_t        send_room;
    uint32_t        posted;
    uint32_t        sent; /* next message to send, and how much of it has gone    */
    uint64_t        sent_bytes;
    uint32_t        done;       /* next message that waits for its acknowledgement       */
    uint64_t        done_bytes; /* of a read: how much has come back                    */
    uint32_t        polled;     /* entries free again: up to the last completion polled  */
    unsigned        reads;      /* reads and atomics under way                           */
    unsigned        retries;
    unsigned        rnr_retries;
    uint64_t        rnr_until_ns;
    uint64_t        timer_ns; /* 0: not running */
    bool            nobody;   /* the peer has said that no queue pair takes our packets    */
    bool            cut;      /* the next message fails when those before it are done      */

    /* Receive side. */
    struct sim_receives  receives;
    uint32_t             expected; /* message that comes next, and how much of it has come */
    uint64_t             expected_bytes;
    bool                 receive_taken; /* of the send that is arriving */
    struct sim_receive   receive;
    struct ibv_sge      *receive_sges;
    bool                 ack_due;
    struct sim_landing  *landings;
    struct sim_landing **landings_last;
    unsigned             landing_count;
    struct sim_response *responses;
    bool                 nak_due;
    struct sim_packet    nak;

    struct sim_held_list arrivals;    /* packets that are delayed    */
    struct sim_held_list completions; /* completions that are late   */

    /* The batch of the ibv_wr_ interface. */
    struct ibv_send_wr *batch;
    uint32_t            batch_count;
    uint32_t            batch_room;
    struct ibv_sge     *batch_sges;
    uint8_t            *batch_inline;
    int                 batch_error;
};

/* One process's NIC. */
struct sim {
    pthread_mutex_t  lock;
    unsigned         contexts;
    pthread_t        thread;
    bool             running;
    struct sim_table qps;
    struct sim_table mrs;
    struct sim_table cqs;
    struct sim_table srqs;
    struct sim_table pds;
    struct sim_qp   *qp_list;
    uint32_t         key_salt;
};

extern struct sim sim;

void sim_lock(void);
void sim_unlock(void);

static inline struct sim_context *sim_context_of(struct ibv_context *context)
{
    return (struct sim_context *)((char *)context - offsetof(struct sim_context, verbs.context));
}

static inline struct sim_qp *sim_qp_of(struct ibv_qp *qp)
{
    return (struct sim_qp *)qp;
}

static inline struct ibv_qp *sim_ibv_qp(struct sim_qp *qp)
{
    return &qp->ex.qp_base;
}

static inline struct sim_wqe *sim_wqe(struct sim_qp *qp, uint32_t number)
{
    return &qp->wqes[number % qp->send_room];
}

/* device.c */
union ibv_gid sim_device_gid(unsigned device, unsigned index);
bool          sim_device_has_gid(unsigned device, const union ibv_gid *gid);
uint16_t      sim_device_lid(unsigned device);
unsigned      sim_mtu_bytes(enum ibv_mtu mtu);

/* memory.c: the address behind a key, or NULL where key, protection domain, range or permission is wrong */
void *sim_memory_local(struct ibv_pd *pd, const struct ibv_sge *sge, unsigned access);
void *sim_memory_remote(struct ibv_pd *pd, uint32_t rkey, uint64_t address, uint64_t length, unsigned access, bool *relaxed_out);

/* completion.c; sim.lock is held */
void              sim_completion_add(struct sim_cq *cq, const struct sim_cqe *cqe, bool solicited);
void              sim_completion_forget(struct sim_cq *cq, uint32_t qpn);
void              sim_event_qp(struct sim_qp *qp, enum ibv_event_type type);
void              sim_event_srq(struct sim_srq *srq, enum ibv_event_type type);
int               sim_poll_cq(struct ibv_cq *cq, int entries, struct ibv_wc *wc);
int               sim_req_notify_cq(struct ibv_cq *cq, int solicited_only);
struct ibv_cq_ex *sim_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);

/* queue.c */
struct ibv_qp  *sim_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
struct ibv_srq *sim_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr);
int             sim_get_srq_num(struct ibv_srq *srq, uint32_t *number_out);
void            sim_queue_fail(struct sim_qp *qp); /* to the error state; everything posted is flushed */
void            sim_queue_flush(struct sim_qp *qp);

/* post.c */
int  sim_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
int  sim_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
int  sim_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
void sim_post_extended(struct sim_qp *qp);

/* engine.c; sim.lock is held */
int      sim_engine_start(void); /* 0 or an errno */
void     sim_engine_stop(void);
bool     sim_engine_run(void); /* everything that can be done now; false: nothing was */
void     sim_engine_complete_send(struct sim_qp *qp, uint32_t number, enum ibv_wc_status status);
uint64_t sim_engine_due(uint32_t bytes); /* when a packet that leaves now arrives */
void     sim_engine_posted(void);        /* something was posted */
void     sim_engine_receive_done(struct sim_qp *qp, struct sim_cqe *cqe, bool solicited);
void     sim_engine_reset_qp(struct sim_qp *qp);

/* schedule.c: what simverbs_watch() wants to know; `where` is an offset in the message or an address */
extern void (*sim_watch)(const char *what, uint32_t qpn, uint32_t message, uint64_t where, uint64_t bytes);
#define WATCH(what, qp, message, where, bytes)                                          \
    do {                                                                                \
        if (sim_watch) sim_watch(what, (qp)->ex.qp_base.qp_num, message, where, bytes); \
    } while (0)

/* clock.c */
uint64_t sim_now_ns(void);
uint64_t sim_random(void);
unsigned sim_random_below(unsigned limit);
bool     sim_chance(unsigned per_mille);

#endif
