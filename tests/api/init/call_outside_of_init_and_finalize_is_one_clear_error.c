/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 0
 *
 * A call before init or after the last finalize is undefined. Here it is one message that names the
 * call, and status 1: never a crash, a hang or a silent nothing.
 * Spec: OpenSHMEM 1.6 §4 Execution Model, §C Undefined Behavior
 */
#include "../child.h"

static long  word;
static void *anything = &word;

static void do_malloc(void)
{
    shmem_malloc(8);
}
static void do_calloc(void)
{
    shmem_calloc(1, 8);
}
static void do_align(void)
{
    shmem_align(64, 8);
}
static void do_realloc(void)
{
    shmem_realloc(NULL, 8);
}
static void do_realloc_block(void)
{
    shmem_realloc(anything, 8);
}
static void do_hints(void)
{
    shmem_malloc_with_hints(8, 0);
}
static void do_free(void)
{
    shmem_free(anything);
}
static void do_put(void)
{
    shmem_putmem(&word, &word, 8, 0);
}
static void do_get(void)
{
    shmem_getmem(&word, &word, 8, 0);
}
static void do_p(void)
{
    shmem_long_p(&word, 1, 0);
}
static void do_g(void)
{
    (void)shmem_long_g(&word, 0);
}
static void do_iput(void)
{
    shmem_long_iput(&word, &word, 1, 1, 1, 0);
}
static void do_amo(void)
{
    shmem_long_atomic_inc(&word, 0);
}
static void do_fetch(void)
{
    (void)shmem_long_atomic_fetch_add(&word, 1, 0);
}
static void do_signal(void)
{
    shmem_putmem_signal(&word, &word, 8, anything, 1, SHMEM_SIGNAL_SET, 0);
}
static void do_barrier(void)
{
    shmem_barrier_all();
}
static void do_sync(void)
{
    shmem_sync_all();
}
static void do_set_lock(void)
{
    shmem_set_lock(&word);
}
static void do_wait(void)
{
    shmem_long_wait_until(&word, SHMEM_CMP_NE, 0);
}
static void do_ctx(void)
{
    shmem_ctx_t ctx;
    if (shmem_ctx_create(0, &ctx) != 0 && ctx == SHMEM_CTX_INVALID) exit(1);
}

/* name: what the message must hold; NULL: a return code says it, without a message. */
static const struct {
    const char *name;
    void (*call)(void);
} calls[] = {
    {"shmem_malloc", do_malloc},
    {"shmem_calloc", do_calloc},
    {"shmem_align", do_align},
    {"shmem_realloc", do_realloc},
    {"shmem_realloc", do_realloc_block},
    {"shmem_malloc_with_hints", do_hints},
    {"shmem_free", do_free},
    {"shmem_putmem", do_put},
    {"shmem_getmem", do_get},
    {"shmem_long_p", do_p},
    {"shmem_long_g", do_g},
    {"shmem_long_iput", do_iput},
    {"shmem_long_atomic_inc", do_amo},
    {"shmem_long_atomic_fetch_add", do_fetch},
    {"shmem_putmem_signal", do_signal},
    {"shmem_barrier_all", do_barrier},
    {"shmem_sync_all", do_sync},
    {"shmem_set_lock", do_set_lock},
    {"shmem_long_wait_until", do_wait},
    {NULL, do_ctx},
};

static void try_all(const char *when)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        struct child child = child_run(calls[i].call);
        bool         right = child.status == 1;
        if (calls[i].name) {
            const char *message = strstr(child.error, "called before shmem_init or after the last shmem_finalize");
            right               = right && message && strstr(child.error, calls[i].name) && !strstr(message + 1, "called before");
        }
        if (!CHECK(right))
            fprintf(stderr, "%s, call %zu (%s): status %d, standard error:\n%s", when, i,
                    calls[i].name ? calls[i].name : "shmem_ctx_create", child.status, child.error);
    }
}

int main(void)
{
    try_all("before init");
    shmem_init();
    shmem_finalize();
    try_all("after finalize");
    return api_result();
}
