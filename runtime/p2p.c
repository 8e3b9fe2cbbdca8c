/* SPDX-License-Identifier: Apache-2.0
 *
 * Point-to-point synchronization: wait and test on words that other PEs update.
 *
 * Every word is read atomically and with acquire: a true answer lets the caller read what the writer ordered before. One set of
 * loops serves all types: a word is widened to 64 bits, and the sign bit of signed types is flipped so that one unsigned
 * comparison orders both. The waits from before 1.4 (shmem_long_wait: until not equal) and those on short words are names for the same.
 * Spec: OpenSHMEM 1.6 §9.11 Point-To-Point Synchronization Routines.  Tests: tests/api/p2p/.
 */
#include "runtime/base/num.h"
#include "runtime/gpu/gpu.h"
#include "runtime/post.h"
#include "runtime/route.h"
#include "runtime/service.h"
#include "runtime/wait.h"

#include <sched.h>
#include <shmem.h>
#include <stdlib.h>

/* The widths of words, for reading objects of any type of that width. */
typedef uint16_t __attribute__((may_alias)) word2;
typedef uint32_t __attribute__((may_alias)) word4;
typedef uint64_t __attribute__((may_alias)) word8;

struct word_kind {
    unsigned width; /* 2, 4 or 8 */
    bool     is_signed;
};
#define KIND_OF(T) ((struct word_kind){.width = sizeof(T), .is_signed = (T)-1 < (T)1})

/* What is looked at: nelems words, those with a nonzero status left out; word i is compared with values[i * step]. */
struct word_set {
    const char      *call;
    const void      *ivars;
    size_t           nelems;
    const int       *status;
    int              cmp;
    const void      *values;
    size_t           step; /* 0: one value for all */
    struct word_kind kind;

    size_t  next;    /* all: words before this one have held; any: where to begin   */
    size_t  found;   /* any: index, or SIZE_MAX; some: how many                      */
    size_t *indices; /* some */
};

/* By its sign, where the kind has one. */
SHMEMI_INLINE uint64_t widened(uint64_t word, struct word_kind kind)
{
    if (!kind.is_signed) return word;
    if (kind.width == 4) return (uint64_t)(int64_t)(int32_t)(uint32_t)word;
    if (kind.width == 2) return (uint64_t)(int64_t)(int16_t)(uint16_t)word;
    return word;
}

/* What is added to widened words of a kind so that unsigned comparison is right for them. */
SHMEMI_INLINE uint64_t bias(struct word_kind kind)
{
    return kind.is_signed ? UINT64_C(1) << 63 : 0;
}

SHMEMI_INLINE uint64_t ordered(uint64_t word, struct word_kind kind)
{
    return widened(word, kind) ^ bias(kind);
}

SHMEMI_INLINE uint64_t load_shared(const void *words, size_t index, struct word_kind kind)
{
    if (kind.width == 4) return __atomic_load_n((const word4 *)words + index, __ATOMIC_ACQUIRE);
    if (kind.width == 2) return __atomic_load_n((const word2 *)words + index, __ATOMIC_ACQUIRE);
    return __atomic_load_n((const word8 *)words + index, __ATOMIC_ACQUIRE);
}

SHMEMI_INLINE uint64_t read_shared(const void *words, size_t index, struct word_kind kind)
{
    return ordered(load_shared(words, index, kind), kind);
}

SHMEMI_INLINE uint64_t read_value(const void *values, size_t index, struct word_kind kind)
{
    if (kind.width == 4) return ordered(((const word4 *)values)[index], kind);
    if (kind.width == 2) return ordered(((const word2 *)values)[index], kind);
    return ordered(((const word8 *)values)[index], kind);
}

SHMEMI_INLINE bool holds(uint64_t seen, int cmp, uint64_t value)
{
    switch (cmp) {
    case SHMEM_CMP_EQ: return seen == value;
    case SHMEM_CMP_NE: return seen != value;
    case SHMEM_CMP_GT: return seen > value;
    case SHMEM_CMP_GE: return seen >= value;
    case SHMEM_CMP_LT: return seen < value;
    default: return seen <= value;
    }
}

