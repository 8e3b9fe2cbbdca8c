/* SPDX-License-Identifier: Apache-2.0
 *
 * The types of OpenSHMEM, the tables of element types, and the few macros with which the other
 * headers declare a function for each row of a table.
 *
 * Every table has the rows of the table of the same name in the standard, those of the BASE table first.  A row is
 * X(NAME, TYPE, ...): NAME is the part of the function's name, TYPE the element type, and the
 * extra arguments of the table call are passed on.  The BASE tables hold distinct C types only, so
 * that they fit the association list of _Generic; the other rows are second names of these types.
 *
 * All macros here are private (prefix SHMEMI_).
 * Spec: OpenSHMEM 1.6 §7 (handles), §9.4.3, §9.9.1, tables in §9.6, §9.7, §9.10 and §9.11.
 * Tests: tests/abi, tests/headers.
 */
#ifndef SHMEMI_TYPES_H
#define SHMEMI_TYPES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Handles are opaque and local to a PE.  Compare them with ==.  Their constants (constants.h) are
 * valid in static initialisers.  A context is never compatible with a pointer to an element.
 */
typedef struct shmemi_ctx  *shmem_ctx_t;  /* a communication context: its own order and completion */
typedef struct shmemi_team *shmem_team_t; /* an ordered set of PEs, numbered from 0                */

/*
 * What a new team is asked to have.  Only the fields that the mask of the call names are read.
 * num_contexts  contexts that the program means to have alive on the team at once; default 0
 */
typedef struct {
    int num_contexts;
} shmem_team_config_t;

/*
 * What a session on a context is expected to do.  Only the fields that the mask of the call names are read.
 * total_ops  operations of the whole session, as far as the program knows; default SIZE_MAX
 */
typedef struct {
    size_t total_ops;
} shmem_ctx_session_config_t;

/* clang-format off */

/*
 * "Standard RMA Types and Names", §9.6.  24 rows.  Those of the DEVICE tables are for kernels too: a GPU has no long double.
 */
#define SHMEMI_RMA_DEVICE_BASE_TYPES(X, ...)       \
    X(float,      float,              __VA_ARGS__) \
    X(double,     double,             __VA_ARGS__) \
    X(char,       char,               __VA_ARGS__) \
    X(schar,      signed char,        __VA_ARGS__) \
    X(short,      short,              __VA_ARGS__) \
    X(int,        int,                __VA_ARGS__) \
    X(long,       long,               __VA_ARGS__) \
    X(longlong,   long long,          __VA_ARGS__) \
    X(uchar,      unsigned char,      __VA_ARGS__) \
    X(ushort,     unsigned short,     __VA_ARGS__) \
    X(uint,       unsigned int,       __VA_ARGS__) \
    X(ulong,      unsigned long,      __VA_ARGS__) \
    X(ulonglong,  unsigned long long, __VA_ARGS__)
#define SHMEMI_RMA_WIDTH_TYPES(X, ...)             \
    X(int8,       int8_t,             __VA_ARGS__) \
    X(int16,      int16_t,            __VA_ARGS__) \
    X(int32,      int32_t,            __VA_ARGS__) \
    X(int64,      int64_t,            __VA_ARGS__) \
    X(uint8,      uint8_t,            __VA_ARGS__) \
    X(uint16,     uint16_t,           __VA_ARGS__) \
    X(uint32,     uint32_t,           __VA_ARGS__) \
    X(uint64,     uint64_t,           __VA_ARGS__) \
    X(size,       size_t,             __VA_ARGS__) \
    X(ptrdiff,    ptrdiff_t,          __VA_ARGS__)
#define SHMEMI_RMA_BASE_TYPES(X, ...)              \
    SHMEMI_RMA_DEVICE_BASE_TYPES(X, __VA_ARGS__)   \
    X(longdouble, long double,        __VA_ARGS__)
#define SHMEMI_RMA_TYPES(X, ...)                   \
    SHMEMI_RMA_BASE_TYPES(X, __VA_ARGS__)          \
    SHMEMI_RMA_WIDTH_TYPES(X, __VA_ARGS__)
#define SHMEMI_RMA_DEVICE_TYPES(X, ...)            \
    SHMEMI_RMA_DEVICE_BASE_TYPES(X, __VA_ARGS__)   \
    SHMEMI_RMA_WIDTH_TYPES(X, __VA_ARGS__)

/* The sized calls (put32 and so on), §9.6: X(BITS, BYTES, ...).  An element has BITS bits. */
#define SHMEMI_RMA_SIZES(X, ...) \
    X(8,   1,  __VA_ARGS__)      \
    X(16,  2,  __VA_ARGS__)      \
    X(32,  4,  __VA_ARGS__)      \
    X(64,  8,  __VA_ARGS__)      \
    X(128, 16, __VA_ARGS__)

