/* SPDX-License-Identifier: Apache-2.0
 *
 * Checked mode: a signal word in the payload's place, in its source, or a payload that overlaps its source, ends with a message that names call and
 * arguments; likewise a signal that is fetched or waited for where none can be.
 * Spec: OpenSHMEM 1.6 §E, §9.8.3 shmem_put_signal (sig_addr and dest may not overlap), §9.8.6 shmem_signal_fetch, §9.11.15 shmem_signal_wait_until
 * PES: 0
 * ENV: POSTERN_CHECK=1 SHMEM_SYMMETRIC_SIZE=1M
 */
#include "../child.h"

static uint64_t words[64];

static void at_the_end(void)
{
    shmem_init();
    shmem_uint64_put_signal(words, words + 32, 8, words + 7, 1, SHMEM_SIGNAL_SET, 0);
}
static void at_the_start(void)
{
    shmem_init();
    shmem_putmem_signal_nbi((char *)words + 3, words + 32, 8, words, 1, SHMEM_SIGNAL_ADD, 0);
}
static void in_source(void)
{
    shmem_init();
    shmem_uint64_put_signal(words, words + 32, 8, words + 39, 1, SHMEM_SIGNAL_SET, 0);
}
static void dest_in_source(void)
{
    shmem_init();
    shmem_uint64_put_signal_nbi(words, words + 7, 8, words + 63, 1, SHMEM_SIGNAL_SET, 0);
}
static void null_source(void)
{
    shmem_init();
    shmem_uint64_put_signal(words, NULL, 8, words + 63, 1, SHMEM_SIGNAL_SET, 0);
}
static void fetch_from_stack(void)
{
    uint64_t local = 0;
    shmem_init();
    (void)shmem_signal_fetch(&local);
}
static void fetch_misaligned(void)
{
    shmem_init();
    (void)shmem_signal_fetch((uint64_t *)(void *)((char *)words + 4));
}
static void wait_on_stack(void)
{
    uint64_t local = 0;
    shmem_init();
    (void)shmem_signal_wait_until(&local, SHMEM_CMP_EQ, 0);
}
static void wait_misaligned(void)
{
    shmem_init();
    (void)shmem_signal_wait_until((uint64_t *)(void *)((char *)words + 4), SHMEM_CMP_EQ, 0);
}
static void wait_operator(void)
{
    shmem_init();
    (void)shmem_signal_wait_until(words, 0, 0);
}

static const struct {
    const char *name;
    void (*what)(void);
    const char *wanted[4];
} cases[] = {
    {"signal at the end of dest", at_the_end, {"shmem_uint64_put_signal: sig_addr ", "lies in dest (64 bytes", "why:"}},
    {"signal at the start of dest", at_the_start, {"shmem_putmem_signal_nbi: sig_addr ", "lies in dest (8 bytes", "why:"}},
    {"signal in source", in_source, {"shmem_uint64_put_signal: sig_addr and source overlap", "why:"}},
    {"dest in source", dest_in_source, {"shmem_uint64_put_signal_nbi: dest and source overlap", "why:"}},
    {"NULL source", null_source, {"shmem_uint64_put_signal: source is NULL", "why:"}},
    {"fetch from the stack", fetch_from_stack, {"shmem_signal_fetch: ", "is not symmetric", "why:"}},
    {"fetch misaligned", fetch_misaligned, {"shmem_signal_fetch: ", "is not a multiple of 8", "why:"}},
    {"wait on the stack", wait_on_stack, {"shmem_signal_wait_until: ", "is not symmetric", "why:"}},
    {"wait misaligned", wait_misaligned, {"shmem_signal_wait_until: ", "is not a multiple of 8", "why:"}},
    {"wait with a bad operator", wait_operator, {"shmem_signal_wait_until: ", "comparison operator 0", "why:"}},
};

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) CHECK(child_refuses(cases[i].name, cases[i].what, cases[i].wanted));
    return api_result();
}
