/* SPDX-License-Identifier: Apache-2.0
 *
 * Regions that peers reach, their keys, and local memory where the provider wants it registered.
 *
 * Local memory: most of what a program hands over lies in a region, which is registered anyway. Other memory goes through a slot of the ring when it is
 * small, else it is registered for the one operation. No cache: a registration that outlives its memory is wrong, and only the kernel knows.
 */
#include "transports/libfabric/fabric.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What a key of this transport holds. */
struct key {
    uint64_t secret; /* the job's: a key of another job is refused */
    uint64_t base, key, bytes;
    int32_t  pe;
    int16_t  segment;
    int16_t  host;
};
static_assert(sizeof(struct key) <= sizeof(((struct shmemt_key *)NULL)->data), "a key must fit");

int shmemt_libfabric_memory_register(struct fabric *fabric, void *base, size_t bytes, enum shmemt_memory memory, int device,
                                     uint64_t access, uint64_t key, struct fid_mr **mr_out)
{
    const struct iovec range = {.iov_base = base, .iov_len = bytes};
    struct fi_mr_attr  attr  = {.mr_iov = &range, .iov_count = 1, .access = access, .requested_key = key};
    struct fid_mr     *mr;
    if (memory == SHMEMT_MEMORY_CUDA) {
        if (!(fabric->info->caps & FI_HMEM)) return -ENOTSUP;
        attr.iface       = FI_HMEM_CUDA;
        attr.device.cuda = device;
    }
    int err = fi_mr_regattr(fabric->domain, &attr, 0, &mr);
    if (err) return err;
    if ((fabric->mr_mode & FI_MR_ENDPOINT) && fabric->ep) {
        err = fi_mr_bind(mr, &fabric->ep->fid, 0);
        if (!err) err = fi_mr_enable(mr);
        /* Forced on a provider that needs none of it, the calls may be missing. */
        if (err == -FI_ENOSYS && !(fabric->info->domain_attr->mr_mode & FI_MR_ENDPOINT)) err = 0;
        if (err) {
            fi_close(&mr->fid);
            return err;
        }
    }
    *mr_out = mr;
    return 0;
}

/* FI_MR_ALLOCATED: every page must be there. Pages of the heap are not until they are allocated. */
static void populate(char *base, size_t bytes)
{
#ifdef MADV_POPULATE_WRITE
    size_t    page  = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = (uintptr_t)base / page * page;
    madvise((void *)begin, (uintptr_t)base + bytes - begin,
            MADV_POPULATE_WRITE); /* fails on old kernels: then registering says so */
#else
    (void)base, (void)bytes;
#endif
}

int shmemt_libfabric_memory_export(struct shmemt *tp, const struct shmemt_region *mine, struct shmemt_key *key_out)
{
    struct fabric *fabric = fabric_of(tp);
    if (mine->segment < 0 || mine->segment >= SHMEMT_SEGMENTS_MAX) return -EINVAL;
    struct registered region = {.base = mine->base, .bytes = mine->bytes, .host = mine->memory == SHMEMT_MEMORY_HOST};
    struct key        key    = {
                  .secret  = fabric->job->secret,
                  .bytes   = mine->bytes,
                  .pe      = fabric->job->my_pe,
                  .segment = (int16_t)mine->segment,
                  .host    = region.host,
    };
    if (mine->bytes > 0) {
        if ((fabric->mr_mode & FI_MR_ALLOCATED) && region.host) populate(mine->base, mine->bytes);
        int err = shmemt_libfabric_memory_register(fabric, mine->base, mine->bytes, mine->memory, mine->device,
                                                   FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE,
                                                   (uint64_t)mine->segment + 1, &region.mr);
        if (err) return err == -FI_ENOSYS || err == -FI_EOPNOTSUPP ? -ENOTSUP : err;
        key.base = fabric->mr_mode & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)mine->base : 0;
        key.key  = fi_mr_key(region.mr);
    }
    pthread_mutex_lock(&fabric->lock);
    fabric->mine[mine->segment] = region;
    pthread_mutex_unlock(&fabric->lock);
    *key_out = (struct shmemt_key){.bytes = sizeof key};
    memcpy(key_out->data, &key, sizeof key);
    return 0;
}

