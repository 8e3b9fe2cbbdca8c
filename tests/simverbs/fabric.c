/* SPDX-License-Identifier: Apache-2.0
 *
 * The fabric: a file that the processes of a job map (SIMVERBS_FABRIC; without it a process is alone).
 *
 * A slot belongs to the process that holds a lock on its byte of the file; the kernel drops the lock when the process
 * ends, however it ends, so a look at the lock tells whether a peer lives. Ring (s, d) is written by slot s and read by
 * slot d only. Indices are never set back: a new owner of a slot goes on where the old one stopped, and skips what was
 * meant for that one.
 */
#include "schedule.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct slot {
    _Atomic uint32_t doorbell;
    _Atomic uint32_t asleep;
    _Atomic uint32_t session;
    uint32_t         unused[13];
};

struct ring {
    _Atomic uint64_t head; /* bytes written */
    uint8_t          pad_head[56];
    _Atomic uint64_t tail;    /* bytes read */
    _Atomic uint32_t starved; /* the writer waits for room */
    uint8_t          pad_tail[52];
    uint8_t          bytes[SIM_RING_BYTES];
};

struct fabric {
    _Atomic uint32_t    slots; /* ever used */
    _Atomic uint32_t    sessions;
    uint8_t             pad[56];
    struct sim_schedule schedule;
    _Alignas(64) struct slot slot[SIM_PROCESSES_MAX];
    struct ring ring[SIM_PROCESSES_MAX][SIM_PROCESSES_MAX]; /* [from][to] */
};

static struct fabric *fabric;
static int            fabric_fd = -1;
static bool           attached; /* for the life of the process, in a slot of its own choice */
static unsigned       mine;
static uint32_t       session;
static uint64_t       reserved[SIM_PROCESSES_MAX]; /* head of each ring that I write, with what is not sent yet */

/* A packet never wraps: one of this kind fills the rest of the ring. */
enum { SIM_FILLER = 255 };

static size_t record_bytes(uint32_t payload_bytes)
{
    return (sizeof(struct sim_packet) + payload_bytes + 63) / 64 * 64;
}

static int lock_slot(unsigned slot, short type, int command, struct flock *out)
{
    *out = (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = slot, .l_len = 1};
    return fcntl(fabric_fd, command, out);
}

