/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions and scans in kernels.  Spec: OpenSHMEM 1.6 §9.10.9, §9.10.10.
 *
 * All meet, so that every source is ready.  Then the array is dealt out: each member takes a share of the elements, reads them from all
 * members, joins them in team order and stores the result on all; so dest may be source, as nobody else touches these elements.
 * Then all meet again.  Results are the same on all members, bit for bit.
 */
#ifndef SHMEMD_REDUCE_CUH
#define SHMEMD_REDUCE_CUH

#include "coll.cuh"

/* Joins two elements, given and returned as bits.  Always a constant where it is used, so it is inlined. */
typedef uint64_t (*shmemd_join)(uint64_t a, uint64_t b);

enum shmemd_reduce_form { SHMEMD_REDUCE, SHMEMD_INSCAN, SHMEMD_EXSCAN };

/* Elements that a thread has in flight at one time. */
enum { SHMEMD_REDUCE_BATCH = 4 };

/* A batch of one thread: elements first, first + step, ... of the array, count of them. */
struct shmemd_batch {
    size_t first, step;
    int    count;
};

/* Read the batch from this array of one PE. */
SHMEMD_FN void shmemd_batch_read(struct shmemd_batch batch, const void *array, int pe, unsigned bytes, uint64_t *values,
                                 const char *call)
{
    struct shmemd_place place = shmemd_find((const char *)array + batch.first * bytes, pe, call);
    int                 i;

    for (i = 0; i < SHMEMD_REDUCE_BATCH; i++) {
        if (i >= batch.count) break;
        if (place.at != NULL) {
            values[i] = shmemd_load_relaxed(place.at + (size_t)i * batch.step * bytes, bytes);
        } else {
            values[i] = shmemd_post_g(&place, bytes, 0, call);
            place.offset += batch.step * bytes;
        }
    }
}

SHMEMD_FN void shmemd_batch_write(struct shmemd_batch batch, void *array, int pe, unsigned bytes, const uint64_t *values,
                                  const char *call)
{
    struct shmemd_place place = shmemd_find((char *)array + batch.first * bytes, pe, call);
    int                 i;

    for (i = 0; i < SHMEMD_REDUCE_BATCH; i++) {
        if (i >= batch.count) break;
        if (place.at != NULL) {
            shmemd_store_relaxed(place.at + (size_t)i * batch.step * bytes, values[i], bytes);
        } else {
            shmemd_post_inline(&place, &values[i], bytes, 0, call);
            place.offset += batch.step * bytes;
        }
    }
}

SHMEMD_FN void shmemd_batch_join(uint64_t *sums, const uint64_t *values, shmemd_join join)
{
    int i;

    for (i = 0; i < SHMEMD_REDUCE_BATCH; i++) sums[i] = join(sums[i], values[i]);
}

SHMEMD_FN void shmemd_batch_reduce(const struct shmemd_team *team, struct shmemd_batch batch, void *dest, const void *source,
                                   unsigned bytes, shmemd_join join, const char *call)
{
    uint64_t sums[SHMEMD_REDUCE_BATCH] = {0, 0, 0, 0}, values[SHMEMD_REDUCE_BATCH] = {0, 0, 0, 0};
    int      i;

    shmemd_batch_read(batch, source, shmemd_team_world_pe(team, 0), bytes, sums, call);
    for (i = 1; i < team->n; i++) {
        shmemd_batch_read(batch, source, shmemd_team_world_pe(team, i), bytes, values, call);
        shmemd_batch_join(sums, values, join);
    }
    for (i = 0; i < team->n; i++) {
        shmemd_batch_write(batch, dest, shmemd_team_world_pe(team, shmemd_coll_member(team, i)), bytes, sums, call);
    }
}

/* The first member's sum with nobody is 0: all bits zero in every type. */
SHMEMD_FN void shmemd_batch_scan(const struct shmemd_team *team, struct shmemd_batch batch, void *dest, const void *source,
                                 unsigned bytes, shmemd_join join, enum shmemd_reduce_form form, const char *call)
{
    uint64_t sums[SHMEMD_REDUCE_BATCH] = {0, 0, 0, 0}, values[SHMEMD_REDUCE_BATCH] = {0, 0, 0, 0};
    int      i;

    for (i = 0; i < team->n; i++) {
        int pe = shmemd_team_world_pe(team, i);

        shmemd_batch_read(batch, source, pe, bytes, values, call);
        if (form == SHMEMD_EXSCAN) shmemd_batch_write(batch, dest, pe, bytes, sums, call);
        shmemd_batch_join(sums, values, join);
        if (form == SHMEMD_INSCAN) shmemd_batch_write(batch, dest, pe, bytes, sums, call);
    }
}

SHMEMD_FN int shmemd_reduce(struct shmemd_group group, shmem_team_t handle, void *dest, const void *source, size_t nelems,
                            unsigned bytes, shmemd_join join, enum shmemd_reduce_form form, const char *call)
{
    const struct shmemd_team *team  = shmemd_team_that_meets(handle, call);
    size_t                    share = nelems / (size_t)team->n, more = nelems % (size_t)team->n, me = (size_t)team->me;
    size_t                    first = me * share + (me < more ? me : more), end = first + share + (me < more ? 1 : 0);
    struct shmemd_batch       batch;

    shmemd_meeting(group, team, 0, call);
    batch.step = group.size;
    for (batch.first = first + group.rank; batch.first < end; batch.first += SHMEMD_REDUCE_BATCH * batch.step) {
        size_t left = (end - batch.first + batch.step - 1) / batch.step;

        batch.count = left < SHMEMD_REDUCE_BATCH ? (int)left : (int)SHMEMD_REDUCE_BATCH;
        if (form == SHMEMD_REDUCE) shmemd_batch_reduce(team, batch, dest, source, bytes, join, call);
        else shmemd_batch_scan(team, batch, dest, source, bytes, join, form, call);
    }
    return shmemd_meeting(group, team, 1, call);
}