/* "Standard AMO Types and Names", §9.7: compare_swap, inc, add, and wait and test (§9.11).  12 rows. */
#define SHMEMI_AMO_STD_BASE_TYPES(X, ...)          \
    X(int,        int,                __VA_ARGS__) \
    X(long,       long,               __VA_ARGS__) \
    X(longlong,   long long,          __VA_ARGS__) \
    X(uint,       unsigned int,       __VA_ARGS__) \
    X(ulong,      unsigned long,      __VA_ARGS__) \
    X(ulonglong,  unsigned long long, __VA_ARGS__)
#define SHMEMI_AMO_STD_TYPES(X, ...)               \
    SHMEMI_AMO_STD_BASE_TYPES(X, __VA_ARGS__)      \
    X(int32,      int32_t,            __VA_ARGS__) \
    X(int64,      int64_t,            __VA_ARGS__) \
    X(uint32,     uint32_t,           __VA_ARGS__) \
    X(uint64,     uint64_t,           __VA_ARGS__) \
    X(size,       size_t,             __VA_ARGS__) \
    X(ptrdiff,    ptrdiff_t,          __VA_ARGS__)

/* "Extended AMO Types and Names", §9.7: fetch, set, swap.  14 rows. */
#define SHMEMI_AMO_EXT_BASE_TYPES(X, ...)          \
    X(float,      float,              __VA_ARGS__) \
    X(double,     double,             __VA_ARGS__) \
    SHMEMI_AMO_STD_BASE_TYPES(X, __VA_ARGS__)
#define SHMEMI_AMO_EXT_TYPES(X, ...)               \
    X(float,      float,              __VA_ARGS__) \
    X(double,     double,             __VA_ARGS__) \
    SHMEMI_AMO_STD_TYPES(X, __VA_ARGS__)

/*
 * "Bitwise AMO Types and Names", §9.7: and, or, xor.  7 rows.  Signed types come by exact width
 * only, so of int, long and long long the generics know the two that are int32_t and int64_t.
 */
#define SHMEMI_AMO_BIT_BASE_TYPES(X, ...)          \
    X(uint,       unsigned int,       __VA_ARGS__) \
    X(ulong,      unsigned long,      __VA_ARGS__) \
    X(ulonglong,  unsigned long long, __VA_ARGS__) \
    X(int32,      int32_t,            __VA_ARGS__) \
    X(int64,      int64_t,            __VA_ARGS__)
#define SHMEMI_AMO_BIT_TYPES(X, ...)               \
    SHMEMI_AMO_BIT_BASE_TYPES(X, __VA_ARGS__)      \
    X(uint32,     uint32_t,           __VA_ARGS__) \
    X(uint64,     uint64_t,           __VA_ARGS__)

/*
 * "Point-to-Point Synchronization Types", §9.11: the types of wait_until and test on one word.  14 rows: those of the
 * AMO table, which are also the types of the other waits and tests, and the two that are deprecated since 1.5.
 */
#define SHMEMI_WAIT_OLD_TYPES(X, ...)              \
    X(short,      short,              __VA_ARGS__) \
    X(ushort,     unsigned short,     __VA_ARGS__)
#define SHMEMI_WAIT_BASE_TYPES(X, ...)             \
    SHMEMI_AMO_STD_BASE_TYPES(X, __VA_ARGS__)      \
    SHMEMI_WAIT_OLD_TYPES(X, __VA_ARGS__)
#define SHMEMI_WAIT_TYPES(X, ...)                  \
    SHMEMI_AMO_STD_TYPES(X, __VA_ARGS__)           \
    SHMEMI_WAIT_OLD_TYPES(X, __VA_ARGS__)

/* Languages without _Complex do not see the complex functions: C++, and a C11 that says so. */
#if defined(__cplusplus) || defined(__STDC_NO_COMPLEX__)
#define SHMEMI_COMPLEX_TYPES(X, ...)
#else
#define SHMEMI_COMPLEX_TYPES(X, ...)               \
    X(complexd,   double _Complex,    __VA_ARGS__) \
    X(complexf,   float _Complex,     __VA_ARGS__)
#endif

/*
 * "Reduction Types, Names and Supporting Operations", §9.10.9.  And, or, xor: 14 rows.  Signed types come by exact
 * width only, so of long and long long the generics know the one that is int64_t.
 */
#define SHMEMI_REDUCE_BIT_BASE_TYPES(X, ...)       \
    X(uchar,      unsigned char,      __VA_ARGS__) \
    X(ushort,     unsigned short,     __VA_ARGS__) \
    X(uint,       unsigned int,       __VA_ARGS__) \
    X(ulong,      unsigned long,      __VA_ARGS__) \
    X(ulonglong,  unsigned long long, __VA_ARGS__) \
    X(int8,       int8_t,             __VA_ARGS__) \
    X(int16,      int16_t,            __VA_ARGS__) \
    X(int32,      int32_t,            __VA_ARGS__) \
    X(int64,      int64_t,            __VA_ARGS__)