SHMEMI_INLINE bool word_holds(const struct word_set *set, size_t index)
{
    return holds(read_shared(set->ivars, index, set->kind), set->cmp, read_value(set->values, index * set->step, set->kind));
}

SHMEMI_INLINE bool excluded(const struct word_set *set, size_t index)
{
    return set->status && set->status[index];
}

SHMEMI_INLINE bool is_cmp(int cmp)
{
    return cmp >= SHMEM_CMP_EQ && cmp <= SHMEM_CMP_LE;
}

static void check_cmp(const char *call, int cmp)
{
    if (SHMEMI_LIKELY(is_cmp(cmp))) return;
    shmemi_service_fatal(
        call, "comparison operator %d" WHY "operators are SHMEM_CMP_EQ to SHMEM_CMP_LE (%d to %d)" FIX "pass one of these", cmp,
        SHMEM_CMP_EQ, SHMEM_CMP_LE);
}

static bool nothing_to_look_at(const struct word_set *set)
{
    for (size_t i = 0; i < set->nelems; i++)
        if (!excluded(set, i)) return false;
    return true;
}

static SHMEMI_COLD void missing_array(const char *call, const char *name)
{
    shmemi_service_fatal(call, "%s is NULL" WHY "only a call with nothing to look at may leave an array out" FIX "pass the array",
                         name);
}

/* Checked mode: what is looked at is symmetric and aligned, and the arrays are there. A set with nothing to look at may be anything. */
static SHMEMI_COLD void check_words(const struct word_set *set, bool needs_indices)
{
    struct shmemi_place unused; /* the careful path has the messages */
    size_t              bytes;
    if (!shmemi_state_running()) shmemi_service_outside(set->call);
    if (nothing_to_look_at(set)) return;
    if (!shmemi_mul_size(set->nelems, set->kind.width, &bytes))
        shmemi_service_fatal(set->call,
                             "%zu words of %u bytes" WHY "that is more than an address can count" FIX "look at the number of words",
                             set->nelems, set->kind.width);
    shmemi_route_find(&shmemi_state.ctx_default, set->call, set->ivars, bytes, shmemi_state.my_pe, &unused);
    if ((uintptr_t)set->ivars % set->kind.width != 0)
        shmemi_service_fatal(set->call,
                             "address %p is not a multiple of %u" WHY "a wait or test needs the natural alignment of its type" FIX
                             "look at how the address is made",
                             set->ivars, set->kind.width);
    if (!set->values) missing_array(set->call, "cmp_values");
    if (needs_indices && !set->indices) missing_array(set->call, "indices");
}

/* ---- the three questions about a set; also the ready functions of the waits ---- */

static bool all_hold(void *argument)
{
    struct word_set *set = argument;
    for (; set->next < set->nelems; set->next++)
        if (!excluded(set, set->next) && !word_holds(set, set->next)) return false;
    return true;
}

/* From where the last search of this thread ended, or a word that stays true would hide the others for ever. */
static bool any_holds(void *argument)
{
    struct word_set *set = argument;
    for (size_t i = 0; i < set->nelems; i++) {
        size_t index = set->next + i < set->nelems ? set->next + i : set->next + i - set->nelems;
        if (excluded(set, index) || !word_holds(set, index)) continue;
        set->found = index;
        return true;
    }
    return false;
}

static bool some_hold(void *argument)
{
    struct word_set *set = argument;
    set->found           = 0;
    for (size_t i = 0; i < set->nelems; i++)
        if (!excluded(set, i) && word_holds(set, i)) set->indices[set->found++] = i;
    return set->found > 0;
}

/* ---- waiting and testing ---- */

/* A word as SIGUSR2 shows it: with its sign, like the value that is seen. */
static uint64_t shown(const void *value, unsigned width)
{
    switch (width) {
    case 2: return (uint64_t)(int64_t)(int16_t) * (const word2 *)value;
    case 4: return (uint64_t)(int64_t)(int32_t) * (const word4 *)value;
    default: return *(const word8 *)value;
    }
}

static void check_set(const struct word_set *set, shmemi_wait_ready *ready)
{
    check_cmp(set->call, set->cmp);
    if (SHMEMI_UNLIKELY(shmemi_state.check)) check_words(set, ready == some_hold);
}