/* clang-format off */

/* How two elements of a type are joined: EXPRESSION of a and b.  Small types come back from int. */
#define SHMEMD_JOIN(NAME, T, OP, EXPRESSION)                                                                           \
    SHMEMD_FN uint64_t shmemd_##OP##_##NAME(uint64_t a_bits, uint64_t b_bits)                                          \
    {                                                                                                                  \
        T        a, b;                                                                                                 \
        memcpy(&a, &a_bits, sizeof a);                                                                                 \
        memcpy(&b, &b_bits, sizeof b);                                                                                 \
        a = (T)(EXPRESSION);                                                                                           \
        return shmemd_bits(&a, sizeof a);                                                                              \
    }

/* The names of one operation on one type: the work is compiled once for each that is used. */
#define SHMEMD_REDUCE_NAMES(NAME, T, CALL, OP, FORM)                                                                   \
    SHMEMD_SLOW int shmemd_##CALL##_##NAME(struct shmemd_group group, SHMEMI_REDUCE_ARGS(T), const char *call)         \
    {                                                                                                                  \
        return shmemd_reduce(group, team, dest, source, nreduce, sizeof(T), shmemd_##OP##_##NAME, FORM, call);         \
    }                                                                                                                  \
    SHMEMD_API int (shmem_##NAME##_##CALL)(SHMEMI_REDUCE_ARGS(T))                                                      \
    SHMEMD_RETURN(shmemd_##CALL##_##NAME(shmemd_group_thread(), team, dest, source, nreduce, "shmem_" #NAME "_" #CALL),\
                  pshmem_##NAME##_##CALL(team, dest, source, nreduce))                                                 \
    SHMEMD_GROUP int shmemx_##NAME##_##CALL##_warp(SHMEMI_REDUCE_ARGS(T))                                              \
    {                                                                                                                  \
        return shmemd_##CALL##_##NAME(shmemd_group_warp(), team, dest, source, nreduce, "shmemx_" #NAME "_" #CALL "_warp"); \
    }                                                                                                                  \
    SHMEMD_GROUP int shmemx_##NAME##_##CALL##_block(SHMEMI_REDUCE_ARGS(T))                                             \
    {                                                                                                                  \
        return shmemd_##CALL##_##NAME(shmemd_group_block(), team, dest, source, nreduce, "shmemx_" #NAME "_" #CALL "_block"); \
    }

SHMEMD_BEGIN

SHMEMI_REDUCE_BIT_TYPES(SHMEMD_JOIN, join_and, a & b)
SHMEMI_REDUCE_BIT_TYPES(SHMEMD_JOIN, join_or, a | b)
SHMEMI_REDUCE_BIT_TYPES(SHMEMD_JOIN, join_xor, a ^ b)
SHMEMI_RMA_DEVICE_TYPES(SHMEMD_JOIN, join_max, b > a ? b : a)
SHMEMI_RMA_DEVICE_TYPES(SHMEMD_JOIN, join_min, b < a ? b : a)
SHMEMI_RMA_DEVICE_TYPES(SHMEMD_JOIN, join_sum, a + b)
SHMEMI_RMA_DEVICE_TYPES(SHMEMD_JOIN, join_prod, a * b)

SHMEMI_REDUCE_BIT_TYPES(SHMEMD_REDUCE_NAMES, and_reduce, join_and, SHMEMD_REDUCE)
SHMEMI_REDUCE_BIT_TYPES(SHMEMD_REDUCE_NAMES, or_reduce, join_or, SHMEMD_REDUCE)
SHMEMI_REDUCE_BIT_TYPES(SHMEMD_REDUCE_NAMES, xor_reduce, join_xor, SHMEMD_REDUCE)
SHMEMI_RMA_DEVICE_TYPES(SHMEMD_REDUCE_NAMES, max_reduce, join_max, SHMEMD_REDUCE)
SHMEMI_RMA_DEVICE_TYPES(SHMEMD_REDUCE_NAMES, min_reduce, join_min, SHMEMD_REDUCE)
SHMEMI_RMA_DEVICE_TYPES(SHMEMD_REDUCE_NAMES, sum_reduce, join_sum, SHMEMD_REDUCE)
SHMEMI_RMA_DEVICE_TYPES(SHMEMD_REDUCE_NAMES, prod_reduce, join_prod, SHMEMD_REDUCE)
SHMEMI_RMA_DEVICE_TYPES(SHMEMD_REDUCE_NAMES, sum_inscan, join_sum, SHMEMD_INSCAN)
SHMEMI_RMA_DEVICE_TYPES(SHMEMD_REDUCE_NAMES, sum_exscan, join_sum, SHMEMD_EXSCAN)

SHMEMD_END

#undef SHMEMD_JOIN
#undef SHMEMD_REDUCE_NAMES
/* clang-format on */

#endif
