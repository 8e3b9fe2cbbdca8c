/* SPDX-License-Identifier: Apache-2.0
 *
 * The generic names of C11 as overloads of C++: shmem_put, shmem_p, shmem_atomic_add, shmem_wait_until, shmem_sum_reduce and so on pick
 * the typed function by the types of their arguments, in kernels and on the host.
 */
#ifndef SHMEMD_OVERLOADS_CUH
#define SHMEMD_OVERLOADS_CUH

#include "amo.cuh"
#include "p2p.cuh"
#include "reduce.cuh"

/* clang-format off */

/* One row: the overload, and its form with a context in front.  ARGS is an argument list, the rest the names in it. */
#define SHMEMD_OVERLOAD(NAME, T, RET, OP, ARGS, ...)                                                                   \
    SHMEMD_API RET shmem_##OP(ARGS(T)) { return shmem_##NAME##_##OP(__VA_ARGS__); }
#define SHMEMD_OVERLOAD_CTX(NAME, T, RET, OP, ARGS, ...)                                                               \
    SHMEMD_OVERLOAD(NAME, T, RET, OP, ARGS, __VA_ARGS__)                                                               \
    SHMEMD_API RET shmem_##OP(shmem_ctx_t ctx, ARGS(T)) { return shmem_ctx_##NAME##_##OP(ctx, __VA_ARGS__); }
/* The same where the result has the type of the element. */
#define SHMEMD_OVERLOAD_VALUE(NAME, T, OP, ARGS, ...)     SHMEMD_OVERLOAD_CTX(NAME, T, T, OP, ARGS, __VA_ARGS__)

SHMEMI_RMA_DEVICE_BASE_TYPES(SHMEMD_OVERLOAD_CTX, void, put, SHMEMI_PUT_ARGS, dest, source, nelems, pe)
SHMEMI_RMA_DEVICE_BASE_TYPES(SHMEMD_OVERLOAD_CTX, void, get, SHMEMI_PUT_ARGS, dest, source, nelems, pe)
SHMEMI_RMA_DEVICE_BASE_TYPES(SHMEMD_OVERLOAD_CTX, void, put_nbi, SHMEMI_PUT_ARGS, dest, source, nelems, pe)
SHMEMI_RMA_DEVICE_BASE_TYPES(SHMEMD_OVERLOAD_CTX, void, get_nbi, SHMEMI_PUT_ARGS, dest, source, nelems, pe)
SHMEMI_RMA_DEVICE_BASE_TYPES(SHMEMD_OVERLOAD_CTX, void, p, SHMEMI_P_ARGS, dest, value, pe)
SHMEMI_RMA_DEVICE_BASE_TYPES(SHMEMD_OVERLOAD_VALUE, g, SHMEMI_G_ARGS, source, pe)
SHMEMI_RMA_DEVICE_BASE_TYPES(SHMEMD_OVERLOAD_CTX, void, iput, SHMEMI_IPUT_ARGS, dest, source, dst, sst, nelems, pe)
SHMEMI_RMA_DEVICE_BASE_TYPES(SHMEMD_OVERLOAD_CTX, void, iget, SHMEMI_IPUT_ARGS, dest, source, dst, sst, nelems, pe)
SHMEMI_RMA_DEVICE_BASE_TYPES(SHMEMD_OVERLOAD_CTX, void, put_signal, SHMEMI_PUT_SIGNAL_ARGS, dest, source, nelems, sig_addr, signal, sig_op, pe)
SHMEMI_RMA_DEVICE_BASE_TYPES(SHMEMD_OVERLOAD_CTX, void, put_signal_nbi, SHMEMI_PUT_SIGNAL_ARGS, dest, source, nelems, sig_addr, signal, sig_op, pe)