/* ---- words of a GPU: looked at in a copy ---- */

enum { GPU_WORDS_ON_STACK = 512 };

struct gpu_look {
    struct word_set   *set;
    const void        *words; /* in the GPU heap */
    void              *copy;
    shmemi_wait_ready *ready;
};

/* A look takes microseconds, so traffic is moved on between any two. */
static bool ready_on_gpu(void *argument)
{
    struct gpu_look *look = argument;
    if (shmemi_state.posted) shmemi_post_progress();
    shmemi_gpu_copy(look->copy, look->words, look->set->nelems * look->set->kind.width);
    return look->ready(look->set);
}

/* One look, or until it holds. Returns what the last look said. */
static SHMEMI_COLD bool look_on_gpu(struct word_set *set, shmemi_wait_ready *ready, bool waits)
{
    _Alignas(8) char small[GPU_WORDS_ON_STACK];

    size_t          bytes = set->nelems * set->kind.width;
    void           *large = bytes > sizeof small ? malloc(bytes) : NULL;
    struct gpu_look look  = {.set = set, .words = set->ivars, .copy = large ? large : small, .ready = ready};
    if (bytes > sizeof small && !large)
        shmemi_service_fatal(set->call,
                             "could not get %zu bytes of host memory" WHY
                             "malloc gave none, and words in GPU memory are looked at in a copy" FIX
                             "raise `ulimit -v`, or wait for fewer words at once",
                             bytes);
    set->ivars = look.copy;
    bool holds = ready_on_gpu(&look);
    if (waits && !holds) {
        const struct shmemi_wait description = {.call = set->call, .address = look.words, .bytes = bytes, .pe = -1};
        shmemi_wait_for(&description, ready_on_gpu, &look);
        holds = true;
    }
    set->ivars = look.words;
    free(large);
    return holds;
}

static bool lies_on_gpu(const struct word_set *set)
{
    return SHMEMI_UNLIKELY(shmemi_state.gpu) && shmemi_gpu_is_heap(set->ivars);
}

static struct shmemi_wait describe(const struct word_set *set)
{
    return (struct shmemi_wait){
        .call    = set->call,
        .address = set->ivars,
        .bytes   = set->nelems * set->kind.width,
        .width   = set->nelems == 1 ? set->kind.width : 0,
        .cmp     = set->cmp,
        .wanted  = set->nelems == 1 ? shown(set->values, set->kind.width) : 0,
        .pe      = -1,
    };
}

static void wait_set(struct word_set *set, shmemi_wait_ready *ready)
{
    check_set(set, ready);
    if (lies_on_gpu(set)) {
        look_on_gpu(set, ready, true);
        return;
    }
    const struct shmemi_wait description = describe(set);
    if (!ready(set)) shmemi_wait_for(&description, ready, set);
}

/* A test that fails is one step of somebody's loop: move traffic on, and leave the core to the PE that is waited for. */
static void step(void)
{
    if (shmemi_state.posted) shmemi_post_progress();
    if (shmemi_state.crowded) sched_yield();
}

static bool test_set(struct word_set *set, shmemi_wait_ready *ready)
{
    check_set(set, ready);
    if (lies_on_gpu(set)) return look_on_gpu(set, ready, false);
    if (ready(set)) return true;
    step();
    return false;
}

/* Where a search for any begins: behind the last find. */
static _Thread_local size_t rotation __attribute__((tls_model("initial-exec")));

static size_t begin_search(const struct word_set *set)
{
    return set->nelems ? rotation % set->nelems : 0;
}

static void wait_all(struct word_set set)
{
    if (!nothing_to_look_at(&set)) wait_set(&set, all_hold);
}

static int test_all(struct word_set set)
{
    return test_set(&set, all_hold);
}

static size_t wait_any(struct word_set set)
{
    if (nothing_to_look_at(&set)) return SIZE_MAX;
    set.next = begin_search(&set);
    wait_set(&set, any_holds);
    rotation = set.found + 1;
    return set.found;
}

