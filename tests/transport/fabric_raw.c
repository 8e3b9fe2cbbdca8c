/* SPDX-License-Identifier: Apache-2.0
 *
 * What libfabric itself can do, beside what the transport makes of it: the same measurement with bare calls of libfabric and
 * through the module, in turns within one run, so that a busy machine does them the same wrong.
 *
 *     fabric_raw MODULE [--provider NAME] [--domain NAME] [--netns A B] [--rounds N]
 *
 * Two processes; with --netns each in a network namespace of that name (ip netns add). PE 1 only makes progress. Prints TSV rows: what, bytes,
 * microseconds or GB/s raw, the same through the module, ratio. A measurement, not a test: nothing here fails for being slow.
 */
#include "transports/transport.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HEAP = 32 << 20, LARGE = 1 << 20, IN_FLIGHT = 16, REPEATS = 25 };

/* What both processes see. */
struct shared {
    _Atomic int           arrived, round, stop;
    unsigned char         raw_name[2][128];
    uint64_t              raw_base[2], raw_key[2];
    struct shmemt_address address[2];
    struct shmemt_key     key[2];
};

static struct shared *shared;
static char          *heap;
static int            me, rounds = 2000;
static const char    *provider = "tcp;ofi_rxm", *domain_name, *netns[2];

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void fail(const char *what, long error)
{
    printf("fabric_raw: %s: %ld\n", what, error);
    exit(1);
}

static void check(const char *what, long error)
{
    if (error) fail(what, error);
}

static void barrier(void)
{
    int round = atomic_load(&shared->round);
    if (atomic_fetch_add(&shared->arrived, 1) == 1) {
        atomic_store(&shared->arrived, 0);
        atomic_store(&shared->round, round + 1);
    }
    while (atomic_load(&shared->round) == round) sched_yield();
}

/* ---- bare libfabric ---- */

static struct {
    struct fi_info    *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av     *av;
    struct fid_cq     *cq;
    struct fid_ep     *ep;
    struct fid_mr     *mr;
    fi_addr_t          peer;
} raw;

/* A message there and one back: what a put by message and its acknowledgement cost at least. */
enum { PINGS = 32, PING_BYTES = 24 };
static struct {
    struct fi_context2 context;
    char               data[64];
} pings[PINGS];
static int pinged;

static void raw_receive(size_t i)
{
    check("fi_recv", fi_recv(raw.ep, pings[i].data, sizeof pings[i].data, NULL, FI_ADDR_UNSPEC, &pings[i].context));
}

static void raw_open(void)
{
    struct fi_info *hints         = fi_allocinfo();
    hints->caps                   = FI_MSG | FI_RMA;
    hints->mode                   = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type          = FI_EP_RDM;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->mr_mode   = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->fabric_attr->prov_name = strdup(provider);
    if (domain_name) hints->domain_attr->name = strdup(domain_name);
    struct fi_av_attr av = {.type = FI_AV_TABLE, .count = 2};
    struct fi_cq_attr cq = {.size = 4096, .format = FI_CQ_FORMAT_DATA};
    check("fi_getinfo", fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), NULL, NULL, 0, hints, &raw.info));
    check("fi_fabric", fi_fabric(raw.info->fabric_attr, &raw.fabric, NULL));
    check("fi_domain", fi_domain(raw.fabric, raw.info, &raw.domain, NULL));
    check("fi_av_open", fi_av_open(raw.domain, &av, &raw.av, NULL));
    check("fi_cq_open", fi_cq_open(raw.domain, &cq, &raw.cq, NULL));
    check("fi_endpoint", fi_endpoint(raw.domain, raw.info, &raw.ep, NULL));
    check("fi_ep_bind", fi_ep_bind(raw.ep, &raw.av->fid, 0));
    check("fi_ep_bind", fi_ep_bind(raw.ep, &raw.cq->fid, FI_TRANSMIT | FI_RECV));
    check("fi_enable", fi_enable(raw.ep));
    check("fi_mr_reg",
          fi_mr_reg(raw.domain, heap, HEAP, FI_REMOTE_WRITE | FI_REMOTE_READ | FI_WRITE | FI_READ, 0, 1, 0, &raw.mr, NULL));
    size_t bytes = sizeof shared->raw_name[me];
    check("fi_getname", fi_getname(&raw.ep->fid, shared->raw_name[me], &bytes));
    shared->raw_base[me] = raw.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)heap : 0;
    shared->raw_key[me]  = fi_mr_key(raw.mr);
    barrier();
    if (fi_av_insert(raw.av, shared->raw_name[1 - me], 1, &raw.peer, 0, NULL) != 1) fail("fi_av_insert", 0);
    for (size_t i = 0; i < PINGS; i++) raw_receive(i);
    fi_freeinfo(hints);
}

