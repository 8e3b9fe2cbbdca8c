/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads make, use and destroy contexts of the world without a pause, while the main thread makes teams with contexts of their own and destroys the
 * teams with the contexts on them: the list of contexts, in which checked mode looks up each one, stays whole, what was under way on the team's
 * contexts has landed, and nobody else's context is touched.
 * Spec: OpenSHMEM 1.6 §9.2 Thread Support, §9.4.8 shmem_team_destroy, §9.5.3 shmem_ctx_destroy
 * PES: 1 2
 * ENV: POSTERN_CHECK=1
 * LINK: pthread
 * TIMEOUT: 60
 */
#include "../api.h"

#include <pthread.h>

enum { THREADS = 3, TEAMS_MAPPED = 2000, TEAMS_POSTED = 80, OF_TEAM = 12, KEPT = 64 };

static long        words[THREADS][KEPT], team_words[OF_TEAM];
static atomic_bool over;

static void *make_and_destroy(void *argument)
{
    int         id = (int)(intptr_t)argument, next = (shmem_my_pe() + 1) % shmem_n_pes();
    shmem_ctx_t kept[KEPT];
    long        round = 0;
    for (int i = 0; i < KEPT; i++) CHECK_EQUAL(shmem_ctx_create(i % 2 ? SHMEM_CTX_PRIVATE : 0, &kept[i]), 0);
    while (!atomic_load(&over)) {
        int i = (int)(++round % KEPT);
        if (round % 8 == 0) shmem_ctx_long_p(kept[i], &words[id][i], round, next);
        shmem_ctx_destroy(kept[i]); /* with a quiet */
        if (round % 8 == 0) CHECK_EQUAL(shmem_long_g(&words[id][i], next), round);
        CHECK_EQUAL(shmem_ctx_create(i % 2 ? SHMEM_CTX_PRIVATE : 0, &kept[i]), 0);
    }
    for (int i = 0; i < KEPT; i++) shmem_ctx_destroy(kept[i]);
    return NULL;
}

int main(void)
{
    int       provided;
    pthread_t threads[THREADS];
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    int  me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    long teams = getenv("POSTERN_TRANSPORTS") ? TEAMS_POSTED : TEAMS_MAPPED; /* chaos takes much longer for each */
    /* Every message of a team waits for a core beside all these threads, for 25 ms and more where each PE is a session of its own. */
    if (n > 2) teams = teams * 4 / (n * n);
    for (intptr_t id = 0; id < THREADS; id++)
        if (pthread_create(&threads[id], NULL, make_and_destroy, (void *)id) != 0) abort();
    for (long round = 1; round <= teams; round++) {
        shmem_team_t team;
        shmem_ctx_t  ctx[OF_TEAM];
        CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &team), 0);
        for (int i = 0; i < OF_TEAM; i++) {
            CHECK_EQUAL(shmem_team_create_ctx(team, 0, &ctx[i]), 0);
            shmem_ctx_long_p(ctx[i], &team_words[i], round, next);
        }
        shmem_team_destroy(team);
        shmem_sync_all();
        for (int i = 0; i < OF_TEAM; i++) CHECK_EQUAL(team_words[i], round);
        shmem_sync_all();
    }
    atomic_store(&over, true);
    for (int id = 0; id < THREADS; id++) pthread_join(threads[id], NULL);
    shmem_finalize();
    return api_result();
}