static size_t test_any(struct word_set set)
{
    set.next = begin_search(&set);
    if (!test_set(&set, any_holds)) return SIZE_MAX;
    rotation = set.found + 1;
    return set.found;
}

static size_t wait_some(struct word_set set)
{
    if (nothing_to_look_at(&set)) return 0;
    wait_set(&set, some_hold);
    return set.found;
}

static size_t test_some(struct word_set set)
{
    return test_set(&set, some_hold) ? set.found : 0;
}

/* ---- one word ---- */

/* A wrong operator, checked mode, memory of a GPU. */
static SHMEMI_COLD void wait_carefully(const char *call, const void *ivar, int cmp, const void *value, struct word_kind kind)
{
    struct word_set set = {.call = call, .ivars = ivar, .nelems = 1, .cmp = cmp, .values = value, .kind = kind};
    wait_set(&set, all_hold);
}

/* Has been looked at often enough. */
static SHMEMI_COLD void wait_longer(const char *call, const void *ivar, int cmp, const void *value, struct word_kind kind)
{
    struct word_set          set         = {.call = call, .ivars = ivar, .nelems = 1, .cmp = cmp, .values = value, .kind = kind};
    const struct shmemi_wait description = describe(&set);
    shmemi_wait_longer(&description, all_hold, &set);
}

/*
 * A comparison as an interval on the circle of 64-bit numbers: it holds where word - first <= span, for a widened word. So one loop of a subtraction
 * and a comparison serves all six, and both signs, whose bias is part of `first`.
 */
struct interval {
    uint64_t first, span;
};

/* value: ordered. False: it holds for no word. */
SHMEMI_INLINE bool interval_of(int cmp, uint64_t value, struct word_kind kind, struct interval *interval_out)
{
    const uint64_t  most  = UINT64_MAX;
    struct interval found = {.first = 0, .span = value}; /* SHMEM_CMP_LE */
    if ((cmp == SHMEM_CMP_GT && value == most) || (cmp == SHMEM_CMP_LT && value == 0)) return false;
    switch (cmp) {
    case SHMEM_CMP_EQ: found = (struct interval){.first = value, .span = 0}; break;
    case SHMEM_CMP_NE: found = (struct interval){.first = value + 1, .span = most - 1}; break;
    case SHMEM_CMP_GT: found = (struct interval){.first = value + 1, .span = most - (value + 1)}; break;
    case SHMEM_CMP_GE: found = (struct interval){.first = value, .span = most - value}; break;
    case SHMEM_CMP_LT: found.span = value - 1; break;
    default: break;
    }
    found.first ^= bias(kind);
    *interval_out = found;
    return true;
}

/* kind is a constant where this is called. */
SHMEMI_INLINE bool look_often(const void *ivar, struct interval wanted, struct word_kind kind, uint64_t *seen_out)
{
    for (unsigned looks = shmemi_wait_looks(); looks > 0; looks--) {
        uint64_t word = widened(load_shared(ivar, 0, kind), kind);
        if (word - wanted.first > wanted.span) continue;
        *seen_out = word;
        return true;
    }
    return false;
}

/*
 * The first looks at one word: true once it held, with what was seen. A loop for each width with nothing else in it, because what passes between the
 * arrival of the line and the return is part of a signal's way. The sign of the widest needs no loop of its own.
 */
static bool spin_on(const void *ivar, int cmp, const void *value, struct word_kind kind, uint64_t *seen_out)
{
    struct interval wanted;
    if (!interval_of(cmp, read_value(value, 0, kind), kind, &wanted)) return false;
    if (kind.width == 8) return look_often(ivar, wanted, KIND_OF(uint64_t), seen_out);
    if (kind.width == 4)
        return kind.is_signed ? look_often(ivar, wanted, KIND_OF(int32_t), seen_out)
                              : look_often(ivar, wanted, KIND_OF(uint32_t), seen_out);
    return kind.is_signed ? look_often(ivar, wanted, KIND_OF(int16_t), seen_out)
                          : look_often(ivar, wanted, KIND_OF(uint16_t), seen_out);
}