#define SHMEMI_REDUCE_BIT_TYPES(X, ...)            \
    SHMEMI_REDUCE_BIT_BASE_TYPES(X, __VA_ARGS__)   \
    X(uint8,      uint8_t,            __VA_ARGS__) \
    X(uint16,     uint16_t,           __VA_ARGS__) \
    X(uint32,     uint32_t,           __VA_ARGS__) \
    X(uint64,     uint64_t,           __VA_ARGS__) \
    X(size,       size_t,             __VA_ARGS__)

/* Max, min: 24 rows, all integer and real types, which are those of the RMA table. */
#define SHMEMI_REDUCE_ARITH_BASE_TYPES(X, ...) SHMEMI_RMA_BASE_TYPES(X, __VA_ARGS__)
#define SHMEMI_REDUCE_ARITH_TYPES(X, ...)      SHMEMI_RMA_TYPES(X, __VA_ARGS__)

/* Sum, prod, and the scans (§9.10.10): 26 rows, the same and the complex types (24 in C++). */
#define SHMEMI_REDUCE_SUM_BASE_TYPES(X, ...)       \
    SHMEMI_REDUCE_ARITH_BASE_TYPES(X, __VA_ARGS__) \
    SHMEMI_COMPLEX_TYPES(X, __VA_ARGS__)
#define SHMEMI_REDUCE_SUM_TYPES(X, ...)            \
    SHMEMI_REDUCE_ARITH_TYPES(X, __VA_ARGS__)      \
    SHMEMI_COMPLEX_TYPES(X, __VA_ARGS__)

/* Those over an active set, deprecated since 1.5, §9.10.9: and, or, xor 4 rows; max, min 7; sum, prod 9 (C++: 7). */
#define SHMEMI_TO_ALL_BIT_TYPES(X, ...)            \
    X(short,      short,              __VA_ARGS__) \
    X(int,        int,                __VA_ARGS__) \
    X(long,       long,               __VA_ARGS__) \
    X(longlong,   long long,          __VA_ARGS__)
#define SHMEMI_TO_ALL_ARITH_TYPES(X, ...)          \
    SHMEMI_TO_ALL_BIT_TYPES(X, __VA_ARGS__)        \
    X(float,      float,              __VA_ARGS__) \
    X(double,     double,             __VA_ARGS__) \
    X(longdouble, long double,        __VA_ARGS__)
#define SHMEMI_TO_ALL_SUM_TYPES(X, ...)            \
    SHMEMI_TO_ALL_ARITH_TYPES(X, __VA_ARGS__)      \
    SHMEMI_COMPLEX_TYPES(X, __VA_ARGS__)

/* The data movers over an active set, deprecated since 1.5: X(BITS, BYTES, ...). */
#define SHMEMI_ACTIVE_SET_SIZES(X, ...) \
    X(32,  4,  __VA_ARGS__)             \
    X(64,  8,  __VA_ARGS__)

/*
 * The atomics by their names from before 1.4, §9.7.1.  cswap, finc, inc, fadd, add: 3 rows; fetch, set, swap: 5.
 * All distinct types, so the generics use these tables too.
 */
#define SHMEMI_AMO_OLD_STD_TYPES(X, ...)           \
    X(int,        int,                __VA_ARGS__) \
    X(long,       long,               __VA_ARGS__) \
    X(longlong,   long long,          __VA_ARGS__)
#define SHMEMI_AMO_OLD_EXT_TYPES(X, ...)           \
    X(float,      float,              __VA_ARGS__) \
    X(double,     double,             __VA_ARGS__) \
    SHMEMI_AMO_OLD_STD_TYPES(X, __VA_ARGS__)
/* wait (without until), deprecated since 1.4, §9.11.1: 4 rows. */
#define SHMEMI_OLD_WAIT_TYPES(X, ...)              \
    X(short,      short,              __VA_ARGS__) \
    SHMEMI_AMO_OLD_STD_TYPES(X, __VA_ARGS__)

/*
 * Declare a function and its profiling twin (§10): shmem_NAME and pshmem_NAME.  The parentheses
 * keep a generic macro of the same name away.  pshmem.h declares the twins alone.
 */
#define SHMEMI_DECLARE_BOTH(RET, NAME, ARGS) RET (NAME) ARGS; RET (p##NAME) ARGS;
#define SHMEMI_DECLARE_TWIN(RET, NAME, ARGS) RET (p##NAME) ARGS;
#define SHMEMI_DECLARE                       SHMEMI_DECLARE_BOTH

