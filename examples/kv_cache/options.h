/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line.
 */
#ifndef KV_OPTIONS_H
#define KV_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One byte to spoil on its way, to prove that it is noticed. */
struct fault {
    bool     on;
    uint64_t request, layer, page, offset;
};

struct options {
    const char  *model;    /* --model                                    */
    const char  *config;   /* --config; NULL: use the model              */
    const char  *dtype;    /* --dtype; NULL: the model's own             */
    const char  *trace;    /* --trace; NULL: made-up requests            */
    const char  *json;     /* --json; NULL: none                         */
    uint32_t     tokens;   /* --tokens of a made-up request              */
    size_t       requests; /* --requests; with a trace 0 means all of it */
    int          page_tokens;
    int          tp;
    int          layers; /* 0: all of the model */
    bool         split;
    uint64_t     pool_pages; /* 0: by pool_bytes */
    uint64_t     pool_bytes;
    bool         pool_on_gpu; /* --pool-on gpu */
    double       speed;
    uint64_t     seed;
    bool         verify;
    bool         progress;
    bool         help;
    bool         list_models;
    struct fault fault;
};

/* Read the command line. False after problem(); what came before the error is read then. */
bool options_read(int argc, char **argv, struct options *options_out);

extern const char options_help[];

#endif
