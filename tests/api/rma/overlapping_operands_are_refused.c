/* SPDX-License-Identifier: Apache-2.0
 *
 * Checked mode: a transfer to or from the own PE whose two sides share memory, in whole, in part or in one element of a strided one, ends with a message
 * that names call, arguments and place; so do NULL and strides that are smaller than a block.
 * Spec: OpenSHMEM 1.6 §3 Memory Model (arguments must not overlap), §E, §9.6.1.1 shmem_put, §9.6.1.5 shmem_get, §9.6.2.1 shmem_put_nbi
 * PES: 0
 * ENV: POSTERN_CHECK=1 SHMEM_SYMMETRIC_SIZE=1M
 */
#include "../child.h"

static long  array[64];
static char *block;

static void begin(void)
{
    shmem_init();
    block = shmem_malloc(1000);
}
static void one_element_further(void)
{
    begin();
    shmem_long_put(array, array + 1, 8, 0);
}
static void one_byte(void)
{
    begin();
    shmem_putmem(block + 99, block, 100, 0);
}
static void source_in_front(void)
{
    begin();
    shmem_putmem_nbi(block, block + 99, 100, 0);
}
static void of_get(void)
{
    begin();
    shmem_long_get(array + 4, array, 5, 0);
}
static void of_get_nbi(void)
{
    begin();
    shmem_getmem_nbi(block, block + 10, 11, 0);
}
static void through_shmem_ptr(void)
{
    begin();
    shmem_putmem(block, (char *)shmem_ptr(block, 0) + 50, 100, 0);
}
static void on_a_context(void)
{
    shmem_ctx_t ctx;
    begin();
    shmem_ctx_create(0, &ctx);
    shmem_ctx_put64(ctx, array, array + 3, 4, 0);
}
static void strided_one_element(void)
{
    begin();
    shmem_long_iput(array + 1, array, 2, 3, 4, 0); /* element 1 of source is element 1 of dest: array[3] */
}
static void strided_last_element(void)
{
    begin();
    shmem_long_iput(array, array + 6, 2, 1, 4, 0); /* the last of dest is the first of source */
}
static void strided_get(void)
{
    begin();
    shmem_long_iget(array, array + 6, 3, 3, 4, 0);
}
static void blocks(void)
{
    begin();
    shmem_long_ibput(array, array + 2, 4, 4, 3, 4, 0); /* blocks of 3 at 0, 4, 8 and at 2, 6, 10 */
}
static void stride_zero(void)
{
    begin();
    shmem_long_iput(array, array + 32, 0, 1, 4, 0);
}
static void local_stride_negative(void)
{
    begin();
    shmem_long_iget(array, array + 32, -1, 1, 4, 0);
}
static void stride_below_block(void)
{
    begin();
    shmem_long_ibget(array, array + 32, 3, 2, 3, 2, 0);
}
static void null_source(void)
{
    begin();
    shmem_putmem(block, NULL, 1, 0);
}
static void null_dest(void)
{
    begin();
    shmem_long_get(NULL, array, 1, 0);
}

static const struct {
    const char *name;
    void (*what)(void);
    const char *wanted[5];
} cases[] = {
    {"one element further", one_element_further, {"shmem_long_put: dest and source overlap", "static data+0x", "of PE 0", "fix:"}},
    {"one byte", one_byte, {"shmem_putmem: dest and source overlap", "heap+0x", "why:"}},
    {"source in front", source_in_front, {"shmem_putmem_nbi: dest and source overlap", "why:"}},
    {"get", of_get, {"shmem_long_get: source and dest overlap", "why:"}},
    {"get_nbi", of_get_nbi, {"shmem_getmem_nbi: source and dest overlap", "why:"}},
    {"through shmem_ptr", through_shmem_ptr, {"shmem_putmem: dest and source overlap", "why:"}},
    {"on a context", on_a_context, {"shmem_ctx_put64: dest and source overlap", "why:"}},
    {"one element of a strided put", strided_one_element, {"shmem_long_iput: dest and source overlap", "why:"}},
    {"last element of a strided put", strided_last_element, {"shmem_long_iput: dest and source overlap", "why:"}},
    {"strided get", strided_get, {"shmem_long_iget: source and dest overlap", "why:"}},
    {"blocks", blocks, {"shmem_long_ibput: dest and source overlap", "why:"}},
    {"stride 0", stride_zero, {"shmem_long_iput: strides 0 for dest and 1 for source", "blocks of 1 elements", "why:"}},
    {"negative stride on the local side", local_stride_negative, {"shmem_long_iget: strides -1 for dest and 1 for source", "why:"}},
    {"stride below the block",
     stride_below_block,
     {"shmem_long_ibget: strides 3 for dest and 2 for source", "blocks of 3", "why:"}},
    {"NULL source", null_source, {"shmem_putmem: source is NULL", "why:"}},
    {"NULL dest", null_dest, {"shmem_long_get: dest is NULL", "why:"}},
};

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) CHECK(child_refuses(cases[i].name, cases[i].what, cases[i].wanted));
    return api_result();
}