SHMEMI_AMO_EXT_BASE_TYPES(SHMEMD_OVERLOAD_VALUE, atomic_fetch, SHMEMI_AMO_FETCH_ARGS, source, pe)
SHMEMI_AMO_EXT_BASE_TYPES(SHMEMD_OVERLOAD_CTX, void, atomic_set, SHMEMI_AMO_VALUE_ARGS, dest, value, pe)
SHMEMI_AMO_EXT_BASE_TYPES(SHMEMD_OVERLOAD_VALUE, atomic_swap, SHMEMI_AMO_VALUE_ARGS, dest, value, pe)
SHMEMI_AMO_STD_BASE_TYPES(SHMEMD_OVERLOAD_VALUE, atomic_compare_swap, SHMEMI_AMO_CSWAP_ARGS, dest, cond, value, pe)
SHMEMI_AMO_STD_BASE_TYPES(SHMEMD_OVERLOAD_VALUE, atomic_fetch_inc, SHMEMI_AMO_INC_ARGS, dest, pe)
SHMEMI_AMO_STD_BASE_TYPES(SHMEMD_OVERLOAD_CTX, void, atomic_inc, SHMEMI_AMO_INC_ARGS, dest, pe)
SHMEMI_AMO_STD_BASE_TYPES(SHMEMD_OVERLOAD_VALUE, atomic_fetch_add, SHMEMI_AMO_VALUE_ARGS, dest, value, pe)
SHMEMI_AMO_STD_BASE_TYPES(SHMEMD_OVERLOAD_CTX, void, atomic_add, SHMEMI_AMO_VALUE_ARGS, dest, value, pe)
SHMEMI_AMO_BIT_BASE_TYPES(SHMEMD_OVERLOAD_VALUE, atomic_fetch_and, SHMEMI_AMO_VALUE_ARGS, dest, value, pe)
SHMEMI_AMO_BIT_BASE_TYPES(SHMEMD_OVERLOAD_CTX, void, atomic_and, SHMEMI_AMO_VALUE_ARGS, dest, value, pe)
SHMEMI_AMO_BIT_BASE_TYPES(SHMEMD_OVERLOAD_VALUE, atomic_fetch_or, SHMEMI_AMO_VALUE_ARGS, dest, value, pe)
SHMEMI_AMO_BIT_BASE_TYPES(SHMEMD_OVERLOAD_CTX, void, atomic_or, SHMEMI_AMO_VALUE_ARGS, dest, value, pe)
SHMEMI_AMO_BIT_BASE_TYPES(SHMEMD_OVERLOAD_VALUE, atomic_fetch_xor, SHMEMI_AMO_VALUE_ARGS, dest, value, pe)
SHMEMI_AMO_BIT_BASE_TYPES(SHMEMD_OVERLOAD_CTX, void, atomic_xor, SHMEMI_AMO_VALUE_ARGS, dest, value, pe)
SHMEMI_AMO_EXT_BASE_TYPES(SHMEMD_OVERLOAD_CTX, void, atomic_fetch_nbi, SHMEMI_AMO_FETCH_NBI_ARGS, fetch, source, pe)
SHMEMI_AMO_EXT_BASE_TYPES(SHMEMD_OVERLOAD_CTX, void, atomic_swap_nbi, SHMEMI_AMO_VALUE_NBI_ARGS, fetch, dest, value, pe)
SHMEMI_AMO_STD_BASE_TYPES(SHMEMD_OVERLOAD_CTX, void, atomic_compare_swap_nbi, SHMEMI_AMO_CSWAP_NBI_ARGS, fetch, dest, cond, value, pe)
SHMEMI_AMO_STD_BASE_TYPES(SHMEMD_OVERLOAD_CTX, void, atomic_fetch_inc_nbi, SHMEMI_AMO_INC_NBI_ARGS, fetch, dest, pe)
SHMEMI_AMO_STD_BASE_TYPES(SHMEMD_OVERLOAD_CTX, void, atomic_fetch_add_nbi, SHMEMI_AMO_VALUE_NBI_ARGS, fetch, dest, value, pe)
SHMEMI_AMO_BIT_BASE_TYPES(SHMEMD_OVERLOAD_CTX, void, atomic_fetch_and_nbi, SHMEMI_AMO_VALUE_NBI_ARGS, fetch, dest, value, pe)
SHMEMI_AMO_BIT_BASE_TYPES(SHMEMD_OVERLOAD_CTX, void, atomic_fetch_or_nbi, SHMEMI_AMO_VALUE_NBI_ARGS, fetch, dest, value, pe)
SHMEMI_AMO_BIT_BASE_TYPES(SHMEMD_OVERLOAD_CTX, void, atomic_fetch_xor_nbi, SHMEMI_AMO_VALUE_NBI_ARGS, fetch, dest, value, pe)

