/* SPDX-License-Identifier: Apache-2.0
 *
 * Modules for the tests of the registry: a transport with the required slots and nothing else (FAKE_GOOD), and three that the
 * registry must refuse.
 */
#include "transports/transport.h"

#include <errno.h>

enum { FAKE_GOOD, FAKE_OTHER_VERSION, FAKE_WITHOUT_QUIET, FAKE_WITHOUT_TABLE };

static int probe(const struct shmemt_job *job, struct shmemt_traits *traits_out)
{
    (void)job, (void)traits_out;
    return -ENODEV;
}

static int open_it(const struct shmemt_job *job, struct shmemt **tp_out)
{
    (void)job, (void)tp_out;
    return -ENODEV;
}

static void close_it(struct shmemt *tp)
{
    (void)tp;
}

static int export_it(struct shmemt *tp, const struct shmemt_region *mine, struct shmemt_key *key_out)
{
    (void)tp, (void)mine, (void)key_out;
    return -ENODEV;
}

static void unexport_it(struct shmemt *tp, int segment)
{
    (void)tp, (void)segment;
}

static int import_it(struct shmemt *tp, int pe, int segment, const struct shmemt_key *key)
{
    (void)tp, (void)pe, (void)segment, (void)key;
    return -ENODEV;
}

static int ctx_open(struct shmemt *tp, unsigned options, struct shmemt_ctx **ctx_out)
{
    (void)tp, (void)options, (void)ctx_out;
    return -ENODEV;
}

static void ctx_close(struct shmemt_ctx *ctx)
{
    (void)ctx;
}

static int move(struct shmemt_ctx *ctx, int pe, const struct shmemt_xfer *xfer)
{
    (void)ctx, (void)pe, (void)xfer;
    return -ENXIO;
}

static int amo(struct shmemt_ctx *ctx, int pe, const struct shmemt_amo *amo_in)
{
    (void)ctx, (void)pe, (void)amo_in;
    return -ENXIO;
}

static int order(struct shmemt_ctx *ctx, int pe)
{
    (void)ctx, (void)pe;
    return 0;
}

static int progress(struct shmemt_ctx *ctx)
{
    (void)ctx;
    return 0;
}

static const struct shmemt_ops fake_ops = {
    .version         = FAKE == FAKE_OTHER_VERSION ? SHMEMT_VERSION + 1 : SHMEMT_VERSION,
    .name            = FAKE_NAME,
    .probe           = probe,
    .open            = open_it,
    .close           = close_it,
    .export_region   = export_it,
    .unexport_region = unexport_it,
    .import_region   = import_it,
    .ctx_open        = ctx_open,
    .ctx_close       = ctx_close,
    .put             = move,
    .get             = move,
    .amo             = amo,
    .fence           = order,
    .quiet           = FAKE == FAKE_WITHOUT_QUIET ? NULL : order,
    .progress        = progress,
};

__attribute__((visibility("default"))) const struct shmemt_ops *shmemt_module(void)
{
    return FAKE == FAKE_WITHOUT_TABLE ? NULL : &fake_ops;
}