void shmemt_libfabric_memory_unexport(struct shmemt *tp, int segment)
{
    struct fabric *fabric = fabric_of(tp);
    if (segment < 0 || segment >= SHMEMT_SEGMENTS_MAX) return;
    pthread_mutex_lock(&fabric->lock);
    struct fid_mr *mr     = fabric->mine[segment].mr;
    fabric->mine[segment] = (struct registered){0};
    if (mr) fi_close(&mr->fid);
    pthread_mutex_unlock(&fabric->lock);
}

int shmemt_libfabric_memory_import(struct shmemt *tp, int pe, int segment, const struct shmemt_key *key)
{
    struct fabric *fabric = fabric_of(tp);
    struct key     theirs;
    if (pe < 0 || pe >= fabric->job->npes || segment < 0 || segment >= SHMEMT_SEGMENTS_MAX) return -EINVAL;
    if (key->bytes != 0 && !fabric->peers[pe].known) return -EHOSTUNREACH;
    struct remote remote = {0};
    if (key->bytes != 0) {
        memcpy(&theirs, key->data, sizeof theirs);
        if (key->bytes != sizeof theirs || theirs.secret != fabric->job->secret || theirs.pe != pe || theirs.segment != segment)
            return -EINVAL;
        remote = (struct remote){.base = theirs.base, .key = theirs.key, .bytes = theirs.bytes, .known = true, .host = theirs.host};
    }
    int err = 0;
    pthread_mutex_lock(&fabric->lock);
    if (!fabric->remotes[segment]) fabric->remotes[segment] = calloc((size_t)fabric->job->npes, sizeof remote);
    if (fabric->remotes[segment]) fabric->remotes[segment][pe] = remote;
    else err = -ENOMEM;
    pthread_mutex_unlock(&fabric->lock);
    return err;
}

struct remote *shmemt_libfabric_memory_remote(struct fabric *fabric, int pe, int segment)
{
    if (pe < 0 || pe >= fabric->job->npes || segment < 0 || segment >= SHMEMT_SEGMENTS_MAX) return NULL;
    struct remote *remotes = fabric->remotes[segment];
    return remotes && remotes[pe].known ? &remotes[pe] : NULL;
}

static struct fid_mr *find_registered(const struct fabric *fabric, const char *local, size_t bytes)
{
    for (int i = 0; i < SHMEMT_SEGMENTS_MAX; i++) {
        const struct registered *mine = &fabric->mine[i];
        if (mine->mr && local >= mine->base && bytes <= mine->bytes && (size_t)(local - mine->base) <= mine->bytes - bytes)
            return mine->mr;
    }
    return NULL;
}

/* A slot of the ring in place of the program's memory. */
static int use_slot(struct fabric *fabric, struct op *op, void **local_io, size_t bytes, void **descriptor_out)
{
    struct buffer *slot = shmemt_libfabric_endpoint_take_send(fabric);
    if (!slot) return -EAGAIN;
    if (op->kind == OP_READ) op->local = *local_io;
    else memcpy(slot->data, *local_io, bytes);
    op->bounce      = slot;
    *local_io       = slot->data;
    *descriptor_out = fabric->sends_mr ? fi_mr_desc(fabric->sends_mr) : NULL;
    return 0;
}

int shmemt_libfabric_memory_local(struct fabric *fabric, struct op *op, void **local_io, size_t bytes, enum shmemt_memory memory,
                                  void **descriptor_out)
{
    *descriptor_out = NULL;
    if (memory == SHMEMT_MEMORY_HOST && !(fabric->mr_mode & FI_MR_LOCAL)) return 0;
    struct fid_mr *mr = find_registered(fabric, *local_io, bytes);
    if (!mr && memory == SHMEMT_MEMORY_HOST && bytes <= COPY_BYTES_MAX)
        return use_slot(fabric, op, local_io, bytes, descriptor_out);
    if (!mr) {
        /* Nobody is told this key; it need only differ from the others in use. */
        uint64_t key = SHMEMT_SEGMENTS_MAX + 8 + fabric->local_keys++;
        int      err = shmemt_libfabric_memory_register(fabric, *local_io, bytes, memory, 0, FI_READ | FI_WRITE, key, &op->mr);
        if (err) return err == -FI_EAGAIN || err == -FI_ENOKEY ? -EAGAIN : err;
        mr = op->mr;
    }
    *descriptor_out = fi_mr_desc(mr);
    return 0;
}