/*
 * Around all declarations: C linkage, and exported although the library hides what it does not
 * mean to export.
 */
#ifdef __cplusplus
#define SHMEMI_BEGIN extern "C" { _Pragma("GCC visibility push(default)")
#define SHMEMI_END   _Pragma("GCC visibility pop") }
#else
#define SHMEMI_BEGIN _Pragma("GCC visibility push(default)")
#define SHMEMI_END   _Pragma("GCC visibility pop")
#endif

/* A function that does not return, in the words of the language at hand. */
#if defined(__cplusplus)
#define SHMEMI_DECLARE_NORETURN [[noreturn]]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define SHMEMI_DECLARE_NORETURN _Noreturn
#else
#define SHMEMI_DECLARE_NORETURN __attribute__((__noreturn__))
#endif

/*
 * C11 generic selection.  A generic is a macro that picks the typed function by the element type
 * behind its pointer argument: the first argument, or the second where the first is a context.
 * Looking at *pointer drops const and volatile, so the call itself says what is wrong with them.
 * Only the final argument list is evaluated.  An argument with a comma in braces, (long[]){1, 2}, needs
 * parentheses around it, as in every macro.  There are no generics in C99, in C++ (where the typed
 * functions are the interface) and in pshmem.h.
 */
#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define SHMEMI_GENERICS 1
#else
#define SHMEMI_GENERICS 0
#endif

#if SHMEMI_GENERICS
#define SHMEMI_FIRST_OF(FIRST, ...)          FIRST
#define SHMEMI_SECOND_OF(FIRST, SECOND, ...) SECOND
#define SHMEMI_FIRST(...)                    (SHMEMI_FIRST_OF(__VA_ARGS__, 0))
#define SHMEMI_POINTER(...)                                 \
    _Generic(SHMEMI_FIRST(__VA_ARGS__),                     \
        shmem_ctx_t: (SHMEMI_SECOND_OF(__VA_ARGS__, 0, 0)), \
        default: SHMEMI_FIRST(__VA_ARGS__))

#define SHMEMI_PICK(NAME, T, OP)     T: shmem_##NAME##_##OP,
#define SHMEMI_PICK_CTX(NAME, T, OP) T: shmem_ctx_##NAME##_##OP,

/* Call shmem_NAME_OP or shmem_ctx_NAME_OP.  TYPES is a BASE table, ELSE the function for other types. */
#define SHMEMI_SELECT_CTX(TYPES, OP, ELSE, ...)                                                        \
    _Generic(SHMEMI_FIRST(__VA_ARGS__),                                                                \
        shmem_ctx_t: _Generic(*SHMEMI_POINTER(__VA_ARGS__), TYPES(SHMEMI_PICK_CTX, OP) default: ELSE), \
        default: _Generic(*SHMEMI_POINTER(__VA_ARGS__), TYPES(SHMEMI_PICK, OP) default: ELSE))         \
    (__VA_ARGS__)

/* The same for operations that have no form with a context. */
#define SHMEMI_SELECT(TYPES, OP, ELSE, ...) \
    _Generic(*SHMEMI_FIRST(__VA_ARGS__), TYPES(SHMEMI_PICK, OP) default: ELSE)(__VA_ARGS__)

/* The same for collectives over a team: the element type is that of the second argument. */
#define SHMEMI_SELECT_TEAM(TYPES, OP, ELSE, ...) \
    _Generic(*(SHMEMI_SECOND_OF(__VA_ARGS__, 0, 0)), TYPES(SHMEMI_PICK, OP) default: ELSE)(__VA_ARGS__)

/*
 * Where a generic meets a type that it does not know, the compiler says "too many arguments" to one
 * of these.  They are not defined anywhere.
 */
void shmemi_error_not_an_rma_type(void);      /* use the sized or the mem call for this type                   */
void shmemi_error_not_an_amo_type(void);      /* int, long, long long, their unsigned forms, or equal          */
void shmemi_error_not_an_ext_amo_type(void);  /* the types of amo, float and double                            */
void shmemi_error_not_a_bitwise_type(void);   /* unsigned, or of exact width: int32_t, int64_t                 */
void shmemi_error_not_a_wait_type(void);      /* wait and test know the types of amo                           */
void shmemi_error_not_a_reduce_bit_type(void); /* and, or, xor: unsigned, or of exact width: int8_t to int64_t */
void shmemi_error_not_a_reduce_type(void);    /* max, min: all integer and real types                          */
void shmemi_error_not_a_sum_type(void);       /* sum, prod, scans: all integer, real and complex types         */
void shmemi_error_not_an_old_amo_type(void);  /* int, long, long long; fetch, set, swap: float, double as well */
#endif

/* clang-format on */

#endif
