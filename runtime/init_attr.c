/* SPDX-License-Identifier: Apache-2.0
 *
 * Start-up without a launcher: the program says which PE a process is, and brings the exchange or a unique id.
 *
 * Here is what a caller can get wrong, each a message and a status; a job that cannot start never ends the process. What then happens is
 * start-up as always (init.c), over one of the bootstraps of runtime/bootstrap/attr.h.
 * Design: docs/architecture.md "Start-up", docs/decisions/0010.  Tests: tests/api/init/attr_*, uid_*.
 */
#include "runtime/base/attr.h"
#include "runtime/base/log.h"
#include "runtime/bootstrap/attr.h"
#include "runtime/bootstrap/uid.h"
#include "runtime/init.h"
#include "runtime/state.h"

#include <shmemx.h>

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define TIMEOUT_S_MAX 1e9 /* longer is as good as none, and fits into nanoseconds */

/* The members of the first version: what every program has. */
#define ATTR_BYTES_MIN (offsetof(shmemx_init_attr_t, abort) + sizeof(void (*)(void)))

#define refuse(...) (shmemi_error("shmemx_init_attr: " __VA_ARGS__), -EINVAL)

/* A program that was built with a newer header may know members that we do not; as long as they are zero, they ask for nothing. */
static int check_size(const shmemx_init_attr_t *attr)
{
    if (attr->struct_bytes < ATTR_BYTES_MIN || attr->struct_bytes > 4096)
        return refuse("struct_bytes is %zu" WHY "the attributes were not begun with SHMEMX_INIT_ATTR_INITIALIZER" FIX
                      "write: shmemx_init_attr_t attr = SHMEMX_INIT_ATTR_INITIALIZER;",
                      attr->struct_bytes);
    const char *bytes = (const char *)attr;
    for (size_t i = sizeof *attr; i < attr->struct_bytes; i++)
        if (bytes[i] != 0)
            return refuse("the attributes ask for what this library does not know" WHY
                          "the program was built with a newer shmemx.h (%zu bytes of attributes, %zu here)" FIX
                          "use the libpostern that belongs to that header",
                          attr->struct_bytes, sizeof *attr);
    return 0;
}

static int check_numbers(const shmemx_init_attr_t *attr)
{
    if (attr->npes < 1 || attr->npes > SHMEMI_ATTR_NPES_MAX)
        return refuse("npes is %d" WHY "a job has 1 to %d PEs" FIX "set npes to the number of processes", attr->npes,
                      SHMEMI_ATTR_NPES_MAX);
    if (attr->rank < 0 || attr->rank >= attr->npes)
        return refuse("rank is %d" WHY "the ranks of %d PEs are 0 to %d" FIX "give each process one of them", attr->rank,
                      attr->npes, attr->npes - 1);
    if (attr->thread_requested < SHMEM_THREAD_SINGLE || attr->thread_requested > SHMEM_THREAD_MULTIPLE)
        return refuse("thread_requested is %d" WHY "levels are SHMEM_THREAD_SINGLE (%d) to SHMEM_THREAD_MULTIPLE (%d)" FIX
                      "ask for one of the four",
                      attr->thread_requested, SHMEM_THREAD_SINGLE, SHMEM_THREAD_MULTIPLE);
    if (attr->timeout_s != attr->timeout_s)
        return refuse("timeout_s is no number" FIX "pass seconds, or 0 for POSTERN_INIT_TIMEOUT");
    return 0;
}

static int check_ways(const shmemx_init_attr_t *attr)
{
    if (!attr->uniqueid == !attr->allgather)
        return refuse("%s uniqueid and allgather are set" WHY "the PEs find one another in one of these ways" FIX
                      "set one of the two",
                      attr->uniqueid ? "both" : "neither");
    if (!attr->uniqueid) return 0;
    struct uid_parsed id;
    if (shmemi_uid_id_parse(attr->uniqueid, &id) != 0)
        return refuse("uniqueid is none" WHY "it was not made by shmemx_get_uniqueid, or was changed or cut on its way" FIX
                      "carry all %d bytes of it, or its text",
                      SHMEMX_UNIQUEID_BYTES);
    if (attr->abort)
        return refuse("abort is set beside uniqueid" WHY "the library tells the other PEs itself" FIX "leave abort NULL");
    if (attr->rank != 0 && !shmemi_state_running() && shmemi_uid_id_is_mine(attr->uniqueid))
        return refuse("rank is %d in the process that made the unique id" WHY "the others look for rank 0 there" FIX
                      "make the id in the process that is rank 0",
                      attr->rank);
    return 0;
}

/* The library runs: this is one more reference to its job. */
static int check_running(const shmemx_init_attr_t *attr)
{
    if (!shmemi_state_running() || (attr->rank == shmemi_state.my_pe && attr->npes == shmemi_state.npes)) return 0;
    return refuse("asks for PE %d of %d" WHY "the library runs already, as PE %d of %d" FIX
                  "pass the numbers of the running job, or finalize it first",
                  attr->rank, attr->npes, shmemi_state.my_pe, shmemi_state.npes);
}

static int check(const shmemx_init_attr_t *attr)
{
    if (!attr) return refuse("attr is NULL" FIX "pass the address of a shmemx_init_attr_t");
    int err = check_size(attr);
    if (!err) err = check_numbers(attr);
    if (!err) err = check_ways(attr);
    return err ? err : check_running(attr);
}

int pshmemx_init_attr(shmemx_init_attr_t *attr)
{
    int provided, err = check(attr);
    if (err) return err;
    double             timeout_s = attr->timeout_s;
    struct shmemi_attr given     = {
            .pe          = attr->rank,
            .npes        = attr->npes,
            .timeout_set = timeout_s != 0,
            .timeout_ns  = timeout_s < 0 || timeout_s > TIMEOUT_S_MAX ? -1 : (int64_t)(timeout_s * 1e9),
            .id          = attr->uniqueid,
            .user        = attr->user,
            .allgather   = attr->allgather,
            .abort       = attr->abort,
    };
    err = shmemi_init_with(attr->uniqueid ? shmemi_uid_open : shmemi_attr_open, &given, attr->thread_requested, &provided);
    if (err) return err;
    attr->thread_provided = provided;
    return 0;
}
SHMEMI_EXPORT(shmemx_init_attr)

int pshmemx_get_uniqueid(shmemx_uniqueid_t *id_out)
{
    if (!id_out) {
        shmemi_error("shmemx_get_uniqueid: id_out is NULL" FIX "pass the address of a shmemx_uniqueid_t");
        return -EINVAL;
    }
    return shmemi_uid_id_make(id_out);
}
SHMEMI_EXPORT(shmemx_get_uniqueid)

int pshmemx_uniqueid_to_text(const shmemx_uniqueid_t *id, char *text_out, size_t text_bytes)
{
    return id && text_out ? shmemi_uid_id_to_text(id, text_out, text_bytes) : -EINVAL;
}
SHMEMI_EXPORT(shmemx_uniqueid_to_text)

int pshmemx_uniqueid_from_text(const char *text, shmemx_uniqueid_t *id_out)
{
    return text && id_out ? shmemi_uid_id_from_text(text, id_out) : -EINVAL;
}
SHMEMI_EXPORT(shmemx_uniqueid_from_text)
