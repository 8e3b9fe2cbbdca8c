/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 0
 *
 * The pointer must come from a memory routine and be live. Here anything else is a message that names the call
 * and the address, and status 1.
 * Spec: OpenSHMEM 1.6 §9.3.2 shmem_free, §9.3.3 shmem_realloc
 */
#include "../child.h"

static long  in_data = 1;
static void *victim;

static char *begin(void)
{
    shmem_init();
    return shmem_malloc(1000);
}
static void free_stack(void)
{
    long local = 0;
    begin();
    victim = &local;
    shmem_free(victim);
}
static void free_static(void)
{
    begin();
    shmem_free(&in_data);
}
static void free_of_malloc(void)
{
    begin();
    victim = malloc(10);
    shmem_free(victim);
}
static void free_interior(void)
{
    shmem_free(begin() + 64);
}
static void free_odd(void)
{
    shmem_free(begin() + 1);
}
static void free_twice(void)
{
    char *block = begin();
    victim      = block;
    shmem_free(block);
    shmem_free(victim);
}
static void free_of_free_room(void)
{
    shmem_free(begin() + 100000);
}
static void free_beyond(void)
{
    shmem_free(begin() + ((size_t)1 << 40));
}
static void realloc_interior(void)
{
    victim = shmem_realloc(begin() + 8, 10);
}
static void realloc_freed(void)
{
    char *block = begin();
    victim      = block;
    shmem_free(block);
    victim = shmem_realloc(victim, 10);
}
static void realloc_static_to_zero(void)
{
    begin();
    victim = shmem_realloc(&in_data, 0);
}

int main(void)
{
    static const char *const of_free[]    = {"shmem_free", "is not the start of a block", "why:", NULL};
    static const char *const of_realloc[] = {"shmem_realloc", "is not the start of a block", "why:", NULL};
    CHECK(child_refuses("stack", free_stack, of_free));
    CHECK(child_refuses("static", free_static, of_free));
    CHECK(child_refuses("malloc", free_of_malloc, of_free));
    CHECK(child_refuses("interior", free_interior, of_free));
    CHECK(child_refuses("odd", free_odd, of_free));
    CHECK(child_refuses("twice", free_twice, of_free));
    CHECK(child_refuses("free room", free_of_free_room, of_free));
    CHECK(child_refuses("beyond", free_beyond, of_free));
    CHECK(child_refuses("realloc interior", realloc_interior, of_realloc));
    CHECK(child_refuses("realloc freed", realloc_freed, of_realloc));
    CHECK(child_refuses("realloc static to 0", realloc_static_to_zero, of_realloc));
    return api_result();
}