static int raw_poll(void)
{
    struct fi_cq_data_entry entries[16];
    ssize_t                 count = fi_cq_read(raw.cq, entries, 16);
    if (count < 0 && count != -FI_EAGAIN) fail("fi_cq_read", count);
    return count > 0 ? (int)count : 0;
}

static void raw_write(size_t bytes, struct fi_context2 *context)
{
    const struct iovec      from = {.iov_base = heap, .iov_len = bytes};
    const struct fi_rma_iov to   = {.addr = shared->raw_base[1 - me], .len = bytes, .key = shared->raw_key[1 - me]};
    void                   *desc = fi_mr_desc(raw.mr);
    const struct fi_msg_rma msg  = {
         .msg_iov = &from, .desc = &desc, .iov_count = 1, .addr = raw.peer, .rma_iov = &to, .rma_iov_count = 1, .context = context};
    ssize_t err;
    while ((err = fi_writemsg(raw.ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE)) == -FI_EAGAIN) raw_poll();
    check("fi_writemsg", err);
}

static void raw_series(size_t bytes, int at_once)
{
    struct fi_context2 contexts[IN_FLIGHT];
    for (int i = 0; i < at_once; i++) raw_write(bytes, &contexts[i]);
    for (int done = 0; done < at_once;) done += raw_poll();
}

static void raw_inject(void)
{
    ssize_t err;
    while ((err = fi_inject(raw.ep, heap, PING_BYTES, raw.peer)) == -FI_EAGAIN) raw_poll();
    check("fi_inject", err);
}

static int raw_take(void)
{
    struct fi_cq_data_entry entries[16];
    ssize_t                 count = fi_cq_read(raw.cq, entries, 16);
    for (ssize_t i = 0; i < count; i++) raw_receive((size_t)((char *)entries[i].op_context - (char *)pings) / sizeof pings[0]);
    return count > 0 ? (int)count : 0;
}

static int raw_answer(void)
{
    int count = raw_take();
    for (int i = 0; i < count; i++) raw_inject();
    return count;
}

static void raw_ping_series(size_t bytes, int at_once)
{
    (void)bytes;
    for (int i = 0; i < at_once; i++) raw_inject();
    for (pinged = 0; pinged < at_once;) pinged += raw_take();
}

/* ---- the module ---- */

static const struct shmemt_ops *ops;
static struct shmemt           *tp;
static struct shmemt_ctx       *ctx;

static void module_open(const char *file)
{
    static int                 local_of[2];
    static struct shmemt_job   job;
    const struct shmemt_region region = {.segment = SHMEMT_SEGMENT_HEAP, .base = heap, .bytes = HEAP, .fd = -1};
    shmemt_module_fn          *table_of;
    void                      *module = dlopen(file, RTLD_NOW), *symbol = module ? dlsym(module, SHMEMT_MODULE_SYMBOL) : NULL;
    if (!symbol) fail("dlopen", 0);
    memcpy(&table_of, &symbol, sizeof table_of);
    local_of[me]     = 0;
    local_of[1 - me] = -1;
    job              = (struct shmemt_job){.my_pe = me, .npes = 2, .secret = 4711, .local_of = local_of, .local_pes = 1};
    ops              = table_of();
    check("open", ops->open(&job, &tp));
    check("address", ops->address(tp, &shared->address[me]));
    check("export_region", ops->export_region(tp, &region, &shared->key[me]));
    barrier();
    for (int pe = 0; pe < 2; pe++) {
        check("add_peer", ops->add_peer(tp, pe, &shared->address[pe]));
        check("import_region", ops->import_region(tp, pe, SHMEMT_SEGMENT_HEAP, &shared->key[pe]));
    }
    check("ctx_open", ops->ctx_open(tp, 0, &ctx));
    if (me == 0) printf("# %s: %s\n", ops->name, tp->traits.detail);
}

static int module_poll(void)
{
    return ops->progress(ctx);
}

static void module_put(size_t bytes, unsigned flags, _Atomic uint32_t *done)
{
    const struct shmemt_xfer xfer = {
        .segment = SHMEMT_SEGMENT_HEAP, .flags = flags, .local = heap, .bytes = bytes, .blocks = 1, .done = done};
    int err;
    while ((err = ops->put(ctx, 1, &xfer)) == -EAGAIN) module_poll();
    check("put", err);
}

static void module_quiet(void)
{
    while (ops->quiet(ctx, SHMEMT_ALL_PES) == -EAGAIN) module_poll();
}