/* The functions have these names without a context. */
SHMEMD_API void shmem_signal_set(shmem_ctx_t ctx, SHMEMI_SIGNAL_ARGS) { shmem_ctx_signal_set(ctx, sig_addr, signal, pe); }
SHMEMD_API void shmem_signal_add(shmem_ctx_t ctx, SHMEMI_SIGNAL_ARGS) { shmem_ctx_signal_add(ctx, sig_addr, signal, pe); }

/* shmem_wait_until for long is a function of C (deprecated.h). */
#define SHMEMD_WAIT_OVERLOAD_TYPES(X, ...)         \
    X(int,        int,                __VA_ARGS__) \
    X(longlong,   long long,          __VA_ARGS__) \
    X(uint,       unsigned int,       __VA_ARGS__) \
    X(ulong,      unsigned long,      __VA_ARGS__) \
    X(ulonglong,  unsigned long long, __VA_ARGS__) \
    SHMEMI_WAIT_OLD_TYPES(X, __VA_ARGS__)
extern "C" SHMEMD_API void (shmem_wait_until)(SHMEMI_WAIT_ARGS(long))
    SHMEMD_DO((void)shmemd_wait_until(ivar, cmp, (uint64_t)cmp_value, SHMEMD_KIND_OF(long), "shmem_wait_until"),
              pshmem_wait_until(ivar, cmp, cmp_value))
SHMEMD_WAIT_OVERLOAD_TYPES(SHMEMD_OVERLOAD, void, wait_until, SHMEMI_WAIT_ARGS, ivar, cmp, cmp_value)
SHMEMI_WAIT_BASE_TYPES(SHMEMD_OVERLOAD, int, test, SHMEMI_WAIT_ARGS, ivar, cmp, cmp_value)
SHMEMI_AMO_STD_BASE_TYPES(SHMEMD_OVERLOAD, void, wait_until_all, SHMEMI_WAIT_SET_ARGS, ivars, nelems, status, cmp, cmp_value)
SHMEMI_AMO_STD_BASE_TYPES(SHMEMD_OVERLOAD, size_t, wait_until_any, SHMEMI_WAIT_SET_ARGS, ivars, nelems, status, cmp, cmp_value)
SHMEMI_AMO_STD_BASE_TYPES(SHMEMD_OVERLOAD, size_t, wait_until_some, SHMEMI_WAIT_SOME_ARGS, ivars, nelems, indices, status, cmp, cmp_value)
SHMEMI_AMO_STD_BASE_TYPES(SHMEMD_OVERLOAD, int, test_all, SHMEMI_WAIT_SET_ARGS, ivars, nelems, status, cmp, cmp_value)
SHMEMI_AMO_STD_BASE_TYPES(SHMEMD_OVERLOAD, size_t, test_any, SHMEMI_WAIT_SET_ARGS, ivars, nelems, status, cmp, cmp_value)
SHMEMI_AMO_STD_BASE_TYPES(SHMEMD_OVERLOAD, size_t, test_some, SHMEMI_WAIT_SOME_ARGS, ivars, nelems, indices, status, cmp, cmp_value)
SHMEMI_AMO_STD_BASE_TYPES(SHMEMD_OVERLOAD, void, wait_until_all_vector, SHMEMI_WAIT_SET_VECTOR_ARGS, ivars, nelems, status, cmp, cmp_values)
SHMEMI_AMO_STD_BASE_TYPES(SHMEMD_OVERLOAD, size_t, wait_until_any_vector, SHMEMI_WAIT_SET_VECTOR_ARGS, ivars, nelems, status, cmp, cmp_values)
SHMEMI_AMO_STD_BASE_TYPES(SHMEMD_OVERLOAD, size_t, wait_until_some_vector, SHMEMI_WAIT_SOME_VECTOR_ARGS, ivars, nelems, indices, status, cmp, cmp_values)
SHMEMI_AMO_STD_BASE_TYPES(SHMEMD_OVERLOAD, int, test_all_vector, SHMEMI_WAIT_SET_VECTOR_ARGS, ivars, nelems, status, cmp, cmp_values)
SHMEMI_AMO_STD_BASE_TYPES(SHMEMD_OVERLOAD, size_t, test_any_vector, SHMEMI_WAIT_SET_VECTOR_ARGS, ivars, nelems, status, cmp, cmp_values)
SHMEMI_AMO_STD_BASE_TYPES(SHMEMD_OVERLOAD, size_t, test_some_vector, SHMEMI_WAIT_SOME_VECTOR_ARGS, ivars, nelems, indices, status, cmp, cmp_values)

