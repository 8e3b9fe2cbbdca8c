/* SPDX-License-Identifier: Apache-2.0
 *
 * wait and test in kernels.  Spec: OpenSHMEM 1.6 §9.11.
 *
 * The words are this PE's own.  Each look is a load with acquire order at system scope.  One thread waits; a warp or block that waits lets one
 * of its threads do so and meets behind it (__syncwarp, __syncthreads).
 */
#ifndef SHMEMD_P2P_CUH
#define SHMEMD_P2P_CUH

#include "wait.cuh"

/* The words of a wait or test for several: one value for all, or one for each. */
struct shmemd_words {
    const char *at;
    size_t      nelems;
    const int  *status; /* NULL: all count */
    int         cmp;
    unsigned    kind;
    uint64_t    value;
    const char *values; /* NULL: value for all */
};

SHMEMD_FN struct shmemd_words shmemd_words_of(const void *at, size_t nelems, const int *status, int cmp, unsigned kind,
                                              uint64_t value, const void *values)
{
    struct shmemd_words words;

    words.at     = (const char *)at;
    words.nelems = nelems;
    words.status = status;
    words.cmp    = cmp;
    words.kind   = kind;
    words.value  = value;
    words.values = (const char *)values;
    return words;
}

SHMEMD_FN int shmemd_words_counts(const struct shmemd_words *words, size_t i)
{
    return words->status == NULL || words->status[i] == 0;
}

SHMEMD_FN uint64_t shmemd_words_wanted(const struct shmemd_words *words, size_t i)
{
    uint64_t wanted = 0;

    if (words->values == NULL) return words->value;
    memcpy(&wanted, words->values + i * SHMEMD_BYTES(words->kind), SHMEMD_BYTES(words->kind));
    return wanted;
}

SHMEMD_FN int shmemd_words_test(const struct shmemd_words *words, size_t i)
{
    uint64_t seen = shmemd_load_acquire(words->at + i * SHMEMD_BYTES(words->kind), SHMEMD_BYTES(words->kind));

    return shmemd_compare(seen, words->cmp, shmemd_words_wanted(words, i), words->kind);
}

/* How many count, and the first that does. */
SHMEMD_FN size_t shmemd_words_first(const struct shmemd_words *words)
{
    size_t i;

    for (i = 0; i < words->nelems; i++) {
        if (shmemd_words_counts(words, i)) return i;
    }
    return SIZE_MAX;
}

SHMEMD_SLOW int shmemd_test_all(struct shmemd_words words)
{
    size_t i;

    for (i = 0; i < words.nelems; i++) {
        if (shmemd_words_counts(&words, i) && !shmemd_words_test(&words, i)) return 0;
    }
    return 1;
}

SHMEMD_SLOW size_t shmemd_test_any(struct shmemd_words words)
{
    size_t i;

    for (i = 0; i < words.nelems; i++) {
        if (shmemd_words_counts(&words, i) && shmemd_words_test(&words, i)) return i;
    }
    return SIZE_MAX;
}

SHMEMD_SLOW size_t shmemd_test_some(struct shmemd_words words, size_t *indices)
{
    size_t i, found = 0;

    for (i = 0; i < words.nelems; i++) {
        if (shmemd_words_counts(&words, i) && shmemd_words_test(&words, i)) indices[found++] = i;
    }
    return found;
}

/* The word that a wait for several names when it gives up: the first that counts. */
SHMEMD_FN void shmemd_words_look(const struct shmemd_words *words, size_t i, struct shmemd_patience *patience, const char *call)
{
    shmemd_wait_look(patience, words->at + i * SHMEMD_BYTES(words->kind), words->cmp, shmemd_words_wanted(words, i), words->kind,
                     call);
}

SHMEMD_SLOW void shmemd_wait_until_all(struct shmemd_words words, const char *call)
{
    size_t i;

    for (i = 0; i < words.nelems; i++) {
        if (!shmemd_words_counts(&words, i)) continue;
        shmemd_wait_until(words.at + i * SHMEMD_BYTES(words.kind), words.cmp, shmemd_words_wanted(&words, i), words.kind, call);
    }
}

SHMEMD_SLOW size_t shmemd_wait_until_any(struct shmemd_words words, const char *call)
{
    struct shmemd_patience patience = {0, 0};
    size_t                 first    = shmemd_words_first(&words), found;

    if (first == SIZE_MAX) return SIZE_MAX;
    while ((found = shmemd_test_any(words)) == SIZE_MAX) shmemd_words_look(&words, first, &patience, call);
    return found;
}

SHMEMD_SLOW size_t shmemd_wait_until_some(struct shmemd_words words, size_t *indices, const char *call)
{
    struct shmemd_patience patience = {0, 0};
    size_t                 first    = shmemd_words_first(&words), found;

    if (first == SIZE_MAX) return 0;
    while ((found = shmemd_test_some(words, indices)) == 0) shmemd_words_look(&words, first, &patience, call);
    return found;
}

/* clang-format off */

