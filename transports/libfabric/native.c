/* SPDX-License-Identifier: Apache-2.0
 *
 * Atomics by the device, for jobs whose agent it is (POSTERN_AMO=nic).
 *
 * It is offered only where the provider has every operation for both sizes: a word has one agent, so what it lacks could not be done by a CPU.
 * Values lie in the operation itself, so that a program's stack is never registered.
 */
#include "transports/libfabric/fabric.h"
#include "transports/mapped.h"

#include <stdlib.h>

static enum fi_op native_op(enum shmemt_amo_op op)
{
    switch (op) {
    case SHMEMT_AMO_FETCH: return FI_ATOMIC_READ;
    case SHMEMT_AMO_SET: return FI_ATOMIC_WRITE;
    case SHMEMT_AMO_CSWAP: return FI_CSWAP;
    case SHMEMT_AMO_ADD: return FI_SUM;
    case SHMEMT_AMO_AND: return FI_BAND;
    case SHMEMT_AMO_OR: return FI_BOR;
    default: return FI_BXOR;
    }
}

static bool has_op(struct fid_domain *domain, enum fi_datatype type, enum shmemt_amo_op op)
{
    struct fi_atomic_attr attr;
    if (op == SHMEMT_AMO_CSWAP) return fi_query_atomic(domain, type, FI_CSWAP, &attr, FI_COMPARE_ATOMIC) == 0 && attr.count > 0;
    if (fi_query_atomic(domain, type, native_op(op), &attr, FI_FETCH_ATOMIC) != 0 || attr.count == 0) return false;
    return op == SHMEMT_AMO_FETCH || (fi_query_atomic(domain, type, native_op(op), &attr, 0) == 0 && attr.count > 0);
}

static bool has_all(struct fid_domain *domain)
{
    for (int op = SHMEMT_AMO_FETCH; op <= SHMEMT_AMO_XOR; op++)
        if (!has_op(domain, FI_UINT32, (enum shmemt_amo_op)op) || !has_op(domain, FI_UINT64, (enum shmemt_amo_op)op)) return false;
    return true;
}

bool shmemt_libfabric_native_usable(const struct shmemt_job *job, const struct choice *choice)
{
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    const char        *wanted = getenv("POSTERN_AMO");
    bool               usable = false;
    /* Finding out opens the device, so it is done only where it matters. */
    if (job->agent != SHMEMT_AGENT_NIC && !(wanted && strcmp(wanted, "nic") == 0)) return false;
    if (!(choice->info->caps & FI_ATOMIC)) return false;
    if (choice->library->fabric(choice->info->fabric_attr, &fabric, NULL) != 0) return false;
    if (fi_domain(fabric, choice->info, &domain, NULL) == 0) {
        usable = has_all(domain);
        fi_close(&domain->fid);
    }
    fi_close(&fabric->fid);
    return usable;
}

int shmemt_libfabric_native_amo(struct fabric_ctx *ctx, int pe, const struct remote *remote, const struct shmemt_amo *amo)
{
    struct fabric *fabric = ctx->fabric;
    struct op     *op     = shmemt_libfabric_endpoint_take_op(fabric, OP_ATOMIC, pe);
    if (!op) return -EAGAIN;
    op->bytes = amo->bytes;
    op->local = amo->fetch;
    /* The device reads `bytes` at the front of each word. */
    uint32_t value32 = (uint32_t)amo->value, compare32 = (uint32_t)amo->compare;
    memcpy(&op->operand, amo->bytes == 8 ? (const void *)&amo->value : (const void *)&value32, amo->bytes);
    memcpy(&op->compare, amo->bytes == 8 ? (const void *)&amo->compare : (const void *)&compare32, amo->bytes);
    struct fi_ioc        operand = {.addr = &op->operand, .count = 1}, compare = {.addr = &op->compare, .count = 1};
    struct fi_ioc        result     = {.addr = &op->result, .count = 1};
    struct fi_rma_ioc    to         = {.addr = remote->base + amo->remote_offset, .count = 1, .key = remote->key};
    void                *descriptor = fabric->ops_mr ? fi_mr_desc(fabric->ops_mr) : NULL;
    bool                 fetching   = amo->fetch || amo->op == SHMEMT_AMO_FETCH || amo->op == SHMEMT_AMO_CSWAP;
    struct fi_msg_atomic msg        = {
               .msg_iov       = &operand,
               .desc          = &descriptor,
               .iov_count     = amo->op == SHMEMT_AMO_FETCH ? 0 : 1,
               .addr          = fabric->peers[pe].address,
               .rma_iov       = &to,
               .rma_iov_count = 1,
               .datatype      = amo->bytes == 8 ? FI_UINT64 : FI_UINT32,
               .op            = native_op(amo->op),
               .context       = &op->context,
    };
    ssize_t answer;
    /* What fetches has happened when its value is here; what does not, when the target has done it. */
    if (amo->op == SHMEMT_AMO_CSWAP)
        answer = fi_compare_atomicmsg(fabric->ep, &msg, &compare, &descriptor, 1, &result, &descriptor, 1, FI_COMPLETION);
    else if (fetching) answer = fi_fetch_atomicmsg(fabric->ep, &msg, &result, &descriptor, 1, FI_COMPLETION);
    else answer = fi_atomicmsg(fabric->ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE);
    int err = shmemt_libfabric_failure_answer(fabric, pe, answer, "atomic");
    if (err) {
        shmemt_libfabric_endpoint_free_op(fabric, op);
        return err;
    }
    op->ctx  = ctx;
    op->done = amo->done;
    ctx->ops++;
    ctx->peers[pe].ops++;
    return 0;
}