SHMEMD_API int shmem_sync(shmem_team_t team) { return shmem_team_sync(team); }
SHMEMI_RMA_DEVICE_BASE_TYPES(SHMEMD_OVERLOAD, int, broadcast, SHMEMI_TEAM_BROADCAST_ARGS, team, dest, source, nelems, PE_root)
SHMEMI_RMA_DEVICE_BASE_TYPES(SHMEMD_OVERLOAD, int, collect, SHMEMI_TEAM_MOVE_ARGS, team, dest, source, nelems)
SHMEMI_RMA_DEVICE_BASE_TYPES(SHMEMD_OVERLOAD, int, fcollect, SHMEMI_TEAM_MOVE_ARGS, team, dest, source, nelems)
SHMEMI_RMA_DEVICE_BASE_TYPES(SHMEMD_OVERLOAD, int, alltoall, SHMEMI_TEAM_MOVE_ARGS, team, dest, source, nelems)
SHMEMI_RMA_DEVICE_BASE_TYPES(SHMEMD_OVERLOAD, int, alltoalls, SHMEMI_TEAM_ALLTOALLS_ARGS, team, dest, source, dst, sst, nelems)
SHMEMI_REDUCE_BIT_BASE_TYPES(SHMEMD_OVERLOAD, int, and_reduce, SHMEMI_REDUCE_ARGS, team, dest, source, nreduce)
SHMEMI_REDUCE_BIT_BASE_TYPES(SHMEMD_OVERLOAD, int, or_reduce, SHMEMI_REDUCE_ARGS, team, dest, source, nreduce)
SHMEMI_REDUCE_BIT_BASE_TYPES(SHMEMD_OVERLOAD, int, xor_reduce, SHMEMI_REDUCE_ARGS, team, dest, source, nreduce)
SHMEMI_RMA_DEVICE_BASE_TYPES(SHMEMD_OVERLOAD, int, max_reduce, SHMEMI_REDUCE_ARGS, team, dest, source, nreduce)
SHMEMI_RMA_DEVICE_BASE_TYPES(SHMEMD_OVERLOAD, int, min_reduce, SHMEMI_REDUCE_ARGS, team, dest, source, nreduce)
SHMEMI_RMA_DEVICE_BASE_TYPES(SHMEMD_OVERLOAD, int, sum_reduce, SHMEMI_REDUCE_ARGS, team, dest, source, nreduce)
SHMEMI_RMA_DEVICE_BASE_TYPES(SHMEMD_OVERLOAD, int, prod_reduce, SHMEMI_REDUCE_ARGS, team, dest, source, nreduce)
SHMEMI_RMA_DEVICE_BASE_TYPES(SHMEMD_OVERLOAD, int, sum_inscan, SHMEMI_SCAN_ARGS, team, dest, source, nelems)
SHMEMI_RMA_DEVICE_BASE_TYPES(SHMEMD_OVERLOAD, int, sum_exscan, SHMEMI_SCAN_ARGS, team, dest, source, nelems)

#undef SHMEMD_OVERLOAD
#undef SHMEMD_OVERLOAD_CTX
#undef SHMEMD_OVERLOAD_VALUE
#undef SHMEMD_WAIT_OVERLOAD_TYPES
/* clang-format on */

#endif
