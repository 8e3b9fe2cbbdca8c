/* SPDX-License-Identifier: Apache-2.0
 *
 * The default heap shrinks to what fits; a size that was asked for and cannot fit is an error that names need, room, limit and knob.
 */
#include "runtime/pages.h"

#include "runtime/base/log.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#define KIB  ((size_t)1024)
#define MIB  ((size_t)1 << 20)
#define AUTO SIZE_MAX

static const struct {
    uint64_t room_bytes;
    size_t   asked_bytes, other_bytes;
    int      pes, overcommit, result;
    size_t   heap_bytes;
} cases[] = {
    /* The default: 256 MiB where three quarters of the room allow it. */
    {8192 * MIB, AUTO, MIB, 2, 0, 0, 256 * MIB},
    {UINT64_MAX, AUTO, MIB, 16, 0, 0, 256 * MIB},
    {1024 * MIB, AUTO, 0, 3, 0, 0, 256 * MIB},
    {1024 * MIB, AUTO, 1, 3, 0, 0, 254 * MIB}, /* whole 2 MiB */
    {1024 * MIB, AUTO, 0, 16, 0, 0, 48 * MIB},
    {64 * MIB, AUTO, 0, 16, 0, 0, 2 * MIB},
    {32 * MIB, AUTO, 0, 16, 0, 0, 1 * MIB},
    {16 * MIB, AUTO, 0, 16, 0, -ENOMEM, 0},
    {1024 * MIB, AUTO, 1000 * MIB, 1, 0, -ENOMEM, 0}, /* static data alone is too much */
    {1024 * MIB, AUTO, SIZE_MAX, 1, 0, -ENOMEM, 0},
    {0, AUTO, 0, 1, 0, -ENOMEM, 0},
    {0, AUTO, 0, 1, 1, 0, 256 * MIB},
    /* Asked for: to the last byte, or not at all. */
    {1024 * MIB, 512 * MIB, 0, 2, 0, 0, 512 * MIB},
    {1024 * MIB, 512 * MIB + 1, 0, 2, 0, -ENOMEM, 0},
    {1024 * MIB, 512 * MIB, 1, 2, 0, -ENOMEM, 0},
    {1024 * MIB, 512 * MIB, 1, 2, 1, 0, 512 * MIB},
    {1024 * MIB, 12345, 0, 1, 0, 0, 12345},
    {1024 * MIB, 0, 0, 1, 0, 0, 0},
    {UINT64_MAX, SIZE_MAX - 1, 2, 1, 0, -ENOMEM, 0}, /* the sum overflows */
    {UINT64_MAX, SIZE_MAX / 2, 0, 3, 0, -ENOMEM, 0}, /* the product overflows */
};

/* What the function wrote to standard error. */
static int heap_size_quietly(size_t i, size_t *heap_bytes_out, char *text, size_t text_bytes)
{
    struct shmemi_pages_room room = {.bytes = cases[i].room_bytes, .limit = "cgroup limit of /somewhere"};
    int                      file = memfd_create("stderr", MFD_CLOEXEC), saved = dup(STDERR_FILENO);
    dup2(file, STDERR_FILENO);
    int result = shmemi_pages_heap_size(&room, cases[i].asked_bytes, cases[i].other_bytes, cases[i].pes, cases[i].overcommit,
                                        heap_bytes_out);
    dup2(saved, STDERR_FILENO);
    ssize_t length                = pread(file, text, text_bytes - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    close(saved);
    close(file);
    return result;
}

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t heap_bytes = 77;
        char   text[1000];
        printf("case %zu\n", i);
        CHECK_EQ_I64(heap_size_quietly(i, &heap_bytes, text, sizeof text), cases[i].result);
        CHECK_EQ_U64(heap_bytes, cases[i].result ? 77 : cases[i].heap_bytes); /* written on success only */
        if (cases[i].result) {
            CHECK_HAS(text, "SHMEM_SYMMETRIC_SIZE");
            CHECK_HAS(text, "POSTERN_OVERCOMMIT=1");
            CHECK_HAS(text, "why: ");
            CHECK_HAS(text, "cgroup limit of /somewhere");
        } else {
            CHECK_STR(text, "");
        }
        if (cases[i].asked_bytes == 512 * MIB + 1) {
            CHECK_HAS(text, "2 PEs x 512 MiB");
            CHECK_HAS(text, "1024 MiB");
        }
    }
    return unit_result();
}
