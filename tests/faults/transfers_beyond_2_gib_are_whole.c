/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 2
 * ENV: SHMEM_SYMMETRIC_SIZE=2304M
 * LABELS: slow
 * TIMEOUT: 300
 * NOCHAOS: its queue of operations would hold all of it a second time
 *
 * B27: lengths and offsets beyond 31 bits: put, get, an atomic and a signal at the far end. Beyond 32 bits only where the machine has room.
 */
#include "../api/api.h"

static size_t available_mib(void)
{
    FILE  *file = fopen("/proc/meminfo", "r");
    char   line[128];
    size_t kib = 0;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %zu kB", &kib) == 1) break;
    if (file) fclose(file);
    return kib >> 10;
}

static char at(size_t i)
{
    return (char)(i * 31 + (i >> 20) + 1);
}

int main(void)
{
    const size_t bytes = ((size_t)2 << 30) + 4099;
    if (available_mib() < 10000) api_skip("less than 10 GB of memory are free");
    shmem_init();
    char *block = shmem_malloc(bytes + 64);
    if (!CHECK(block != NULL)) return 1;
    uint64_t *far = (uint64_t *)(void *)(block + ((bytes + 7) & ~(size_t)7));
    far[0] = far[1] = 0;
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        for (size_t i = 0; i < bytes; i += 4096) block[i] = at(i);
        for (size_t i = bytes - 5000; i < bytes; i++) block[i] = at(i);
        shmem_putmem_signal(block, block, bytes, &far[0], 1, SHMEM_SIGNAL_SET, 1);
        shmem_uint64_atomic_add(&far[1], 41, 1);
    } else {
        shmem_signal_wait_until(&far[0], SHMEM_CMP_EQ, 1);
        for (size_t i = 0; i < bytes - 5000; i += 4096)
            if (!CHECK_EQUAL(block[i], at(i))) break;
        for (size_t i = bytes - 5000; i < bytes; i++)
            if (!CHECK_EQUAL(block[i], at(i))) break;
        block[bytes - 1] = 'z';
        block[1]         = 'y';
    }
    shmem_barrier_all();
    CHECK_EQUAL(shmem_uint64_g(&far[1], 1), 41);
    if (shmem_my_pe() == 0) {
        shmem_getmem(block, block, bytes, 1);
        CHECK_EQUAL(block[bytes - 1], 'z');
        CHECK_EQUAL(block[1], 'y');
        CHECK_EQUAL(block[4096 * 1000], at(4096 * 1000));
        shmem_long_get((long *)(void *)block, (long *)(void *)block, bytes / sizeof(long), 1);
        CHECK_EQUAL(block[1], 'y');
    }
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