static __attribute__((noinline)) void wait_one(const char *call, const void *ivar, int cmp, const void *value,
                                               struct word_kind kind)
{
    uint64_t seen;
    if (SHMEMI_UNLIKELY(!is_cmp(cmp)) || SHMEMI_UNLIKELY(shmemi_state.careful_words)) wait_carefully(call, ivar, cmp, value, kind);
    else if (!spin_on(ivar, cmp, value, kind, &seen)) wait_longer(call, ivar, cmp, value, kind);
}

/* It did not hold, or was not looked at. */
static __attribute__((noinline)) int test_one(const char *call, const void *ivar, int cmp, const void *value, struct word_kind kind)
{
    if (SHMEMI_LIKELY(is_cmp(cmp)) && SHMEMI_LIKELY(!shmemi_state.careful_words)) {
        step();
        return 0;
    }
    struct word_set set = {.call = call, .ivars = ivar, .nelems = 1, .cmp = cmp, .values = value, .kind = kind};
    return test_set(&set, all_hold);
}

/* Most words hold already when they are looked at: that is answered here, and the rest, wrong operators and checked mode too, out of line. */
SHMEMI_INLINE bool holds_now(const void *ivar, int cmp, const void *value, struct word_kind kind)
{
    return SHMEMI_LIKELY(is_cmp(cmp)) && SHMEMI_LIKELY(!shmemi_state.careful_words) &&
           holds(read_shared(ivar, 0, kind), cmp, read_value(value, 0, kind));
}

/* ---- the API ---- */

/* clang-format off */

