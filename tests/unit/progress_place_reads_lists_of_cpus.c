/* SPDX-License-Identifier: Apache-2.0
 *
 * POSTERN_PROGRESS_CPUS: which texts are lists of CPUs, and where the progress thread goes: near the device, where the user says, or nowhere.
 */
#include "runtime/progress_place.c" /* its parts */

#include "tests/unit/capture.h"
#include "tests/unit/unit.h"

struct shmemi_state shmemi_state;

static struct shmemt far = {.traits = {.caps = SHMEMT_CAP_POSTED, .near_cpus = "2-3"}};
static struct shmemt shm = {.traits = {.caps = SHMEMT_CAP_POSTED | SHMEMT_CAP_MAP_HOST, .near_cpus = "7"}};

static void check_lists(void)
{
    static const char *const good[] = {"0", "0,1", "3-3", "0-3,8", "4095", "8,0-1"};
    static const char *const bad[]  = {"",     ",",      "0,",  ",0",    "a",   "0-", "-1", "3-1",
                                       "4096", "0-4096", "0 1", "0-1-2", "0x1", "+1", " 1"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) CHECK(is_list(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) CHECK(!is_list(bad[i]));
    cpu_set_t *set   = CPU_ALLOC(CPUS_MAX);
    size_t     bytes = CPU_ALLOC_SIZE(CPUS_MAX);
    CHECK(read_list("1,4-6", set));
    CHECK_EQ_I64(CPU_COUNT_S(bytes, set), 4);
    CHECK(CPU_ISSET_S(1, bytes, set) && CPU_ISSET_S(4, bytes, set) && CPU_ISSET_S(6, bytes, set));
    CPU_FREE(set);
}

static void expect(const char *option, const char *words)
{
    char text[320];
    shmemi_options.progress_cpus = option;
    CHECK_EQ_I64(shmemi_progress_place_choose(), 0);
    shmemi_progress_place_describe(text, sizeof text);
    CHECK_STR(text, words);
}

int main(void)
{
    check_lists();
    shmemi_state.transports[0]   = &shm;
    shmemi_state.transports[1]   = &far;
    shmemi_state.transport_count = 2;
    expect("near", ", on CPUs 2-3 near its device");
    expect(NULL, ", on CPUs 2-3 near its device");
    expect("any", "");
    expect("0-1", ", on CPUs 0-1 (POSTERN_PROGRESS_CPUS)");
    far.traits.near_cpus[0] = '\0';
    expect("near", "");
    shmemi_options.progress_cpus = "0-";
    shmemi_log_set_level((enum shmemi_log_level) - 1);
    CHECK_EQ_I64(shmemi_progress_place_choose(), -EINVAL);
    return unit_result();
}
