/* SPDX-License-Identifier: Apache-2.0
 *
 * BAR1 of each GPU comes from libnvidia-ml.so.1, opened at run time: here a stand-in (doctor_nvml_stand_in.c) with two GPUs that work and
 * one that does not answer. With a library that is none, that lacks a function or that does not start, there is a reason.
 *
 *     doctor_asks_the_gpu_driver two      the stand-in's GPUs are found
 *     doctor_asks_the_gpu_driver REASON   there are none, and the reason has this
 */
#include "runtime/tools/doctor.h"

#include "tests/unit/unit.h"

static const struct doctor live = {0};

static void two_gpus_answer(void)
{
    struct doctor_bar1 bar1[4];
    char               reason[256] = "";
    CHECK_EQ_I64(doctor_nvml_bar1(&live, bar1, 4, reason, sizeof reason), 2);
    CHECK_STR(bar1[0].address, "0000:19:00.0");
    CHECK_EQ_U64(bar1[0].total_bytes, (uint64_t)128 << 30);
    CHECK_EQ_U64(bar1[0].used_bytes, (uint64_t)3 << 20);
    CHECK_STR(bar1[1].address, "0001:9a:00.0");
    CHECK_EQ_U64(bar1[1].used_bytes, (uint64_t)100 << 30);
    /* Room for one only. */
    CHECK_EQ_I64(doctor_nvml_bar1(&live, bar1, 1, reason, sizeof reason), 1);
}

static void there_is_a_reason(const char *part)
{
    struct doctor_bar1 bar1[4];
    char               reason[256] = "";
    CHECK_EQ_I64(doctor_nvml_bar1(&live, bar1, 4, reason, sizeof reason), -1);
    CHECK_HAS(reason, part);
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    if (strcmp(argv[1], "two") == 0) two_gpus_answer();
    else there_is_a_reason(argv[1]);
    return unit_result();
}