bool sim_fabric_alive(unsigned slot)
{
    struct flock lock;

    if (attached) return sim_schedule_alive(slot);
    if (slot == mine) return true;
    return lock_slot(slot, F_WRLCK, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static void skip_old_packets(void)
{
    for (unsigned from = 0; from < SIM_PROCESSES_MAX; from++) {
        struct ring *ring = &fabric->ring[from][mine];
        atomic_store(&ring->tail, atomic_load(&ring->head));
        reserved[from] = atomic_load(&fabric->ring[mine][from].head);
    }
}

static int take_slot(unsigned first, unsigned end)
{
    for (unsigned slot = first; slot < end; slot++) {
        struct flock lock;
        if (lock_slot(slot, F_WRLCK, F_SETLK, &lock) < 0) continue;
        mine = slot;
        if (atomic_load(&fabric->slots) < slot + 1) atomic_store(&fabric->slots, slot + 1);
        session = atomic_fetch_add(&fabric->sessions, 1) + 1;
        skip_old_packets();
        atomic_store(&fabric->slot[slot].asleep, 0);
        atomic_store(&fabric->slot[slot].session, session);
        return 0;
    }
    return EAGAIN;
}

static int open_file(void)
{
    const char *path = getenv("SIMVERBS_FABRIC");

    if (!path || !*path) return memfd_create("simverbs", MFD_CLOEXEC);
    return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

static int open_fabric(unsigned first, unsigned end)
{
    int err = 0;

    fabric_fd = open_file();
    if (fabric_fd < 0) {
        err = errno;
        goto out;
    }
    /* Opened by several at once: the first makes it long enough, and slots are taken one after the other. */
    if (flock(fabric_fd, LOCK_EX) < 0 || ftruncate(fabric_fd, sizeof(struct fabric)) < 0) {
        err = errno;
        goto close_file;
    }
    fabric = mmap(NULL, sizeof(struct fabric), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fabric_fd, 0);
    if (fabric == MAP_FAILED) {
        err = errno;
        goto close_file;
    }
    err = take_slot(first, end);
    if (err) goto unmap;
    flock(fabric_fd, LOCK_UN);
    return 0;

unmap:
    munmap(fabric, sizeof(struct fabric));
close_file:
    close(fabric_fd);
    fabric_fd = -1;
out:
    fprintf(stderr,
            "simverbs: could not join the fabric: error %d\n"
            "    why: the file of SIMVERBS_FABRIC cannot be opened or mapped, or all %d slots are taken\n"
            "    fix: name a file that can be written, of its own for each job\n",
            err, SIM_PROCESSES_MAX);
    return err;
}

int sim_fabric_open(void)
{
    return attached ? 0 : open_fabric(0, SIM_PROCESSES_MAX);
}

int sim_fabric_attach(unsigned slot, struct sim_schedule **schedule_out)
{
    int err = open_fabric(slot, slot + 1);

    if (err) return err;
    attached      = true;
    *schedule_out = &fabric->schedule;
    return 0;
}

/* A fresh fabric for the next seed, while nobody uses it: as if it were the first. */
void sim_fabric_reset(void)
{
    unsigned processes = fabric->schedule.processes;

    for (unsigned from = 0; from < processes; from++) {
        for (unsigned to = 0; to < processes; to++) {
            struct ring *ring = &fabric->ring[from][to];
            atomic_store(&ring->head, 0);
            atomic_store(&ring->tail, 0);
            atomic_store(&ring->starved, 0);
        }
    }
    atomic_store(&fabric->slots, processes);
}

void sim_fabric_close(void)
{
    if (attached) return;
    munmap(fabric, sizeof(struct fabric));
    close(fabric_fd); /* gives the slot back */
    fabric_fd = -1;
    fabric    = NULL;
}

int sim_fabric_slot(void)
{
    return (int)mine;
}

unsigned sim_fabric_slots(void)
{
    return atomic_load_explicit(&fabric->slots, memory_order_acquire);
}

static void ring_doorbell(unsigned slot)
{
    struct slot *s = &fabric->slot[slot];

    if (attached) {
        sim_schedule_nic_due(slot, 0);
        return;
    }
    /* Pairs with the fence in sim_fabric_sleep: the packet is published, then asleep is looked at. */
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&s->asleep, memory_order_relaxed) == 0) return;
    atomic_fetch_add(&s->doorbell, 1);
    atomic_store(&s->asleep, 0);
    syscall(SYS_futex, &s->doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void sim_fabric_ring_mine(void)
{
    atomic_fetch_add(&fabric->slot[mine].doorbell, 1);
    ring_doorbell(mine);
}

/* What is reserved in a fresh fabric. */
void sim_fabric_begin_seed(void)
{
    for (unsigned slot = 0; slot < SIM_PROCESSES_MAX; slot++) reserved[slot] = 0;
}

struct sim_packet *sim_fabric_reserve(unsigned slot, uint32_t payload_bytes)
{
    struct ring *ring  = &fabric->ring[mine][slot];
    uint64_t     head  = reserved[slot];
    size_t       need  = record_bytes(payload_bytes);
    size_t       place = head % SIM_RING_BYTES;
    size_t       fill  = place + need > SIM_RING_BYTES ? SIM_RING_BYTES - place : 0;

    if (head + fill + need - atomic_load_explicit(&ring->tail, memory_order_acquire) > SIM_RING_BYTES) {
        atomic_store(&ring->starved, 1);
        /* The reader may have made room between the look and the mark. */
        if (head + fill + need - atomic_load(&ring->tail) > SIM_RING_BYTES) return NULL;
    }
    if (fill) {
        struct sim_packet *filler = (struct sim_packet *)(void *)&ring->bytes[place];
        filler->kind              = SIM_FILLER;
        head += fill;
        reserved[slot] = head;
    }
    return (struct sim_packet *)(void *)&ring->bytes[head % SIM_RING_BYTES];
}

void sim_fabric_send(unsigned slot, struct sim_packet *packet)
{
    struct ring *ring = &fabric->ring[mine][slot];

    packet->session = session;
    packet->due_ns  = sim_engine_due(packet->bytes);
    reserved[slot] += record_bytes(packet->bytes);
    atomic_store_explicit(&ring->head, reserved[slot], memory_order_release);
    ring_doorbell(slot);
}

const struct sim_packet *sim_fabric_peek(unsigned slot)
{
    struct ring *ring = &fabric->ring[slot][mine];
    uint64_t     tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

    for (;;) {
        if (tail == atomic_load_explicit(&ring->head, memory_order_acquire)) return NULL;
        const struct sim_packet *packet = (const struct sim_packet *)(const void *)&ring->bytes[tail % SIM_RING_BYTES];
        if (packet->kind != SIM_FILLER) return packet;
        tail += SIM_RING_BYTES - tail % SIM_RING_BYTES;
        atomic_store_explicit(&ring->tail, tail, memory_order_release);
    }
}

void sim_fabric_release(unsigned slot, const struct sim_packet *packet)
{
    struct ring *ring = &fabric->ring[slot][mine];
    uint64_t     tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

    atomic_store(&ring->tail, tail + record_bytes(packet->bytes));
    if (atomic_load(&ring->starved) && atomic_exchange(&ring->starved, 0)) {
        atomic_fetch_add(&fabric->slot[slot].doorbell, 1); /* noticed also by one who is about to sleep */
        ring_doorbell(slot);
    }
}

bool sim_fabric_idle(void)
{
    unsigned slots = sim_fabric_slots();

    for (unsigned slot = 0; slot < slots; slot++)
        if (sim_fabric_peek(slot)) return false;
    return true;
}

uint32_t sim_fabric_doorbell(void)
{
    return atomic_load(&fabric->slot[mine].doorbell);
}

void sim_fabric_sleep(uint32_t doorbell, uint64_t timeout_ns)
{
    struct slot    *s    = &fabric->slot[mine];
    struct timespec wait = {.tv_sec = (time_t)(timeout_ns / 1000000000), .tv_nsec = (long)(timeout_ns % 1000000000)};

    atomic_store(&s->asleep, 1);
    atomic_thread_fence(memory_order_seq_cst);
    if (sim_fabric_idle()) syscall(SYS_futex, &s->doorbell, FUTEX_WAIT, doorbell, &wait, NULL, 0);
    atomic_store(&s->asleep, 0);
}
