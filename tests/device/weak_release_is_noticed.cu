/* SPDX-License-Identifier: Apache-2.0
 *
 * With signals that release nothing, ThreadSanitizer finds a race in signals_vouch_for_data: so that test would notice.
 *
 * TSAN: only
 * TSAN_STATUS: 66
 * ENV: TSAN_OPTIONS=halt_on_error=1
 * OUTPUT: data race
 */
#define SHMEMD_CPU_RELEASE __ATOMIC_RELAXED
#include "tests/device/signals_vouch_for_data.cu"