#define SHMEMD_WAIT(NAME, T, OP)                                                                                       \
    SHMEMD_API void (shmem_##NAME##_wait_until)(SHMEMI_WAIT_ARGS(T))                                                   \
    SHMEMD_DO((void)shmemd_wait_until(ivar, cmp, (uint64_t)cmp_value, SHMEMD_KIND_OF(T), "shmem_" #NAME "_wait_until"),\
              pshmem_##NAME##_wait_until(ivar, cmp, cmp_value))                                                        \
    SHMEMD_API int (shmem_##NAME##_test)(SHMEMI_WAIT_ARGS(T))                                                          \
    SHMEMD_RETURN(shmemd_compare(shmemd_load_acquire(ivar, sizeof(T)), cmp, (uint64_t)cmp_value, SHMEMD_KIND_OF(T)),   \
                  pshmem_##NAME##_test(ivar, cmp, cmp_value))

/* The six for several words, with one value and with a vector of values: VALUE and VALUES are what shmemd_words takes. */
#define SHMEMD_WAIT_SET(NAME, T, TAIL, ARGS, SOME_ARGS, ARGUMENT, VALUE, VALUES)                                       \
    SHMEMD_API void (shmem_##NAME##_wait_until_all##TAIL)(ARGS(T))                                                     \
    SHMEMD_DO(shmemd_wait_until_all(shmemd_words_of(ivars, nelems, status, cmp, SHMEMD_KIND_OF(T), VALUE, VALUES),        \
                                    "shmem_" #NAME "_wait_until_all" #TAIL),                                           \
              pshmem_##NAME##_wait_until_all##TAIL(ivars, nelems, status, cmp, ARGUMENT))                              \
    SHMEMD_API size_t (shmem_##NAME##_wait_until_any##TAIL)(ARGS(T))                                                   \
    SHMEMD_RETURN(shmemd_wait_until_any(shmemd_words_of(ivars, nelems, status, cmp, SHMEMD_KIND_OF(T), VALUE, VALUES),    \
                                        "shmem_" #NAME "_wait_until_any" #TAIL),                                       \
                  pshmem_##NAME##_wait_until_any##TAIL(ivars, nelems, status, cmp, ARGUMENT))                          \
    SHMEMD_API size_t (shmem_##NAME##_wait_until_some##TAIL)(SOME_ARGS(T))                                             \
    SHMEMD_RETURN(shmemd_wait_until_some(shmemd_words_of(ivars, nelems, status, cmp, SHMEMD_KIND_OF(T), VALUE, VALUES),   \
                                         indices, "shmem_" #NAME "_wait_until_some" #TAIL),                            \
                  pshmem_##NAME##_wait_until_some##TAIL(ivars, nelems, indices, status, cmp, ARGUMENT))                \
    SHMEMD_API int (shmem_##NAME##_test_all##TAIL)(ARGS(T))                                                            \
    SHMEMD_RETURN(shmemd_test_all(shmemd_words_of(ivars, nelems, status, cmp, SHMEMD_KIND_OF(T), VALUE, VALUES)),         \
                  pshmem_##NAME##_test_all##TAIL(ivars, nelems, status, cmp, ARGUMENT))                                \
    SHMEMD_API size_t (shmem_##NAME##_test_any##TAIL)(ARGS(T))                                                         \
    SHMEMD_RETURN(shmemd_test_any(shmemd_words_of(ivars, nelems, status, cmp, SHMEMD_KIND_OF(T), VALUE, VALUES)),         \
                  pshmem_##NAME##_test_any##TAIL(ivars, nelems, status, cmp, ARGUMENT))                                \
    SHMEMD_API size_t (shmem_##NAME##_test_some##TAIL)(SOME_ARGS(T))                                                   \
    SHMEMD_RETURN(shmemd_test_some(shmemd_words_of(ivars, nelems, status, cmp, SHMEMD_KIND_OF(T), VALUE, VALUES),         \
                                   indices),                                                                           \
                  pshmem_##NAME##_test_some##TAIL(ivars, nelems, indices, status, cmp, ARGUMENT))
#define SHMEMD_WAIT_SETS(NAME, T, OP)                                                                                  \
    SHMEMD_WAIT_SET(NAME, T, , SHMEMI_WAIT_SET_ARGS, SHMEMI_WAIT_SOME_ARGS, cmp_value, (uint64_t)cmp_value, NULL)      \
    SHMEMD_WAIT_SET(NAME, T, _vector, SHMEMI_WAIT_SET_VECTOR_ARGS, SHMEMI_WAIT_SOME_VECTOR_ARGS, cmp_values, 0, cmp_values)

SHMEMD_BEGIN

SHMEMI_WAIT_TYPES(SHMEMD_WAIT, wait)
SHMEMI_AMO_STD_TYPES(SHMEMD_WAIT_SETS, wait)

SHMEMD_API uint64_t (shmem_signal_wait_until)(uint64_t *sig_addr, int cmp, uint64_t cmp_value)
    SHMEMD_RETURN(shmemd_wait_until(sig_addr, cmp, cmp_value, SHMEMD_KIND_OF(uint64_t), "shmem_signal_wait_until"),
                  pshmem_signal_wait_until(sig_addr, cmp, cmp_value))

SHMEMD_END

#undef SHMEMD_WAIT
#undef SHMEMD_WAIT_SET
#undef SHMEMD_WAIT_SETS
/* clang-format on */

#endif
