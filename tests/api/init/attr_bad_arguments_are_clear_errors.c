/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 0
 *
 * Attributes that make no sense give -EINVAL and one message that names the member; the process lives on and can start after that.
 * Spec: none; shmemx_init_attr is an extension
 */
#include "own.h"

#include <math.h>

static shmemx_uniqueid_t id;

static int gather_alone(void *user, const void *mine, size_t bytes, void *all)
{
    (void)user;
    memcpy(all, mine, bytes);
    return 0;
}

static void end_all(void *user, int status, const char *reason)
{
    (void)user;
    (void)status;
    (void)reason;
}

static shmemx_init_attr_t alone(void)
{
    shmemx_init_attr_t attr = SHMEMX_INIT_ATTR_INITIALIZER;
    attr.rank               = 0;
    attr.npes               = 1;
    attr.allgather          = gather_alone;
    return attr;
}

/* Standard error of one call goes to a pipe; what was said must be one message that has this word. */
static void refused(const shmemx_init_attr_t *attr, const char *word)
{
    char text[2048];
    int  ends[2], before = dup(STDERR_FILENO), err;
    if (pipe(ends) != 0) exit(99);
    dup2(ends[1], STDERR_FILENO);
    shmemx_init_attr_t copy = attr ? *attr : (shmemx_init_attr_t){.rank = 0};
    err                     = shmemx_init_attr(attr ? &copy : NULL);
    dup2(before, STDERR_FILENO);
    close(before);
    close(ends[1]);
    ssize_t got = read(ends[0], text, sizeof text - 1);
    close(ends[0]);
    text[got > 0 ? got : 0] = '\0';
    CHECK_EQUAL(err, -EINVAL);
    if (!CHECK(strstr(text, word) && own_count(text, "postern: ") == 1))
        fprintf(stderr, "wanted \"%s\", was said:\n%s", word, text);
}

#define REFUSED(WORD, ...)                 \
    do {                                   \
        shmemx_init_attr_t attr = alone(); \
        __VA_ARGS__;                       \
        refused(&attr, WORD);              \
    } while (0)

static void numbers(void)
{
    REFUSED("npes is 0", attr.npes = 0);
    REFUSED("npes is -1", attr.npes = -1);
    REFUSED("npes is 2000000", attr.npes = 2000000);
    REFUSED("rank is -1", attr.rank = -1);
    REFUSED("rank is 3", attr.rank = 3, attr.npes = 3);
    REFUSED("thread_requested", attr.thread_requested = SHMEM_THREAD_MULTIPLE + 1);
    REFUSED("thread_requested", attr.thread_requested = -1);
    REFUSED("timeout_s", attr.timeout_s = NAN);
}

static void ways(void)
{
    shmemx_uniqueid_t changed = id, zeros = {.bytes = {0}};
    changed.bytes[9] ^= 1;
    REFUSED("neither", attr.allgather = NULL);
    REFUSED("both", attr.uniqueid = &id);
    REFUSED("uniqueid is none", attr.allgather = NULL, attr.uniqueid = &zeros);
    REFUSED("uniqueid is none", attr.allgather = NULL, attr.uniqueid = &changed);
    REFUSED("abort", attr.allgather = NULL, attr.uniqueid = &id, attr.abort = end_all);
    REFUSED("rank is 1 in the process", attr.allgather = NULL, attr.uniqueid = &id, attr.rank = 1, attr.npes = 2);
}

/* A newer program's attributes: longer, and zero behind what this library knows, or not. */
static void sizes(void)
{
    struct {
        shmemx_init_attr_t known;
        int                more[4];
    } longer = {.known = alone()};
    REFUSED("struct_bytes is 0", attr.struct_bytes = 0);
    REFUSED("struct_bytes is 8", attr.struct_bytes = 8);
    REFUSED("struct_bytes is 99999", attr.struct_bytes = 99999);
    longer.known.struct_bytes = sizeof longer;
    CHECK_EQUAL(shmemx_init_attr(&longer.known), 0);
    shmem_finalize();
    longer.more[3] = 1;
    CHECK_EQUAL(shmemx_init_attr(&longer.known), -EINVAL);
}

int main(void)
{
    CHECK_EQUAL(shmemx_get_uniqueid(&id), 0);
    CHECK_EQUAL(shmemx_get_uniqueid(NULL), -EINVAL);
    refused(NULL, "attr is NULL");
    numbers();
    ways();
    sizes();
    shmemx_init_attr_t attr = alone();
    CHECK_EQUAL(shmemx_init_attr(&attr), 0);
    own_work(0, 1);
    shmem_finalize();
    CHECK_EQUAL(own_init(0, 1, &id, 0), 0); /* the id was of no use for others, and is good still */
    own_work(0, 1);
    shmem_finalize();
    return api_result();
}