static void module_series(size_t bytes, int at_once)
{
    for (int i = 0; i < at_once; i++) module_put(bytes, bytes <= tp->traits.copy_bytes_max ? SHMEMT_XFER_COPY : 0, NULL);
    module_quiet();
}

/* As a blocking put does: each waits until its source may be reused. */
static void module_blocking_series(size_t bytes, int at_once)
{
    for (int i = 0; i < at_once; i++) {
        _Atomic uint32_t done = 0;
        module_put(bytes, 0, &done);
        while (atomic_load(&done) == 0) module_poll();
    }
    module_quiet();
}

/* ---- measuring ---- */

/* Microseconds for a series; PE 1 makes progress meanwhile. */
static double time_series(void (*series)(size_t, int), size_t bytes, int at_once, int times)
{
    double begin = now_us();
    for (int i = 0; i < times; i++) series(bytes, at_once);
    return (now_us() - begin) / times;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quick(double *values)
{
    qsort(values, REPEATS, sizeof *values, compare_doubles);
    return values[REPEATS / 10]; /* undisturbed: others use this machine too */
}

static void turn(void (*series)(size_t, int), int (*poll)(void), size_t bytes, int at_once, int times, double *us_out)
{
    barrier();
    if (me == 0) {
        series(bytes, at_once); /* connects, warms up */
        *us_out = time_series(series, bytes, at_once, times);
        atomic_store(&shared->stop, 1);
    }
    while (me == 1 && !atomic_load(&shared->stop)) poll();
    barrier();
    atomic_store(&shared->stop, 0);
    barrier();
}

static void measure(const char *what, size_t bytes, int at_once, void (*series)(size_t, int), int times)
{
    bool   ping = strcmp(what, "ping_put_quiet") == 0;
    double raw_us[REPEATS], module_us[REPEATS];
    for (int i = 0; i < REPEATS; i++) {
        turn(ping ? raw_ping_series : raw_series, ping ? raw_answer : raw_poll, bytes, at_once, times, &raw_us[i]);
        turn(series, module_poll, bytes, at_once, times, &module_us[i]);
    }
    if (me != 0) return;
    double a = quick(raw_us), b = quick(module_us), total = (double)bytes * at_once / 1e3;
    printf("%s\t%zu\t%.1f us\t%.1f us\t%.3f GB/s\t%.3f GB/s\t%.2f\n", what, bytes, a, b, total / a, total / b, b / a);
}

static void run(const char *module)
{
    if (netns[me]) {
        char path[128];
        snprintf(path, sizeof path, "/run/netns/%s", netns[me]);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || setns(fd, CLONE_NEWNET) != 0) fail(path, errno);
    }
    heap = mmap(NULL, HEAP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(heap, 1, HEAP);
    module_open(module);
    raw_open();
    if (me == 0) printf("# what\tbytes\traw\tmodule\traw\tmodule\tratio of times\n");
    for (size_t bytes = 8; bytes <= 64 << 10; bytes *= 8) measure("put_quiet", bytes, 1, module_series, rounds);
    measure("ping_put_quiet", 8, 1, module_series, rounds);
    for (size_t bytes = 8; bytes <= 64 << 10; bytes *= 8) measure("puts16_quiet", bytes, IN_FLIGHT, module_series, rounds / 8);
    measure("bandwidth_nbi", LARGE, IN_FLIGHT, module_series, rounds / 100 + 1);
    measure("bandwidth_blocking", LARGE, IN_FLIGHT, module_blocking_series, rounds / 100 + 1);
    ops->ctx_close(ctx);
    barrier();
    ops->unexport_region(tp, SHMEMT_SEGMENT_HEAP);
    ops->close(tp);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *module = NULL;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-') module = argv[i];
        else if (strcmp(argv[i], "--provider") == 0 && i + 1 < argc) provider = argv[++i];
        else if (strcmp(argv[i], "--domain") == 0 && i + 1 < argc) domain_name = argv[++i];
        else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) rounds = atoi(argv[++i]);
        else if (strcmp(argv[i], "--netns") == 0 && i + 2 < argc) netns[0] = argv[++i], netns[1] = argv[++i];
        else module = NULL, i = argc;
    }
    if (!module) {
        printf("usage: fabric_raw MODULE [--provider NAME] [--domain NAME] [--netns A B] [--rounds N]\n");
        return 2;
    }
    setenv("POSTERN_FABRIC_PROVIDER", provider, 1);
    if (domain_name) setenv("POSTERN_FABRIC_DOMAIN", domain_name, 1);
    shared      = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = fork();
    me          = child == 0 ? 1 : 0;
    run(module);
    if (child == 0) _exit(0);
    int status = 1;
    waitpid(child, &status, 0);
    return status != 0;
}
