/* SPDX-License-Identifier: Apache-2.0
 *
 * Checked mode: contexts that are destroyed twice, by another thread or asked after their end, options that do not exist, and teams that are gone.
 * Spec: OpenSHMEM 1.6 §E, §9.5.1 shmem_ctx_create, §9.5.2 shmem_team_create_ctx, §9.5.3 shmem_ctx_destroy, §9.5.4 shmem_ctx_get_team
 * PES: 0
 * ENV: POSTERN_CHECK=1 SHMEM_SYMMETRIC_SIZE=1M
 * LINK: pthread
 */
#include "../child.h"

#include <pthread.h>

static shmem_ctx_t ctx;

static void begin(long options)
{
    int provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    shmem_ctx_create(options, &ctx);
}
static void destroy_twice(void)
{
    begin(0);
    shmem_ctx_destroy(ctx);
    shmem_ctx_destroy(ctx);
}
static void *destroy_there(void *unused)
{
    shmem_ctx_destroy(ctx);
    return unused;
}
static void destroy_foreign(void)
{
    pthread_t thread;
    begin(SHMEM_CTX_PRIVATE);
    pthread_create(&thread, NULL, destroy_there, NULL);
    pthread_join(thread, NULL);
}
static void team_of_dead(void)
{
    shmem_team_t team;
    begin(0);
    shmem_ctx_destroy(ctx);
    shmem_ctx_get_team(ctx, &team);
}
static void unknown_options(void)
{
    begin(0);
    shmem_ctx_create(SHMEM_CTX_PRIVATE | 64, &ctx);
}
static void dead_team(void)
{
    shmem_team_t team;
    begin(0);
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &team);
    shmem_team_destroy(team);
    shmem_team_create_ctx(team, 0, &ctx);
}
static void of_a_destroyed_team(void)
{
    shmem_team_t team;
    begin(0);
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &team);
    shmem_team_create_ctx(team, 0, &ctx);
    shmem_team_destroy(team); /* destroys the context too */
    shmem_ctx_quiet(ctx);
}
static void after_finalize(void)
{
    begin(0);
    shmem_finalize();
    shmem_ctx_destroy(ctx);
}

static const struct {
    const char *name;
    void (*what)(void);
    const char *wanted[4];
} cases[] = {
    {"destroyed twice", destroy_twice, {"shmem_ctx_destroy: the context does not exist", "why:"}},
    {"destroyed by another thread", destroy_foreign, {"shmem_ctx_destroy: the context is private to another thread", "why:"}},
    {"team of a dead context", team_of_dead, {"shmem_ctx_get_team: the context does not exist", "why:"}},
    {"unknown options", unknown_options, {"shmem_ctx_create: options 0x42", "SHMEM_CTX_SERIALIZED", "why:"}},
    {"dead team", dead_team, {"shmem_team_create_ctx: ", "team", "why:"}},
    {"context of a destroyed team", of_a_destroyed_team, {"shmem_ctx_quiet: the context does not exist", "why:"}},
    {"after finalize", after_finalize, {"shmem_ctx_destroy", "why:"}},
};

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) CHECK(child_refuses(cases[i].name, cases[i].what, cases[i].wanted));
    return api_result();
}
