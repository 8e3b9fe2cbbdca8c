/* SPDX-License-Identifier: Apache-2.0
 *
 * A checked run refuses options and fields that do not exist, a config that is missing, and contexts that are dead or of another thread.
 * Spec: OpenSHMEM 1.6 §E, §9.9.2 shmem_ctx_session_start, §9.9.3 shmem_ctx_session_stop
 * PES: 0
 * ENV: POSTERN_CHECK=1 SHMEM_SYMMETRIC_SIZE=1M
 * LINK: pthread
 */
#include "../child.h"

#include <pthread.h>

static shmem_ctx_t ctx;

static void begin(void)
{
    int provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
}
static void unknown_option(void)
{
    begin();
    shmem_ctx_session_start(SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH | 16, NULL, 0);
}
static void unknown_field(void)
{
    const shmem_ctx_session_config_t config = {.total_ops = 1};
    begin();
    shmem_ctx_session_start(SHMEM_CTX_DEFAULT, 0, &config, SHMEM_CTX_SESSION_TOTAL_OPS | 2);
}
static void no_config(void)
{
    begin();
    shmem_ctx_session_start(SHMEM_CTX_DEFAULT, 0, NULL, SHMEM_CTX_SESSION_TOTAL_OPS);
}
static void dead_start(void)
{
    begin();
    shmem_ctx_create(0, &ctx);
    shmem_ctx_destroy(ctx);
    shmem_ctx_session_start(ctx, 0, NULL, 0);
}
static void dead_stop(void)
{
    begin();
    shmem_ctx_create(0, &ctx);
    shmem_ctx_destroy(ctx);
    shmem_ctx_session_stop(ctx);
}
static void *start_there(void *unused)
{
    shmem_ctx_session_start(ctx, 0, NULL, 0);
    return unused;
}
static void foreign(void)
{
    pthread_t thread;
    begin();
    shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx);
    pthread_create(&thread, NULL, start_there, NULL);
    pthread_join(thread, NULL);
}
static void before_init(void)
{
    shmem_ctx_session_start(SHMEM_CTX_DEFAULT, 0, NULL, 0);
}

static const struct {
    const char *name;
    void (*what)(void);
    const char *wanted[4];
} cases[] = {
    {"unknown option", unknown_option, {"shmem_ctx_session_start: options 0x11", "SHMEM_CTX_SESSION_BATCH", "why:"}},
    {"unknown field", unknown_field, {"shmem_ctx_session_start: config_mask 0x3", "SHMEM_CTX_SESSION_TOTAL_OPS", "why:"}},
    {"no config", no_config, {"shmem_ctx_session_start: config is NULL", "config_mask 0x1", "why:"}},
    {"dead context", dead_start, {"shmem_ctx_session_start: the context does not exist", "why:"}},
    {"stop on a dead context", dead_stop, {"shmem_ctx_session_stop: the context does not exist", "why:"}},
    {"context of another thread", foreign, {"shmem_ctx_session_start: the context is private to another thread", "why:"}},
    {"before init", before_init, {"shmem_ctx_session_start", "why:"}},
};

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) CHECK(child_refuses(cases[i].name, cases[i].what, cases[i].wanted));
    return api_result();
}
