/* SPDX-License-Identifier: Apache-2.0
 *
 * Protection domains and memory regions. A key is (number of the region << 8 | a byte of salt); the remote key differs
 * from the local one, so that a mix-up is seen. Every access looks at key, protection domain, range and permission.
 */
#include "sim.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { REMOTE_KEY = 0x80 }; /* set in remote keys only */

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
    struct ibv_pd *pd = calloc(1, sizeof(*pd));

    if (!pd) return NULL;
    pd->context = context;
    sim_lock();
    pd->handle = sim_table_add(&sim.pds, pd);
    sim_unlock();
    return pd;
}

static bool pd_is_used(const struct ibv_pd *pd)
{
    for (uint32_t i = 0; i < sim.mrs.next; i++) {
        const struct sim_mr *mr = sim_table_find(&sim.mrs, i);
        if (mr && mr->mr.pd == pd) return true;
    }
    for (const struct sim_qp *qp = sim.qp_list; qp; qp = qp->next)
        if (qp->ex.qp_base.pd == pd) return true;
    return false;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
    sim_lock();
    bool used = pd_is_used(pd);
    if (!used) sim_table_remove(&sim.pds, pd->handle);
    sim_unlock();
    if (used) return EBUSY;
    free(pd);
    return 0;
}

/* A NIC pins pages, so all of them must be there. */
static bool is_mapped(const void *address, size_t length)
{
    uintptr_t page  = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = (uintptr_t)address & ~(page - 1);

    return msync((void *)first, (uintptr_t)address + length - first, MS_ASYNC) == 0;
}

/* Memory without access, such as that of a GPU without a module that resolves its addresses: the kernel pins no page of it either. */
static bool is_refused(void *address)
{
    char               byte;
    const struct iovec here = {.iov_base = &byte, .iov_len = 1}, there = {.iov_base = address, .iov_len = 1};

    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) < 0 && errno == EFAULT;
}

static struct ibv_mr *make_region(struct ibv_pd *pd, void *address, size_t length, uint64_t iova, unsigned access, void *mapped)
{
    struct sim_mr *m = calloc(1, sizeof(*m));

    if (!m) return NULL;
    m->mr     = (struct ibv_mr){.context = pd->context, .pd = pd, .addr = address, .length = length};
    m->iova   = iova;
    m->access = access;
    m->mapped = mapped;
    sim_lock();
    uint32_t number = sim_table_add(&sim.mrs, m);
    m->mr.handle    = number;
    m->mr.lkey      = number << 8 | ((sim.key_salt + number * 37) & (REMOTE_KEY - 1));
    m->mr.rkey      = m->mr.lkey | REMOTE_KEY;
    sim_unlock();
    if (number == 0 || number >= 1U << 24) {
        free(m);
        errno = ENOMEM;
        return NULL;
    }
    return &m->mr;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length, uint64_t iova, unsigned access)
{
    const unsigned known = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
                           IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE;

    if (access & ~known) {
        errno = EOPNOTSUPP; /* on-demand paging, windows, zero based */
        return NULL;
    }
    if (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC) && !(access & IBV_ACCESS_LOCAL_WRITE)) {
        errno = EINVAL;
        return NULL;
    }
    if (length && (!is_mapped(address, length) || is_refused(address))) {
        errno = EFAULT;
        return NULL;
    }
    sim_lock();
    bool refused = sim_chance(sim_options.register_chance);
    sim_unlock();
    if (refused) {
        errno = ENOMEM;
        return NULL;
    }
    return make_region(pd, address, length, iova, access, NULL);
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access)
{
    return ibv_reg_mr_iova2(pd, address, length, (uintptr_t)address, (unsigned)access);
}

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *address, size_t length, uint64_t iova, int access)
{
    return ibv_reg_mr_iova2(pd, address, length, iova, (unsigned)access);
}

/* Any file that can be mapped shared serves as a dma-buf. */
struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access)
{
    uint64_t page   = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t within = offset % page;
    void    *mapped = mmap(NULL, length + within, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)(offset - within));

    if (mapped == MAP_FAILED) return NULL;
    struct ibv_mr *mr = make_region(pd, (char *)mapped + within, length, iova, (unsigned)access, mapped);
    if (!mr) munmap(mapped, length + within);
    return mr;
}

int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *address, size_t length, int access)
{
    struct sim_mr *m = (struct sim_mr *)mr;

    if (flags & ~IBV_REREG_MR_FLAGS_SUPPORTED || m->mapped) return IBV_REREG_MR_ERR_INPUT;
    if (flags & IBV_REREG_MR_CHANGE_TRANSLATION && length && !is_mapped(address, length)) return IBV_REREG_MR_ERR_INPUT;
    sim_lock();
    if (flags & IBV_REREG_MR_CHANGE_PD) mr->pd = pd;
    if (flags & IBV_REREG_MR_CHANGE_ACCESS) m->access = (unsigned)access;
    if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
        mr->addr   = address;
        mr->length = length;
        m->iova    = (uintptr_t)address;
    }
    sim_unlock();
    return 0;
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
    struct sim_mr *m = (struct sim_mr *)mr;

    sim_lock();
    sim_table_remove(&sim.mrs, mr->handle);
    sim_unlock();
    if (m->mapped) munmap(m->mapped, mr->length + (size_t)((char *)mr->addr - (char *)m->mapped));
    free(m);
    return 0;
}

static struct sim_mr *find(const struct ibv_pd *pd, uint32_t key, bool remote, unsigned access)
{
    struct sim_mr *m = sim_table_find(&sim.mrs, key >> 8);

    if (!m || (remote ? m->mr.rkey : m->mr.lkey) != key || m->mr.pd != pd || (m->access & access) != access) return NULL;
    return m;
}

static void *place(const struct sim_mr *m, uint64_t address, uint64_t length)
{
    if (address < m->iova || length > m->mr.length || address - m->iova > m->mr.length - length) return NULL;
    return (char *)m->mr.addr + (address - m->iova);
}

void *sim_memory_local(struct ibv_pd *pd, const struct ibv_sge *sge, unsigned access)
{
    struct sim_mr *m = find(pd, sge->lkey, false, access);

    return m ? place(m, sge->addr, sge->length) : NULL;
}

void *sim_memory_remote(struct ibv_pd *pd, uint32_t rkey, uint64_t address, uint64_t length, unsigned access, bool *relaxed_out)
{
    struct sim_mr *m = find(pd, rkey, true, access);

    if (!m) return NULL;
    *relaxed_out = m->access & IBV_ACCESS_RELAXED_ORDERING;
    return place(m, address, length);
}
