/* SPDX-License-Identifier: Apache-2.0
 *
 * shmem_addr_accessible is 1 for symmetric objects, else 0, for any address at all; shmem_ptr is NULL then. Not symmetric: stack,
 * malloc, thread-local data, constants, functions, objects of libraries (memory model).
 * Spec: OpenSHMEM 1.6 §3 Memory Model, §9.1.8 shmem_addr_accessible, §9.1.9 shmem_ptr
 */
#include "../api.h"

#include <sys/mman.h>

static long       in_data = 5, in_bss[4096];
long              global_in_bss;
static const long constant = 9;

static void expect(const void *address, int wanted, const char *what)
{
    int n = shmem_n_pes();
    for (int pe = 0; pe < n; pe++) {
        bool right = CHECK_EQUAL(shmem_addr_accessible(address, pe), wanted);
        if (wanted == 0) right = CHECK(shmem_ptr(address, pe) == NULL) && right;
        if (!right) fprintf(stderr, "... %s, PE %d\n", what, pe);
    }
    CHECK_EQUAL(shmem_addr_accessible(address, -1), 0);
    CHECK_EQUAL(shmem_addr_accessible(address, n), 0);
    CHECK(shmem_ptr(address, -1) == NULL);
    CHECK(shmem_ptr(address, n) == NULL);
}

int main(void)
{
    static _Thread_local long of_thread;
    long                      on_stack  = 0, *block;
    char                     *by_malloc = malloc(100);
    shmem_init();
    block = shmem_malloc(100);
    expect(block, 1, "heap");
    expect((char *)block + 99, 1, "end of a heap block");
    expect(&in_data, 1, ".data");
    expect(&in_bss[4095], 1, ".bss");
    expect(&global_in_bss, 1, "global in .bss");
    expect(NULL, 0, "NULL");
    expect(&on_stack, 0, "stack");
    expect(by_malloc, 0, "malloc");
    expect(&of_thread, 0, "thread-local");
    expect(&constant, 0, "constant");
    expect((const void *)(uintptr_t)&main, 0, "function");
    expect((const void *)UINTPTR_MAX, 0, "last address");
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    expect(page, 0, "mmap");
    shmem_free(block);
    shmem_finalize();
    CHECK_EQUAL(shmem_addr_accessible(&in_data, 0), 0); /* outside of init and finalize: no, and no crash */
    CHECK(shmem_ptr(&in_data, 0) == NULL);
    free(by_malloc);
    return api_result();
}