#define DEFINE_ONE(NAME, T, ...)                                                                      \
    void pshmem_##NAME##_wait_until(T *ivar, int cmp, T cmp_value)                                    \
    {                                                                                                 \
        if (!holds_now(ivar, cmp, &cmp_value, KIND_OF(T)))                                            \
            wait_one("shmem_" #NAME "_wait_until", ivar, cmp, &cmp_value, KIND_OF(T));                \
    }                                                                                                 \
    SHMEMI_EXPORT(shmem_##NAME##_wait_until)                                                          \
    int pshmem_##NAME##_test(T *ivar, int cmp, T cmp_value)                                           \
    {                                                                                                 \
        return holds_now(ivar, cmp, &cmp_value, KIND_OF(T)) ||                                        \
               test_one("shmem_" #NAME "_test", ivar, cmp, &cmp_value, KIND_OF(T));                   \
    }                                                                                                 \
    SHMEMI_EXPORT(shmem_##NAME##_test)
SHMEMI_WAIT_TYPES(DEFINE_ONE, )

/* Deprecated since 1.4: until not equal, and the forms for long that have no type in their name. */
#define DEFINE_OLD_WAIT(FUNCTION, T, LIST, CMP)                                                       \
    void p##FUNCTION LIST                                                                             \
    {                                                                                                 \
        if (!holds_now(ivar, CMP, &cmp_value, KIND_OF(T))) wait_one(#FUNCTION, ivar, CMP, &cmp_value, KIND_OF(T)); \
    }                                                                                                 \
    SHMEMI_EXPORT(FUNCTION)
#define DEFINE_TYPED_OLD_WAIT(NAME, T, OP) \
    DEFINE_OLD_WAIT(shmem_##NAME##_##OP, T, (T *ivar, T cmp_value), SHMEM_CMP_NE)
SHMEMI_OLD_WAIT_TYPES(DEFINE_TYPED_OLD_WAIT, wait)
DEFINE_OLD_WAIT(shmem_wait, long, (long *ivar, long cmp_value), SHMEM_CMP_NE)
DEFINE_OLD_WAIT(shmem_wait_until, long, (long *ivar, int cmp, long cmp_value), cmp)

#define SET(CALL, T, VALUES, STEP) \
    .call = CALL, .ivars = ivars, .nelems = nelems, .status = status, .cmp = cmp, .values = VALUES, .step = STEP, .kind = KIND_OF(T)

#define DEFINE_SET(NAME, T, RET, OP, DO)                                                              \
    RET pshmem_##NAME##_##OP(T *ivars, size_t nelems, const int *status, int cmp, T cmp_value)        \
    {                                                                                                 \
        DO((struct word_set){SET("shmem_" #NAME "_" #OP, T, &cmp_value, 0)});                         \
    }                                                                                                 \
    SHMEMI_EXPORT(shmem_##NAME##_##OP)                                                                \
    RET pshmem_##NAME##_##OP##_vector(T *ivars, size_t nelems, const int *status, int cmp, const T *cmp_values) \
    {                                                                                                 \
        DO((struct word_set){SET("shmem_" #NAME "_" #OP "_vector", T, cmp_values, 1)});               \
    }                                                                                                 \
    SHMEMI_EXPORT(shmem_##NAME##_##OP##_vector)

#define DEFINE_SOME(NAME, T, OP, DO)                                                                  \
    size_t pshmem_##NAME##_##OP(T *ivars, size_t nelems, size_t *indices, const int *status, int cmp, T cmp_value) \
    {                                                                                                 \
        return DO((struct word_set){SET("shmem_" #NAME "_" #OP, T, &cmp_value, 0), .indices = indices}); \
    }                                                                                                 \
    SHMEMI_EXPORT(shmem_##NAME##_##OP)                                                                \
    size_t pshmem_##NAME##_##OP##_vector(T *ivars, size_t nelems, size_t *indices, const int *status, int cmp, \
                                         const T *cmp_values)                                         \
    {                                                                                                 \
        return DO((struct word_set){SET("shmem_" #NAME "_" #OP "_vector", T, cmp_values, 1), .indices = indices}); \
    }                                                                                                 \
    SHMEMI_EXPORT(shmem_##NAME##_##OP##_vector)

SHMEMI_AMO_STD_TYPES(DEFINE_SET, void, wait_until_all, wait_all)
SHMEMI_AMO_STD_TYPES(DEFINE_SET, int, test_all, return test_all)
SHMEMI_AMO_STD_TYPES(DEFINE_SET, size_t, wait_until_any, return wait_any)
SHMEMI_AMO_STD_TYPES(DEFINE_SET, size_t, test_any, return test_any)
SHMEMI_AMO_STD_TYPES(DEFINE_SOME, wait_until_some, wait_some)
SHMEMI_AMO_STD_TYPES(DEFINE_SOME, test_some, test_some)

/* clang-format on */

static uint64_t read_signal(const uint64_t *sig_addr)
{
    uint64_t seen;
    if (SHMEMI_LIKELY(!shmemi_state.gpu) || !shmemi_gpu_is_heap(sig_addr)) return read_shared(sig_addr, 0, KIND_OF(uint64_t));
    shmemi_gpu_copy(&seen, sig_addr, sizeof seen);
    return seen;
}

/* The value that matched is the result, so it is the one that was compared. */
static SHMEMI_COLD uint64_t signal_wait_longer(uint64_t *sig_addr, int cmp, uint64_t cmp_value)
{
    const struct word_kind kind   = KIND_OF(uint64_t);
    const char             call[] = "shmem_signal_wait_until";
    const struct word_set  set    = {.call = call, .ivars = sig_addr, .nelems = 1, .cmp = cmp, .values = &cmp_value, .kind = kind};
    check_set(&set, all_hold);
    for (;;) {
        uint64_t seen = read_signal(sig_addr);
        if (holds(seen, cmp, cmp_value)) return seen;
        if (SHMEMI_UNLIKELY(shmemi_state.careful_words)) wait_carefully(call, sig_addr, cmp, &cmp_value, kind);
        else wait_longer(call, sig_addr, cmp, &cmp_value, kind);
    }
}

uint64_t pshmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value)
{
    const struct word_kind kind = KIND_OF(uint64_t);
    if (SHMEMI_LIKELY(is_cmp(cmp)) && SHMEMI_LIKELY(!shmemi_state.careful_words)) {
        uint64_t seen = read_shared(sig_addr, 0, kind);
        if (holds(seen, cmp, cmp_value)) return seen;
        if (spin_on(sig_addr, cmp, &cmp_value, kind, &seen)) return seen;
    }
    return signal_wait_longer(sig_addr, cmp, cmp_value);
}
SHMEMI_EXPORT(shmem_signal_wait_until)
